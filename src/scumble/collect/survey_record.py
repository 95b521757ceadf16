"""A survey in JSON: the fields of the document that everybody gets. How it is written and read: docs/protocol.md."""

from typing import Literal

from pydantic import Field, field_validator

from scumble.collect.policy import Clock, Live, Period, Tokens
from scumble.collect.survey_spec import SurveyTexts
from scumble.forms.records import DomainRecord
from scumble.privacy.guarantee import Guarantee
from scumble.release.mixture_record import MixtureRecord
from scumble.release.records import AnyChannel
from scumble.spec.spec import Model


class QuestionRecord(Model):
    """A question: what can be answered, and what becomes of the answer before it is sent."""

    name: str = Field(min_length=1, max_length=200)
    role: Literal["public", "sensitive"]
    ask: str = Field(max_length=2000)
    help: str | None = Field(None, max_length=4000)
    labels: dict[str, str] | None = None
    """How the page calls a value, by the value as text."""
    type: str
    """The Arrow type of the answers."""
    domain: DomainRecord
    channel: AnyChannel | None = None
    """As a manifest has it; none of a public question, which is sent as it is answered."""
    attribute: str | None = None
    """What memoised coins belong to, where that is not the name."""

    @field_validator("channel")
    @classmethod
    def _of_protocol(cls, channel: AnyChannel | None) -> AnyChannel | None:
        """The kinds that the protocol says how to flip: a device of any make must be able to."""
        if isinstance(channel, MixtureRecord):
            raise ValueError("a channel of this kind is for tables; surveys have replacements and designs")
        return channel


class SealRecord(Model):
    """The signature under a survey."""

    key: str
    """The public key of Ed25519, its 32 bytes in base64."""
    signature: str


class SurveyRecord(Model):
    """The document."""

    format: Literal["scumble-survey"] = "scumble-survey"
    version: Literal[1] = 1
    software: str
    title: str = Field(min_length=1, max_length=500)
    purpose: str | None = Field(None, max_length=4000)
    collector: str | None = Field(None, max_length=1000)
    contact: str | None = Field(None, max_length=1000)
    until: str | None = None
    """When answers are no longer taken, in UTC: 2027-03-31T23:59:59Z."""
    language: str = "en"
    series: str = Field(pattern="^[0-9a-f]{32}$")
    """What memoised coins belong to: a survey that continues another has the same."""
    tokens: Tokens
    issuer: str | None = None
    """Of blind tokens: the public key that they are signed by, RSA in SubjectPublicKeyInfo, base64."""
    clock: Clock = "none"
    period: Period | None = None
    live: Live | None = None
    mechanism: str
    questions: list[QuestionRecord] = Field(min_length=1, max_length=1000)
    guarantees: list[Guarantee]
    """A claim: what holds is derived, and must be this."""
    promise: str
    """The same for who answers, in one sentence of English."""
    texts: dict[str, SurveyTexts] | None = None
    signature: SealRecord | None = Field(None, exclude=True)
