"""Formulas as R writes them, over columns of a release.

    income ~ age + sex + C(region)      main effects; a number is a category in C(), with another reference in C(region, 'north')
    y ~ a:b      y ~ a*b                an interaction; a + b + a:b
    y ~ (a + b)*c - a      y ~ .        terms of brackets, without one; all other columns
    y ~ a - 1      y ~ 0 + a            without an intercept
    income = '>50K' ~ log(hours) + I(age*age) + (age > 40)       expressions are SQL; in I() where signs are arithmetic. log is the natural one

A formula names what is asked of the release: its expressions go through the same gate as every question.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scumble.core.errors import QueryError

Term = tuple[str, ...]
"""The variables whose product it is, by their labels; none: the intercept."""

QUOTES = {"'": "'", '"': '"', "`": "`"}
SIGNS = "+-*:^~/%|"
MOST_TERMS = 300
NAME = re.compile(r"[^\W\d][\w.]*", re.UNICODE)
CALL = re.compile(r"([^\W\d][\w.]*)\s*\((.*)\)", re.UNICODE | re.DOTALL)
NATURAL = {"log": "ln"}
"""What R's functions are called in SQL, where the same name means something else."""


@dataclass(frozen=True)
class Variable:
    """An expression of columns, as it was written and in SQL."""

    label: str
    sql: str
    category: bool = False
    """Whether numbers are to be categories."""
    reference: str | None = None
    """The category that others are compared with, where it is chosen."""


@dataclass(frozen=True)
class Formula:
    """An outcome, and the terms that it is regressed on; the intercept is the term without variables."""

    outcome: Variable
    terms: Sequence[Term]
    variables: dict[str, Variable]

    @property
    def intercept(self) -> bool:
        """Whether there is one."""
        return () in self.terms


def parse_formula(text: str, columns: Sequence[str]) -> Formula:
    """A formula over some columns, which `.` stands for.

    >>> formula = parse_formula("y ~ a*C(b) - 1", ["y", "a", "b"])
    >>> formula.terms, formula.intercept
    ([('a',), ('C(b)',), ('a', 'C(b)')], False)
    >>> parse_formula("y > 3 ~ . - b", ["y", "a", "b", "c"]).terms
    [(), ('a',), ('c',)]
    """
    if not isinstance(text, str):
        raise QueryError(f'a formula is a text, "y ~ a + b", not {type(text).__name__}')
    sides = _split(text, "~")
    if len(sides) != 2 or not all(side.strip() for side in sides):
        raise QueryError(f'{text!r} is no formula; write the outcome, a tilde and what it depends on: "y ~ a + b"')
    reading = _Reading(sides[0].strip(), list(columns))
    outcome = reading.outcome()
    terms = reading.sum(sides[1], [()])
    if not terms:
        raise QueryError(f"{text!r} has no term; name what the outcome depends on: y ~ a")
    ordered = sorted(terms, key=len)
    used = dict.fromkeys(label for term in ordered for label in term)
    return Formula(outcome, ordered, {label: reading.variables[label] for label in used})


class _Reading:
    """The right side of a formula, from sums down to single variables."""

    def __init__(self, outcome: str, columns: Sequence[str]) -> None:
        self.left = outcome
        self.columns = columns
        self.variables: dict[str, Variable] = {}

    def outcome(self) -> Variable:
        """The left side: a column, or an expression."""
        text = self.left
        if text.strip('`"') in self.columns:
            return Variable(text.strip('`"'), _quoted(text.strip('`"')))
        inner = text[2:-1] if text.startswith("I(") and _closes(text[1:]) else text
        return Variable(text, self._natural(inner))

    def sum(self, text: str, terms: list[Term]) -> list[Term]:
        """Terms that are added to some, or taken away."""
        for sign, part in _signed(text):
            number = part.strip()
            if number in ("0", "1"):
                named: list[Term] = [()]
                sign = sign if number == "1" else {"+": "-", "-": "+"}[sign]
            else:
                named = self.product(part)
            terms = _plus(terms, named) if sign == "+" else [term for term in terms if term not in named]
        if len(terms) > MOST_TERMS:
            raise QueryError(f"the formula has {len(terms)} terms, and {MOST_TERMS} are the most; leave some out")
        return terms

    def product(self, text: str) -> list[Term]:
        """a*b: both, and their interaction."""
        whole: list[Term] = []
        for part in _split(text, "*"):
            named = self.interaction(part)
            whole = _plus(_plus(whole, named), _times(whole, named)) if whole else named
        return whole

    def interaction(self, text: str) -> list[Term]:
        """a:b."""
        whole: list[Term] = [()]
        for part in _split(text, ":"):
            whole = _times(whole, self.atom(part.strip()))
        return whole

    def atom(self, text: str) -> list[Term]:
        """A column, an expression, a sum in brackets, or all other columns."""
        if text == ".":
            own = set(re.findall(NAME, self.left)) | {self.left.strip('`"')}
            return [(self._known(name),) for name in self.columns if name not in own]
        if text.startswith("(") and _closes(text):
            inner = text[1:-1]
            compared = len(re.split(r"[<>=]|\b(?:in|like|between|is)\b", inner, flags=re.IGNORECASE)) > 1
            return [(self._added(Variable(text, inner)),)] if compared else self.sum(inner, [])
        call = CALL.fullmatch(text)
        if call and _closes(text[len(call[1]) :].strip()):
            return [(self._called(text, call[1], call[2]),)]
        if self._column(text) or text.startswith(('"', "`")) or NAME.fullmatch(text):
            return [(self._known(text.strip('`"') if text.startswith(('"', "`")) else text),)]
        if not text or any(sign in text for sign in SIGNS):
            raise QueryError(
                f"{text!r} is not understood in a formula; signs are + - : * and brackets, and arithmetic stands in I(), as in I(a*a)"
            )
        raise QueryError(f"{text!r} is no column and no expression; write I({text}), or quote a name with spaces")

    def _called(self, text: str, function: str, inner: str) -> str:
        if function in ("C", "factor"):
            column, *more = _split(inner, ",")
            chosen = more[0].strip().removeprefix("ref=").strip() if more else None
            if len(more) > 1 or (chosen is not None and not re.fullmatch(r"'.*'|\".*\"|[-+.\w]+", chosen)):
                raise QueryError(f"{text}: C() takes a column and, after a comma, the value to compare with")
            name = column.strip()
            sql = _quoted(name.strip('`"')) if self._column(name.strip('`"')) else self._natural(name)
            return self._added(Variable(text, sql, True, chosen.strip("'\"") if chosen is not None else None))
        return self._added(Variable(text, inner if function == "I" else self._natural(text)))

    def _natural(self, text: str) -> str:
        call = CALL.fullmatch(text)
        name = NATURAL.get(call[1], call[1]) if call else ""
        return (f"{name}({call[2]})" if call else text).replace("`", '"')

    def _column(self, text: str) -> bool:
        return text in self.columns

    def _known(self, name: str) -> str:
        return self._added(Variable(name, _quoted(name)))

    def _added(self, variable: Variable) -> str:
        self.variables.setdefault(variable.label, variable)
        return variable.label


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _times(some: Sequence[Term], others: Sequence[Term]) -> list[Term]:
    """All products; a variable stands in a term once."""
    return _plus([], [tuple(dict.fromkeys([*one, *other])) for one in some for other in others])


def _plus(some: Sequence[Term], more: Sequence[Term]) -> list[Term]:
    """Both, each term once, whatever the order of its variables."""
    known = {frozenset(term): term for term in [*more, *some]}
    first = {frozenset(term): term for term in some}
    return [*some, *(term for key, term in known.items() if key not in first)]


def _split(text: str, sign: str) -> list[str]:
    """The parts between a sign, outside of quotes and brackets."""
    return [part for _, part in _parts(text, sign)]


def _signed(text: str) -> list[tuple[str, str]]:
    """Parts with their signs; the first one may have none."""
    parts = [("+" if sign == "" else sign, part) for sign, part in _parts(text, "+-")]
    return parts[1:] if len(parts) > 1 and not parts[0][1].strip() else parts


def _parts(text: str, signs: str) -> list[tuple[str, str]]:
    parts, sign, start, depth, quote = [], "", 0, 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in QUOTES:
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter in signs and depth == 0:
            parts.append((sign, text[start:place]))
            sign, start = letter, place + 1
        if depth < 0:
            break
    if quote or depth != 0:
        raise QueryError(f"{text.strip()!r}: a bracket or a quote is not closed; close it")
    return [*parts, (sign, text[start:])]


def _closes(text: str) -> bool:
    """Whether the first bracket is closed by the last letter."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place == len(text) - 1
    return False
