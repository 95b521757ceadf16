"""Covariances between the lines of an answer.

Rows of different public groups have independent coins. A row is in one line, so that h_i h_j = 0 for two lines i and j of one public group, and what is left
of the covariance of totals (query/joint.py) is

    Cov(T_i, T_j)  =  sum over rows of phi[h_i] phi[h_j]

For that every group of perturbed columns is a key, and the weights of all keys are multiplied with each other. What sampling adds is counted in the lines
alone: as their products are 0, the most that it adds to T_i - T_j is the sum of what it adds to both.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from scumble.query.form_answer import Lines
from scumble.query.joint import Linear, Weighed, classes, joint
from scumble.query.scanned import Scanned, influences
from scumble.query.terms import Tensor

Numbers = npt.NDArray[np.float64]


def across(asked: Scanned, keyed: Callable[[], Scanned], lines: Lines) -> Numbers | None:
    """The covariances of all aggregates at some lines with all at the others: aggregates twice, then lines twice; None where they are not known.

    keyed   the same question, with every group of perturbed columns as a key
    """
    question, own = asked.totals.question, asked.covariance(())
    if own is None or question.published.whole:  # coins that draw from the column itself are in all lines
        return None
    result = np.zeros((*own.shape[:2], len(lines), len(lines)))
    if asked.totals.keys or asked.totals.ahead:
        result = _between(keyed(), _places(asked, keyed(), lines))
    result[:, :, np.arange(len(lines)), np.arange(len(lines))] = own[..., lines]
    return result


def _places(asked: Scanned, keyed: Scanned, lines: Lines) -> Lines:
    """Where the lines of a question are among all those of the other."""
    known = {tuple(row.values()): place for place, row in enumerate(keyed.groups.to_pylist())}
    rows = asked.groups.take(asked.lines[lines]).select(keyed.groups.column_names).to_pylist()
    return np.array([known[tuple(row.values())] for row in rows], dtype=np.intp)


def _product(weighed: Weighed, j: int, k: int, group: int, keys: Lines) -> Tensor:
    """The sum over the rows of a public group of the weights of one sum times those of another, for keys by keys."""
    total = np.zeros((len(keys), len(keys)))
    for one, first in weighed.weights[j].items():
        for other, second in weighed.weights[k].items():
            rows = weighed.part.dense(weighed.totals.factors.names[one * other], 2)[group].reshape(-1)
            left, right = (w.reshape(len(rows), -1)[:, keys] for w in (first, second))
            total += left.T @ (rows[:, None] * right)
    return total


def _between(keyed: Scanned, places: Lines) -> Numbers:
    """The covariances of aggregates at lines with keys; those of a line with itself are left out."""
    totals = keyed.totals
    sums = [Linear(terms) for total in totals.totals for terms in (total.number, total.present)]
    group, key = places // totals.width, places % totals.width
    products = np.zeros((len(sums), len(sums), len(places), len(places)))
    for part in keyed.parts:
        for _, weighed in classes(part, totals, sums, np.arange(totals.width)):
            for own in np.unique(group):
                some = np.flatnonzero(group == own)
                for j, k in np.ndindex(len(sums), len(sums)):
                    products[j, k][np.ix_(some, some)] += _product(weighed, j, k, int(own), key[some])
    found = joint(totals, keyed.cells, keyed.parts, sums)
    rows = [
        {i: weight.reshape(-1)[places] for i, weight in influence.items()} for influence in influences(totals, found)
    ]
    return np.array(
        [
            [sum(a[:, None] * b * products[i, j] for i, a in one.items() for j, b in other.items()) for other in rows]
            for one in rows
        ]
    )
