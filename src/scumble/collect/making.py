"""A survey on the disk: the spec is read, the keys are found or made, and the document is signed and written."""

import warnings
from dataclasses import dataclass
from pathlib import Path

from scumble.collect.blind import issuer_text, new_issuer, read_issuer
from scumble.collect.drafting import draft
from scumble.collect.reading import open_survey
from scumble.collect.survey import Survey
from scumble.collect.survey_spec import SurveySpec, read_survey_spec
from scumble.core.atomic import demand_file, whole_file
from scumble.release.keys import new_key, private_key

UNNAMED = "the spec does not say who collects (collector = ...), and the survey will say that nobody said it"
ENDLESS = "the spec does not say until when answers are taken (until = ...): they are until the survey is closed"


@dataclass(frozen=True)
class WrittenSurvey:
    """A survey that was written, and what its collector should know."""

    survey: Survey
    notes: list[str]


def make_survey(
    spec: Path, out: Path, key: Path | None, continues: Path | None, *, overwrite: bool = False
) -> WrittenSurvey:
    """Writes the survey of a spec, signed."""
    demand_file(out, overwrite, [spec])
    asked = read_survey_spec(spec)
    before = None if continues is None else open_survey(continues)
    notes: list[str] = []
    issuer = _issuer_beside(out, notes) if asked.tokens == "blind" else None
    drafted = draft(asked, series=None if before is None else before.record.series, issuer=issuer)
    signing = key or _key_beside(out, notes)
    survey = drafted.signed(private_key(signing))
    with whole_file(out, overwrite=overwrite) as aside:
        aside.write_text(survey.text(), encoding="utf-8")
    _warn(asked)
    return WrittenSurvey(survey, notes + ([] if before is None else _kept(before, survey)))


def _key_beside(out: Path, notes: list[str]) -> Path:
    """The key that lies beside the survey, made where there is none."""
    key = out.with_name(f"{out.stem}.key")
    if not key.exists():
        public = new_key(key)
        notes.append(f"wrote {key}: your private key, which nobody else may have; {public.name}: the public one")
    return key


def _issuer_beside(out: Path, notes: list[str]) -> str:
    """The public key of blind tokens; the private one lies beside the survey, made where there is none."""
    path = out.with_name(f"{out.stem}.issuer")
    if path.exists():
        return issuer_text(read_issuer(path).public_key())
    notes.append(f"wrote {path}: the private key of blind tokens, for who gives them out (serve --issuer-key)")
    return issuer_text(new_issuer(path).public_key())


def _kept(before: Survey, survey: Survey) -> list[str]:
    """Which questions keep the coins that were memoised."""
    streams = {question.stream for question in before.questions.values() if question.sensitive}
    asked = [question for question in survey.questions.values() if question.sensitive]
    same = [question.name for question in asked if question.stream in streams]
    other = [question.name for question in asked if question.stream not in streams]
    notes = [f"who answered before keeps the coins of: {', '.join(same)}"] if same else []
    if other:
        notes.append(
            f"fresh coins, one more look at who answered before: {', '.join(other)} (another domain or channel)"
        )
    return notes


def _warn(spec: SurveySpec) -> None:
    for missing, sentence in ((spec.collector, UNNAMED), (spec.until, ENDLESS)):
        if missing is None:
            warnings.warn(sentence, stacklevel=2)
