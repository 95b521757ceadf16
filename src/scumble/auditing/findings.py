"""The findings of an audit: a list that prints as a table."""

from collections.abc import Iterable
from typing import Literal
from xml.etree import ElementTree

from scumble.auditing.finding import GRADES, Finding, Grade
from scumble.auditing.level import ERROR
from scumble.core.display import Card, Grid, Note, Part, Shown, Whisker

VERDICTS = {
    "holds": "no better than without the weakness that it looks for, as far as chance lets it be told",
    "open": "better, and the release says itself that it does not protect from this",
    "broken": "better, where the release promises that it is not: weaker than declared",
}

Threshold = Literal["weaker", "low", "moderate", "high", "severe", "never"]
"""From what on an audit fails: a release that is weaker than it declares, or a grade of what was declared too."""


class Findings(list[Finding], Shown):
    """What each attack got, in the order in which they were tried."""

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        super().__init__(findings)

    @property
    def passed(self) -> bool:
        """Whether nothing is broken that was promised."""
        return all(finding.passed for finding in self)

    @property
    def broken(self) -> "Findings":
        """Those that break a promise."""
        return Findings(finding for finding in self if not finding.passed)

    @property
    def grade(self) -> Grade:
        """The worst of all."""
        return max((finding.grade for finding in self), key=GRADES.index, default="none")

    def failing(self, fail_on: Threshold = "weaker") -> "Findings":
        """Those by which an audit fails."""
        return Findings(finding for finding in self if fails(finding, fail_on))

    def card(self) -> Card:
        """One line for each attack, what they mean below, and the meaning of the verdicts that occur."""
        if not self:
            return Card("no findings", [])
        rows = [
            (
                f.verdict,
                f.grade,
                f.attack,
                f.question,
                f"{f.success:.1%}",
                f"[{f.low:.1%}, {f.high:.1%}]",
                f"{f.baseline:.1%}",
            )
            for f in self
        ]
        drawn = [Whisker(f.success, f.low, f.high, 0, 1, f.baseline) for f in self]
        headings = ("verdict", "how bad", "attack", "question", "success", "interval", "baseline")
        parts: list[Part] = [Grid(headings, rows, (0, 1, 2, 3), {5: drawn})]
        for f in self:
            parts.append(Note(f"{f.attack}: {f.detail}", "plain" if f.passed else "strong"))
            parts += [Note(f"to do: {f.to_do}")] if f.to_do else []
        seen = {f.verdict for f in self}
        parts += [Note(f"{name}: {meaning}", "faint") for name, meaning in VERDICTS.items() if name in seen]
        parts.append(Note(CHANCE, "faint"))
        broken = sum(not f.passed for f in self)
        sentence = f"{broken} of {len(self)} broken" if broken else "nothing is broken that was promised"
        return Card(f"{len(self)} finding{'s' * (len(self) > 1)}: {sentence}; at worst {self.grade}", parts)

    def junit(self, name: str, fail_on: Threshold = "weaker") -> str:
        """The findings as a report of tests, which build servers show: one test for each finding."""
        failing = {id(finding) for finding in self.failing(fail_on)}
        suite = ElementTree.Element(
            "testsuite", name=f"scumble audit {name}", tests=str(len(self)), failures=str(len(failing))
        )
        for finding in self:
            test = ElementTree.SubElement(suite, "testcase", classname=finding.question, name=finding.attack)
            if id(finding) in failing:
                said = f"{finding.verdict}, {finding.grade}: {finding.success:.2%}, baseline {finding.baseline:.2%}"
                ElementTree.SubElement(test, "failure", message=said).text = finding.detail
            else:
                ElementTree.SubElement(test, "system-out").text = finding.detail
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"

    __repr__ = Shown.__repr__


CHANCE = f"a sound release is called broken in 1 of {1 / ERROR:,.0f} audits at most, by all attacks together"


def fails(finding: Finding, fail_on: Threshold) -> bool:
    """Whether an audit fails by a finding."""
    if fail_on == "never":
        return False
    if fail_on == "weaker":
        return not finding.passed
    return not finding.passed or GRADES.index(finding.grade) >= GRADES.index(fail_on)
