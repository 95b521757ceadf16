"""What a survey says of its own keeping: who may answer, what is noted of when, who sees answers while they come in."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from scumble.spec.spec import Model

Tokens = Literal["open", "codes", "blind"]
"""Who may answer: anybody; who has a code; or who has a token that was signed without being seen (RFC 9474)."""

Clock = Literal["none", "month", "week", "day", "hour"]
"""The finest that is kept of when an answer came."""

Period = Literal["day", "week", "month", "quarter", "year"]
"""How long a period of a survey is that goes on: each person answers once in each, and each ends in a release."""

SENTENCES: dict[str, str] = {
    "open": "Anybody may answer, and nobody can tell whether somebody answers twice.",
    "codes": "One answer for each code. Codes are kept as hashes, and apart from answers.",
    "blind": "One answer for each code. A code is exchanged for a token that is signed without being seen, so that the "
    "server cannot tell which code an answer came with.",
}
"""What each kind of token means, for who answers."""


class Live(Model):
    """Estimates while answers come in."""

    batch: int = Field(
        100, ge=10, description="answers show in batches of at least so many, so that no single one does"
    )
    readers: Literal["public", "token"] = Field("token", description="who may see them")


def period_of(length: Period | None, moment: datetime) -> str:
    """The period that a moment is in; empty where a survey has none.

    >>> moment = datetime(2027, 5, 3, 12, tzinfo=UTC)
    >>> [period_of(length, moment) for length in ("day", "week", "month", "quarter", "year", None)]
    ['2027-05-03', '2027-W18', '2027-05', '2027-Q2', '2027', '']
    """
    if length is None:
        return ""
    when = moment.astimezone(UTC)
    week = when.isocalendar()
    return {
        "day": f"{when:%Y-%m-%d}",
        "week": f"{week.year}-W{week.week:02d}",
        "month": f"{when:%Y-%m}",
        "quarter": f"{when:%Y}-Q{(when.month + 2) // 3}",
        "year": f"{when:%Y}",
    }[length]


def noted(clock: Clock, moment: datetime) -> str:
    """What is kept of a moment.

    >>> moment = datetime(2027, 5, 3, 12, 40, tzinfo=UTC)
    >>> [noted(clock, moment) for clock in ("none", "month", "week", "day", "hour")]
    ['', '2027-05', '2027-W18', '2027-05-03', '2027-05-03T12']
    """
    if clock == "none":
        return ""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H}" if clock == "hour" else period_of(clock, moment)
