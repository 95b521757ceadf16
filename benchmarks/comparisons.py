"""How often all intervals of a comparison hold the table's own differences, and how often tests call chance a finding, over many publications.

python -m benchmarks.comparisons [PUBLICATIONS] [FIRST SEED]        300 from seed 1, when absent

Held       a table of 2,000 rows, published again and again: all intervals of one answer together, 95% expected; differences that the table does not have
           are called so at 5% in at most 5% of publications.
Alarms     a new table each time, of 3,000 rows of a population in which both columns are independent: p-values below 5% and 1%.
           Beside it two tests that are not ours: Pearson's on the published rows, and on the estimated table as if it were counted.
Found      the same with a dependence.
Owners     two owners with retentions of 0.3 and 0.8, each with towns of its own, asked as one.
"""

import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import chi2

import scumble

DISEASES = ["flu", "cold", "asthma", "gout", "hiv"]
SHARES = [0.35, 0.3, 0.2, 0.1, 0.05]
BOTH: dict[str, Any] = {
    "sensitive": ["disease", "smoker"],
    "domains": {"disease": DISEASES, "smoker": [False, True]},
    "public": ["town", "cost"],
}
ONE = {**BOTH, "sensitive": ["disease"], "public": ["town", "cost", "smoker"], "domains": {"disease": DISEASES}}
HOW: dict[str, dict[str, Any]] = {
    "uniform, one column": {**ONE, "retain": 0.4},
    "uniform, two columns": {**BOTH, "retain": 0.5},
    "fine_grain": {**ONE, "mechanism": "fine_grain", "gamma": 6, "settings": {"scores": {"hiv": 2}}},
    "partitioned": {**ONE, "mechanism": "partitioned", "rho2": 0.6},
    "sps": {**ONE, "mechanism": "sps", "public": ["town"], "retain": 0.5},
}
COMPARED = {
    "shares of public groups": "SELECT town, AVG(CASE WHEN disease = 'flu' THEN 1.0 ELSE 0.0 END) AS x FROM release GROUP BY town ORDER BY town",
    "counts of perturbed values": "SELECT disease, COUNT(*) AS x FROM release GROUP BY disease ORDER BY disease",
    "both": "SELECT town, disease, COUNT(*) AS x FROM release GROUP BY town, disease ORDER BY town, disease",
    "averages of perturbed values": "SELECT disease, AVG(cost) AS x FROM release WHERE disease IN ('flu', 'cold', 'asthma') GROUP BY disease ORDER BY disease",
}
PAIRS = {
    "public and perturbed": "SELECT town, disease, COUNT(*) AS n FROM release GROUP BY town, disease",
    "smoker and disease": "SELECT smoker, disease, COUNT(*) AS n FROM release GROUP BY smoker, disease",
}


def people(rng: np.random.Generator, rows: int, dependence: float = 0.0) -> pa.Table:
    """A table; dependence makes smokers and a town of those who have flu."""
    disease = rng.choice(len(DISEASES), rows, p=SHARES)
    flu = disease == 0
    town = np.where(flu & (rng.random(rows) < dependence), "a", rng.choice(list("abcd"), rows, p=[0.4, 0.3, 0.2, 0.1]))
    smoker = rng.random(rows) < 0.3 + dependence * flu
    columns = {"town": town, "disease": np.array(DISEASES)[disease], "smoker": smoker}
    return pa.table({**columns, "cost": rng.integers(1, 100, rows)})


def published(table: pa.Table, how: dict[str, Any], seed: int) -> scumble.Release:
    kept = [name for name in table.column_names if name in (*how["sensitive"], *how["public"])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scumble.publish(table.select(kept), **how, seed=seed)


def owners(table: pa.Table, seed: int) -> scumble.Release:
    """A table that two owners have, who publish by different retentions."""
    first = pc.is_in(table.column("town"), pa.array(["a", "b"]))
    parts = [(table.filter(first), 0.8), (table.filter(pc.invert(first)), 0.3)]
    with tempfile.TemporaryDirectory() as folder:
        for place, (rows, retain) in enumerate(parts):
            published(rows, {**ONE, "retain": retain, "out": f"{folder}/{place}.release"}, seed + place)
        return scumble.open(*(f"{folder}/{place}.release" for place in range(2)))


def differences(table: pa.Table, sql: str) -> np.ndarray[Any, Any]:
    """Those of all pairs of lines of the table itself."""
    connection = duckdb.connect()
    connection.register("release", table)
    values = np.array([row[-1] for row in connection.sql(sql).fetchall()], dtype=float)
    one, other = np.triu_indices(len(values), 1)
    return np.asarray(values[one] - values[other])


def held(how: dict[str, Any], times: int, seed: int) -> Counter[str]:
    """In how many publications all differences of a question lie in their intervals."""
    table = people(np.random.default_rng(5), 2000)
    names = [name for name, sql in COMPARED.items() if "cost" not in sql or "cost" in how["public"]]
    truths = {name: differences(table, COMPARED[name]) for name in names}
    found: Counter[str] = Counter()
    for turn in range(times):
        release = published(table, how, seed + turn)
        for name in names:
            e = release.test(COMPARED[name])["difference"]
            found[name] += bool(np.all((e.low <= truths[name]) & (truths[name] <= e.high)))
    return found


def pearson(counts: np.ndarray[Any, Any]) -> float:
    """The p-value of a table of counts."""
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), (len(counts) - 1) * (len(counts[0]) - 1)))


def naive(release: scumble.Release, sql: str) -> tuple[float, float]:
    """The p-values of others: of published rows, and of estimates that are taken for counts."""
    one, other = sql.split()[1].strip(","), sql.split()[2].strip(",")
    lines = release.table().group_by([one, other]).aggregate([([], "count_all")]).to_pandas()
    rows = lines.pivot(index=one, columns=other, values="count_all").fillna(0).to_numpy()
    estimates = release.query(sql).to_pandas().pivot(index=one, columns=other, values="n").to_numpy()
    return pearson(rows), pearson(np.maximum(estimates, 1))


Published = Callable[[pa.Table, int], scumble.Release]


def tested(publish: Published, dependence: float, times: int, seed: int) -> Counter[tuple[str, str, float]]:
    """How often p is below 5% and 1%, of our test and of two others."""
    found: Counter[tuple[str, str, float]] = Counter()
    for turn in range(times):
        release = publish(people(np.random.default_rng(seed + turn), 3000, dependence), seed + turn)
        for name, sql in PAIRS.items():
            chances = (release.test(sql, independence=True)[0]["p"], *naive(release, sql))
            for test, p in zip(("joint covariance", "published rows", "estimates as counts"), chances, strict=True):
                for level in (0.05, 0.01):
                    found[name, test, level] += p < level
    return found


def main() -> None:
    times, seed = (int(text) for text in (*sys.argv[1:], *("300", "1")[len(sys.argv) - 1 :]))
    for name, how in HOW.items():
        line(f"held, {name}", held(how, times, seed), times)
        if "smoker" in (*how["sensitive"], *how["public"]):
            line(f"alarms, {name}", tested(by(how), 0.0, times, seed), times)
        if name == "uniform, two columns":
            line(f"found, {name}", tested(by(how), 0.1, times, seed), times)
    line("alarms, owners", tested(owners, 0.0, times, seed), times)


def by(how: dict[str, Any]) -> Published:
    return lambda table, seed: published(table, how, seed)


def line(title: str, found: Counter[Any], times: int) -> None:
    for what, count in sorted(found.items(), key=str):
        print(f"{title:32} {what!s:60} {100 * count / times:5.1f}% of {times}", flush=True)


if __name__ == "__main__":
    main()
