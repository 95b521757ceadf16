"""What a form of a release says to a question, before it is put in order and cut to what is possible."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scumble.query.estimates import Estimates
from scumble.query.model import Window
from scumble.query.possible import Ends, Limits

Lines = npt.NDArray[np.intp]
"""Places of lines of an answer."""


@dataclass(frozen=True)
class PublicGroups:
    """The public groups of an answer, whose coins are independent; all have the same lines, those of one stand together."""

    names: Sequence[str]
    """The groups that are public."""
    rows: npt.NDArray[np.float64]
    """Of each of them."""
    counted: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    """The rows of each line that averages are over, where these are public."""


@dataclass(frozen=True)
class Answer:
    """What a form says: every line, in the order of the groups, and what to know of those that are shown."""

    estimates: Estimates
    notes: Callable[[Lines], list[str]] = lambda shown: []
    covariance: Callable[[Sequence[Window]], npt.NDArray[np.float64] | None] | None = None
    """That of all aggregates with each other, and then of sums of them over lines, for every line; None where it is not known."""
    at: "Callable[[float], Answer] | None" = None
    """The same at another level, without asking the table again; None where intervals are so many standard errors wide."""
    limits: Callable[[], Limits] = dict
    """The least and the most that aggregates can be, where that is public."""
    quotient: Callable[[dict[str, float], dict[str, float], Sequence[Window]], Ends | None] | None = None
    """The same of quotients of counts and sums, each taken so many times."""
    across: Callable[[Lines], npt.NDArray[np.float64] | None] | None = None
    """The covariances of all aggregates at some lines with all at the others; None where they are not known."""
    publics: Callable[[], PublicGroups] | None = None
    """The public groups; None where their coins are not independent."""
