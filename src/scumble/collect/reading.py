"""Reading a survey that somebody else wrote: whole, of a version that is known, and with the promise that follows from it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import scumble
from scumble.collect.blind import issuer_of
from scumble.collect.survey import Survey
from scumble.collect.survey_record import SurveyRecord
from scumble.core.errors import ReleaseError, SchemaError, ScumbleError, SurveyError
from scumble.mechanisms import find_mechanism, is_known
from scumble.release.document import document_of, read_document
from scumble.release.manifest import NEWER, digest_of, problem, short
from scumble.release.terms import compared, records_of

AGAIN = "get the survey again from its collector"


def open_survey(thing: Any) -> Survey:
    """The survey in a file, at the address of a server, or in what either of them holds: bytes, text, or the document itself.

    It is refused where it was changed after it was signed, or promises what does not follow from its channels.
    """
    if isinstance(thing, Survey):
        return thing
    if isinstance(thing, str) and thing.startswith(("http://", "https://")):
        from scumble.collect.sending import fetched_survey

        thing = fetched_survey(thing)
    if isinstance(thing, Mapping):
        return _checked(dict(thing))
    if isinstance(thing, bytes):
        return _of_text(thing)
    if isinstance(thing, str) and thing.lstrip().startswith("{"):
        return _of_text(thing.encode("utf-8", "surrogatepass"))
    if isinstance(thing, str | Path):
        return _of_text(_read(Path(thing)))
    raise SurveyError(f"a survey is a file, an address or a document, not {type(thing).__name__}")


def _read(path: Path) -> bytes:
    try:
        return read_document(path)[1]
    except FileNotFoundError:
        raise SurveyError(f"there is no survey {str(path)!r}; `scumble collect new SPEC -o SURVEY` makes one") from None
    except (OSError, ValueError):
        raise SurveyError(f"{path.name!r} cannot be read as a survey; {AGAIN}") from None


@lru_cache(maxsize=16)
def _of_text(written: bytes) -> Survey:
    """The survey of a text; the same text is looked at once."""
    try:
        document = document_of(written)
    except ValueError:
        raise SurveyError(f"what was given cannot be read as a survey; {AGAIN}") from None
    return _checked(document)


def _checked(document: Any) -> Survey:
    if not isinstance(document, dict) or document.get("format") != "scumble-survey":
        raise SurveyError("this is no survey; `scumble collect new SPEC -o SURVEY` makes one")
    if type(document.get("version")) is not int or document["version"] != 1:
        raise SurveyError(
            f"the survey is of the version {short(document.get('version'))}, which this scumble does not know; {NEWER}"
        )
    sealed = dict(document)
    digest = sealed.pop("digest", None)
    unsealed = {key: value for key, value in sealed.items() if key != "signature"}
    if digest is None or digest_of(unsealed) != digest:
        raise SurveyError(f"the survey was changed after it was made; {AGAIN}")
    if not is_known(sealed.get("mechanism")):
        raise SurveyError(
            f"the survey has the mechanism {short(sealed.get('mechanism'))}, which this scumble does not know; {NEWER}"
        )
    survey = _made(sealed)
    if survey.digest != digest:
        raise SurveyError(f"the survey is not written as surveys are; {AGAIN}")
    survey.demand_signature()
    _demand_derived(survey)
    return survey


def _made(document: dict[str, Any]) -> Survey:
    try:
        record = SurveyRecord.model_validate_json(json.dumps(document), strict=True)
        survey = Survey(record)
    except ValidationError as error:
        raise SurveyError(f"the survey: {problem(error)}") from None
    except (ReleaseError, SchemaError) as error:
        raise SurveyError(f"the survey has a question that cannot be one: {error}") from None
    return survey


def _demand_derived(survey: Survey) -> None:
    """What it claims must be what follows from its channels; each sensitive question has one, and no other has."""
    record, names_ = survey.record, list(survey.questions)
    if len({name.casefold() for name in names_}) != len(record.questions):
        raise SurveyError(f"the survey has two questions of one name; {AGAIN}")
    bare = [
        question.name for question in survey.questions.values() if question.sensitive != (question.coins is not None)
    ]
    if bare or not survey.coins:
        raise SurveyError(
            f"a question is perturbed where it is sensitive, and {(bare or names_)[0]!r} is not so; {AGAIN}"
        )
    if (record.issuer is not None) != (record.tokens == "blind"):
        raise SurveyError(f"blind tokens have an issuer, and no others have; {AGAIN}")
    if record.issuer is not None:
        issuer_of(record.issuer)
    if not find_mechanism(record.mechanism).traits.keyed_coins:
        raise SurveyError(f"{record.mechanism!r} works on a whole table, and nobody has one here; {AGAIN}")
    try:
        terms = survey.terms
        claimed = survey.manifest().model_copy(update=records_of(replace(terms, guarantees=record.guarantees)))
        problems = compared(claimed, terms).problems
    except ScumbleError as error:
        raise SurveyError(f"nothing follows from the channels of the survey: {error}") from None
    if problems:
        raise SurveyError(f"the survey promises something else than what follows from its channels; {AGAIN}")
    if record.software == f"scumble {scumble.__version__}" and record.promise != survey.promise:
        raise SurveyError(f"the survey's sentence for who answers is not the one that follows; {AGAIN}")
