"""Independence of two columns: Pearson's test where there are no coins, and its level where there are."""

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from scipy.stats import chi2, chi2_contingency
from tables import DISEASES

import scumble
from scumble.core.errors import QueryError


def table_of(table: pa.Table, one: str, other: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The counts of a table."""
    counts = table.group_by([one, other]).aggregate([([], "count_all")]).to_pandas()
    return np.asarray(counts.pivot(index=one, columns=other, values="count_all").fillna(0).to_numpy(), dtype=float)


@pytest.mark.parametrize(("one", "other"), [("sex", "disease"), ("disease", "smoker"), ("sex", "age // 30")])
def test_without_coins_it_is_pearsons(one: str, other: str, kept: scumble.Release, patients: pa.Table) -> None:
    sql = f"SELECT {one} AS a, {other} AS b, COUNT(*) AS n FROM release GROUP BY a, b"
    (row,) = kept.test(sql, independence=True)
    lines = kept.query(sql).to_pandas().pivot(index="a", columns="b", values="n").fillna(0).to_numpy()
    expected = chi2_contingency(lines[:, lines.sum(axis=0) > 0.5], correction=False)
    assert row["chi_square"] == pytest.approx(expected.statistic, rel=1e-4, abs=1e-3)
    assert (row["df"], row["p"]) == (expected.dof, pytest.approx(expected.pvalue, abs=1e-4))


def pearson(counts: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    return float(chi2_contingency(np.maximum(counts, 1), correction=False).pvalue)


@pytest.mark.slow
def test_the_level_is_held_where_that_of_estimates_taken_for_counts_is_not() -> None:
    """24 tables of 1,500 rows, two perturbed columns: -2 sum log p is a chi-square number, of which what is outside has probability 1e-7."""
    ours, naive = [], []
    sql = "SELECT disease, smoker, COUNT(*) AS n FROM release GROUP BY disease, smoker"
    for seed in range(24):
        rng = np.random.default_rng(seed)
        table = pa.table(
            {"disease": rng.choice(DISEASES[:3], 1500, p=[0.5, 0.3, 0.2]), "smoker": rng.random(1500) < 0.4}
        )
        release = publish_openly(
            table,
            sensitive=["disease", "smoker"],
            domains={"disease": DISEASES[:3], "smoker": [False, True]},
            retain=0.5,
            seed=seed,
        )
        ours.append(release.test(sql, independence=True)[0]["p"])
        naive.append(
            pearson(release.query(sql).to_pandas().pivot(index="disease", columns="smoker", values="n").to_numpy())
        )
    low, high = chi2.ppf([1e-7, 1 - 1e-7], 48)
    assert low < -2 * np.sum(np.log(ours)) < high
    assert not -2 * np.sum(np.log(np.maximum(naive, 1e-12))) < high


@pytest.mark.slow
def test_rows_with_different_channels_look_dependent_and_are_not(tmp_path: object) -> None:
    """Two owners, 4,000 rows: towns and diseases are independent, and the published ones are not. p below 1e-5 has that probability."""
    rng = np.random.default_rng(11)
    table = pa.table(
        {"town": rng.choice(list("abcd"), 4000), "disease": rng.choice(DISEASES, 4000, p=[0.6, 0.2, 0.1, 0.06, 0.04])}
    )
    folders = []
    for place, (towns, retain) in enumerate(((["a", "b"], 0.8), (["c", "d"], 0.3))):
        rows = table.filter(np.isin(table.column("town").to_numpy(zero_copy_only=False), towns))
        folders.append(f"{tmp_path}/{place}.release")
        publish_openly(rows, folders[-1], sensitive="disease", domains={"disease": DISEASES}, retain=retain, seed=place)
    both = scumble.open(*folders)
    (row,) = both.test("SELECT town, disease, COUNT(*) AS n FROM release GROUP BY town, disease", independence=True)
    published = pa.concat_tables([scumble.open(folder).table() for folder in folders])
    assert pearson(table_of(published, "town", "disease")) < 1e-12
    assert row["p"] > 1e-5


def test_a_dependence_is_found(release: scumble.Release) -> None:
    (row,) = release.test(
        "SELECT disease, disease IN ('flu', 'cold') AS b, COUNT(*) AS n FROM release GROUP BY disease, b",
        independence=True,
    )
    assert row["p"] < 1e-9


REFUSED = {
    "of two groups": "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease",
    "the rows of both": "SELECT sex, disease, SUM(cost) AS n FROM release GROUP BY sex, disease",
    "whole tables": "SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY sex, disease HAVING COUNT(*) > 5",
    "two values": "SELECT sex, disease, COUNT(*) AS n FROM release WHERE sex = 'F' GROUP BY sex, disease",
}


@pytest.mark.parametrize(("why", "sql"), REFUSED.items(), ids=REFUSED)
def test_other_questions_are_refused(why: str, sql: str, release: scumble.Release) -> None:
    with pytest.raises(QueryError, match=why):
        release.test(sql, independence=True)
