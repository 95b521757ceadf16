"""The mechanism design: codes are published, and every question, check and attack knows what they stand for."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from forged import forged
from naming import plan_openly, publish_openly

import scumble
from scumble.auditing import audit
from scumble.core.channel_base import Vector
from scumble.core.design import Design
from scumble.core.errors import ParameterError, ReleaseError
from scumble.query.inversion import inverted
from scumble.query.likelihood import plain
from scumble.release.design_record import DesignRecord
from scumble.release.terms import compared, terms_of
from scumble.release.verify import verify

ROWS = 3000
TOWNS = [f"town {i:02d}" for i in range(30)]
DOMAINS: dict[str, Any] = {"town": TOWNS, "pay": {"low": 0, "high": 39}}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw = np.random.default_rng(7)
    shares = 1 / np.arange(1, 31)
    return pa.table(
        {
            "sex": draw.choice(["F", "M"], ROWS),
            "age": draw.integers(18, 90, ROWS),
            "town": draw.choice(TOWNS, ROWS, p=shares / shares.sum()),
            "pay": draw.binomial(39, 0.3, ROWS),
        }
    )


@pytest.fixture(scope="module")
def release(people: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> scumble.Release:
    out = tmp_path_factory.mktemp("design") / "r"
    return publish_openly(people, out, mechanism="design", sensitive=["town", "pay"], domains=DOMAINS, gamma=9, seed=1)


def weights_of(release: scumble.Release, name: str, h: Any) -> Vector:
    """The weight of each published row for a function of the values, by the matrix of the channel."""
    channel = release.manifest.channels[name]
    found = np.linalg.lstsq(channel.matrix().T, np.asarray(h, float), rcond=None)[0]
    phi = channel.weights(h)
    np.testing.assert_allclose(channel.matrix().T @ phi, channel.matrix().T @ found, atol=1e-9)
    return np.asarray(phi[release.table().column(name).to_numpy()])


IN_TOWN = np.arange(30) == 3
FEW_TOWNS = np.arange(30) < 4
PAYS = np.arange(40.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "town", "pay"),
    [
        ("COUNT(*) AS n FROM release WHERE town = 'town 03'", IN_TOWN, None),
        ("COUNT(*) AS n FROM release WHERE town <> 'town 03'", ~IN_TOWN, None),
        ("COUNT(*) AS n FROM release WHERE town IN ('town 00', 'town 01', 'town 02', 'town 03')", FEW_TOWNS, None),
        ("COUNT(*) AS n FROM release WHERE pay < 12 AND town = 'town 03'", IN_TOWN, PAYS < 12),
        ("SUM(pay) AS n FROM release", None, PAYS),
        ("SUM(pay) AS n FROM release WHERE pay >= 10", None, PAYS * (PAYS >= 10)),
        ("SUM(pay) AS n FROM release WHERE town = 'town 03'", IN_TOWN, PAYS),
    ],
)
def test_an_answer_is_the_sum_of_weights(sql: str, town: Any, pay: Any, release: scumble.Release) -> None:
    """And its variance that of the formula: sum of w^2 less the weights of h^2."""
    w, square = np.ones(ROWS), np.ones(ROWS)
    for name, h in (("town", town), ("pay", pay)):
        if h is not None:
            w, square = (
                w * weights_of(release, name, h),
                square * weights_of(release, name, np.asarray(h, float) ** 2),
            )
    (line,) = release.query(f"SELECT {sql}")
    assert line["n"] == pytest.approx(w.sum(), rel=1e-9)
    assert line["n_se"] == pytest.approx(np.sqrt((w**2 - square).sum()), rel=1e-6)


def test_groups_are_sums_of_weights_and_add_up(release: scumble.Release) -> None:
    answer = release.query("SELECT town, COUNT(*) AS n FROM release WHERE sex = 'F' GROUP BY town")
    women = np.array(release.table().column("sex").to_pylist()) == "F"
    for i, line in enumerate(answer):
        assert line["town"] == TOWNS[i]
        assert line["n"] == pytest.approx(weights_of(release, "town", np.arange(30) == i)[women].sum(), rel=1e-9)
    assert answer["n"].value.sum() == pytest.approx(women.sum(), rel=1e-12)


def test_two_grouped_columns_and_an_average(release: scumble.Release) -> None:
    lines = list(release.query("SELECT town, pay, COUNT(*) AS n FROM release GROUP BY town, pay"))
    assert len(lines) == 30 * 40
    w = weights_of(release, "town", IN_TOWN) * weights_of(release, "pay", PAYS == 10)
    (line,) = (each for each in lines if each["town"] == "town 03" and each["pay"] == 10)
    assert line["n"] == pytest.approx(w.sum(), abs=1e-6)
    (average,) = release.query("SELECT AVG(pay) AS n FROM release")
    assert average["n"] == pytest.approx(weights_of(release, "pay", PAYS).sum() / ROWS, rel=1e-9)


def test_functions_of_a_column_are_asked_as_of_values(release: scumble.Release) -> None:
    """A group by ranges is the sum of weights of its values; median and variance lie where those of the table do."""
    sql = "SELECT CASE WHEN pay < 12 THEN 'low' ELSE 'high' END AS part, COUNT(*) AS n FROM release GROUP BY part"
    high, low = release.query(sql)
    assert low["n"] == pytest.approx(weights_of(release, "pay", PAYS < 12).sum(), rel=1e-9)
    assert high["n"] + low["n"] == pytest.approx(ROWS)
    (line,) = release.query("SELECT MEDIAN(pay) AS m, VAR_POP(pay) AS v FROM release")
    mean, square = (weights_of(release, "pay", PAYS**power).sum() / ROWS for power in (1, 2))
    assert line["v"] == pytest.approx(square - mean**2, rel=1e-6)
    assert line["m_low"] <= 12 <= line["m_high"]


def test_the_count_of_all_is_exact(release: scumble.Release) -> None:
    (line,) = release.query("SELECT COUNT(town) AS n FROM release")
    assert (line["n"], line["n_se"], line["n_low"], line["n_high"]) == (ROWS, 0, ROWS, ROWS)


def test_a_small_count_has_the_interval_of_its_law(people: pa.Table) -> None:
    """Rows whose code holds the value are Bin(c, A) + Bin(n - c, Q): that law is inverted, and the interval holds the estimate."""
    few = publish_openly(
        people.slice(0, 60).select(["sex", "town"]),
        mechanism="design",
        sensitive="town",
        domains={"town": TOWNS},
        gamma=4,
        seed=2,
    )
    design = few.manifest.channels["town"]
    assert isinstance(design, Design)
    codes = few.table().column("town").to_numpy()
    held = design.matches(np.bincount(codes, minlength=design.codes))
    one, n, tail = np.ones(1), np.array([60.0]), 0.025
    for i, line in enumerate(few.query("SELECT town, COUNT(*) AS n FROM release GROUP BY town")):
        low, high = inverted(np.rint(held[i : i + 1]), n, design.held * one, design.others * one, tail)[:, 0]
        assert line["n_low"] == pytest.approx(np.clip(min(low, line["n"]), 0, 60))
        least = line["n_se"] if line["n"] < 0 else 0  # one standard error is left of what lies below 0
        assert line["n_high"] == pytest.approx(max(high, line["n"], least))
    (alone,) = few.query("SELECT COUNT(*) AS n FROM release WHERE town = 'town 05'")
    (line,) = (x for x in few.query("SELECT town, COUNT(*) AS n FROM release GROUP BY town") if x["town"] == "town 05")
    assert alone["n"] == pytest.approx(line["n"])
    ends = [[each[k] for k in ("n_low", "n_high")] for each in (alone, line)]
    assert ends[0] == pytest.approx(ends[1], abs=1), "laws of whole numbers, one a line and one of all lines together"


@pytest.mark.slow
@pytest.mark.parametrize("rows", [80, 3000])
def test_intervals_hold_the_truth(rows: int, people: pa.Table) -> None:
    """40 publications of 30 counts and as many of sets: 1,200 intervals each, at least 92% (5 standard errors below 95%: false alarm below 1e-6)."""
    table, held = people.slice(0, rows).select(["sex", "town"]), {"one": 0, "few": 0}
    towns = np.array([TOWNS.index(t) for t in table.column("town").to_pylist()])
    for seed in range(40):
        made = publish_openly(table, mechanism="design", sensitive="town", domains={"town": TOWNS}, gamma=3, seed=seed)
        for i, line in enumerate(made.query("SELECT town, COUNT(*) AS n FROM release GROUP BY town")):
            held["one"] += line["n_low"] <= (towns == i).sum() <= line["n_high"]
        (line,) = made.query("SELECT COUNT(*) AS n FROM release WHERE town < 'town 08'")
        held["few"] += line["n_low"] <= (towns < 8).sum() <= line["n_high"]
    assert held["one"] / 1200 > 0.92
    assert held["few"] / 40 > 0.75


@pytest.mark.slow
def test_the_likelihood_is_that_of_iterative_bayes(release: scumble.Release) -> None:
    """Never negative, of the same total, and the maximum that the plain iteration finds."""
    answer = release.query("SELECT town, COUNT(*) AS n FROM release GROUP BY town", method="likelihood")
    channel = release.manifest.channels["town"]
    y = np.bincount(release.table().column("town").to_numpy(), minlength=channel.codes)
    again = plain(y, [channel], gap=1e-3).counts
    assert answer["n"].value.min() >= 0
    assert answer["n"].value.sum() == pytest.approx(ROWS)
    assert np.abs(answer["n"].value - again).max() < 15
    assert np.all((answer["n"].low <= answer["n"].value) & (answer["n"].value <= answer["n"].high))


def test_the_readme_computes_what_scumble_does(people: pa.Table, tmp_path: Path) -> None:
    """Its statement joins the weights of its example, in DuckDB alone."""
    made = publish_openly(
        people, tmp_path / "r", mechanism="design", sensitive="town", domains={"town": TOWNS}, gamma=3, seed=4
    )
    text = (tmp_path / "r" / "README.md").read_text(encoding="utf-8")
    sql = re.search(r"```sql\n(.*?)```", text, re.DOTALL)
    assert sql is not None
    statement = sql[1].replace("'data.parquet'", f"'{tmp_path}/r/data.parquet'")
    ((estimate, error),) = duckdb.sql(statement).fetchall()
    (line,) = made.query("SELECT COUNT(*) AS n FROM release WHERE town = 'town 00'")
    assert (estimate, error) == pytest.approx((line["n"], line["n_se"]), rel=1e-9)


def test_columns_share_gamma_exactly(release: scumble.Release) -> None:
    """Each gets its root, rounded toward more privacy; their product is what is promised, as a fraction."""
    factors = [record.coins(record.size).amplification for c in release.manifest.columns for record in c.records]
    assert len(factors) == 2
    assert all(Fraction(3) * (1 - Fraction(1, 10**5)) < factor <= 3 for factor in factors)
    (guarantee,) = terms_of(release.manifest).guarantees
    assert guarantee.parameters["gamma"] == pytest.approx(float(factors[0] * factors[1]), rel=1e-12)


def test_a_release_is_sound_and_its_attacks_find_nothing(people: pa.Table, tmp_path: Path) -> None:
    release = publish_openly(
        people, tmp_path / "r", mechanism="design", sensitive=["town", "pay"], domains=DOMAINS, gamma=9
    )
    assert all(check.passed for check in verify(release))
    assert all(finding.passed for finding in audit(tmp_path / "r", people))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"offsets": lambda old: [*old[:-1], old[-1] + 1]}, "no difference set"),
        ({"offsets": lambda old: old[:-1]}, "another set than its field"),
        ({"order": lambda old: 2}, "another set than its field"),
        ({"size": lambda old: old - 1}, "as many values as its domain"),
        ({"inside": lambda old: old * 1000}, "more words than a coin has"),
    ],
)
def test_a_changed_design_is_refused(changes: dict[str, Any], words: str, release: scumble.Release) -> None:
    column = release.manifest.columns[2]
    record = column.records[0]
    assert isinstance(record, DesignRecord)
    update = {name: change(getattr(record, name)) for name, change in changes.items()}
    other = column.model_copy(update={"channel": record.model_copy(update=update)})
    columns = [other if c is column else c for c in release.manifest.columns]
    with pytest.raises(ReleaseError, match=words):
        terms_of(forged(release, columns=columns).manifest)


def test_a_gamma_that_does_not_follow_shows(release: scumble.Release) -> None:
    """Gamma is derived from the words of the coins: with others, the claim of the manifest is not what follows."""
    column = release.manifest.columns[2]
    record = column.records[0]
    assert isinstance(record, DesignRecord)
    other = column.model_copy(update={"channel": record.model_copy(update={"outside": record.outside - 1000})})
    manifest = forged(release, columns=[other if c is column else c for c in release.manifest.columns]).manifest
    assert "and gamma =" in compared(manifest, terms_of(manifest)).problems[0]


def test_few_values_are_published_as_by_uniform(people: pa.Table) -> None:
    """And the publisher is told."""
    with pytest.warns(UserWarning, match="no design is more exact for 'sex'"):
        made = publish_openly(people, mechanism="design", sensitive="sex", domains={"sex": ["F", "M"]}, gamma=3)
    record = made.manifest.column("sex")
    assert record is not None
    assert record.records[0].coded is None
    assert made.manifest.mechanism == "uniform"
    assert set(made.table().column("sex").to_pylist()) <= {"F", "M"}
    assert all(check.passed for check in verify(made))


def test_show_says_what_a_code_stands_for(release: scumble.Release) -> None:
    design = release.manifest.channels["town"]
    assert isinstance(design, Design)
    listed = ", ".join(TOWNS[i] for i in design.block(0)[:4])
    assert "town, published code: the values that it stands for" in str(release)
    assert f"0: {listed}" in str(release)


def test_a_tree_learns_from_codes() -> None:
    """Whether a town is one of ten decides: a tree over 40 towns that were published as codes finds it."""
    from scumble.learn import ReleaseTreeClassifier

    draw = np.random.default_rng(1)
    town = draw.integers(0, 40, 20000)
    table = pa.table({"town": [f"t{i:02d}" for i in town], "rich": np.where(town % 4 == 0, "yes", "no")})
    names = [f"t{i:02d}" for i in range(40)]
    made = publish_openly(table, mechanism="design", sensitive="town", domains={"town": names}, gamma=6, seed=3)
    tree = ReleaseTreeClassifier(max_depth=1).fit(made, target="rich", features=["town"])
    assert tree.score(table) > 0.95


def test_a_key_gives_the_same_codes_again(people: pa.Table) -> None:
    with_id = people.append_column("id", pa.array(range(ROWS)))
    how: dict[str, Any] = {"mechanism": "design", "sensitive": "town", "domains": {"town": TOWNS}, "gamma": 3}
    one, two, other = (
        publish_openly(with_id, **how, key=key, id="id") for key in (bytes(32), bytes(32), bytes(range(32)))
    )
    rows = [sorted(map(str, each.table().to_pylist())) for each in (one, two, other)]
    assert rows[0] == rows[1] != rows[2]
    assert one.manifest.randomness.keyed


def test_a_plan_foresees_the_standard_error(people: pa.Table, release: scumble.Release) -> None:
    sql = "SELECT COUNT(*) AS n FROM release WHERE town = 'town 03' AND pay < 12"
    forecast = plan_openly(people, [sql], mechanism="design", sensitive=["town", "pay"], domains=DOMAINS, gamma=9)
    (line,) = release.query(sql)
    ((_, answer),) = forecast.answers
    truth = sum(
        t == "town 03" and p < 12 for t, p in zip(*(people[c].to_pylist() for c in ("town", "pay")), strict=True)
    )
    assert answer["n"].value[0] == truth
    assert answer["n"].se[0] == pytest.approx(line["n_se"], rel=0.1)


@pytest.mark.parametrize("gamma", [1, 0.5])
def test_a_gamma_that_publishes_nothing_is_refused(gamma: float, people: pa.Table) -> None:
    with pytest.raises(ParameterError, match="gamma must be above 1"):
        publish_openly(people, mechanism="design", sensitive="town", domains={"town": TOWNS}, gamma=gamma)


def test_a_retention_is_no_target(people: pa.Table) -> None:
    with pytest.raises(ParameterError, match="chooses the retention"):
        publish_openly(people, mechanism="design", sensitive="town", domains={"town": TOWNS}, retain=0.5)
