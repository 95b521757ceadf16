"""Over two and more perturbed columns intervals cover too, where few rows match: counts, groups, and sums of a heavy-tailed number.

Published cells are drawn directly, as multinomials of the true ones. With 4,000 draws the standard error of a coverage of 95% is 0.34%: a
sound interval stays above 93.5% with probability 1 - 1e-5. With 2,500 publications it is 0.44%, and 93% is as sure. The seeds are fixed.
"""

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble import Channel
from scumble.query import states
from scumble.query.estimates import Estimate
from scumble.query.intervals import of_sum
from scumble.query.inversion import inverted
from scumble.query.law import Tables, Transition
from scumble.query.moments import Moments
from scumble.query.slope import covariances, steepness

pytestmark = pytest.mark.slow

DRAWS, RUNS, Z = 4000, 2500, 1.959963984540054


def power(factor: np.ndarray, times: int) -> np.ndarray:
    """The Kronecker product of so many that are alike."""
    product = factor
    for _ in range(times - 1):
        product = np.kron(product, factor)
    return product


def transition(columns: int, size: int, retain: float) -> Transition:
    """Rows that have one of so many values in each column are counted."""
    channel = Channel(retain, [1 / size, 1 - 1 / size])
    through, weights = channel.matrix(), channel.weights([1.0, 0.0])
    first = np.arange(2**columns) == 0
    return Transition(power(through, columns), power(weights, columns), first, first)


def true_cells(columns: int, rows: int, share: float, matching: int) -> np.ndarray:
    """So many rows match; the others have each value with this share, independently."""
    shares = power(np.array([share, 1 - share]), columns)
    shares[0] = 0
    cells = np.floor(shares / shares.sum() * (rows - matching)).astype(int)
    cells[-1] += rows - matching - cells.sum()
    cells[0] = matching
    return cells


def published(kind: Transition, cells: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    parts = [draw.multinomial(count, kind.through[:, i], size=DRAWS) for i, count in enumerate(cells)]
    return np.sum(parts, axis=0).astype(float)


def intervals(kind: Transition, cells: np.ndarray) -> tuple[Estimate, Estimate]:
    """By the score interval, and as they are given."""
    w, f = kind.weights, kind.counted.astype(float)
    moments = Moments(cells @ w, np.maximum(cells @ (w**2 - w), cells.sum(axis=1) * kind.spread.min()))
    inverse = np.linalg.inv(kind.through)
    k, u = covariances(f, lambda h: h @ inverse, lambda g: g @ kind.through)
    moments = moments.leaning(steepness(cells @ (k @ inverse), moments.variance, k, u))
    one = np.ones(len(cells))
    tables = Tables(cells, cells, one, one, True, [(one > 0, kind)])
    return of_sum("n", moments, False, Z, alike=True), of_sum("n", moments, False, Z, alike=True, draws=tables)


def covered(answer: Estimate, truth: float) -> float:
    return float(np.mean((answer.low <= truth + 1e-9) & (truth - 1e-9 <= answer.high)))


FAILING = [
    # columns, values, retention, rows, share, matching, and what the score interval covers at most
    (2, 20, 0.9, 100, 0.05, 1, 0.83),
    (2, 50, 0.9, 30, 0.3, 1, 0.83),
    (2, 20, 0.7, 30, 0.3, 0, 0.9),
    (3, 50, 0.9, 100, 0.02, 0, 0.1),
    (3, 20, 0.7, 30, 0.05, 0, 0.3),
    (4, 20, 0.9, 1000, 0.05, 0, 0.2),
    (4, 50, 0.7, 30, 0.3, 0, 0.2),
]


@pytest.mark.parametrize("point", FAILING)
def test_counts_cover_where_the_score_interval_does_not(point: tuple[int, int, float, int, float, int, float]) -> None:
    columns, size, retain, rows, share, matching, most = point
    kind = transition(columns, size, retain)
    cells = published(kind, true_cells(columns, rows, share, matching), np.random.default_rng(5))
    score, given = intervals(kind, cells)
    assert covered(score, matching) <= most
    assert covered(given, matching) >= 0.935
    assert np.all((given.low <= given.value) & (given.value <= given.high))


@pytest.mark.parametrize("columns", [2, 3, 4])
@pytest.mark.parametrize("retain", [0.3, 0.9])
def test_counts_cover_over_a_grid(columns: int, retain: float) -> None:
    draw = np.random.default_rng(6)
    for size, rows, share in ((2, 100, 0.5), (5, 1000, 0.3), (20, 30, 0.05), (50, 1000, 0.3)):
        kind = transition(columns, size, retain)
        for matching in (0, 2, 10, 30):
            cells = published(kind, true_cells(columns, rows, share, matching), draw)[:1000]
            given = intervals(kind, cells)[1]
            assert covered(given, matching) >= 0.95 - 5 * 0.0069, (size, rows, share, matching)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.99, 0.999])
def test_counts_cover_at_other_levels(level: float) -> None:
    """4,000 draws, within five standard errors below; and the levels are told apart: none covers as much as the next, 0.999 aside."""
    kind = transition(2, 5, 0.5)
    cells = published(kind, true_cells(2, 300, 0.2, 10), np.random.default_rng(8))
    one = np.ones(len(cells))
    low, high = Tables(cells, cells, one, one, True, [(one > 0, kind)]).ends(one > 0, (1 - level) / 2)
    found = float(np.mean((low <= 10) & (high >= 10)))
    assert found >= level - 5 * np.sqrt(level * (1 - level) / DRAWS)
    assert found <= {0.5: 0.6, 0.8: 0.87, 0.99: 0.998, 0.999: 1.0}[level]


def test_where_many_rows_decide_the_score_interval_is_given() -> None:
    """Nor is an interval wider just before: at a variance of 20 to 25 its width is that of the score interval within 5%, on average."""
    kind = transition(2, 5, 0.8)
    draw = np.random.default_rng(7)
    many = published(kind, true_cells(2, 4000, 0.3, 400), draw)[:500]
    score, given = intervals(kind, many)
    assert np.array_equal(score.low, given.low)
    assert np.array_equal(score.high, given.high)
    fewer = published(kind, true_cells(2, 400, 0.2, 100), draw)[:500]
    variance = kind.variance(fewer)
    assert 20 < variance.mean() < 25
    score, given = intervals(kind, fewer[variance < 25])
    assert np.mean(given.high - given.low) == pytest.approx(np.mean(score.high - score.low), rel=0.05)


def test_over_one_column_it_is_the_law_of_two_binomials() -> None:
    """Its ends are those of query/inversion.py, up to one row: S takes few values, and the law is blurred between them."""
    for n, size, retain in ((30, 20, 0.9), (100, 5, 0.5), (200, 50, 0.7)):
        kind = transition(1, size, retain)
        y = np.arange(0.0, min(n, 30) + 1)
        cells = np.stack([y, n - y], axis=1)
        one, drawn = np.ones(len(y)), (1 - retain) / size
        tables = Tables(cells, cells, one, one, True, [(one > 0, kind)])
        exact = inverted(y, n * one, (retain + drawn) * one, drawn * one, 0.025)
        found = np.stack(tables.ends(one > 0, 0.025))
        assert np.abs(found - exact).max() <= 1, (n, size, retain)


VALUES = [f"d{i:02d}" for i in range(20)]


def people() -> pa.Table:
    """30 people: one has d01 twice, 20 have d00 twice, 9 have d00 and d01. Costs have a heavy tail."""
    cost = np.round(np.random.default_rng(3).lognormal(0, 1, 30), 2)
    return pa.table({"a": ["d01"] + ["d00"] * 29, "b": ["d01"] + ["d00"] * 20 + ["d01"] * 9, "cost": cost})


@pytest.fixture(scope="module")
def release() -> scumble.Release:
    copies = people().take(pa.array(np.tile(np.arange(30), RUNS)))
    copies = copies.append_column("run", pa.array(np.repeat(np.arange(RUNS), 30)))
    return publish_openly(copies, sensitive=["a", "b"], domains={"a": VALUES, "b": VALUES}, retain=0.9, seed=3)


CONDITIONS = {
    "a = 'd01' AND b = 'd01'": [0],
    "NOT (a = 'd01' AND b = 'd01')": list(range(1, 30)),
    "a = 'd01' OR b = 'd01'": [0, *range(21, 30)],
    "a = 'd00' AND b IN ('d01', 'd02') OR a = 'd01'": [0, *range(21, 30)],
    "a = 'd02' AND b = 'd03'": [],
    "a = 'd00' AND b = 'd01'": list(range(21, 30)),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_counts_and_sums_of_a_publication_cover(condition: str, release: scumble.Release) -> None:
    rows = CONDITIONS[condition]
    where = f"FROM release WHERE {condition} GROUP BY run"
    count = release.query(f"SELECT run, COUNT(*) AS n {where}")
    assert covered(count["n"], len(rows)) >= 0.93
    assert not any("rough" in note for note in count.notes)
    cost = people().column("cost").to_numpy()[rows].sum()
    for sign in (1, -1):
        answer = release.query(f"SELECT run, SUM({sign} * cost) AS s {where}")["s"]
        assert covered(answer, sign * cost) >= 0.93


def test_groups_by_two_columns_cover(release: scumble.Release) -> None:
    """500 publications, 400 groups: 90% is 5 standard errors below 95%."""
    truth = np.zeros((20, 20))
    truth[1, 1], truth[0, 0], truth[0, 1] = 1, 20, 9
    answer = release.query("SELECT run, a, b, COUNT(*) AS n FROM release WHERE run < 500 GROUP BY run, a, b")
    low, high = answer["n"].low.reshape(-1, 20, 20), answer["n"].high.reshape(-1, 20, 20)
    assert np.mean((low <= truth + 1e-9) & (truth - 1e-9 <= high), axis=0).min() >= 0.9
    assert not any("rough" in note for note in answer.notes)


def test_a_group_is_asked_as_the_condition_is(release: scumble.Release) -> None:
    one = release.query("SELECT COUNT(*) AS n FROM release WHERE run = 7 AND a = 'd01' AND b = 'd01'")["n"]
    groups = release.query("SELECT a, b, COUNT(*) AS n FROM release WHERE run = 7 GROUP BY a, b")["n"].take(
        np.array([21])
    )
    for end in ("value", "low", "high"):
        assert getattr(one, end)[0] == pytest.approx(getattr(groups, end)[0])


def patients() -> pa.Table:
    """60 people, the first 3 with d01 twice; costs have a heavy tail."""
    draw = np.random.default_rng(3)
    a, b = (np.where(draw.random(60) < 0.05, "d01", "d00") for _ in range(2))
    b = np.where(a == "d01", "d00", b)
    a[:3], b[:3] = "d01", "d01"
    return pa.table({"a": a, "b": b, "c": ["d00"] * 60, "cost": np.round(draw.lognormal(0, 1.5, 60), 2)})


SUMS = {
    "AVG(cost) AS x FROM release WHERE a = 'd01' AND b = 'd01'": patients().column("cost").to_numpy()[:3].mean(),
    "SUM(cost) AS x FROM release WHERE a = 'd01' AND b = 'd02' AND c = 'd03'": 0.0,
}


@pytest.mark.parametrize("question", SUMS)
def test_sums_and_averages_over_few_rows_cover(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the rows that are published as matching alone, as before, less than 85% would."""
    copies = patients().take(pa.array(np.tile(np.arange(60), RUNS)))
    copies = copies.append_column("run", pa.array(np.repeat(np.arange(RUNS), 60)))
    names = ["a", "b", "c"]
    release = publish_openly(copies, sensitive=names, domains=dict.fromkeys(names, VALUES), retain=0.9, seed=3)
    sql, truth = f"SELECT run, {question} GROUP BY run", SUMS[question]
    answer = release.query(sql)
    assert covered(answer["x"], truth) >= 0.93
    assert "rough" in answer.notes[0]
    monkeypatch.setattr(states, "known", lambda parts: False)
    assert covered(release.query(sql)["x"], truth) < 0.85
