"""Sums and averages of columns published in steps: the middle is answered, and the interval holds whatever lies where in its step."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import plan_openly, publish_openly
from sqlglot import parse_one

import scumble
from scumble.evaluate import Workload, advise, measure
from scumble.query.middle import monotone
from scumble.spec.spec import Spec

HOW: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": ["a", "b", "c"]}, "retain": 0.5, "seed": 3}
COARSEN = {"age": {"bins": 10}, "cost": {"bins": 2.5}}


def people(place: float | None, rows: int = 3000) -> pa.Table:
    """Ages and costs that lie at a place in their step, 0 for the lower end and 1 for the upper one; anywhere where there is none."""
    draw = np.random.default_rng(1)
    age, cost = draw.integers(0, 90, rows), draw.random(rows) * 100
    if place is not None:
        age = age // 10 * 10 + round(9 * place)
        cost = np.floor(cost / 2.5) * 2.5 + 2.4999999 * place
    return pa.table(
        {
            "age": age,
            "cost": cost,
            "sex": draw.choice(["f", "m"], rows),
            "disease": draw.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1]),
        }
    )


def published(place: float | None = None, **how: Any) -> scumble.Release:
    return publish_openly(people(place), **(HOW | {"coarsen": COARSEN} | how))


@pytest.mark.parametrize("place", [0.0, 1.0, None])
def test_the_truth_lies_within_wherever_values_lie_in_their_steps(place: float | None) -> None:
    answer = published(place).query("SELECT AVG(age) AS a, SUM(cost) AS s, COUNT(*) AS n, COUNT(age) AS m FROM release")
    raw = people(place)
    true = {"a": np.mean(raw["age"].to_numpy()), "s": np.sum(raw["cost"].to_numpy())}
    for name, width in (("a", 9.0), ("s", 2.5 * 3000)):
        e = answer[name]
        assert e.low[0] - 1e-6 <= true[name] <= e.high[0] + 1e-6
        assert e.high[0] - e.low[0] == pytest.approx(width)
        assert e.value[0] == pytest.approx((e.low[0] + e.high[0]) / 2)
        assert e.se[0] == 0
        if place is not None:  # the bounds are no wider than they have to be
            assert true[name] == pytest.approx((e.low, e.high)[int(place)][0], rel=1e-6)
    assert answer["n"].exact
    assert answer["m"].exact
    assert answer["n"].value[0] == answer["m"].value[0] == 3000


@pytest.mark.slow
def test_an_estimate_has_the_interval_of_its_coins_and_that_of_its_steps() -> None:
    """The same rows with the same coins, published as lower ends that nobody calls steps, and as upper ends."""
    sql = "SELECT sex, AVG(age) AS a, SUM(age) AS s, COUNT(*) AS n FROM release WHERE disease = 'b' GROUP BY sex ORDER BY sex"
    told = published().query(sql)
    low, high = (publish_openly(people(place), **HOW).query(sql) for place in (0.0, 1.0))
    for name in ("a", "s"):
        np.testing.assert_allclose(told[name].low, low[name].low)
        np.testing.assert_allclose(told[name].high, high[name].high)
    np.testing.assert_allclose(told["a"].value, low["a"].value + 4.5)
    np.testing.assert_allclose(told["a"].se, low["a"].se)
    assert (told["s"].value > low["s"].value).all()
    np.testing.assert_array_equal(told["n"].high, low["n"].high)


@pytest.mark.slow
def test_notes_say_what_was_taken_and_what_the_interval_covers() -> None:
    answer = published().query("SELECT AVG(Age) AS a, SUM(cost) FROM release")
    age, cost = answer.notes
    assert age == (
        "age is published in steps of 10, 30 stands for 30 to 39: AVG(age) takes each value as the middle of its step, 4.5 above the lower end; "
        "the interval covers every place in it, 4.5 either way, which ± se does not count"
    )
    assert "SUM(cost) takes each value as the middle of its step, 1.25 above the lower end" in cost
    assert "1.25 a row either way" in cost
    (both,) = published().query("SELECT SUM(age) AS s, AVG(age) AS a, AVG(age) AS again FROM release").notes
    assert (
        "SUM(age) and AVG(age) take each value as the middle of its step, 4.5 above the lower end; the interval" in both
    )
    assert both.count("middle") == 1
    assert answer.columns == ["a", "sum_cost"]
    text = str(answer)
    assert "surely within" in text
    assert "exact" not in text
    assert "interval" not in text.split("note:")[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "slope"), [("2 * (age - 18)", 2), ("-age", -1), ("18 - age", -1), ("age / 10 + 1", 0.1), ("(age)", 1)]
)
def test_lines_of_a_column_are_bounded_too(value: str, slope: float) -> None:
    (e,) = published().query(f"SELECT AVG({value}) AS a FROM release").estimates
    truth = publish_openly(people(None), **HOW).query(f"SELECT AVG({value}) AS a FROM release")["a"].value[0]
    assert e.low[0] <= truth <= e.high[0]
    assert e.high[0] - e.low[0] == pytest.approx(9 * abs(slope))


@pytest.mark.slow
@pytest.mark.parametrize("value", ["age * age", "abs(age - 40)", "100 / (age + 1)", "age * cost"])
def test_of_what_is_no_line_the_lower_ends_are_answered_and_that_is_said(value: str) -> None:
    sql = f"SELECT SUM({value}) AS s FROM release"
    answer = published().query(sql)
    assert answer["s"].value == pytest.approx(publish_openly(people(0.0), **HOW).query(sql)["s"].value)
    assert "is of the lower ends" in " ".join(answer.notes)


@pytest.mark.slow
def test_lines_are_ordered_by_what_is_shown() -> None:
    """By lower ends the first group would come last: its many rows all lie in the lowest step."""
    table = pa.table({"age": [3] * 100 + [25] * 3, "sex": ["f"] * 100 + ["m"] * 3, "disease": ["a"] * 103})
    release = publish_openly(table, coarsen={"age": {"bins": 10}}, **HOW)
    for order in ("SUM(age)", "s", "2"):
        answer = release.query(f"SELECT sex, SUM(age) AS s FROM release GROUP BY sex ORDER BY {order} DESC LIMIT 1")
        assert answer.to_list() == [{"sex": "f", "s": 450.0, "s_se": 0.0, "s_low": 0.0, "s_high": 900.0}]


def test_missing_values_are_left_out_and_nothing_is_the_sum_of_nobody() -> None:
    table = pa.table({"age": [25, None, 38], "sex": ["f", "f", "m"], "disease": ["a"] * 3})
    release = publish_openly(table, coarsen={"age": {"bins": 10}}, **HOW)
    (e,) = release.query("SELECT SUM(age) AS s FROM release WHERE sex = 'f'").estimates
    assert (e.value[0], e.low[0], e.high[0]) == (24.5, 20, 29)
    (e,) = release.query("SELECT SUM(age) AS s FROM release WHERE sex = 'x'").estimates
    assert np.isnan([e.value[0], e.low[0], e.high[0]]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "method"), [("sps", "unbiased"), ("uniform", "likelihood"), ("partitioned", "unbiased")]
)
def test_every_estimator_takes_them_in_the_middle(mechanism: str, method: str) -> None:
    how = {"retain": None, "rho1": 0.6, "rho2": 0.9} if mechanism == "partitioned" else {}
    release = published(mechanism=mechanism, **how)
    (e,) = release.query("SELECT AVG(age) AS a FROM release WHERE disease = 'a'", method=method).estimates
    raw = people(None)
    truth = raw.filter(pa.compute.equal(raw["disease"], "a"))["age"].to_numpy().mean()
    assert e.low[0] < truth < e.high[0]
    assert e.high[0] - e.low[0] > 9


def test_the_truth_that_answers_are_measured_by_is_taken_alike() -> None:
    """Of public columns alone, an answer and its truth are the same."""
    release = published()
    found = measure(
        release, people(None), Workload.sql(["SELECT sex, SUM(age) AS s, AVG(cost) AS c FROM release GROUP BY sex"])
    )
    assert len(found.lines) == 4
    for line in found.lines:
        assert line.value == pytest.approx(line.truth)


@pytest.mark.slow
def test_advice_foresees_the_error_of_a_sum_over_steps() -> None:
    """100 fresh publications, 2 lines: measured / foreseen has a standard deviation of 1 / sqrt(2 * 100 * 2) = 0.05, so that a sound
    promise is off by a quarter with a probability below 1e-6; the sum of lower ends would be off by more."""
    columns = {
        "age": {"role": "public", "coarsen": {"bins": 90}},
        "sex": {"role": "public"},
        "cost": {"role": "dropped"},
        "disease": {"role": "sensitive", "values": ["a", "b", "c"]},
    }
    spec = Spec.model_validate({"columns": columns})
    sql = "SELECT sex, SUM(age) AS s FROM release WHERE disease = 'a' GROUP BY sex"
    found = advise(people(None), spec, error=(sql, 0.1), mechanisms=["uniform"], repetitions=100, processes=1, seed=1)
    assert found.met[sql].ratio == pytest.approx(1, abs=0.25)
    assert found.foreseen[0].truth == pytest.approx(44.5 * 900, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("bins", [None, 2])
def test_numbers_that_were_put_together_are_taken_in_the_middle_too(bins: int | None) -> None:
    """sps merges ages that tell nothing of the disease and publishes the smallest: the average of these alone is far below the truth."""
    coarsen = {} if bins is None else {"age": {"bins": bins}}
    table = people(None, 6000).drop_columns(["cost"])
    how = HOW | {"mechanism": "sps", "settings": {"generalize": ["age"]}, "coarsen": coarsen}
    release = publish_openly(table, **how)
    truth = table["age"].to_numpy().mean()
    lowest = (release.table()["age"].to_numpy() * release.table()["weight"].to_numpy()).sum() / 6000
    answer = release.query("SELECT AVG(age) AS a FROM release")
    (e,) = answer.estimates
    assert lowest < truth - 5, "values were put together"
    assert e.low[0] == pytest.approx(lowest, abs=0.01)
    assert e.low[0] <= truth <= e.high[0]
    assert abs(e.value[0] - truth) < truth - lowest
    assert any("was published with values put together" in note for note in answer.notes)
    planned = plan_openly(table, "SELECT AVG(age) AS a FROM release", **{k: v for k, v in how.items() if k != "seed"})
    assert planned.answers[0][1]["a"].value == pytest.approx(e.value, rel=1e-6)
    (n,) = release.query("SELECT COUNT(*) AS n FROM release").estimates
    assert n.exact
    assert n.value[0] == 6000


@pytest.mark.parametrize("sql", ["x / 0", "x * 1 / 0", "2 * (x / -0.0)"])
def test_what_is_divided_by_nothing_is_no_line(sql: str) -> None:
    assert monotone(parse_one(sql)) is None
