"""What can go wrong, as one tree.

ScumbleError
├── InputError            the caller's mistake: the message names the rule, the culprit and the way out
│   ├── ParameterError    a number outside its range, or parameters that do not go together
│   ├── SchemaError       a column without a role, an unknown column, a domain that does not fit
│   │   ├── NotOnGrid     numbers that are none, counted
│   │   └── UndecidedColumns  columns without a role, a line for each
│   ├── TableError        a table that cannot be read
│   ├── SurveyError       a survey that is none, or a server that cannot be asked or started like this
│   ├── LedgerError       what was published before does not allow it, or a ledger that cannot be read
│   ├── ReleaseError      a folder that is not a release, or cannot be asked
│   │   └── ChangedRelease  a release that is no longer the one that was written
│   └── QueryError        a question that is not understood
│       ├── NotEstimable  a question that the published data cannot answer
│       └── QuestionStopped  a question that took too long, or was cancelled
└── InternalError         our mistake: please report it

The command line prints the message of an InputError on one line (of undecided columns, one for each) and exits with code 2.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class ScumbleError(Exception):
    """Everything that scumble raises on purpose."""


class InputError(ScumbleError):
    """The caller can mend it."""


class ParameterError(InputError, ValueError):
    """A number outside its range, or parameters that do not go together."""


class SchemaError(InputError, ValueError):
    """Roles, columns or domains that do not fit the table."""


class NotOnGrid(SchemaError):  # noqa: N818  what the numbers are
    """A column of numbers on a grid has some that are none.

    >>> print(NotOnGrid("age", 2, 1))
    column 'age' has 2 missing values and 1 values that are NaN or infinite; a grid has no place for them: leave out these rows, or fill them
    """

    def __init__(self, column: str, missing: int, infinite: int) -> None:
        super().__init__(column, missing, infinite)
        self.column, self.missing, self.infinite = column, missing, infinite

    def __str__(self) -> str:
        counts = [f"{self.missing:,} missing values"] * (self.missing > 0)
        counts += [f"{self.infinite:,} values that are NaN or infinite"] * (self.infinite > 0)
        sentence = " and ".join(counts)
        way_out = "declare a missing value to be one more (missing = true), " if not self.infinite else ""
        return f"column {self.column!r} has {sentence}; a grid has no place for them: {way_out}leave out these rows, or fill them"


class UndecidedColumns(SchemaError):  # noqa: N818  what they are
    """Columns that nobody gave a role; the message has a line for each."""


class TableError(InputError):
    """A table that cannot be read."""


class SurveyError(InputError):
    """A survey that is none, or a server that cannot be asked or started like this."""


class LedgerError(InputError):
    """What was published before does not allow it, or a ledger that cannot be read."""


class ReleaseError(InputError):
    """A folder that is not a release, or one that cannot be asked like this."""


class ChangedRelease(ReleaseError):  # noqa: N818  what happened to it
    """A release that is no longer the one that was written."""


class QueryError(InputError, ValueError):
    """A question that is not understood."""


class NotEstimable(QueryError):  # noqa: N818  the word of the field
    """A question that the published data cannot answer."""


class QuestionStopped(QueryError):  # noqa: N818  what happened to it
    """A question that took too long, or that somebody cancelled."""


class InternalError(ScumbleError):
    """A broken promise inside scumble."""


def closest(name: str, options: Iterable[str]) -> str | None:
    """The name that was probably meant, if any is close to it."""
    known = list(options)
    alike = [option for option in known if option.casefold() == name.casefold()]
    return next(iter(alike or get_close_matches(name, known, n=1)), None)


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """The end of a message about an unknown name.

    >>> did_you_mean("diseas", ["age", "disease"])
    "; did you mean 'disease'?"
    >>> did_you_mean("x", ["age", "sex", "disease"])
    '; there are: age, sex, disease'
    >>> did_you_mean("male", ["Female", "Male"])
    "; did you mean 'Male'?"
    """
    known = list(options)
    meant = closest(name, known)
    if meant is not None:
        return f"; did you mean {meant!r}?"
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f"; there are: {shown}" if known else ""
