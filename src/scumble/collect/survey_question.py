"""A question at work: from an answer to its place in the domain, and to the column of a release that it becomes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.collect.survey_record import QuestionRecord
from scumble.core.arrow_types import is_text
from scumble.core.coins import BaseCoins
from scumble.core.domain import Domain, Grid
from scumble.core.errors import SchemaError, did_you_mean
from scumble.core.once import once
from scumble.release.manifest import digest_of
from scumble.release.records import ColumnRecord
from scumble.release.rounding import rounding_of

LONGEST_SHOWN = 60


class SurveyQuestion:
    """A question of a survey, at work."""

    def __init__(self, record: QuestionRecord) -> None:
        self.record = record
        self.name = record.name
        self.sensitive = record.role == "sensitive"
        self.domain = _domain(record)
        self.coins: BaseCoins | None = None if record.channel is None else record.channel.coins(self.domain.size)

    @property
    def codes(self) -> int:
        """How many codes can be sent: those of the channel, or the places of the answers."""
        return self.domain.size if self.coins is None or self.coins.codes is None else self.coins.codes

    @property
    def code_type(self) -> np.dtype[np.unsignedinteger]:
        """The narrowest unsigned integer that holds every code."""
        return np.dtype(np.min_scalar_type(self.codes - 1))

    @property
    def coded(self) -> bool:
        """Whether codes are published in the place of values."""
        return self.coins is not None and self.coins.codes is not None

    @property
    def attribute(self) -> str:
        """What memoised coins belong to."""
        return self.record.attribute or self.name

    @once
    def stream(self) -> str:
        """What memoised coins depend on beside the person, the series and the value: the domain in its order, and the channel."""
        fields = self.record.model_dump(mode="json", exclude_none=True, include={"domain", "channel"})
        return digest_of({**fields, "attribute": self.attribute})

    def encode(self, answer: Any) -> int:
        """The place of an answer in the domain; refused where it has none."""
        if answer is None and not self.domain.values.null_count:
            raise SchemaError(f"{self.name!r} is not answered, and has no answer that stands for none")
        try:
            given = pa.array([answer], pa.float64() if isinstance(self.domain, Grid) else self.domain.type)
            return int(self.domain.encode(given, self.name)[0])
        except (pa.ArrowException, SchemaError, ValueError, TypeError, OverflowError):
            raise SchemaError(f"{_shown(answer)} is no answer to {self.name!r}{self._possible(answer)}") from None

    def _possible(self, answer: Any) -> str:
        if isinstance(self.domain, Grid):
            between = "" if self.sensitive else f", by {self.domain.step}"
            return f", which is a number from {self.domain.low} to {self.domain.high}{between}"
        if is_text(self.domain.type):
            return did_you_mean(str(answer), [value for value in self.domain.values.to_pylist() if value is not None])
        return did_you_mean(str(answer), [str(value) for value in self.domain.values.to_pylist()])

    def column(self) -> ColumnRecord:
        """The column of a release that it becomes."""
        if not self.sensitive:
            return ColumnRecord(name=self.name, role="public", type=self.record.type)
        codes = str(pa.from_numpy_dtype(self.code_type))
        plain = ColumnRecord(
            name=self.name,
            role="sensitive",
            type=codes if self.coded else self.record.type,
            domain=self.record.domain.model_copy(update={"type": self.record.type if self.coded else None}),
            channel=self.record.channel,
        )
        return plain.model_copy(update={"rounded": rounding_of(plain, self.domain)})


def _domain(record: QuestionRecord) -> Domain:
    """The domain; numbers that are sent as they are answered are points of their grid, and none is rounded."""
    domain = record.domain.domain(record.type)
    return replace(domain, exact=True) if isinstance(domain, Grid) and record.role == "public" else domain


def places(record: Mapping[str, Any], questions: Mapping[str, SurveyQuestion]) -> list[int]:
    """The place of each answer; refused where one is missing, or answers what is not asked."""
    strange = next((name for name in record if name not in questions), None)
    if strange is not None:
        raise SchemaError(f"{_shown(strange)} is not asked{did_you_mean(str(strange), questions)}")
    for name, question in questions.items():
        if name not in record and not question.domain.values.null_count:
            raise SchemaError(f"{name!r} is not answered; a record has an answer to every question")
    return [question.encode(record.get(name)) for name, question in questions.items()]


def _shown(answer: Any) -> str:
    text = repr(answer)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
