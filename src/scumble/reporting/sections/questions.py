"""The three questions of a data-protection officer, answered apart: singling out, linkability, inference. And the attacks, in one table."""

from dataclasses import dataclass
from typing import Literal

from scumble.auditing import Finding
from scumble.auditing.finding import LEVEL
from scumble.reporting.figure import text
from scumble.reporting.numbers import share, whole
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

Answer = Literal["holds", "open", "broken", "untested"]

ASKED = {
    "singling out": "Can a row be recognised as a person's?",
    "linkability": "Can rows of one person be found in two tables?",
    "inference": "Can a person's sensitive value be concluded from the release?",
}
SAYS = {
    "singling out": ("singling_out", "presence"),
    "linkability": ("presence", "fresh_coins", "once_by_counts"),
    "inference": ("public_columns", "group", "frequent_group", "corruption", "corruption_of_buckets", "exact_counts"),
}
"""The codes of what a release says about a question."""


@dataclass(frozen=True)
class Attempt:
    """A line of the attacker table."""

    attack: str
    question: str
    success: str
    interval: str
    baseline: str
    verdict: str
    detail: str
    low: float
    high: float
    value: float
    base: float


@dataclass(frozen=True)
class Answered:
    """One question with its answer."""

    name: str
    asked: str
    verdict: Answer
    short: str
    details: list[str]
    says: list[str]
    """What the release itself says about it."""


def questions(subject: Subject) -> Section:
    """The section."""
    return Section(
        "questions",
        "Singling out, linkability, inference",
        {
            "answers": answered(subject),
            "attempts": [_attempt(f) for f in subject.findings if f.question != "integrity"],
            "integrity": [_attempt(f) for f in subject.findings if f.question == "integrity"],
            "scored": subject.scored,
            "level": f"{100 * LEVEL:.5g}%",
        },
    )


def answered(subject: Subject) -> list[Answered]:
    """Each of the three questions with the worst that any attack found."""
    return [_answer(subject, name) for name in ASKED]


def integrity_answer(subject: Subject) -> tuple[Answer, str]:
    """Whether the release is what its manifest says: by the checks of the verifier, and by the attacks that look for that."""
    failed = [check.name for check in subject.checks if not check.passed]
    findings = [finding for finding in subject.findings if finding.question == "integrity"]
    caught = [finding.attack for finding in findings if not finding.passed]
    if not failed and not caught:
        verdict = _worst(findings) if findings else "holds"
        beyond = "" if verdict == "holds" else " beyond what the release says of itself"
        tried = f" {_some(len(findings), 'attack')} on its form found nothing{beyond}." if findings else ""
        sentence = f"All {len(subject.checks)} checks pass: hashes, columns, rows, guarantees recomputed, and channels against the data.{tried}"
        return verdict, sentence
    sentence = f"{len(failed)} of {len(subject.checks)} checks fail: {', '.join(failed)}. " if failed else ""
    sentence += (
        f"{_some(len(caught), 'attack')} found what the release should not have: {', '.join(caught)}. "
        if caught
        else ""
    )
    return "broken", f"{sentence}Do not use this release."


def _some(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _worst(findings: list[Finding]) -> Answer:
    verdict: Answer = "untested"
    for worse in ("holds", "open", "broken"):
        if any(finding.verdict == worse for finding in findings):
            verdict = worse
    return verdict


def _answer(subject: Subject, name: str) -> Answered:
    findings = [finding for finding in subject.findings if finding.question == name]
    verdict = _worst(findings)
    said = dict.fromkeys(clause.sentence for clause in subject.terms.clauses if clause.code in SAYS[name])
    short, details = _sentences(findings)
    if name == "singling out" and subject.alone is not None:
        alone = subject.alone / max(1, subject.manifest.rows)
        verdict = "open" if subject.alone and verdict in ("untested", "holds") else verdict
        short = f"{share(alone)} of the rows are alone with the values of their public columns."
        details = [_alone(subject, alone), *details]
    return Answered(name, ASKED[name], verdict, short or _untested(subject, name), details, list(said))


def _sentences(findings: list[Finding]) -> tuple[str, list[str]]:
    """In a sentence what the most successful attack got, and what each says of itself."""
    if not findings:
        return "", []
    gravity = {"holds": 0, "open": 1, "broken": 2}
    best = max(findings, key=lambda f: (gravity[f.verdict], f.attack == f.question, f.success - f.baseline))
    short = f"{best.attack[:1].upper()}{best.attack[1:]} succeeds for {share(best.success)} of its targets; {share(best.baseline)} is what it gets without a weakness."
    return short, [f"{f.attack[:1].upper()}{f.attack[1:]}: {f.detail}." for f in findings]


def _alone(subject: Subject, alone: float) -> str:
    if not subject.alone:
        return "No row is alone with the values of its public columns: whoever knows them all still finds two rows or more."
    return (
        f"{whole(subject.alone)} of {whole(subject.manifest.rows)} rows ({share(alone)}) are alone with the values of their public columns. Whoever knows those of "
        "a person finds the row; its sensitive values are still the perturbed ones. Coarser public columns make the share smaller."
        if subject.manifest.sensitive
        else f"{whole(subject.alone)} of {whole(subject.manifest.rows)} rows ({share(alone)}) are alone with the values of their public columns. Whoever knows those of "
        "a person finds the row. Coarser public columns make the share smaller."
    )


def _untested(subject: Subject, name: str) -> str:
    if name == "inference" and not subject.manifest.view.row_by_row and not subject.manifest.sensitive:
        return (
            "No attack was tried: there is no perturbed value to undo. What is published of a person's values is true, save for what was left out, made coarser or counted "
            "with noise, so whoever finds a group that is alike in a value knows it of its members."
        )
    if name == "singling out":
        return "No public column is published row by row, so no row is alone with its values."
    if name == "linkability" and subject.release.parts:
        return "The releases are read as one on purpose: whatever joins their rows joins those of a person. What they tell together is promised above."
    if name == "linkability":
        return "This page is about one release; scumble audit --with OTHER tries to link it with another one of the same people."
    return "No attack tests this on such a release; read what the release says of it."


def _attempt(f: Finding) -> Attempt:
    ends = f"{share(f.low)} to {share(f.high)}"
    return Attempt(
        text(f.attack),
        f.question,
        share(f.success),
        ends,
        share(f.baseline),
        f.verdict,
        f.detail,
        f.low,
        f.high,
        f.success,
        f.baseline,
    )
