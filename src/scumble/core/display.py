"""How results show themselves: one card, printed as text in a terminal and as HTML in a notebook.

A notebook is light or dark, so nothing here has a colour of its own: lines and dots are drawn in the colour of the text. Names
and values come from tables that strangers made: HTML escapes them, and text shows control characters instead of obeying them.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

LONGEST = 160
"""Characters of a cell; what is longer is cut."""

DISOBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line separators, changes of the direction of writing, and halves of characters."""


def plain(value: Any) -> str:
    r"""A value as one line that a terminal prints and does not obey.

    >>> plain("two\nlines"), plain("\x1b[31mred")
    ('two\\nlines', '\\x1b[31mred')
    """
    return DISOBEYED.sub(lambda match: ascii(match[0])[1:-1], str(value))


def cell(value: Any) -> str:
    """A value as it stands in a table: plain, and not too long."""
    text = plain(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


@dataclass(frozen=True)
class Whisker:
    """An interval on a scale, with a dot at the value and, where there is one, a tick at the value to compare with."""

    value: float
    low: float
    high: float
    start: float
    end: float
    """Where the scale begins and ends; the same in all rows of a column, so that they can be compared by eye."""
    mark: float | None = None

    def html(self, width: int = 120, height: int = 14) -> str:
        """The drawing; nothing where a number is missing."""
        numbers = [self.value, self.low, self.high, self.start, self.end, *([] if self.mark is None else [self.mark])]
        if not all(math.isfinite(number) for number in numbers) or self.start >= self.end:
            return ""
        a, b, x = (self._place(number, width) for number in (self.low, self.high, self.value))
        mid = height / 2
        drawn = (
            f'<line x1="{a}" x2="{b}" y1="{mid}" y2="{mid}"/><circle cx="{x}" cy="{mid}" r="2.5" fill="currentColor"/>'
        )
        if self.mark is not None:
            at = self._place(self.mark, width)
            drawn += f'<line x1="{at}" x2="{at}" y1="1" y2="{height - 1}" stroke-dasharray="2 2"/>'
        return (
            f'<svg width="{width}" height="{height}" style="vertical-align:middle" stroke="currentColor" '
            f'aria-hidden="true">{drawn}</svg>'
        )

    def _place(self, number: float, width: int) -> float:
        share = (number - self.start) / (self.end - self.start)
        return round(4 + (width - 8) * min(1.0, max(0.0, share)), 1)


@dataclass(frozen=True)
class Grid:
    """A table of texts. Columns are numbers, set flush right, unless their place is in `left`."""

    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]
    left: Collection[int] = ()
    whiskers: Mapping[int, Sequence[Whisker]] = field(default_factory=dict)
    """Drawings beside a column, by its place; in text there are none."""

    def text(self) -> str:
        """Aligned columns under their headings."""
        table = [[cell(value) for value in line] for line in (self.headings, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        table.insert(1, ["-" * width for width in widths])
        return "\n".join(
            "  ".join(
                text.ljust(width) if place in self.left else text.rjust(width)
                for place, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in table
        )

    def html(self) -> str:
        """A table with a line below its headings."""
        head = "".join(self._heading(place, text) for place, text in enumerate(self.headings))
        body = "".join(f"<tr>{''.join(self._line(number, line))}</tr>" for number, line in enumerate(self.rows))
        return (
            f'<table style="border-collapse:collapse;margin:.4em 0"><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )

    def _heading(self, place: int, text: Any) -> str:
        line = f"{self._side(place)};border-bottom:1px solid currentColor"
        if place in self.whiskers:
            return f'<th colspan="2" style="{line};text-align:center">{escape(cell(text))}</th>'
        return f'<th style="{line}">{escape(cell(text))}</th>'

    def _line(self, number: int, line: Sequence[Any]) -> Iterator[str]:
        for place, text in enumerate(line):
            yield f'<td style="{self._side(place)}">{escape(cell(text))}</td>'
            if place in self.whiskers:
                yield f'<td style="padding:.1em .3em">{self.whiskers[place][number].html()}</td>'

    def _side(self, place: int) -> str:
        return f"text-align:{'left' if place in self.left else 'right;white-space:nowrap'};padding:.1em .6em"


@dataclass(frozen=True)
class Note:
    """A sentence of its own."""

    sentence: str
    weight: Literal["plain", "heading", "strong", "faint"] = "plain"
    """heading: of what follows; strong: a warning that nobody should read over; faint: a remark."""

    def text(self) -> str:
        """The sentence on one line; a heading has an empty one above it."""
        return "\n" * (self.weight == "heading") + plain(self.sentence)

    def html(self) -> str:
        """The sentence as a paragraph."""
        return f'<div style="{WEIGHTS[self.weight]}margin:.2em 0">{escape(plain(self.sentence))}</div>'


WEIGHTS = {"plain": "", "heading": "font-weight:bold;", "strong": "font-weight:bold;", "faint": "opacity:.75;"}


@dataclass(frozen=True)
class Items:
    """Sentences under a heading. A notebook shows the heading, and the sentences when it is clicked."""

    heading: str
    sentences: Sequence[str]

    def text(self) -> str:
        """A list."""
        return "\n".join([f"{plain(self.heading)}:", *(f"  - {plain(sentence)}" for sentence in self.sentences)])

    def html(self) -> str:
        """A list that can be folded."""
        lines = "".join(f"<li>{escape(plain(sentence))}</li>" for sentence in self.sentences)
        return (
            f'<details style="margin:.2em 0"><summary>{escape(plain(self.heading))}</summary><ul>{lines}</ul></details>'
        )


Part = Grid | Note | Items


@dataclass(frozen=True)
class Card:
    """What a result shows of itself: a title, and parts below it."""

    title: str
    parts: Sequence[Part]

    def text(self) -> str:
        """For a terminal."""
        title = [plain(self.title)] if self.title else []
        return "\n".join([*title, *(part.text() for part in self.parts)])

    def html(self) -> str:
        """For a notebook. The classes keep a dollar sign in somebody's column from becoming mathematics."""
        title = f'<div style="font-weight:bold">{escape(plain(self.title))}</div>' if self.title else ""
        parts = "".join(part.html() for part in self.parts)
        return f'<div class="tex2jax_ignore mathjax_ignore">{title}{parts}</div>'


class Shown:
    """Prints as its card, in a terminal and in a notebook. A data class says repr=False, to keep its own from hiding this one."""

    def card(self) -> Card:
        """What there is to see."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.card().text()

    def _repr_html_(self) -> str:
        return self.card().html()
