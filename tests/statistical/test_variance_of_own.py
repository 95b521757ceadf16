"""Where values are replaced by others of their column, standard errors are those of the estimates, and intervals cover.

The spread of an estimate is that of 6,000 simulated publications of 300 rows (its standard error is 0.9%), computed from the definition; the
standard error that is told is the root of the mean square over 30 releases, whose own standard error is 2% at most. They agree within 7%: false
alarms below 3e-3 for each, and the seeds are fixed.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from scipy.stats import binom

import scumble
from scumble.query.answer import answer_rows
from scumble.query.estimates import Estimate
from scumble.query.few import MANY, Draws
from scumble.query.intervals import of_sum
from scumble.query.moments import Moments
from scumble.query.own import lean
from scumble.query.parse import parse
from scumble.query.states import LEAST

pytestmark = pytest.mark.slow

ROWS, RETAIN, RUNS, RELEASES, Z = 300, 0.4, 6000, 30, 1.959963984540054
A, B = ["a0", "a1", "a2", "a3"], ["b0", "b1", "b2"]


def people() -> pa.Table:
    draw = np.random.default_rng(4)
    a = draw.choice(4, ROWS, p=[0.45, 0.3, 0.2, 0.05])
    b = np.where(draw.random(ROWS) < 0.4, a % 3, draw.choice(3, ROWS))
    sex = np.where(draw.random(ROWS) < np.where(a == 1, 0.7, 0.4), "F", "M")
    return pa.table(
        {"a": np.array(A)[a], "b": np.array(B)[b], "sex": sex, "cost": np.round(draw.gamma(3, 10, ROWS), 1)}
    )


TABLE = people()
FEMALE, COST = TABLE.column("sex").to_numpy() == "F", TABLE.column("cost").to_numpy()


def identity(draw: np.random.Generator, true: np.ndarray) -> np.ndarray:
    kept = draw.random((RUNS, ROWS)) < RETAIN
    return np.where(kept, true, true[draw.integers(0, ROWS, (RUNS, ROWS))])


def swapped(draw: np.random.Generator, true: np.ndarray) -> np.ndarray:
    found = np.tile(true, (RUNS, 1))
    for line in found:
        moved = np.flatnonzero(draw.random(ROWS) >= RETAIN)
        line[moved] = true[draw.permutation(moved)]
    return found


MECHANISMS: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "identity": identity,
    "swapped": swapped,
}


@pytest.fixture(scope="module", params=MECHANISMS)
def mechanism(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def weights(mechanism: str) -> dict[str, np.ndarray]:
    """The weights of each value, by run and row: (1[y = v] - (1 - p) r_v) / p, r_v the share of published rows with v."""
    found, draw = {}, np.random.default_rng(1)
    for name, values in (("a", A), ("b", B)):
        seen = MECHANISMS[mechanism](draw, TABLE.column(name).to_numpy())
        for value in values[:3]:
            hit = (seen == value).astype(float)
            found[value] = (hit - (1 - RETAIN) * hit.mean(axis=1, keepdims=True)) / RETAIN
    return found


@pytest.fixture(scope="module")
def releases(mechanism: str) -> list[scumble.Release]:
    settings = {"sensitive": ["a", "b"], "domains": {"a": A, "b": B}, "retain": RETAIN, "mechanism": mechanism}
    return [publish_openly(TABLE, seed=seed, **settings) for seed in range(RELEASES)]


QUESTIONS: dict[str, tuple[str, Callable[[dict[str, np.ndarray]], np.ndarray]]] = {
    "a condition beside": ("COUNT(*) AS x FROM release WHERE a = 'a1' AND sex = 'F'", lambda w: w["a1"] @ FEMALE),
    "two columns": (
        "COUNT(*) AS x FROM release WHERE a = 'a1' AND b = 'b0'",
        lambda w: (w["a1"] * w["b0"]).sum(axis=1),
    ),
    "one or the other": (
        "COUNT(*) AS x FROM release WHERE a = 'a1' OR b = 'b0'",
        lambda w: (w["a1"] + w["b0"] - w["a1"] * w["b0"]).sum(axis=1),
    ),
    "mixed with a public condition": (
        "COUNT(*) AS x FROM release WHERE a = 'a1' AND (b = 'b0' OR sex = 'F')",
        lambda w: np.where(FEMALE, w["a1"], w["a1"] * w["b0"]).sum(axis=1),
    ),
    "a sum": ("SUM(cost) AS x FROM release WHERE a = 'a2'", lambda w: w["a2"] @ COST),
    "a sum, two columns": (
        "SUM(cost) AS x FROM release WHERE a = 'a1' AND b = 'b1' AND sex = 'M'",
        lambda w: (w["a1"] * w["b1"]) @ (COST * ~FEMALE),
    ),
    "an average": ("AVG(cost) AS x FROM release WHERE a = 'a0'", lambda w: (w["a0"] @ COST) / w["a0"].sum(axis=1)),
}


def told(answers: list[Estimate]) -> float:
    return float(np.sqrt(np.mean([answer.se[0] ** 2 for answer in answers])))


@pytest.mark.parametrize("question", QUESTIONS)
def test_standard_errors_are_those_of_the_estimates(
    question: str, weights: dict[str, np.ndarray], releases: list[scumble.Release]
) -> None:
    sql, estimate = QUESTIONS[question]
    answers = [release.query(f"SELECT {sql}")["x"] for release in releases]
    assert told(answers) == pytest.approx(estimate(weights).std(), rel=0.07)


def test_what_was_told_before_is_too_much(weights: dict[str, np.ndarray], releases: list[scumble.Release]) -> None:
    """As if the replacement distribution were known: 2.5 times too much for all rows, and still more than a tenth for half of them."""
    for sql, least in (("COUNT(*) AS x FROM release WHERE a = 'a1'", 2.3), (QUESTIONS["a condition beside"][0], 1.1)):
        before, now = [], []
        for release in releases[:10]:
            query = parse(f"SELECT {sql}", release.published.columns)
            before.append(answer_rows(query, replace(release.published, whole=0), release.engine, 0.95).estimates["x"])
            now.append(release.query(f"SELECT {sql}")["x"])
        assert told(before) > least * told(now)


def test_counts_over_all_rows(mechanism: str, releases: list[scumble.Release]) -> None:
    """A permutation keeps them; drawn anew they are binomial, and the mean of 30 of their variances is within 7% of it."""
    answers = [release.query("SELECT a, COUNT(*) AS x FROM release GROUP BY a")["x"] for release in releases]
    counts = np.array([TABLE.column("a").to_pylist().count(value) for value in A])
    if mechanism == "swapped":
        for answer in answers:
            assert answer.value == pytest.approx(counts)
            assert not np.any(answer.se)
            assert np.array_equal(answer.low, answer.high)
        return
    b = (1 - RETAIN) * counts / ROWS
    true = counts * (RETAIN + b) * (1 - RETAIN - b) + (ROWS - counts) * b * (1 - b)
    assert np.mean([answer.se**2 for answer in answers], axis=0)[:3] == pytest.approx(true[:3], rel=0.07)


def test_groups_are_asked_as_conditions_are(releases: list[scumble.Release]) -> None:
    groups = releases[0].query("SELECT a, b, COUNT(*) AS n, SUM(cost) AS s FROM release WHERE sex = 'F' GROUP BY a, b")
    for place in (0, 4, 7):
        a, b = A[place // 3], B[place % 3]
        where = f"FROM release WHERE sex = 'F' AND a = '{a}' AND b = '{b}'"
        for name, aggregate in (("n", "COUNT(*)"), ("s", "SUM(cost)")):
            one = releases[0].query(f"SELECT {aggregate} AS x {where}")["x"]
            assert one.value[0] == pytest.approx(groups[name].value[place])
            assert one.se[0] == pytest.approx(groups[name].se[place])


@pytest.mark.parametrize("retain", [0.2, 0.4, 0.6, 0.8, 0.95])
def test_counts_over_all_rows_cover_from_none_on(retain: float) -> None:
    """Exact, over all that can be published of 600 rows by identity: 93.5% or more of 0 to 120 matching ones, by the interval that is given.

    With the variance that follows the count as if the replacement distribution were known (at p = 0.2) it would be less.
    """
    published, rows = np.arange(300.0), 600
    b = (1 - retain) * published / rows
    variance = published * (retain + b) * (1 - retain - b) + (rows - published) * b * (1 - b)
    draws = Draws(published, np.full(300, 600.0), retain + b, b, max(LEAST, MANY * retain**2))
    known = (1 - retain - 2 * b) / retain
    worst = []
    for slope in (lean(retain, np.ones(300), False) * known, retain**2 * known):
        given = of_sum("n", Moments(published, variance, slope * variance, variance), False, Z, alike=True, draws=draws)
        worst.append(min(covered(given, law(retain, rows, count), count) for count in range(121)))
    assert worst[0] >= 0.935
    if retain == 0.2:
        assert worst[1] < 0.933


def law(retain: float, rows: int, count: int) -> np.ndarray:
    """The probabilities of 0..299 published matches."""
    drawn = (1 - retain) * count / rows
    kept = binom.pmf(np.arange(count + 1), count, retain + drawn)
    return np.convolve(kept, binom.pmf(np.arange(300), rows - count, drawn))[:300]


def covered(answer: Estimate, probabilities: np.ndarray, count: int) -> float:
    return float(probabilities[(answer.low <= count + 1e-9) & (count - 1e-9 <= answer.high)].sum())
