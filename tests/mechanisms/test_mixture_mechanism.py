"""The mechanism mixture: numbers and days are published as codes of several kinds, and asked as what they are."""

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged import forged
from naming import plan_openly, publish_openly

import scumble
from scumble.core.errors import ParameterError, ReleaseError, SchemaError
from scumble.release.folder import same_text
from scumble.release.mixture_record import MixtureRecord
from scumble.release.terms import compared, terms_of
from scumble.release.verify import verify

ROWS = 3000
FIRST = date(1990, 1, 1)
DOMAINS: dict[str, Any] = {
    "pay": {"low": 0, "high": 99},
    "seen": {"low": "1990-01-01", "high": "1990-12-31"},
    "weight": {"low": "40", "high": "60", "step": "0.5", "missing": True},
}
ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult.parquet"


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw = np.random.default_rng(7)
    weight = 40 + draw.integers(0, 41, ROWS) / 2
    return pa.table(
        {
            "sex": draw.choice(["F", "M"], ROWS),
            "pay": draw.binomial(99, 0.3, ROWS),
            "seen": [FIRST + timedelta(days=int(day)) for day in draw.integers(0, 365, ROWS)],
            "weight": pa.array(weight, mask=draw.random(ROWS) < 0.2),
        }
    )


@pytest.fixture(scope="module")
def release(people: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> scumble.Release:
    out = tmp_path_factory.mktemp("mixture") / "r"
    return publish_openly(people, out, mechanism="mixture", sensitive=list(DOMAINS), domains=DOMAINS, gamma=27, seed=1)


PAYS = np.arange(100.0)
DAYS = np.arange(365)
WEIGHTS = np.append(np.arange(40, 60.5, 0.5), np.nan)


@pytest.mark.parametrize(
    ("sql", "functions"),
    [
        ("COUNT(*) AS n FROM release WHERE pay BETWEEN 20 AND 39", {"pay": (PAYS >= 20) & (PAYS < 40)}),
        ("COUNT(*) AS n FROM release WHERE pay = 30", {"pay": PAYS == 30}),
        ("SUM(pay) AS n FROM release", {"pay": PAYS}),
        ("SUM(pay) AS n FROM release WHERE seen < DATE '1990-04-01'", {"pay": PAYS, "seen": DAYS < 90}),
        ("COUNT(*) AS n FROM release WHERE seen >= DATE '1990-07-02'", {"seen": DAYS >= 182}),
        ("COUNT(*) AS n FROM release WHERE weight IS NULL", {"weight": np.isnan(WEIGHTS)}),
        ("SUM(weight) AS n FROM release WHERE weight >= 50", {"weight": np.where(WEIGHTS >= 50, WEIGHTS, 0)}),
        ("COUNT(weight) AS n FROM release WHERE pay < 50", {"weight": ~np.isnan(WEIGHTS), "pay": PAYS < 50}),
    ],
)
def test_an_answer_is_the_sum_of_weights(sql: str, functions: dict[str, Any], release: scumble.Release) -> None:
    """Of functions of the values that the matrix of the channel undoes; and its variance that of the formula."""
    w, square = np.ones(ROWS), np.ones(ROWS)
    for name, h in functions.items():
        channel, h = release.manifest.channels[name], np.asarray(h, float)
        codes = release.table().column(name).to_numpy()
        np.testing.assert_allclose(channel.matrix().T @ channel.weights(h), h, atol=1e-8)
        w, square = w * channel.weights(h)[codes], square * channel.weights(h**2)[codes]
    (line,) = release.query(f"SELECT {sql}")
    assert line["n"] == pytest.approx(w.sum(), rel=1e-8)
    assert line["n_se"] == pytest.approx(np.sqrt((w**2 - square).sum()), rel=1e-6)


def test_groups_add_up_and_a_function_of_days_is_one_of_values(release: scumble.Release) -> None:
    months = release.query("SELECT MONTH(seen) AS month, COUNT(*) AS n FROM release GROUP BY month")
    assert [line["month"] for line in months] == list(range(1, 13))
    assert months["n"].value.sum() == pytest.approx(ROWS)
    (line,) = release.query("SELECT MEDIAN(pay) AS m, COUNT(seen) AS k FROM release")
    assert line["m_low"] <= 30 <= line["m_high"]
    assert (line["k"], line["k_se"]) == (ROWS, 0)


@pytest.mark.slow
def test_intervals_hold_the_truth(people: pa.Table) -> None:
    """60 publications of 8 answers: at least 420 of 480 hold, where 456 are expected (5 standard errors of independent ones are 24; those of one release depend on each other)."""
    table, pays = people.select(["sex", "pay"]), np.asarray(people["pay"])
    women = np.array(people["sex"].to_pylist()) == "F"
    held = 0
    for seed in range(60):
        made = publish_openly(
            table, mechanism="mixture", sensitive="pay", domains={"pay": DOMAINS["pay"]}, gamma=3, seed=seed
        )
        parts = made.query("SELECT pay // 20 AS part, COUNT(*) AS n FROM release GROUP BY part")
        held += sum(line["n_low"] <= (pays // 20 == line["part"]).sum() <= line["n_high"] for line in parts)
        for where, rows in (("", women | True), (" WHERE sex = 'F'", women)):
            (line,) = made.query(f"SELECT AVG(pay) AS a FROM release{where}")
            held += line["a_low"] <= pays[rows].mean() <= line["a_high"]
        (line,) = made.query("SELECT COUNT(*) AS n FROM release WHERE pay = 30")
        held += line["n_low"] <= (pays == 30).sum() <= line["n_high"]
    assert held >= 420


@pytest.mark.slow
@pytest.mark.skipif(not ADULT.exists(), reason="the table of Adult is not here")
@pytest.mark.parametrize(
    ("asked", "average", "count"),
    [(["sum"], 0.6, 3000), (["range"], 1.2, 1100), (["sum", "range", "point"], 0.95, 1550)],
)
def test_ages_of_adult_are_as_exact_as_stated(asked: list[str], average: float, count: float) -> None:
    """Ages 17 to 90 at gamma = 3: the average of women, and those from 30 to 49, where uniform replacement has 6.4 and 5,000."""
    table = pq.read_table(ADULT, columns=["age", "sex"])
    how: dict[str, Any] = {"mechanism": "mixture", "settings": {"asked": asked}, "gamma": 3, "seed": 1}
    made = publish_openly(table, sensitive="age", domains={"age": {"low": 17, "high": 90}}, **how)
    (women,) = made.query("SELECT AVG(age) AS a FROM release WHERE sex = 'Female'")
    (some,) = made.query("SELECT COUNT(*) AS n FROM release WHERE age BETWEEN 30 AND 49")
    assert women["a_se"] <= average
    assert some["n_se"] <= count
    assert abs(women["a"] - 36.858) < 5 * average


def test_the_readme_computes_what_scumble_does(people: pa.Table, tmp_path: Path) -> None:
    """Both of its statements, in DuckDB alone: a count, and a sum."""
    made = publish_openly(
        people.select(["sex", "pay"]),
        tmp_path / "r",
        mechanism="mixture",
        sensitive="pay",
        domains={"pay": DOMAINS["pay"]},
        gamma=3,
    )
    text = (tmp_path / "r" / "README.md").read_text(encoding="utf-8")
    count, total = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    for statement, sql in ((count, "COUNT(*) AS n FROM release WHERE pay < 50"), (total, "SUM(pay) AS n FROM release")):
        ((estimate, error),) = duckdb.sql(
            statement.replace("'data.parquet'", f"'{tmp_path}/r/data.parquet'")
        ).fetchall()
        (line,) = made.query(f"SELECT {sql}")
        assert (estimate, error) == pytest.approx((line["n"], line["n_se"]), rel=1e-8)


def test_a_readme_may_differ_by_the_last_digits_of_weights_alone() -> None:
    made = b"sum 1.0e0, (0, 0.944496089849839e0), (1, -12.5e-3)"
    assert same_text(made.replace(b"0.944496089849839e0", b"0.944496089849841e0"), made)
    assert not same_text(made.replace(b"0.944496089849839e0", b"0.944596089849839e0"), made)
    assert not same_text(made.replace(b"sum", b"Sum"), made)
    assert not same_text(made + b" 1.0e0", made)


def changed(release: scumble.Release, **changes: Any) -> scumble.Release:
    """With another record of the channel of `pay`."""
    column = release.manifest.column("pay")
    assert column is not None
    record = column.records[0]
    assert isinstance(record, MixtureRecord)
    update = {name: change(getattr(record, name)) for name, change in changes.items()}
    other = column.model_copy(update={"channel": record.model_copy(update=update)})
    return forged(release, columns=[other if c is column else c for c in release.manifest.columns])


def part_with(kind: str, **fields: Any) -> Any:
    """The first part of a kind with other fields; of a level one that is a difference set."""

    def change(parts: list[Any]) -> list[Any]:
        place = next(i for i, p in enumerate(parts) if p.kind == kind and getattr(p, "order", 1) != 0)
        return [*parts[:place], parts[place].model_copy(update=fields), *parts[place + 1 :]]

    return change


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"size": lambda old: old - 1}, "as many values as its domain"),
        ({"inside": lambda old: old * 1000}, "more words than a coin has"),
        ({"parts": lambda old: [p for p in old if p.kind == "window"]}, "intervals within intervals"),
        ({"parts": part_with("level", offsets=[0, 1, 2])}, "not as large as its field"),
        ({"parts": part_with("level", order=6)}, "not that of its field"),
        ({"parts": part_with("window", steps=200)}, "too many"),
    ],
)
def test_a_changed_mixture_is_refused(changes: dict[str, Any], words: str, release: scumble.Release) -> None:
    with pytest.raises(ReleaseError, match=words):
        terms_of(changed(release, **changes).manifest)


def test_a_gamma_that_does_not_follow_shows(release: scumble.Release) -> None:
    manifest = changed(release, outside=lambda old: old - old // 10).manifest
    assert "and gamma =" in compared(manifest, terms_of(manifest)).problems[0]


def test_shares_of_parts_that_the_rows_contradict_show(people: pa.Table) -> None:
    """Which part a row has does not depend on its value: published counts tell it, and a manifest with other ticks fails."""
    made = publish_openly(
        people.select(["sex", "pay"]),
        mechanism="mixture",
        sensitive="pay",
        domains={"pay": DOMAINS["pay"]},
        gamma=3,
    )
    sound = next(check for check in verify(made) if check.name == "channel of pay")
    assert sound.passed
    record = made.manifest.columns[[c.name for c in made.manifest.columns].index("pay")].records[0]
    assert isinstance(record, MixtureRecord)
    other = changed(made, parts=part_with("window", ticks=record.parts[0].ticks // 2))
    assert not next(check for check in verify(other) if check.name == "channel of pay").passed


def test_a_list_of_values_has_a_design(people: pa.Table) -> None:
    how: dict[str, Any] = {"mechanism": "mixture", "sensitive": ["pay", "sex"], "gamma": 9}
    with pytest.warns(UserWarning, match="'sex' is a list of values"):
        made = publish_openly(people.select(["pay", "sex"]), domains={"pay": DOMAINS["pay"], "sex": ["F", "M"]}, **how)
    assert made.manifest.mechanism == "mixture"
    (line,) = made.query("SELECT AVG(pay) AS a FROM release WHERE sex = 'F'")
    women = np.asarray(people["pay"])[np.array(people["sex"].to_pylist()) == "F"]
    assert abs(line["a"] - women.mean()) < 6 * line["a_se"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"sensitive": "sex", "domains": {"sex": ["F", "M"]}}, "is for numbers and days"),
        ({"settings": {"asked": ["sums"]}}, "asked.0 cannot be 'sums'; did you mean 'sum'"),
        ({"settings": {"asked": []}}, "asked is empty"),
        ({"settings": {"asked": {"paid": ["sum"]}}}, "asked names 'paid', which is no sensitive column"),
        ({"gamma": 1}, "gamma must be above 1"),
        ({"domains": {"pay": {"low": 0, "high": 9_000_000}}}, "up to 4,000,000 numbers"),
    ],
)
def test_what_is_no_mixture_is_refused(how: dict[str, Any], words: str, people: pa.Table) -> None:
    given = {"sensitive": "pay", "domains": {"pay": DOMAINS["pay"]}, "gamma": 3} | how
    with pytest.raises((ParameterError, SchemaError), match=words):
        publish_openly(people.select(["sex", "pay"]), mechanism="mixture", **given)


def test_one_word_is_a_list_of_one(people: pa.Table) -> None:
    how: dict[str, Any] = {"mechanism": "mixture", "sensitive": "pay", "domains": {"pay": DOMAINS["pay"]}, "gamma": 3}
    one, same, other = (
        publish_openly(people.select(["sex", "pay"]), settings={"asked": asked}, **how)
        for asked in ("sum", {"pay": ["sum"]}, "range")
    )
    assert one.manifest.channels["pay"] == same.manifest.channels["pay"] != other.manifest.channels["pay"]


def test_a_plan_foresees_the_standard_error(people: pa.Table, release: scumble.Release) -> None:
    sql = "SELECT AVG(pay) AS a FROM release"
    forecast = plan_openly(people, [sql], mechanism="mixture", sensitive=list(DOMAINS), domains=DOMAINS, gamma=27)
    (line,) = release.query(sql)
    ((_, answer),) = forecast.answers
    assert answer["a"].value[0] == pytest.approx(np.asarray(people["pay"]).mean())
    assert answer["a"].se[0] == pytest.approx(line["a_se"], rel=0.1)


def test_a_report_has_ranges_of_days(release: scumble.Release, tmp_path: Path) -> None:
    """And no line for each of 365; of codes nothing is shown as published, because they are no days."""
    page = scumble.report(release, tmp_path / "report.html").read_text(encoding="utf-8")
    starts = [match[1] for match in re.finditer(r"(1990-\d\d-\d\d) to 1990-\d\d-\d\d", page)]
    assert "1990-01-01" in starts
    assert "1990-01-02" not in starts
    assert "as published, before correction" not in page


def test_show_says_what_codes_stand_for(release: scumble.Release) -> None:
    shown = str(release)
    assert "pay, published code: the values that it stands for" in shown
    assert re.search(r"0 to \d+ \(\d+\.\d% of the rows\): \d+ neighbours of \d+ knots", shown)
