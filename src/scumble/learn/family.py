"""Families of models: how the mean of an outcome follows from x' b, by the link for which the score is x (y - mean)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, is_number
from scumble.core.errors import ParameterError, QueryError, did_you_mean

Tensor = npt.NDArray[np.float64]
Function = Callable[[Any], Any]


@dataclass(frozen=True)
class ResponseFamily:
    """A family with its canonical link."""

    name: str
    mean: Function
    slope: Function
    """The derivative of the mean."""
    cumulant: Function
    """What the mean is the derivative of."""
    straight: bool = False
    """Whether the equations are linear."""

    def outcome(self, values: pa.Array, label: str) -> tuple[Tensor, list[Any]]:
        """The outcome as numbers, NaN where it is missing; of two classes also these, the second of which is 1."""
        plain = decoded(values)
        if self.name == "logistic":
            return _classes(plain, label)
        if pa.types.is_boolean(plain.type):
            plain = plain.cast(pa.int8())
        if not is_number(plain.type):
            raise QueryError(
                f"{label} has values of type {plain.type}, and a {self.name} model needs numbers; "
                f"take the logistic one, or write a condition: {label} = 'value' ~ ..."
            )
        numbers = np.asarray(plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        if self.name == "poisson" and np.any(numbers < 0):
            raise QueryError(f"{label} has negative values, and a poisson model is of counts; take the linear one")
        return numbers, []


def _classes(plain: pa.Array, label: str) -> tuple[Tensor, list[Any]]:
    known = plain.unique().drop_null()
    levels = known.take(pc.sort_indices(known))
    if len(levels) != 2:
        raise QueryError(
            f"{label} has {len(levels):,} values, and a logistic model needs two; write a condition: {label} = 'value' ~ ..., or {label} > 10 ~ ..."
        )
    codes = pc.index_in(plain, value_set=levels).cast(pa.float64())
    return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.float64), levels.to_pylist()


def _logistic(eta: Tensor) -> Tensor:
    from scipy.special import expit

    return np.asarray(expit(eta))


def _exp(eta: Tensor) -> Tensor:
    return np.exp(np.minimum(eta, 700.0))


def _one(eta: Tensor) -> Tensor:
    return np.ones_like(eta)


FAMILIES = {
    family.name: family
    for family in (
        ResponseFamily("linear", lambda eta: eta, _one, lambda eta: eta**2 / 2, straight=True),
        ResponseFamily(
            "logistic", _logistic, lambda eta: _logistic(eta) * _logistic(-eta), lambda eta: np.logaddexp(0, eta)
        ),
        ResponseFamily("poisson", _exp, _exp, _exp),
    )
}


def find_family(name: str) -> ResponseFamily:
    """The family of a name."""
    if name not in FAMILIES:
        raise ParameterError(f"there is no family {name!r}{did_you_mean(str(name), FAMILIES)}")
    return FAMILIES[name]
