"""The functions that a question may use: each gives the same value for the same row whenever it is asked, and reads nothing but its arguments."""

from sqlglot import exp

NUMBERS = """
    Abs Acos Asin Atan Atan2 Cbrt Ceil Cos Degrees Exp Floor Greatest IsInf IsNan Least Ln Log Pi Pow Radians
    Round Sign Sin Sqrt Tan Trunc
"""
WORDS = """
    Ascii Chr Concat ConcatWs Contains EndsWith Left Length Levenshtein Lower Pad RegexpExtract RegexpFullMatch
    RegexpLike RegexpReplace Repeat Replace Reverse Right SplitPart StartsWith StrPosition Substring Translate
    Trim Unicode Upper
"""
DATES = """
    AtTimeZone Date DateAdd DateBin DateDiff DateFromParts DateSub DateTrunc Day DayOfMonth DayOfWeek DayOfWeekIso
    DayOfYear Dayname Extract Hour LastDay Minute Month Monthname Quarter Second StrToTime TimeToStr TimeToUnix
    TimestampFromParts TimestampTrunc UnixToTime Week WeekOfYear Year
"""
CHOICES = """
    Case Cast Coalesce If Nullif TryCast
"""

FUNCTIONS: frozenset[type[exp.Expression]] = frozenset(
    getattr(exp, name) for names in (NUMBERS, WORDS, DATES, CHOICES) for name in names.split()
)
"""The parser's classes: one stands for all spellings of a function."""

NAMED = frozenset(
    [
        "century",
        "date_part",
        "date_sub",
        "datepart",
        "datesub",
        "decade",
        "even",
        "gcd",
        "isfinite",
        "isoyear",
        "lcm",
        "prefix",
        "strip_accents",
        "strlen",
        "suffix",
        "try_strptime",
        "weekday",
        "yearweek",
    ]
)
"""Functions that the parser has no class for."""

VOLATILE = frozenset(
    [
        "age",
        "current_catalog",
        "current_connection_id",
        "current_database",
        "current_date",
        "current_localtime",
        "current_localtimestamp",
        "current_query",
        "current_role",
        "current_schema",
        "current_time",
        "current_timestamp",
        "current_user",
        "currval",
        "gen_random_uuid",
        "get_current_time",
        "get_current_timestamp",
        "localtime",
        "localtimestamp",
        "nextval",
        "now",
        "rand",
        "random",
        "session_user",
        "today",
        "transaction_timestamp",
        "txid_current",
        "user",
        "uuid",
        "uuidv4",
        "uuidv7",
    ]
)
"""Functions whose value depends on when, where or by whom they are asked."""

TYPES = frozenset(
    [
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "INT128",
        "UTINYINT",
        "USMALLINT",
        "UINT",
        "UBIGINT",
        "UINT128",
        "FLOAT",
        "DOUBLE",
        "DECIMAL",
        "CHAR",
        "VARCHAR",
        "TEXT",
        "DATE",
        "TIME",
        "TIMESTAMP",
        "TIMESTAMPTZ",
        "TIMESTAMPNTZ",
        "TIMESTAMP_S",
        "TIMESTAMP_MS",
        "TIMESTAMP_NS",
        "INTERVAL",
    ]
)
"""What a value may be cast to."""


def known() -> list[str]:
    """The names of all functions, as they are written."""
    return sorted({*NAMED, *(kind.sql_names()[0].lower() for kind in FUNCTIONS if issubclass(kind, exp.Func))})
