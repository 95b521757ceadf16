"""Rows alike in public values, computed once: the same sums as row by row, in both ways of telling their values."""

import numpy as np
import pytest

from scumble.auditing.evidence.rows_alike import KnownRows, RowsAlike, ShownRows

GROUPS, VALUES, ROWS = 7, 5, 400


def _made(known: bool) -> tuple[RowsAlike, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, their groups, the likelihood of each row by value, and beliefs about each group."""
    draw = np.random.default_rng(7)
    group, kind = draw.integers(0, GROUPS, 2 * ROWS), draw.integers(0, VALUES, 2 * ROWS)
    table = np.eye(VALUES) if known else draw.random((VALUES, VALUES))
    rows = np.sort(draw.permutation(2 * ROWS)[:ROWS])
    alike = KnownRows.of(rows, group, kind, VALUES) if known else ShownRows.of(rows, group, kind, VALUES).told_by(table)
    return alike, rows, group[rows], table[kind[rows]], draw.dirichlet(np.ones(VALUES), GROUPS)


@pytest.mark.parametrize("known", [True, False])
def test_sums_over_groups_are_those_over_rows(known: bool) -> None:
    alike, rows, group, likelihood, beliefs = _made(known)
    assert np.isin(alike.at, rows).all()
    assert len(alike.at) == GROUPS
    after = beliefs[group] * likelihood
    chance = after.sum(axis=1)
    slope = after / chance[:, None] - beliefs[group]
    sums, squares = alike.slopes(beliefs)
    for expected, found in ((slope, sums), (slope**2, squares)):
        by_row = np.zeros((GROUPS, VALUES))
        np.add.at(by_row, group, expected)
        assert np.allclose(found, by_row, rtol=1e-12, atol=1e-12)
    assert alike.mean_log(alike.chances(beliefs)) == pytest.approx(np.log(chance).mean(), rel=1e-12)


def test_no_rows_tell_nothing() -> None:
    none = np.zeros(0, np.intp)
    assert KnownRows.of(none, none, none, VALUES).mean_log(np.zeros(0)) == 0.0
