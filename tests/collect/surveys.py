"""Surveys that tests answer."""

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from scumble.collect.drafting import draft
from scumble.collect.survey import Survey
from scumble.collect.survey_spec import SurveySpec

ILLNESSES = ["none", "flu", "asthma", "diabetes"]
SEXES = ["F", "M"]
COLUMNS: dict[str, Any] = {
    "sex": {"role": "public", "ask": "Your sex", "values": SEXES, "labels": {"F": "female", "M": "male"}},
    "illness": {"role": "sensitive", "ask": "What did you have?", "values": ILLNESSES},
    "days": {"role": "sensitive", "ask": "Days away from work", "low": 0, "high": 10},
}
KEY = Ed25519PrivateKey.from_private_bytes(b"a key that is used in tests only")


def spec(**changes: Any) -> SurveySpec:
    """A spec with everything in place, so that a test says only what it changes."""
    given = {
        "title": "Health at work",
        "collector": "An institute",
        "until": "2999-12-31",
        "privacy": {"epsilon": 3},
        "columns": COLUMNS,
    }
    return SurveySpec.model_validate(given | changes)


def survey(*, series: str | None = None, **changes: Any) -> Survey:
    """The signed survey of such a spec."""
    issuer = changes.pop("issuer", None)
    return draft(spec(**changes), series=series, issuer=issuer).signed(KEY)
