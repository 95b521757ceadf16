"""The columns of a model: what a formula's terms are for values of its variables.

A variable is a number, or a category with a column for each of its values. In a term a category leaves out its reference where the term without it is in
the model too, as R does; else the columns would add up to those of that term.

    x_j = product over the variables of the term of f_v(value of v)

A variable is public, a function of the public group g, or perturbed, one of the key k. So a column is U[g, j] V[k, j], and x' b is a product of matrices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, is_number, is_text
from scumble.core.errors import InputError, QueryError, did_you_mean
from scumble.learn.formula import Formula, Variable

Tensor = npt.NDArray[np.float64]
Level = tuple[str, int | None]
"""A variable, and the place of a category of it; none for a number."""

MOST_LEVELS = 200
"""Values of a category, at most."""
INTERCEPT = "intercept"


@dataclass(frozen=True)
class Coding:
    """A variable as numbers: itself, or 1 for one of its values and 0 for others."""

    variable: Variable
    levels: pa.Array | None
    """The values of a category, its reference first."""

    @classmethod
    def of(cls, variable: Variable, values: pa.Array) -> "Coding":
        """What the values of a variable are."""
        plain = decoded(values)
        if pa.types.is_temporal(plain.type):
            raise QueryError(
                f"{variable.label} has values of type {plain.type}; take a number of it, as in YEAR({variable.label})"
            )
        if not (variable.category or is_text(plain.type) or pa.types.is_boolean(plain.type)):
            return cls(variable, None)
        known = plain.unique().drop_null()
        levels = known.take(pc.sort_indices(known))
        if len(levels) > MOST_LEVELS:
            raise QueryError(
                f"{variable.label} has {len(levels):,} values, and {MOST_LEVELS} categories are the most; put values together by I(CASE WHEN ...)"
            )
        return cls(variable, _first(levels, variable))

    def numbers(self, values: pa.Array, level: int | None) -> Tensor:
        """The column of a value, or of the number itself; NaN where it is missing."""
        plain = decoded(values)
        if level is None:
            if not is_number(plain.type):
                raise InputError(f"{self.variable.label} was fitted as a number, but has values of type {plain.type}")
            return np.asarray(plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        return np.where(np.isnan(self._codes(plain)), np.nan, self._codes(plain) == level)

    def _codes(self, plain: pa.Array) -> Tensor:
        assert self.levels is not None
        try:
            codes = pc.index_in(plain.cast(self.levels.type), value_set=self.levels)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"{self.variable.label} has values of type {plain.type}, but was fitted with values of type {self.levels.type}"
            ) from None
        unknown = pc.and_(pc.is_null(codes), pc.is_valid(plain))
        if pc.any(unknown).as_py():
            value = plain.filter(unknown)[0].as_py()
            raise InputError(f"{self.variable.label} has the value {value!r}, which the model was not fitted with")
        return np.asarray(codes.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _first(levels: pa.Array, variable: Variable) -> pa.Array:
    """The values with the reference first."""
    if variable.reference is None:
        return levels
    names = [str(value) for value in levels.to_pylist()]
    if variable.reference not in names:
        raise QueryError(
            f"{variable.label}: there is no value {variable.reference!r} to compare with{did_you_mean(variable.reference, names)}"
        )
    place = names.index(variable.reference)
    return levels.take(pa.array([place, *(i for i in range(len(levels)) if i != place)]))


@dataclass(frozen=True)
class ModelColumns:
    """The columns of a model, by the variables that they are products of."""

    codings: Mapping[str, Coding]
    columns: Sequence[tuple[Level, ...]]

    @classmethod
    def of(cls, formula: Formula, codings: Mapping[str, Coding]) -> "ModelColumns":
        """The columns of all terms."""
        present = {frozenset(term) for term in formula.terms}
        columns: list[tuple[Level, ...]] = []
        for term in formula.terms:
            choices = [_levels(label, codings[label], frozenset(term) - {label} in present) for label in term]
            columns += list(product(*choices))
        return cls(codings, columns)

    @property
    def names(self) -> list[str]:
        """What they are called."""
        return [":".join(self._named(level) for level in column) or INTERCEPT for column in self.columns]

    def _named(self, level: Level) -> str:
        label, place = level
        levels = self.codings[label].levels
        return label if place is None or levels is None else f"{label}[{levels[place].as_py()}]"

    def matrix(self, values: Mapping[str, pa.Array], rows: int) -> Tensor:
        """The part of the columns that some variables have in them."""
        known = {
            level: self.codings[level[0]].numbers(values[level[0]], level[1])
            for level in {level for column in self.columns for level in column if level[0] in values}
        }
        parts = [
            reduce(np.multiply, (known[level] for level in column if level in known), np.ones(rows))
            for column in self.columns
        ]
        return np.stack(parts, axis=1)


def _levels(label: str, coding: Coding, contrasted: bool) -> list[Level]:
    if coding.levels is None:
        return [(label, None)]
    return [(label, place) for place in range(1 if contrasted else 0, len(coding.levels))]
