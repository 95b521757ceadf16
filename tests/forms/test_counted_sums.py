"""SUM, AVG and COUNT(x) of counted tuples: against tuple-by-tuple arithmetic, and bounds against all that suppressed rows could be."""

import datetime
from collections import Counter
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

from scumble.core.errors import NotEstimable, QueryError
from scumble.forms.tuples.linear import quantile, weighted_quantile
from scumble.forms.tuples.record import TuplesRecord
from scumble.release.release import Release, open_release

pytestmark = pytest.mark.slow

ASKED = "SELECT g, COUNT(*) AS n, COUNT(x) AS c, SUM(x) AS s, AVG(x) AS a FROM release GROUP BY g ORDER BY g"


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """Values of both signs, some missing; some tuples are rare."""
    draw = np.random.default_rng(5)
    x = draw.choice([-7, -1, 0, 2, 30], 6000, p=[0.1, 0.3, 0.3, 0.298, 0.002])
    return pa.table({"g": draw.choice(["a", "b", "c"], 6000), "x": pa.array(x, mask=draw.random(6000) < 0.2)})


def noisy(table: pa.Table, seed: int = 1, **changes: Any) -> Release:
    given = {"mechanism": "noisy_counts", "epsilon": 1, "settings": {"k": 10, "delta": 1e-5}, "seed": seed}
    return publish_openly(table, **{**given, **changes})


def exactly(table: pa.Table, k: int = 3, **changes: Any) -> Release:
    return publish_openly(table, mechanism="k_dgs", settings={"k": k, **changes.pop("settings", {})}, seed=1, **changes)


def by_hand(release: Release, floor: int, r: float) -> dict[str, list[tuple[Any, float, float]]]:
    """For each g its tuples: x, the rows that it stands for, and their variance."""
    published = release.table()
    counts = Counter(zip(published["g"].to_pylist(), published["x"].to_pylist(), strict=True))
    found: dict[str, list[tuple[Any, float, float]]] = {}
    for (g, x), n in counts.items():
        e, s = (n, 2 * r / (1 - r) ** 2) if n > floor else (floor - r / (1 - r), r / (1 - r) ** 2)
        found.setdefault(g, []).append((x, e, s))
    return found


def test_values_and_errors_are_those_of_the_tuples(rows: pa.Table) -> None:
    release = noisy(rows)
    tuples = by_hand(release, 10, np.exp(-0.5))
    for row in release.query(ASKED).to_list():
        own = tuples[row["g"]]
        some = [(x, e, s) for x, e, s in own if x is not None]
        count, total = sum(e for _, e, _ in some), sum(x * e for x, e, _ in some)
        assert row["n"] == pytest.approx(sum(e for _, e, _ in own))
        assert row["c"] == pytest.approx(count)
        assert row["c_se"] == pytest.approx(np.sqrt(sum(s for *_, s in some)))
        assert row["s"] == pytest.approx(total)
        assert row["s_se"] == pytest.approx(np.sqrt(sum(x * x * s for x, _, s in some)))
        average = total / count
        assert row["a"] == pytest.approx(average)
        assert row["a_se"] == pytest.approx(np.sqrt(sum((x - average) ** 2 * s for x, _, s in some)) / count)
        assert row["s_low"] < row["s"] < row["s_high"]
        assert row["a_low"] < row["a"] < row["a_high"]


def test_sums_of_one_sign_end_where_every_tuple_has_k_rows() -> None:
    """Counts of 12 and much noise: a sum of ones is 10 at least for each tuple, and its mirror image has the mirrored interval."""
    draw = np.random.default_rng(3)
    table = pa.table({"g": np.repeat(np.arange(40), 12), "x": np.repeat(draw.integers(1, 9, 40), 12)})
    release = noisy(table, epsilon=0.6, settings={"k": 10, "delta": 0.4})
    asked = "SELECT g, SUM(x) AS s, SUM(-x) AS t, COUNT(*) AS n FROM release GROUP BY g"
    rows, values = (
        release.query(asked, level=0.99).to_list(),
        dict(zip(*(table[n].to_pylist() for n in "gx"), strict=True)),
    )
    assert len(rows) > 10
    for row in rows:
        assert row["s_low"] >= 10 * values[row["g"]]
        assert (row["t_low"], row["t"], row["t_high"]) == pytest.approx((-row["s_high"], -row["s"], -row["s_low"]))
    assert any(row["s_low"] == 10 * values[row["g"]] for row in rows)


def test_an_average_ends_where_fieller_says(rows: pa.Table) -> None:
    """At both ends R the rest, the sum of (x - R) e, is z times its own standard deviation."""
    release = noisy(rows)
    tuples = by_hand(release, 10, np.exp(-0.5))
    for row in release.query(ASKED).to_list():
        some = [(x, e, s) for x, e, s in tuples[row["g"]] if x is not None]
        weights = np.array([x - row["a"] for x, _, _ in some])
        alike = (weights**2).sum() ** 2 / (weights**4).sum()
        z = weighted_quantile(0.5, int(alike), 0.95, even=False)
        for end in (row["a_low"], row["a_high"]):
            rest = sum((x - end) * e for x, e, _ in some)
            assert abs(rest) == pytest.approx(z * np.sqrt(sum((x - end) ** 2 * s for x, _, s in some)), rel=1e-6)


def test_values_far_from_zero_lose_nothing() -> None:
    """Two billion seconds apart from 0, a second or two from each other: errors are those of the same table at 0."""
    draw = np.random.default_rng(2)
    near = pa.table({"x": draw.integers(0, 5, 4000)})
    far = pa.table({"x": pa.array(near["x"].to_numpy() + 2_000_000_000)})
    one, other = (noisy(table).query("SELECT AVG(x) AS a FROM release")["a"] for table in (near, far))
    assert other.value - 2e9 == pytest.approx(one.value, abs=1e-5)
    assert other.se == pytest.approx(one.se, rel=1e-3)
    assert other.high - other.low == pytest.approx(one.high - one.low, rel=1e-3)


def test_every_tuple_of_a_declared_domain_counts(rows: pa.Table) -> None:
    """Under the full matrix a tuple that is not published stands for -r/(1-r) rows, and for as much of its value."""
    table = pa.table({"g": rows["g"], "x": rows["x"].fill_null(0)})
    domains = {"g": ["a", "b", "c", "d"], "x": {"low": -10, "high": 40}}
    release = noisy(table, sensitive=["g", "x"], domains=domains, settings={"matrix": "full"})
    r = np.exp(-1)
    counts = Counter(zip(*(release.table()[n].to_pylist() for n in ("g", "x")), strict=True))
    for row in release.query("SELECT g, SUM(x) AS s FROM release GROUP BY g").to_list():
        own = [(x, counts.get((row["g"], x), 0)) for x in range(-10, 41)]
        assert row["s"] == pytest.approx(sum(x * (n or -r / (1 - r)) for x, n in own))
        variance = sum(x * x * (2 if n else 1) * r / (1 - r) ** 2 for x, n in own)
        assert row["s_se"] == pytest.approx(np.sqrt(variance))


def test_patterns_of_transactions_have_one_noise_each() -> None:
    """Two items of each pattern: a sum of stars has the noise of the pattern times both."""
    users = np.repeat(np.arange(3000), 2)
    table = pa.table(
        {
            "who": users,
            "item": np.tile([1, 2], 3000),
            "stars": np.stack([users[::2] % 3, users[::2] % 2 + 3], 1).ravel(),
        }
    )
    settings = {"k": 10, "delta": 1e-5, "schema": [[1, 2]], "user": "who", "item": "item", "value": "stars"}
    release = publish_openly(table, mechanism="columnized", epsilon=1, drop="who", settings=settings, seed=1)
    published = release.table("column-01").to_pydict()
    sums: Counter[int] = Counter()
    copies: dict[int, set[int]] = {}
    for pattern, who, stars in zip(published["pattern"], published["who"], published["stars"], strict=True):
        sums[pattern] += stars
        copies.setdefault(pattern, set()).add(who)
    one = 2 * np.exp(-0.5) / (1 - np.exp(-0.5)) ** 2
    found = release.query("SELECT SUM(stars) AS s, COUNT(*) AS n, AVG(stars) AS a FROM release")
    weights = {p: sums[p] / len(copies[p]) for p in copies}
    assert found["s"].value[0] == sum(sums.values())
    assert found["s"].se[0] == pytest.approx(np.sqrt(one * sum(w * w for w in weights.values())))
    assert found["n"].se[0] == pytest.approx(np.sqrt(one * 4 * len(weights)))
    assert found["a"].value[0] == pytest.approx(sum(sums.values()) / found["n"].value[0])
    renamed = table.rename_columns(["who", "id", "g0"])
    settings |= {"item": "id", "value": "g0"}
    other = publish_openly(renamed, mechanism="columnized", epsilon=1, drop="who", settings=settings, seed=1)
    again = other.query("SELECT SUM(g0) AS s, COUNT(*) AS n FROM release")
    assert (again["s"].se[0], again["n"].se[0]) == pytest.approx((found["s"].se[0], found["n"].se[0]))


SMALL = {"g": ["a"] * 9 + ["b"] * 7 + ["a", "b", "b"], "x": [1] * 4 + [3] * 5 + [-2] * 7 + [4, 1, 1]}
GRID = {"low": -2, "high": 4}


@pytest.mark.parametrize("where", ["", "WHERE x > 0", "WHERE x > 0 AND g = 'a'", "WHERE x < 2 OR g = 'a'"])
def test_bounds_are_reached_by_what_suppressed_rows_could_be(where: str) -> None:
    """All 3 suppressed rows may be any of the 14 tuples: the least and the most over all of these are the bounds."""
    table = pa.table(SMALL)
    release = exactly(table, sensitive=["g", "x"], domains={"g": ["a", "b"], "x": GRID}, settings={"total": len(table)})
    published = list(zip(*(release.table()[n].to_pylist() for n in ("g", "x")), strict=True))
    assert len(published) == len(table) - 3
    matches = {
        "": lambda g, x: True,
        "WHERE x > 0": lambda g, x: x > 0,
        "WHERE x > 0 AND g = 'a'": lambda g, x: x > 0 and g == "a",
        "WHERE x < 2 OR g = 'a'": lambda g, x: x < 2 or g == "a",
    }[where]
    sums, averages, counts = [], [], []
    for more in product(product("ab", range(-2, 5)), repeat=3):
        own = [x for g, x in [*published, *more] if matches(g, x)]
        sums.append(sum(own))
        averages.append(np.mean(own))
        counts.append(len(own))
    (row,) = release.query(f"SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM release {where}").to_list()
    assert (row["n_high"], row["n_bound"]) == (max(counts), max(counts))
    assert row["n_low"] == len([1 for g, x in published if matches(g, x)]) <= min(counts)
    assert (row["s_low"], row["s_high"]) == (row["s_least"], row["s_bound"]) == pytest.approx((min(sums), max(sums)))
    assert (row["a_low"], row["a_high"]) == (row["a_least"], row["a_bound"])
    assert (row["a_low"], row["a_high"]) == pytest.approx((min(averages), max(averages)))


def test_shares_have_bounds_without_a_declared_domain() -> None:
    """A CASE among constants, or a truth value, lies between them."""
    release = exactly(pa.table(SMALL), settings={"total": 19})
    asked = "SELECT AVG(CASE WHEN x > 0 THEN 1 ELSE 0 END) AS a, AVG((x > 0)::INT) AS b, SUM(CAST(x > 0 AS INT)) AS s, SUM(2) AS two FROM release"
    (row,) = release.query(asked).to_list()
    assert (row["a_least"], row["a_bound"]) == (row["b_least"], row["b_bound"]) == pytest.approx((9 / 19, 12 / 19))
    assert (row["s_least"], row["s_bound"]) == (9, 12)
    assert (row["two_least"], row["two_bound"]) == (32, 38)


def test_a_case_that_is_cast_lies_between_what_its_numbers_are_cast_to() -> None:
    """2.5 as a whole number is 3, and -5 as a truth value is true; all three tuples that are rare here match."""
    table = pa.table({"g": ["a"] * 20 + ["b"] * 20 + ["c", "d", "e"], "x": [0] * 43})
    release = exactly(table, settings={"total": 43})
    whole = "CAST(CASE WHEN g <> 'a' THEN 2.5 ELSE 0.4 END AS INT)"
    truth = "CASE WHEN g <> 'a' THEN -5 ELSE 0 END::BOOLEAN"
    asked = f"SELECT SUM({whole}) AS s, AVG({whole}) AS a, SUM({truth}) AS t, AVG(CAST({whole} AS DOUBLE)) AS d FROM release"
    (row,) = release.query(asked).to_list()
    assert (row["s"], row["s_least"], row["s_bound"]) == (60, 60, 69)
    assert (row["t"], row["t_least"], row["t_bound"]) == (20, 20, 23)
    for name in "ad":
        assert [row[name + end] for end in ("", "_least", "_bound")] == pytest.approx([60 / 40, 60 / 43, 69 / 43])


def test_expressions_of_several_columns_have_the_bounds_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 rows are suppressed: x - y is at most 4 - 1 in each of them, and where x < 2 it is at most 1 - 1."""
    table = pa.table({"x": SMALL["x"], "y": [1] * 16 + [2, 2, 3]})
    domains = {"x": GRID, "y": {"low": 1, "high": 3}}
    release = exactly(table, sensitive=["x", "y"], domains=domains, settings={"total": 19})
    assert len(release.table()) == 16
    whole, part = (f"SELECT SUM(x - y) AS s FROM release {where}" for where in ("", "WHERE x < 2 AND y < 3"))
    (row,) = release.query(whole).to_list()
    assert (row["s"], row["s_least"], row["s_bound"]) == (-11, -11 - 3 * 5, -11 + 3 * 3)
    (row,) = release.query(part).to_list()
    assert (row["s"], row["s_least"], row["s_bound"]) == (-21, -21 - 3 * 4, -21)
    monkeypatch.setattr("scumble.forms.tuples.values.MOST_PAIRS", 20)
    assert "too many values to try; ask for each column by itself" in release.query(whole).notes[-1]


def test_what_is_not_known_is_unbounded_and_said() -> None:
    """Without total, or without declared values, k-DGS answers exactly for what was published and has no ends."""
    asked = "SELECT SUM(x) AS s, AVG(x) AS a FROM release"
    neither, total = (
        exactly(pa.table(SMALL)).query(asked),
        exactly(pa.table(SMALL), settings={"total": 19}).query(asked),
    )
    for answer in (neither, total):
        (row,) = answer.to_list()
        assert (row["s"], row["a"]) == (5, pytest.approx(5 / 16))
        assert row["s_low"] is row["s_high"] is row["a_low"] is row["a_high"] is None
    assert "did not declare which values 'x' can have" in total.notes[-1]
    assert "nor how many rows there are" in neither.notes[-1]
    declared = (
        exactly(pa.table(SMALL), sensitive=["g", "x"], domains={"g": ["a", "b"], "x": GRID}).query(asked).to_list()[0]
    )
    assert (declared["a_low"], declared["a_high"]) == (-2, 4), "an average lies among the declared values"
    assert declared["s_low"] is declared["s_high"] is None


def test_nothing_suppressed_is_exact() -> None:
    table = pa.table({"x": [1] * 5 + [4] * 5})
    (row,) = exactly(table, settings={"total": 10}).query("SELECT SUM(x) AS s, AVG(x) AS a FROM release").to_list()
    assert (row["s_low"], row["s"], row["s_high"], row["s_se"]) == (25, 25, 25, 0)
    assert (row["a_low"], row["a"], row["a_high"], row["a_se"]) == (2.5, 2.5, 2.5, 0)


def test_domains_read_off_the_data_are_not_published(rows: pa.Table) -> None:
    """A domain that was declared is in the manifest, as numbers; one from the data would tell the extremes of the table."""
    table = pa.table({"g": rows["g"], "x": rows["x"].fill_null(0)})
    from_data = noisy(table, sensitive=["x"], domain_from_data=True).manifest.form
    declared = noisy(table, sensitive=["x"], domains={"x": {"low": -10, "high": 40}})
    assert isinstance(from_data, TuplesRecord)
    assert from_data.declared is None
    again = open_release(declared.path).manifest.form
    assert isinstance(again, TuplesRecord)
    assert again.declared is not None
    assert (again.declared["x"].low, again.declared["x"].high) == ("-10", "40")


def test_decimals_and_floats_are_summed() -> None:
    decimals = [Decimal("1.25"), Decimal("2.50")]
    domains = {"d": decimals, "f": {"low": 0, "high": 1, "step": 0.1}}
    table = pa.table({"d": decimals[:1] * 50, "f": [0.1] * 50})
    release = open_release(exactly(table, sensitive=["d", "f"], domains=domains).path)
    (row,) = release.query("SELECT SUM(d) AS d, AVG(f) AS f, SUM(d * f) AS both FROM release").to_list()
    assert (row["d"], row["f"], row["both"]) == pytest.approx((62.5, 0.1, 6.25))
    assert (row["f_low"], row["f_high"]) == pytest.approx((-0.05, 1.05))  # half a step beyond the grid may round to it
    assert row["d_low"] is row["both_low"] is None


def test_columns_of_a_schema_answer_for_their_own(rows: pa.Table) -> None:
    table = rows.append_column("y", pa.array(np.arange(6000) % 3))
    settings = {"k": 10, "delta": 1e-5, "schema": [["g", "x"], ["y"]]}
    release = publish_openly(table, mechanism="columnized", epsilon=2, settings=settings, seed=1)
    assert release.query("SELECT g, AVG(x) AS a FROM release GROUP BY g").notes[0] == "answered from column-01: g, x"
    assert abs(release.query("SELECT AVG(y) AS a FROM release")["a"].value[0] - 1) < 0.02
    with pytest.raises(NotEstimable, match="no column of the schema has all of g, y"):
        release.query("SELECT g, SUM(y) AS s FROM release GROUP BY g")


@pytest.mark.parametrize("names", [("id", "v"), ("g0", "s"), ("m0", "y0"), ("counted", "d0")])
def test_columns_may_have_any_name(names: tuple[str, str], rows: pa.Table) -> None:
    """Also the names that statements have for themselves: the answer is that of the same table with other names."""
    plain = noisy(rows).query(ASKED).to_list()
    g, x = names
    renamed = noisy(rows.rename_columns([g, x]))
    asked = f"SELECT {g} AS key, COUNT(*) AS n, COUNT({x}) AS c, SUM({x}) AS total, AVG({x}) AS a FROM release WHERE {x} < 99 OR {x} IS NULL GROUP BY {g} ORDER BY key"
    for row, other in zip(plain, renamed.query(asked).to_list(), strict=True):
        assert [other["key"], other["n"], other["c"], other["total"], other["a"]] == [
            row["g"],
            *(pytest.approx(row[n]) for n in ("n", "c", "s", "a")),
        ]
        errors = [row[n] for n in ("n_se", "s_se", "a_se")]
        assert [other["n_se"], other["total_se"], other["a_se"]] == pytest.approx(errors)


def test_order_and_limit_take_averages(rows: pa.Table) -> None:
    release = noisy(rows)
    whole = release.query("SELECT g, AVG(x) AS a FROM release GROUP BY g").to_list()
    (first,) = release.query("SELECT g, AVG(x) AS a FROM release GROUP BY g ORDER BY a DESC LIMIT 1").to_list()
    largest = max(whole, key=lambda row: row["a"])
    assert (first["g"], first["a"]) == (largest["g"], largest["a"])
    assert first["a_low"] < largest["a_low"] < largest["a_high"] < first["a_high"]  # it was chosen among all lines


def test_nothing_that_matches_is_no_average(rows: pa.Table) -> None:
    (row,) = noisy(rows).query("SELECT SUM(x) AS s, AVG(x) AS a FROM release WHERE x > 99").to_list()
    assert (row["s"], row["s_se"]) == (0, 0)
    assert row["a"] is row["a_se"] is row["a_low"] is row["a_high"] is None


def test_an_average_lies_among_the_values_of_its_tuples() -> None:
    """600 people in two tuples and noise of 400 on their number: Fieller has no ends here, and the two values are ends."""
    table, domains = pa.table({"x": [1] * 300 + [2] * 300}), {"x": [1, 2]}
    release = noisy(table, epsilon=0.005, sensitive=["x"], domains=domains, settings={"matrix": "full"})
    (row,) = release.query("SELECT AVG(x) AS a FROM release").to_list()
    assert (row["a_low"], row["a_high"]) == (1, 2)
    assert 1 <= row["a"] <= 2


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ("SUM(g)", r"SUM\(g\) needs numbers, and g is of type string"),
        ("AVG(d)", r"AVG\(d\) needs numbers, and d is of type date32"),
        (
            "SUM(f)",
            r"SUM\(f\) is not a number, because some published values are infinite or NaN; leave them out, WHERE isfinite\(f\)",
        ),
        ("COUNT(DISTINCT x)", "DISTINCT cannot be answered"),
        ("SUM(z)", "column 'z' is not in the release"),
        ("SUM(x) AS s, COUNT(*) AS s_least", "the answer has a column 's_least' of its own"),
        ("COUNT(*) AS n, SUM(x) AS n_bound", "the answer has a column 'n_bound' of its own"),
    ],
)
def test_bad_questions_are_refused_by_name(asked: str, match: str) -> None:
    table = pa.table(
        {"g": ["a"] * 9, "x": [1] * 9, "d": [datetime.date(2020, 1, 1)] * 9, "f": [1.0] * 6 + [float("nan")] * 3}
    )
    with pytest.raises(QueryError, match=match):
        exactly(table).query(f"SELECT {asked} FROM release")
    assert exactly(table).query("SELECT SUM(f) AS s FROM release WHERE isfinite(f)")["s"].value[0] == 6


def test_boxes_have_no_sums() -> None:
    table = pa.table({"x": np.arange(400) % 20})
    release = exactly(
        table, k=50, sensitive=["x"], domains={"x": {"low": 0, "high": 19}}, settings={"method": "midpoints"}
    )
    with pytest.raises(QueryError, match=r"SUM\(x\): a release of boxes has ranges such as '0..49'"):
        release.query("SELECT SUM(x) AS s FROM release")


def reached(weights: Any, rate: float, q: float) -> float:
    """Pr[|sum of w Z| <= q sd] for whole weights, by the characteristic function."""
    w, r = np.asarray(weights), np.exp(-rate)
    deviation = np.sqrt((w**2.0).sum() * 2 * r) / (1 - r)
    size = 1 << int(np.ceil(np.log2(24 * deviation + 60 * w.max() / rate)))
    angle = 2 * np.pi * np.fft.rfftfreq(size)
    logs = sum(
        n * np.log((1 - r) ** 2 / (1 - 2 * r * np.cos(angle * v) + r * r)) for v, n in Counter(w.tolist()).items()
    )
    mass = np.fft.irfft(np.exp(logs), size)
    return float(mass[0] + 2 * mass[1 : int(q * deviation + 1e-9) + 1].sum())


@pytest.mark.parametrize("rate", [0.05, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("share", [0.9, 0.95, 0.99])
def test_quantiles_of_unequal_weights_hold_their_share(rate: float, share: float) -> None:
    """Computed, not simulated: no less than half a percent of the share is lost, whatever the weights are like."""
    draw = np.random.default_rng(4)
    cases = [
        [49, 55, 3],
        [438, 11, 7, 5],
        [40] + [1] * 30,
        [50, 48] + [7] * 100,
        *(draw.integers(1, 60, m) for m in (2, 3, 5, 10, 40)),
    ]
    cases += [np.ceil(100 / np.arange(1, 30) ** power).astype(int) for power in (0.5, 1, 2)]
    for weights in cases:
        w = np.asarray(weights, np.float64)
        q = weighted_quantile(rate, int((w**2).sum() ** 2 / (w**4).sum()), share, even=False)
        assert reached(weights, rate, q) > share - 0.005 * share


def test_the_number_of_tuples_alone_would_not_do() -> None:
    """One of 201 tuples decides: at 99% the quantile of 201 reaches 97.9%, that of what they are worth reaches 99%."""
    weights = [1000] + [1] * 200
    assert reached(weights, 0.5, quantile(0.5, 201, 0.99)) < 0.98
    assert reached(weights, 0.5, weighted_quantile(0.5, 1, 0.99, even=False)) >= 0.99


def test_steps_are_taken_in_their_middles() -> None:
    """Ages in steps of 10: published tuples count 4.5 years above their lower ends, and the interval reaches to both ends of each step."""
    table = pa.table({"age": np.arange(4000) % 40})
    release = noisy(table, coarsen={"age": {"bins": 10}}, settings={"k": 10, "delta": 1e-5, "total": 4000})
    plain = release.table()["age"].to_numpy()
    answer = release.query("SELECT AVG(age) AS a FROM release")
    (row,) = answer.to_list()
    assert row["a"] == pytest.approx(plain.mean() + 4.5)
    assert row["a_low"] < plain.mean() < plain.mean() + 9 < row["a_high"]
    assert "which values 'age' can have" in answer.notes[-1]
    assert "CAST" not in "".join(answer.notes)


def test_bounds_hold_the_interval_also_where_noise_says_that_more_rows_were_published_than_there_are() -> None:
    """Nothing is suppressed of 12 frequent tuples; in half of the publications their noisy counts add up to more than the total."""
    table = pa.table({"x": np.repeat(np.arange(12), 400)})
    settings = {"k": 10, "delta": 1e-5, "total": 4800}
    more = 0
    for seed in range(12):
        release = noisy(table, seed, sensitive=["x"], domains={"x": {"low": 0, "high": 11}}, settings=settings)
        more += release.manifest.rows > 4800
        (row,) = release.query("SELECT SUM(x) AS s, AVG(x) AS a FROM release WHERE x < 8").to_list()
        for name in ("s", "a"):
            assert (
                row[f"{name}_least"] <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] <= row[f"{name}_bound"]
            )
    assert more > 2
