"""The findings of an audit: a list that prints as a table."""

from collections.abc import Iterable

from scumble.auditing.finding import LEVEL, Finding
from scumble.core.display import Card, Grid, Note, Part, Shown, Whisker

VERDICTS = {
    "holds": "no better than without the weakness that it looks for, as far as the interval can tell",
    "open": "better, and the release says itself that it does not protect from this",
    "broken": "better, where the release promises that it is not",
}


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

    def card(self) -> Card:
        """One line for each attack, what they mean below, and the meaning of the verdicts that occur."""
        if not self:
            return Card("no findings", [])
        rows = [
            (f.verdict, f.attack, f.question, f"{f.success:.1%}", f"[{f.low:.1%}, {f.high:.1%}]", f"{f.baseline:.1%}")
            for f in self
        ]
        drawn = [Whisker(f.success, f.low, f.high, 0, 1, f.baseline) for f in self]
        headings = ("verdict", "attack", "question", "success", f"{100 * LEVEL:.2f}% interval", "baseline")
        parts: list[Part] = [Grid(headings, rows, (0, 1, 2), {4: drawn})]
        parts += [Note(f"{f.attack}: {f.detail}", "plain" if f.passed else "strong") for f in self]
        seen = {f.verdict for f in self}
        parts += [Note(f"{name}: {meaning}", "faint") for name, meaning in VERDICTS.items() if name in seen]
        broken = sum(not f.passed for f in self)
        sentence = f"{broken} of {len(self)} broken" if broken else "nothing is broken that was promised"
        return Card(f"{len(self)} attack{'s' * (len(self) > 1)}: {sentence}", parts)

    __repr__ = Shown.__repr__
