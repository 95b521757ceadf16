"""What a collector decides: the TOML file that a survey is made of.

    title = "Health at work"
    collector = "Institute of Occupational Health, Bern"
    until = 2027-03-31

    [privacy]
    epsilon = 2

    [columns.sex]
    role = "public"
    ask = "Your sex"
    values = ["F", "M"]

    [columns.illness]
    role = "sensitive"
    ask = "Which of these did you have in the last year?"
    values = ["none", "flu", "asthma"]

It is spelt as the spec of a table is. A column is a question; a public one needs its domain too, because what is not an
answer is refused. Columns that are identifier or dropped are not asked.
"""

import tomllib
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from scumble.collect.policy import Clock, Live, Period, Tokens
from scumble.core.errors import SurveyError
from scumble.spec.problems import first_problem
from scumble.spec.spec import DEFAULT, Model, Number, Role, Target

Type = Literal["text", "integer", "number", "boolean", "date"]


class QuestionSpec(Model):
    """One question: its role, its answers, and its words."""

    role: Role
    ask: str | None = Field(None, description="the question as people read it; the column's name when absent")
    help: str | None = Field(None, description="a sentence below it")
    labels: dict[str, str] = Field(default_factory=dict, description="value -> how the page calls it")
    type: Type | None = Field(None, description="what the answers are; by the declared values when absent")
    values: list[Any] | None = Field(None, description="a domain of categories")
    missing: bool = Field(False, description="no answer is one more answer")
    low: Number | None = Field(None, description="a domain of numbers: the first")
    high: Number | None = Field(None, description="the last")
    step: Number = Field(1, description="the distance between two")
    privacy: Target | None = Field(None, description="a target of this question's own")
    attribute: str | None = Field(None, description="what memoised coins belong to; the column's name when absent")

    @property
    def asked(self) -> bool:
        """Whether it is a question at all."""
        return self.role in ("public", "sensitive")

    @model_validator(mode="after")
    def _decided(self) -> "QuestionSpec":
        if self.role == "?":
            raise ValueError('its role is "?", which nobody decided; say public, sensitive, identifier or dropped')
        if self.asked and self.values is None and (self.low is None or self.high is None):
            raise ValueError("a question needs its answers: values = [...], or low and high")
        if self.values is not None and self.low is not None:
            raise ValueError("a domain is a list of values or a grid, not both")
        if self.privacy is not None and self.role != "sensitive":
            raise ValueError("a privacy target is for sensitive questions")
        return self


class QuestionTexts(Model):
    """A question in another language."""

    ask: str | None = None
    help: str | None = None
    labels: dict[str, str] = Field(default_factory=dict)


class SurveyTexts(Model):
    """A survey in another language."""

    title: str | None = None
    purpose: str | None = None
    columns: dict[str, QuestionTexts] = Field(default_factory=dict)


class SurveySpec(Model):
    """Everything that decides a survey."""

    title: str | None = None
    purpose: str | None = Field(None, description="what the answers are for")
    collector: str | None = Field(None, description="who collects")
    contact: str | None = None
    until: datetime | None = Field(
        None, description="when answers are no longer taken; a date is the end of that day, UTC"
    )
    language: str = Field("en", pattern="^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$", description="of the words here")
    tokens: Tokens = "open"
    clock: Clock = "none"
    period: Period | None = None
    live: Live | None = None
    mechanism: str = DEFAULT
    settings: dict[str, Any] = Field(default_factory=dict)
    privacy: Target = Target()
    fresh: Number | None = Field(None, description="with a period: how probably the memoised response is sent as it is")
    columns: dict[str, QuestionSpec] = Field(default_factory=dict)
    texts: dict[str, SurveyTexts] = Field(default_factory=dict, description="language -> the same in its words")
    table: str | None = Field(None, description="of an owner who sends one; a survey does not read it")

    @field_validator("until", mode="before")
    @classmethod
    def _end(cls, given: Any) -> Any:
        if isinstance(given, str):
            given = date.fromisoformat(given) if len(given) == 10 else datetime.fromisoformat(given)
        if isinstance(given, date) and not isinstance(given, datetime):
            return datetime.combine(given, time(23, 59, 59), UTC)
        if isinstance(given, datetime):
            return (given if given.tzinfo else given.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)
        return given

    @model_validator(mode="after")
    def _fits(self) -> "SurveySpec":
        if not any(question.role == "sensitive" for question in self.columns.values()):
            raise ValueError("no column is sensitive, so that there is nothing to perturb; give one the role sensitive")
        if self.fresh is not None and self.period is None:
            raise ValueError("fresh lays a new response over a memoised one in every period; give a period beside it")
        strange = sorted({name for texts in self.texts.values() for name in texts.columns} - set(self.columns))
        if strange:
            raise ValueError(f"texts speak of {strange[0]!r}, which is no column")
        return self

    @property
    def asked(self) -> dict[str, QuestionSpec]:
        """The questions."""
        return {name: question for name, question in self.columns.items() if question.asked}


def read_survey_spec(path: str | Path) -> SurveySpec:
    """The spec in a TOML file; its title is the file's name where it has none."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            spec = SurveySpec.model_validate(tomllib.load(file))
    except FileNotFoundError:
        raise SurveyError(f"there is no spec {str(path)!r}; docs/collect.md has one to copy") from None
    except (IsADirectoryError, PermissionError) as error:
        raise SurveyError(f"{str(path)!r} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SurveyError(f"{path.name} is not valid TOML: {error}") from None
    except ValidationError as error:
        raise SurveyError(f"{path.name}: {first_problem(error, SurveySpec)}") from None
    return spec if spec.title else spec.model_copy(update={"title": path.stem.replace("_", " ").replace("-", " ")})
