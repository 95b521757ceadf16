"""Are two columns independent? A test on the reconstructed table, with the covariance that the channel gives it.

Let T_ij be the estimated rows of a table over two groups, n their sum. The rows are taken for a sample of a population in which both are independent: in the
rows themselves they hardly ever are, exactly. Then T varies by coins (C, query/across.py) and by sampling,

    S  =  C + diag(e) - e e' / n,        e_ij = T_i. T_.j / n
    d_ij  =  T_ij - e_ij,                W  =  d' (G S G')^-1 d  ~  chi-square with (r - 1)(c - 1) degrees of freedom

with G = dd/dT, over all rows and columns of the table but the last. Without coins C = 0, and W is Pearson's statistic. The inverse of the whole covariance is
taken, and not a correction of Pearson's statistic by its mean and variance (Rao and Scott): noise is as large in rare cells as in others, and drowns a statistic
that divides by what is expected there. Published rows have the right law too where all have the same channel, but not where these differ
(docs/proofs/comparisons.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.errors import QueryError
from scumble.query.code_lists import Tables
from scumble.query.compared import MOST_LINES, question_of
from scumble.query.form_answer import Answer
from scumble.query.joined import together
from scumble.query.listing import Branch
from scumble.query.model import BESIDE, Query
from scumble.query.rewrites import Recoding
from scumble.query.tested import P, Tested

Numbers = npt.NDArray[np.float64]

MOST_CELLS = 20 * MOST_LINES
"""Cells of the table, at most."""
EXPECTED = 5
"""Rows that are to be expected in a cell at least, or a note says so."""
ASKED = "ask for SELECT a, b, COUNT(*) FROM release GROUP BY a, b"


def independence(
    sql: str,
    columns: Sequence[str],
    recoding: Recoding,
    answer: Callable[[Query], Answer],
    beside: Sequence[str] = BESIDE,
    name: str = "",
    tables: Tables | None = None,
) -> Tested:
    """Whether the two groups of a question are independent. The arguments are those of query/ask.py."""
    query = question_of(sql, columns, beside, name, tables)
    if len(query.groups) != 2 or [a.kind for a in query.aggregates] != ["count"] or query.aggregates[0].value:
        raise QueryError(f"independence is of two groups and the rows of both: {ASKED}")
    if query.limit is not None or (query.derived is not None and (query.derived.having or query.derived.qualify)):
        raise QueryError(
            f"independence is of whole tables, without HAVING, QUALIFY and LIMIT; choose rows in WHERE, and {ASKED}"
        )
    part = Branch.of(query, recoding, answer)
    if len(part.forms) > 1:
        raise QueryError(
            "which rows are asked about is not known, because a condition falls inside a step or a value was published with others; choose a bound between steps"
        )
    counts = _counted(part)
    test = Table.of(counts, part)
    return test.answer([group.name for group in query.groups], part.columns.level, part.notes(np.arange(len(part))))


def _counted(part: Branch) -> Numbers:
    (count,) = part.columns.estimates
    if len(count.value) > MOST_CELLS:
        raise QueryError(
            f"the table has {len(count.value):,} cells, and {MOST_CELLS:,} are tested at most; put values together by CASE"
        )
    if count.certain:
        raise QueryError("its counts are sure within bounds, and no matter of chance: no test can be made of them")
    return count.value


@dataclass(frozen=True)
class Table:
    """Estimated counts by two groups, and their covariance by coins."""

    counts: Numbers
    covariance: Numbers
    left_out: int
    """Values of either group of which no rows are estimated."""

    @classmethod
    def of(cls, counts: Numbers, part: Branch) -> "Table":
        """The lines of an answer as a table; a combination of public values that nobody has is 0."""
        lines, groups = np.arange(len(counts)), part.columns.groups
        own = np.zeros((1, len(lines), 1, len(lines))) if part.columns.estimates[0].exact else part.together(lines)
        if own is None:
            raise QueryError(
                "no covariance is known between the counts of what is published so, and a test of independence needs it; compare groups instead"
            )
        one, other = (together(groups, [name], len(lines)) for name in groups.column_names)
        size = (int(one.max(initial=-1)) + 1, int(other.max(initial=-1)) + 1)
        table, covariance = np.zeros(size), np.zeros((*size, *size))
        table[one, other] = counts
        covariance[one[:, None], other[:, None], one, other] = own[0, :, 0]
        rows, columns = (np.flatnonzero(table.sum(axis=axis) > 0) for axis in (1, 0))
        if min(len(rows), len(columns)) < 2:
            raise QueryError("a test of independence needs two values of both groups that some rows have")
        kept = np.ix_(rows, columns, rows, columns)
        return cls(table[np.ix_(rows, columns)], covariance[kept], sum(size) - len(rows) - len(columns))

    @property
    def expected(self) -> Numbers:
        """e of the docstring above."""
        return np.asarray(np.outer(self.counts.sum(axis=1), self.counts.sum(axis=0)) / self.counts.sum())

    def statistic(self) -> tuple[float, int]:
        """W, and its degrees of freedom."""
        r, c = self.counts.shape
        size, n, e = r * c, self.counts.sum(), self.expected
        spread = self.covariance.reshape(size, size) + np.diag(e.reshape(-1)) - np.outer(e, e) / n
        rows, columns = self.counts.sum(axis=1) / n, self.counts.sum(axis=0) / n
        left, right = np.eye(r) - rows[:, None], np.eye(c) - columns[:, None]
        gradient = np.kron(left[:-1], right[:-1])  # d is bilinear: what is left of T beside both margins
        found = (self.counts - e)[:-1, :-1].reshape(-1)
        variance = gradient @ spread @ gradient.T
        values, vectors = np.linalg.eigh((variance + variance.T) / 2)
        if values[0] <= 1e-10 * values[-1]:
            raise QueryError(
                "too few rows for a test of independence: put rare values together by CASE, or ask about more rows"
            )
        return float(np.sum((vectors.T @ found) ** 2 / values)), len(found)

    def answer(self, names: Sequence[str], level: float, notes: Sequence[str]) -> Tested:
        """The test, in one line."""
        from scipy.stats import chi2  # loads scipy

        statistic, freedom = self.statistic()
        line = {
            "column": [names[0]],
            "other_column": [names[1]],
            "chi_square": [round(statistic, 4)],
            "df": [freedom],
            P: [float(chi2.sf(statistic, freedom))],
        }
        told = [
            "p is how likely so large a dependence is if the rows were a sample of a population in which both columns are independent"
        ]
        if self.left_out:
            told.append(f"left out: {self.left_out} of the values, of which no rows are estimated")
        if (few := int((self.expected < EXPECTED).sum())) > 0:
            told.append(
                f"in {few} cells fewer than {EXPECTED} rows are expected, and p is rough: put rare values together by CASE"
            )
        return Tested(list(line), pa.table(line), [], level, [*notes, *told])
