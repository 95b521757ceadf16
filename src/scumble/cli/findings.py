"""What an audit prints: each attack in two lines, under the question that it answers."""

from rich.console import Console

from scumble.auditing import Case, Finding, Findings
from scumble.auditing.findings import CHANCE, Threshold
from scumble.cli.output import console

QUESTIONS = {
    "singling out": "Singling out: can a person's row be pointed at?",
    "linkability": "Linkability: are rows of two publications told to be of one person?",
    "inference": "Inference: can a person's sensitive value be guessed?",
    "integrity": "Integrity: is it what it says it is?",
}
"""The questions of WP216, and ours."""

STYLES = {"holds": "green", "open": "yellow", "broken": "bold red"}
GRADED = {"none": "green", "low": "yellow", "moderate": "yellow", "high": "red", "severe": "bold red"}


def print_findings(case: Case, findings: Findings, fail_on: Threshold = "weaker") -> None:
    """The attacks, by the question that they answer."""
    out, publication = console(), case.publication
    rows = sum(publication.lengths)
    by = f"release by {publication.mechanism}" if publication.release is not None else "table without a manifest"
    scored = "scored by the raw table" if case.source is not None else "without the raw table"
    out.print(f"{publication.name}: {by}, {rows:,} rows, {scored}", style="bold", markup=False)
    for note in (publication.looked_at, *publication.guesses):
        if note:
            out.print(f"  {note}", markup=False)
    for question, heading in QUESTIONS.items():
        chosen = [finding for finding in findings if finding.question == question]
        if chosen:
            out.print()
            out.print(heading, style="bold", markup=False)
            for finding in chosen:
                _print_finding(out, finding)
    out.print()
    broken = sum(not finding.passed for finding in findings)
    opened = sum(finding.verdict == "open" for finding in findings)
    sentence = f"{len(findings)} findings: {broken} broken, {opened} open (said to be uncovered), {len(findings) - broken - opened} hold; at worst {findings.grade}"
    out.print(sentence, style="bold", markup=False)
    if publication.release is not None:
        out.print(CHANCE, style="dim", markup=False)
    failing = findings.failing(fail_on)
    if failing and fail_on != "weaker":
        out.print(f"fails on {fail_on}: {', '.join(finding.attack for finding in failing)}", style="bold", markup=False)


def _print_finding(out: Console, finding: Finding) -> None:
    numbers = f"{finding.success:.2%} [{finding.low:.2%}, {finding.high:.2%}], baseline {finding.baseline:.2%}"
    out.print(f"  {finding.verdict:<7}", style=STYLES[finding.verdict], end="")
    out.print(f"{finding.grade:<9}", style=GRADED[finding.grade], end="")
    out.print(f"{finding.attack:<22}{numbers}", markup=False)
    for text in (
        finding.detail,
        *([f"not covered: {finding.uncovered}"] if finding.verdict == "open" else []),
        *([f"to do: {finding.to_do}"] if finding.to_do else []),
    ):
        out.print(f"         {text}", style="dim", markup=False, soft_wrap=True)
