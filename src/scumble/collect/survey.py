"""A survey: what is asked, through which channels, by whom and until when. It is public, signed, and named by its digest.

A reader takes nothing on the collector's word that follows from something else: what answers are promised is derived from the
channels, and a survey that claims another promise is refused.
"""

import base64
import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

import scumble
from scumble.collect.policy import SENTENCES, period_of
from scumble.collect.promise import promise
from scumble.collect.survey_question import SurveyQuestion
from scumble.collect.survey_record import SealRecord, SurveyRecord
from scumble.core.coins import BaseCoins
from scumble.core.display import Card, Grid, Items, Note, Part, Shown
from scumble.core.errors import SurveyError
from scumble.core.once import once
from scumble.core.staged_coins import memoised
from scumble.forms.rows.record import RowsRecord
from scumble.mechanisms.facts import Terms
from scumble.release.keys import encoded
from scumble.release.manifest import Manifest, digest_of
from scumble.release.persons import PersonsRecord
from scumble.release.records import DEVICES, FileRecord, Randomness, StreamRecord
from scumble.release.terms import records_of, terms_of

CONTEXT = b"scumble-survey-signature 1\n"
"""Stands before the digest, so that a signature of something else is none of a survey."""

COINS = "scumble-collected-coins 1"
"""What a commitment to memoised coins begins with."""


class Survey(Shown):
    """A survey, read or made."""

    def __init__(self, record: SurveyRecord) -> None:
        self.record = record
        self.questions = {question.name: SurveyQuestion(question) for question in record.questions}

    @property
    def title(self) -> str:
        """What it is called."""
        return self.record.title

    @once
    def digest(self) -> str:
        """Its name: the SHA-256 of the document without its seals."""
        return digest_of(self._document())

    @property
    def coins(self) -> dict[str, BaseCoins]:
        """The coins of each sensitive question."""
        return {name: question.coins for name, question in self.questions.items() if question.coins is not None}

    @property
    def gamma(self) -> Fraction:
        """The factor of all answers of a person together; of all periods, where there are several."""
        return math.prod((memoised(coins).amplification for coins in self.coins.values()), start=Fraction(1))

    @property
    def promise(self) -> str:
        """What is promised to who answers, derived from the channels."""
        return promise(self.gamma, over_time=self.record.period is not None)

    @once
    def terms(self) -> Terms:
        """What a release of its answers will promise."""
        return terms_of(self.manifest())

    def manifest(self, rows: int = 0, files: Sequence[FileRecord] = (), software: str | None = None) -> Manifest:
        """The manifest of a release of its answers; what it promises is filled in by who derived it."""
        return Manifest(
            software=software or f"scumble {scumble.__version__}",
            mechanism=self.record.mechanism,
            rows=rows,
            columns=[question.column() for question in self.questions.values()],
            form=RowsRecord(),
            **records_of(Terms(self.record.guarantees, [], [])),
            randomness=self._randomness(),
            files=list(files),
            persons=PersonsRecord(how="unanswered" if self.record.tokens == "open" else "stated"),
        )

    def _randomness(self) -> Randomness:
        """Coins of the respondents' own; memoised on each device, where the survey has periods."""
        if self.record.period is None:
            return Randomness(source=DEVICES, secure=True, keyed=False)
        streams = [self._stream(question) for question in self.questions.values() if question.sensitive]
        return Randomness(source=DEVICES, secure=True, keyed=True, streams=streams)

    def _stream(self, question: SurveyQuestion) -> StreamRecord:
        """The same commitment in every survey of the series whose question has the same domain and channel."""
        about = digest_of({"coins": COINS, "series": self.record.series, "stream": question.stream})
        return StreamRecord(column=question.name, attribute=question.attribute, commitment=about[:32])

    def period(self, moment: datetime | None = None) -> str:
        """The period of a moment, by the universal clock."""
        return period_of(self.record.period, moment or datetime.now(UTC))

    def ended(self, moment: datetime | None = None) -> bool:
        """Whether it takes no answers any more."""
        until = self.record.until
        return until is not None and (moment or datetime.now(UTC)) > datetime.fromisoformat(until)

    def signed(self, key: Ed25519PrivateKey) -> "Survey":
        """The same, with a signature."""
        signature = base64.b64encode(key.sign(CONTEXT + self.digest.encode())).decode()
        seal = SealRecord(key=encoded(key.public_key()), signature=signature)
        return Survey(self.record.model_copy(update={"signature": seal}))

    def demand_signature(self, key: str | None = None) -> None:
        """Refuses a survey whose signature is not that of its key; or of the key that is named, 32 bytes in base64."""
        seal = self.record.signature
        if seal is None:
            raise SurveyError("the survey is not signed; get it again from its collector")
        if key is not None and seal.key != key:
            raise SurveyError("the survey is signed by another key than the one that was named")
        try:
            public = Ed25519PublicKey.from_public_bytes(base64.b64decode(seal.key, validate=True))
            public.verify(base64.b64decode(seal.signature, validate=True), CONTEXT + self.digest.encode())
        except (InvalidSignature, ValueError):
            raise SurveyError(
                "the signature of the survey is not that of its key; get it again from its collector"
            ) from None

    def text(self) -> str:
        """The document as it is written, with its seals."""
        document = {**self._document(), "digest": self.digest}
        if self.record.signature is not None:
            document["signature"] = self.record.signature.model_dump()
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"

    def _document(self) -> dict[str, Any]:
        return self.record.model_dump(mode="json", exclude_none=True)

    def card(self) -> Card:
        """What is asked, what becomes of the answers, and what is promised."""
        record = self.record
        rows = [
            (q.name, "as it is" if q.coins is None else _kept(q.coins), f"{q.domain.size:,}", q.record.ask)
            for q in self.questions.values()
        ]
        parts: list[Part] = [
            Note(f"survey {self.digest}"),
            Note(f"collected by: {record.collector or 'NOT SAID'}{f' ({record.contact})' if record.contact else ''}"),
            Note(
                f"until: {record.until or 'it is closed'}{f', once in each {record.period}' if record.period else ''}"
            ),
            Grid(("question", "sent", "answers", "asked"), rows, (0, 1, 3)),
            Note(self.promise, "strong"),
            Note(SENTENCES[record.tokens]),
            *(Note(f"guaranteed: {guarantee.statement}") for guarantee in self.terms.guarantees),
            Items("not covered", [clause.sentence for clause in self.terms.not_covered]),
        ]
        return Card(record.title, parts)


def _kept(coins: BaseCoins) -> str:
    low, high = float(coins.kept.min()), float(coins.kept.max())
    share = f"{high:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    return f"kept with probability {share}" if coins.codes is None else f"a set that holds it with probability {share}"
