"""Noisy marginals: how they share a budget, what is refused, what they answer, and that their intervals and promises hold."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import rewritten

import scumble
from scumble.core.domain import Categories
from scumble.core.entropy import Entropy
from scumble.core.errors import InputError, NotEstimable, ParameterError, SchemaError
from scumble.forms.tuples.linear import LinearSum, Noise
from scumble.forms.tuples.marginals import Marginal, Together
from scumble.mechanisms.marginals.split import pairs, shares
from scumble.mechanisms.noisy_count_matrix import ClampedCounts
from scumble.release.verify import verify

DOMAINS: dict[str, Any] = {"sex": ["F", "M"], "town": ["Bonn", "Trier", "Ulm"], "age": {"low": 0, "high": 9}}
WORKLOAD = [["sex", "town"], ["town", "age"]]
N = 900


def people(rows: int = N) -> pa.Table:
    draw = np.random.default_rng(3)
    towns = draw.choice(DOMAINS["town"], rows, p=[0.6, 0.3, 0.1])
    return pa.table({"sex": draw.choice(["F", "M"], rows), "town": towns, "age": draw.integers(0, 10, rows)})


def published(table: pa.Table | None = None, out: Any = None, **more: Any) -> scumble.Release:
    how = {"mechanism": "marginals", "epsilon": 1, "sensitive": list(DOMAINS), "domains": DOMAINS, "seed": 1}
    return scumble.publish(people() if table is None else table, out, persons="one row each", **{**how, **more})


# the budget


def test_shares_by_cells_have_the_least_variance_of_all_cells() -> None:
    cells = [6, 30, 4000]

    def variance(epsilons: Any) -> float:
        return sum(c / e**2 for c, e in zip(cells, epsilons, strict=True))

    best = shares(cells, 0.7, "cells")
    assert math.fsum(best) == 0.7
    for a, b in ((0, 1), (1, 2), (0, 2)):
        for step in (-1e-3, 1e-3):
            moved = list(best)
            moved[a], moved[b] = moved[a] + step, moved[b] - step
            assert variance(moved) > variance(best)
    assert variance(best) < variance(shares(cells, 0.7, "equal"))


def test_pairs_that_are_too_large_are_said_and_their_columns_counted_alone() -> None:
    assert pairs({"a": 50, "b": 60, "c": 2}, 100) == ([["a", "c"], ["b"]], [["a", "b"], ["b", "c"]])
    with pytest.warns(UserWarning, match="pairs with more than 8 combinations .* are not counted: sex, age; town, age"):
        release = published(settings={"most_cells": 8})
    assert [table.attributes for table in release.manifest.form.tables] == [["sex", "town"], ["age"]]


# what is refused, whatever the rows are


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"marginals": [["sex"], ["agee"]]}}, "marginal 2 names 'agee', which is not published; did you mean 'age'"),
        ({"settings": {"marginals": [["sex", "sex"], ["town", "age"]]}}, "marginal 1 names a column twice"),
        ({"settings": {"marginals": [["sex", "town", "age"], ["age", "town", "sex"]]}}, "two marginals of age, town, sex"),
        ({"settings": {"marginals": [["sex", "town"]]}}, "column 'age' is in no marginal; name it in one, or drop it"),
        ({"sensitive": ["sex", "town"], "public": "age", "domains": {n: DOMAINS[n] for n in ("sex", "town")}}, "'age' has none; make it sensitive and declare"),
        ({"epsilon": None, "gamma": 3}, "marginals is given by epsilon"),
        ({"domains": {**DOMAINS, "age": {"low": 0, "high": 9_999_999}}}, "at most 10,000,000"),
        ({"epsilon": 1e-4, "domains": {**DOMAINS, "age": {"low": 0, "high": 999_999}}, "settings": {"marginals": WORKLOAD}}, "noise would add about .* leave out or coarsen the largest"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_refused_by_name(changes: dict[str, Any], message: str) -> None:
    if "9999999" in str(changes):
        changes = {**changes, "settings": {"marginals": WORKLOAD}}
    with pytest.raises((ParameterError, SchemaError), match=message):
        published(**changes)


def test_a_row_outside_of_what_was_declared_is_left_out_and_an_empty_table_is_published() -> None:
    strange = pa.table({"sex": ["X"], "town": ["Rome"], "age": [77]})
    with_it, without = (published(rows) for rows in (pa.concat_tables([people(), strange]), people()))
    assert (
        with_it.query("SELECT COUNT(*) FROM release").to_list()
        == without.query("SELECT COUNT(*) FROM release").to_list()
    )
    assert published(people(0)).query("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex").to_list()[0]["n_low"] == 0


# the promise


def test_the_promise_is_the_sum_of_what_the_tables_cost_and_a_forged_share_fails(tmp_path: Path) -> None:
    release = published(out=tmp_path / "r", settings={"marginals": WORKLOAD}, seed=None)
    (guarantee,) = release.terms.guarantees
    assert guarantee.parameters == {"epsilon": 1.0}
    assert all(check.passed for check in scumble.verify(tmp_path / "r"))
    rewritten(tmp_path / "r", lambda d: d["form"]["counting"]["epsilons"].__setitem__(0, 5.0))
    failed = {check.name for check in scumble.verify(tmp_path / "r") if not check.passed}
    assert "guarantee" in failed


@pytest.mark.parametrize(
    "change",
    [
        lambda form: form["counting"]["epsilons"].pop(),
        lambda form: form["counting"]["domains"].pop("age"),
        lambda form: form["schema"].update(c_star=1),
        lambda form: form["schema"].update(schema_from="budget"),
        lambda form: form.pop("schema"),
        lambda form: form["schema"]["tables"][0]["attributes"].append("sex"),
        lambda form: form["schema"]["tables"][0]["attributes"].append(7),
        lambda form: form["counting"]["domains"]["age"].update(high="1000000000"),
    ],
)
def test_a_manifest_that_cannot_be_one_is_refused(tmp_path: Path, change: Any) -> None:
    published(out=tmp_path / "r", settings={"marginals": WORKLOAD})
    rewritten(tmp_path / "r", lambda d: change(d["form"]))
    with pytest.raises(InputError) as refused:
        scumble.open(tmp_path / "r").query("SELECT town, COUNT(*) FROM release GROUP BY town")
    assert len(str(refused.value)) < 400
    assert json.loads((tmp_path / "r" / "manifest.json").read_text())["mechanism"] == "marginals"


# answers


def test_tables_that_have_the_columns_are_weighted_by_the_inverse_of_their_variances() -> None:
    release = published(settings={"marginals": WORKLOAD, "split": "equal"})
    answer = release.query("SELECT town, COUNT(*) AS n FROM release GROUP BY town")
    rule, by_hand, variance = ClampedCounts.full(0.5), np.zeros(3), np.zeros(3)
    for table, cells, weight in (("marginal-01", 2, 10 / 12), ("marginal-02", 10, 2 / 12)):
        rows = release.table(table).to_pylist()
        other = "sex" if cells == 2 else "age"
        for place, town in enumerate(DOMAINS["town"]):
            tuples = [(r["town"], r[other]) for r in rows]
            counts = [tuples.count((town, value)) for value in (["F", "M"] if cells == 2 else range(10))]
            values, variances = rule.estimate(counts)
            by_hand[place] += weight * values.sum()
            variance[place] += weight**2 * variances.sum()
    np.testing.assert_allclose(answer.estimates[0].value, by_hand)
    np.testing.assert_allclose(answer.estimates[0].se, np.sqrt(variance))
    assert "put together of 2 marginals" in answer.notes[-1]


def test_sums_and_averages_of_declared_numbers_and_what_no_marginal_holds() -> None:
    release, table = published(epsilon=200, settings={"marginals": WORKLOAD}), people()
    (line,) = release.query("SELECT SUM(age) AS s, AVG(age) AS a FROM release WHERE town = 'Ulm'").to_list()
    ages = table.filter(pa.compute.equal(table["town"], "Ulm"))["age"].to_numpy()
    assert (line["s"], line["a"]) == (ages.sum(), ages.mean())
    with pytest.raises(NotEstimable, match=r"no marginal of this release has all of age, sex: .* or its publisher for a marginal of age, sex"):  # fmt: skip
        release.query("SELECT COUNT(*) FROM release WHERE sex = 'F' AND age > 4")


def test_a_plan_foresees_the_errors_that_answers_have() -> None:
    """By the very cells: the mean of squared standard errors over 12 publications is that of the plan within 10%."""
    asked = "SELECT town, COUNT(*) AS n, AVG(age) AS a FROM release WHERE age < 6 GROUP BY town"
    spec = {"mechanism": "marginals", "epsilon": 1, "sensitive": list(DOMAINS), "domains": DOMAINS}
    plan = scumble.plan(people(), **spec, persons="one row each", questions=[asked])
    ((_, foreseen),) = plan.answers
    met = [published(seed=seed).query(asked).estimates for seed in range(12)]
    truth = people().filter(pa.compute.less(people()["age"], 6))
    counts = [truth["town"].to_pylist().count(town) for town in DOMAINS["town"]]
    np.testing.assert_array_equal(foreseen.estimates[0].value, counts)
    for place in (0, 1):
        mean = np.mean([answer[place].se ** 2 for answer in met], axis=0)
        np.testing.assert_allclose(foreseen.estimates[place].se ** 2, mean, rtol=0.1)


def test_the_variance_to_be_expected_is_that_of_the_estimates() -> None:
    """40,000 draws a count; both means lie within 5 standard errors, which chance breaks once in 100,000."""
    law, counts, n = ClampedCounts.full(0.4), np.arange(6), 40_000
    stream = Entropy.seeded(11).stream("counts")
    for count in counts:
        values, variances = law.estimate(law.draw(stream, np.full(n, count)))
        expected = float(law.expected_variance(count))
        assert abs(variances.mean() - expected) < 5 * variances.std() / math.sqrt(n)
        squares = (values - count) ** 2
        assert abs(squares.mean() - expected) < 5 * squares.std() / math.sqrt(n)


TRUE = np.random.default_rng(5).poisson(30, (2, 5, 4, 3))
"""Counts of four columns; each marginal has two of them."""
AXES = (("a", "b"), ("b", "c"), ("b", "d"))
RATES = (0.2, 0.5, 1.0)
VALUES = {"a": 2, "b": 5, "c": 4, "d": 3}


def covered(runs: int, scale: float = 1.0) -> float:
    """How often the interval of a cell of b, put together of three tables, holds the truth; the noise as claimed, or `scale` times as wide."""
    names, truth = list(VALUES), TRUE.sum(axis=(0, 2, 3))
    stream, marginals = Entropy.seeded(7).stream("counts"), []
    for columns, rate in zip(AXES, RATES, strict=True):
        own = TRUE.sum(axis=tuple(i for i, name in enumerate(names) if name not in columns))
        every = np.broadcast_to(own, (runs, *own.shape))
        drawn = ClampedCounts.full(rate / scale).draw(stream, every.ravel()).reshape(every.shape)
        claimed = ClampedCounts.full(rate)
        marginals.append(Marginal(["run", *columns], claimed, *claimed.estimate(drawn)))
    cells = Together.of(marginals, ["run", "b"])
    ones = np.ones(5 * runs)
    reach = LinearSum(cells.rows.ravel(), cells.variances.ravel(), ones, ones, ones).reach(cells.noise, 0.95)
    return float((np.abs(cells.rows.ravel() - np.tile(truth, runs)) <= reach).mean())


@pytest.mark.slow
def test_intervals_of_marginals_put_together_hold_as_often_as_they_say() -> None:
    """20,000 intervals: chance moves their share by 0.0077 once in a million. Noise 30% wider than claimed falls below."""
    assert 0.9425 < covered(4000) < 0.97
    assert covered(4000, 1.3) < 0.93


def test_a_cell_of_one_table_is_worth_as_many_tuples_as_it_has() -> None:
    noise = ClampedCounts.full(0.5)
    domains = {"a": Categories(["x", "y"], pa.string()), "b": Categories(["u", "v", "w"], pa.string())}
    tuples = pa.table({"a": ["x", "y"], "b": ["u", "w"], "n": [4, 7]})
    one = Marginal.of(domains, noise, tuples, "n")
    assert Together.of([one], ["b"]).noise == Noise(0, (0.5,), 2 * one.variance, 2.0)
    assert Together.of([one], []).rows.shape == ()
    swapped = Together.of([one], ["b", "a"])
    np.testing.assert_array_equal(swapped.rows, one.rows.T)


def test_columns_whose_names_read_alike_together_have_tables_of_their_own() -> None:
    domains = {name: ["no", "yes"] for name in ("a", "b c", "a b", "c")}
    table = pa.table({name: np.random.default_rng(5).choice(["no", "yes"], 300) for name in domains})
    release = published(
        table, sensitive=list(domains), domains=domains, settings={"marginals": [["a", "b c"], ["a b", "c"]]}
    )
    first = 'SELECT a, "b c", COUNT(*) AS n FROM release GROUP BY 1, 2'
    before = release.query(first)["n"].value
    release.query('SELECT "a b", c, COUNT(*) AS n FROM release GROUP BY 1, 2')
    np.testing.assert_array_equal(release.query(first)["n"].value, before)


def _with_epsilons(epsilons: list[float], document: dict[str, Any]) -> None:
    document["form"]["counting"]["epsilons"] = epsilons


def test_a_forged_epsilon_costs_no_memory(tmp_path: Path) -> None:
    """Its noise would have a deviation of a billion rows; quantiles are worked out in deviations. With less it is no epsilon."""
    published(out=tmp_path / "r")
    for epsilon in (1e-9, 1e-30):
        changed = [epsilon, *scumble.open(tmp_path / "r").manifest.form.counting.epsilons[1:]]  # type: ignore[attr-defined]
        rewritten(tmp_path / "r", partial(_with_epsilons, changed))
        release = scumble.open(tmp_path / "r")
        assert [check for check in verify(release) if not check.passed]
        if epsilon == 1e-9:
            assert len(release.query("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex")) == 2
        else:
            with pytest.raises(ParameterError, match="epsilon must be above 0"):
                release.query("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex")
