"""Marginals of one table, put together for a question: each cell of its columns estimated by all tables that have them.

A table t has a noisy count of every tuple of its domains. Where it has all columns of a question, the n_t of its tuples that fall into a cell of these
columns add up to one more estimate of the cell, with noise of variance n_t v_t at most. Estimates of several tables are independent, so that

    e = sum of w_t e_t      w_t = (1 / n_t v_t) / sum of (1 / n_u v_u)      variance = sum of w_t^2 times that of e_t

has the least variance of all weights that know nothing of the counts, and is unbiased, because the weights do not depend on them. A cell's
noise has the first four cumulants of so many tuples of one weight (`Noise.worth`): docs/proofs/marginals.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from scumble.core.domain import Domain
from scumble.forms.tuples.linear import Floats, Noise
from scumble.forms.tuples.statement import NOISE, NUMBER
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, listed_domain


@dataclass(frozen=True, eq=False)
class Marginal:
    """One table as an array: how many rows each tuple of its domains stands for, and how uncertain that is."""

    columns: Sequence[str]
    noise: ClampedCounts
    rows: Floats
    variances: Floats

    @classmethod
    def of(cls, domains: Mapping[str, Domain], noise: ClampedCounts, tuples: pa.Table, count: str) -> "Marginal":
        """From the tuples that were published, and how often each was."""
        listed_domain(domain.size for domain in domains.values())  # a manifest may say anything
        counts = dense(tuples, domains, count)
        rows, variances = noise.estimate(counts)
        return cls(list(domains), noise, rows, variances)

    @property
    def variance(self) -> float:
        """Of one tuple, at most."""
        return float(self.noise.estimate([self.noise.floor + 1])[1][0])

    def tuples_in_a_cell(self, columns: Sequence[str]) -> int:
        """How many of its tuples fall into a cell of some of its columns."""
        sizes = dict(zip(self.columns, self.rows.shape, strict=True))
        return int(np.prod([size for name, size in sizes.items() if name not in columns], dtype=np.int64))

    def on(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """Rows and variances by some of its columns, in their order."""
        axes, own = _axes(self.columns, columns), [name for name in self.columns if name in columns]
        order = [own.index(name) for name in columns]
        return self.rows.sum(axis=axes).transpose(order), self.variances.sum(axis=axes).transpose(order)


def dense(tuples: pa.Table, domains: Mapping[str, Domain], count: str) -> Floats:
    """How often each tuple of the domains was published, as an array."""
    counts = np.zeros(tuple(domain.size for domain in domains.values()), np.float64)
    codes = [domain.encode(tuples.column(name).combine_chunks(), name) for name, domain in domains.items()]
    np.add.at(counts, tuple(codes), tuples.column(count).to_numpy())
    return counts


def _axes(own: Sequence[str], kept: Sequence[str]) -> tuple[int, ...]:
    return tuple(axis for axis, name in enumerate(own) if name not in kept)


@dataclass(frozen=True, eq=False)
class Together:
    """The cells of some columns, estimated by all tables that have them."""

    rows: Floats
    variances: Floats
    noise: Noise

    @classmethod
    def of(cls, marginals: Sequence[Marginal], columns: Sequence[str]) -> "Together":
        """Weighted by the inverse of the variances, as far as these do not depend on counts."""
        tuples = [marginal.tuples_in_a_cell(columns) for marginal in marginals]
        inverse = np.array([1 / (n * m.variance) for n, m in zip(tuples, marginals, strict=True)])
        weights = inverse / inverse.sum()
        parts = [marginal.on(columns) for marginal in marginals]
        rows = sum((w * rows for w, (rows, _) in zip(weights, parts, strict=True)), np.zeros(()))
        variances = sum((w * w * own for w, (_, own) in zip(weights, parts, strict=True)), np.zeros(()))
        return cls(np.asarray(rows), np.asarray(variances), _noise(marginals, weights, tuples))

    def table(self, domains: Mapping[str, Domain]) -> pa.Table:
        """Each cell as a line that questions are put to."""
        cells = domain_table(domains)
        cells[NUMBER], cells[NOISE] = pa.array(self.rows.ravel()), pa.array(self.variances.ravel())
        return pa.table(cells)


def _noise(marginals: Sequence[Marginal], weights: Floats, tuples: Sequence[int]) -> Noise:
    """(sum of squared weights)^2 / sum of fourth powers, each tuple weighted by the scale of its noise, too."""
    squares = [w * w * marginal.variance for w, marginal in zip(weights, marginals, strict=True)]
    second = sum(n * square for n, square in zip(tuples, squares, strict=True))
    fourth = sum(n * square * square for n, square in zip(tuples, squares, strict=True))
    return Noise(0, tuple(marginal.noise.rate for marginal in marginals), second, second * second / fourth)


def domain_table(domains: Mapping[str, Domain]) -> dict[str, pa.Array]:
    """Every tuple of some domains, in the order of their codes, column by column."""
    shape = tuple(domain.size for domain in domains.values())
    places = np.unravel_index(np.arange(int(np.prod(shape, dtype=np.int64))), shape) if shape else []
    return {name: d.values.take(pa.array(place)) for (name, d), place in zip(domains.items(), places, strict=True)}
