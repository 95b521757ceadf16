"""What can go wrong, under the name that users import it by; the tree is drawn in core/errors.py."""

from scumble.core.errors import (
    ChangedRelease,
    InputError,
    InternalError,
    LedgerError,
    NotEstimable,
    NotOnGrid,
    ParameterError,
    QueryError,
    QuestionStopped,
    ReleaseError,
    SchemaError,
    ScumbleError,
    SurveyError,
    TableError,
    UndecidedColumns,
)

__all__ = [
    "ChangedRelease",
    "InputError",
    "InternalError",
    "LedgerError",
    "NotEstimable",
    "NotOnGrid",
    "ParameterError",
    "QueryError",
    "QuestionStopped",
    "ReleaseError",
    "SchemaError",
    "ScumbleError",
    "SurveyError",
    "TableError",
    "UndecidedColumns",
]
