"""The WHERE of a question as a function of cells.

Each perturbed column is cut into cells: sets of values that the question treats alike (and that have one retention). Public
conditions that stand apart stay a filter of the engine. Public conditions that are mixed with perturbed ones become axes of
their own, which are known exactly. What remains is a truth table over the cells of all axes, in SQL's three values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.channel_base import BaseChannel
from scumble.core.domain import Categories, Domain, code_domain
from scumble.core.errors import QueryError, did_you_mean
from scumble.core.scale import grid_of
from scumble.engines.engine import FALSE, TRUE, Engine
from scumble.query.chains import operands
from scumble.query.model import sql_of

MOST_PARTS = 200
"""Different conditions on single perturbed columns, at most."""

Truth = tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
"""Where an expression is true and where it is false, over all axes; neither where SQL does not know."""


@dataclass(frozen=True)
class Perturbed:
    """A perturbed column of a question, cut into cells."""

    name: str
    domain: Domain
    cells: npt.NDArray[np.intp]
    """The cell of each value."""
    count: int
    raw: bool = False
    """Whether the statement tells published values apart, which are put into their cells afterwards."""
    codes: "Perturbed | None" = None
    """What is published in the place of values, cut into cells too, where that is something else."""

    @property
    def shown(self) -> "Perturbed":
        """The column as it is published."""
        return self.codes or self

    def collapsed(self, channel: BaseChannel) -> BaseChannel:
        """A channel of the column, between cells."""
        return channel.collapse(self.cells, self.count)


@dataclass(frozen=True)
class SetAtom:
    """A condition on one perturbed column: its truth value for each value of the domain."""

    column: str
    states: npt.NDArray[np.int8]
    """Of a WHERE: filled in when all its conditions are asked at once."""


@dataclass(frozen=True)
class PublicAtom:
    """A condition on public columns that is mixed with perturbed ones."""

    condition: exp.Expression


@dataclass
class Asked:
    """The conditions on single perturbed columns, until their truth values are known."""

    atoms: list[SetAtom] = field(default_factory=list)
    predicates: list[tuple[exp.Expression, str, pa.Array]] = field(default_factory=list)
    known: dict[tuple[exp.Expression, str], SetAtom] = field(default_factory=dict)

    def atom(self, part: exp.Expression, column: str, domain: Domain) -> SetAtom:
        """The condition; its truth values are to come. The same condition is asked once."""
        if (part, column) not in self.known:
            made = SetAtom(column, np.empty(domain.size, dtype=np.int8))
            self.known[part, column] = made
            self.atoms.append(made)
            self.predicates.append((part, column, domain.values))
        return self.known[part, column]

    def fill(self, engine: Engine) -> None:
        """Asks for all truth values in one statement: a round of the engine costs more than they do."""
        if len(self.atoms) > MOST_PARTS:
            raise QueryError(
                f"WHERE has {len(self.atoms):,} different conditions on perturbed columns, and {MOST_PARTS} are the most; ask a simpler one"
            )
        if self.atoms:
            for atom, truth in zip(self.atoms, engine.truths(self.predicates), strict=True):
                atom.states[:] = truth


@dataclass(frozen=True)
class Tree:
    """AND, OR, NOT of atoms, and IS TRUE, which is called surely."""

    operation: str
    parts: Sequence["Tree | SetAtom | PublicAtom"]


Node = Tree | SetAtom | PublicAtom


@dataclass
class Conditions:
    """A WHERE, taken apart."""

    filter: list[exp.Expression] = field(default_factory=list)
    trees: list[Node] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    listed: list[PublicAtom] | None = None
    """The public conditions among the perturbed ones, where others than those of the trees are asked about too."""

    def atoms(self, column: str) -> list[SetAtom]:
        """The conditions on a perturbed column."""
        return [a for tree in self.trees for a in leaves(tree) if isinstance(a, SetAtom) and a.column == column]

    @property
    def public_atoms(self) -> list[PublicAtom]:
        """The public conditions among the perturbed ones."""
        if self.listed is not None:
            return self.listed
        public_atoms = [a for tree in self.trees for a in leaves(tree) if isinstance(a, PublicAtom)]
        return list({id(atom): atom for atom in public_atoms}.values())  # one may stand in several places of a tree

    @property
    def columns(self) -> list[str]:
        """The perturbed columns that are asked about."""
        names = [a.column for tree in self.trees for a in leaves(tree) if isinstance(a, SetAtom)]
        return list(dict.fromkeys(names))


def take_apart(where: exp.Expression | None, domains: dict[str, Domain], engine: Engine) -> Conditions:
    """Splits a WHERE at its outermost ANDs into what is public and what is not."""
    conditions, asked = Conditions(), Asked()
    for part in conjuncts(where):
        if set(_columns(part)) & set(domains):
            conditions.trees.append(tree_of(part, domains, asked, conditions.notes))
        else:
            conditions.filter.append(part)
    asked.fill(engine)
    return conditions


def cut(
    name: str, domain: Domain, channels: Sequence[BaseChannel], atoms: Sequence[SetAtom], *, by_value: bool
) -> Perturbed:
    """The cells of a column: values alike in every condition and in what its channel makes of them, or each value by itself."""
    if by_value:
        return _coded(Perturbed(name, domain, np.arange(domain.size), domain.size), channels)
    return cut_by(name, domain, channels, [atom.states for atom in atoms])


def cut_by(
    name: str, domain: Domain, channels: Sequence[BaseChannel], features: Sequence[npt.NDArray[np.generic]]
) -> Perturbed:
    """The cells of a column: values alike in each of some features, and in what its channel makes of them."""
    cells, count = np.zeros(domain.size, dtype=np.intp), 1
    for feature in [*features, *(f for channel in channels if (f := channel.traits) is not None)]:
        _, labels = np.unique(feature, return_inverse=True)
        _, cells = np.unique(cells * (int(labels.max()) + 1) + labels, return_inverse=True)
        count = int(cells.max()) + 1
    if count > MANY_CELLS and any(channel.recoded for channel in channels):
        cells, count = np.arange(domain.size), domain.size
    return _coded(Perturbed(name, domain, cells, count), channels)


MANY_CELLS = 64
"""From here on values that are published as codes are not put into cells: weights of all of them are found at once."""


def _coded(axis: Perturbed, channels: Sequence[BaseChannel]) -> Perturbed:
    """The same with its codes, where these are no values; a column with codes has one channel."""
    if not any(channel.recoded for channel in channels):
        return axis
    (channel,) = channels
    places = channel.places(axis.cells, axis.count)
    codes = Perturbed(axis.name, code_domain(channel.codes), places, int(places.max()) + 1)
    return replace(axis, codes=codes)


def truth_table(conditions: Conditions, axes: Sequence[Perturbed]) -> npt.NDArray[np.bool_]:
    """Where the WHERE is true: one dimension for each perturbed axis, then one of three for each public atom."""
    publics = conditions.public_atoms
    shape = tuple(axis.count for axis in axes) + (3,) * len(publics)
    if np.prod(shape, dtype=float) > 2e7:
        raise QueryError(
            f"the condition has {np.prod(shape, dtype=float):.0f} combinations of cells; ask a simpler one"
        )
    result = np.ones(shape, dtype=np.bool_)
    for tree in conditions.trees:
        result = result & evaluate(tree, axes, publics)[0]
    return result


def evaluate(
    node: Node, axes: Sequence[Perturbed], publics: Sequence[PublicAtom], known: dict[int, Truth] | None = None
) -> Truth:
    """Where a condition is true and where it is false, over all axes: each part once, wherever it stands in the tree."""
    known = {} if known is None else known
    if id(node) not in known:
        known[id(node)] = _truth_of(node, axes, publics, known)
    return known[id(node)]


def _truth_of(node: Node, axes: Sequence[Perturbed], publics: Sequence[PublicAtom], known: dict[int, Truth]) -> Truth:
    rank = len(axes) + len(publics)
    if isinstance(node, PublicAtom):
        place = len(axes) + next(i for i, atom in enumerate(publics) if atom.condition == node.condition)
        return _along(np.array([FALSE, TRUE, 2], dtype=np.int8), place, rank)
    if isinstance(node, SetAtom):
        place = next(i for i, axis in enumerate(axes) if axis.name == node.column)
        states = np.empty(axes[place].count, dtype=np.int8)
        states[axes[place].cells] = node.states
        return _along(states, place, rank)
    true, false = evaluate(node.parts[0], axes, publics, known)
    if node.operation == "not":
        return false, true
    if node.operation == "surely":
        return true, ~true
    for part in node.parts[1:]:
        t, f = evaluate(part, axes, publics, known)
        true, false = (true & t, false | f) if node.operation == "and" else (true | t, false & f)
    return true, false


def _along(states: npt.NDArray[np.int8], place: int, rank: int) -> Truth:
    shape = [1] * rank
    shape[place] = len(states)
    return (states == TRUE).reshape(shape), (states == FALSE).reshape(shape)


def tree_of(part: exp.Expression, domains: dict[str, Domain], asked: Asked, notes: list[str]) -> Node:
    """A condition by AND, OR and NOT of conditions on one perturbed column each, and of public ones."""
    names = _columns(part)
    perturbed = [name for name in names if name in domains]
    if not perturbed:
        return PublicAtom(part)
    if len(names) == 1:
        _note_unknown(part, names[0], domains[names[0]], notes)
        return asked.atom(part, names[0], domains[names[0]])
    if isinstance(part, exp.Paren):
        return tree_of(part.this, domains, asked, notes)
    if isinstance(part, exp.Not):
        return Tree("not", [tree_of(part.this, domains, asked, notes)])
    if isinstance(part, exp.And | exp.Or):
        inner = [tree_of(p, domains, asked, notes) for p in _put_together(part, domains)]
        return Tree("and" if isinstance(part, exp.And) else "or", inner)
    spelt = _spelt_out(part, lambda inner: tree_of(inner, domains, asked, notes))
    if spelt is not None:
        return spelt
    others = ", ".join(repr(n) for n in names if n != perturbed[0])
    raise QueryError(
        f"{sql_of(part)} compares the perturbed column {perturbed[0]!r} with {others}; "
        "a condition may compare a perturbed column with constants only"
    )


def _put_together(part: exp.And | exp.Or, domains: dict[str, Domain]) -> list[exp.Expression]:
    """What stands between ANDs, or between ORs: conditions on the same column, and public ones, become one, so that thousands are a few."""
    alike: dict[object, list[exp.Expression]] = {}
    for operand in operands(part):
        names = frozenset(_columns(operand))
        one = len(names) == 1 or not names & set(domains)
        alike.setdefault((names & set(domains)) if one else id(operand), []).append(operand)
    together = exp.and_ if isinstance(part, exp.And) else exp.or_
    return [together(*parts) if len(parts) > 1 else parts[0] for parts in alike.values()]


CONDITION = (exp.Predicate, exp.Connector, exp.Not)
"""What a side of a comparison is where conditions are compared."""


def _spelt_out(part: exp.Expression, tree: Callable[[exp.Expression], Node]) -> Node | None:
    """Conditions that are equal or not, IS TRUE, FALSE or NULL, and CASE, by AND, OR, NOT and IS TRUE; None where it is none of these."""
    if isinstance(part, exp.EQ | exp.NEQ) and any(
        isinstance(side.unnest(), CONDITION) for side in (part.left, part.right)
    ):
        left, right = tree(part.left), tree(part.right)
        other = right if isinstance(part, exp.EQ) else Tree("not", [right])
        unlike = Tree("not", [other])
        return Tree("or", [Tree("and", [left, other]), Tree("and", [Tree("not", [left]), unlike])])
    if isinstance(part, exp.Is) and isinstance(part.expression, exp.Boolean | exp.Null):
        true = tree(part.this)
        surely, never = Tree("surely", [true]), Tree("surely", [Tree("not", [true])])
        if isinstance(part.expression, exp.Boolean):
            return surely if part.expression.this else never
        return Tree("not", [Tree("or", [surely, never])])
    if isinstance(part, exp.Case | exp.If):
        otherwise = part.args.get("default" if isinstance(part, exp.Case) else "false")
        result = tree(otherwise or exp.null())
        for branch in reversed(part.args["ifs"] if isinstance(part, exp.Case) else [part]):
            when = branch.this if branch is part or part.this is None else part.this.eq(branch.this)
            taken = Tree("surely", [tree(when)])
            chosen = Tree("and", [taken, tree(branch.args["true"])])
            result = Tree("or", [chosen, Tree("and", [Tree("not", [taken]), result])])
        return result
    return None


NAMES = (exp.EQ, exp.NEQ, exp.In)
RANGES = (*NAMES, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
"""Comparisons in which a word, and a number, is one that the column should have."""


def _note_unknown(part: exp.Expression, name: str, domain: Domain, notes: list[str]) -> None:
    """A word that the domain does not have is more often a typing error than a question; a range beyond it is cut."""
    if (grid := grid_of(domain)) is not None:
        low, high = float(grid.low), float(grid.high)
        beyond = [n for n in map(_number, _compared(part, RANGES)) if n is not None and not low <= n <= high]
        notes.extend(
            f"{n:g} is outside the domain of {name!r}, {grid.low} to {grid.high}: the range is cut there"
            for n in beyond
        )
    if isinstance(domain, Categories):
        words = [literal.name for literal in _compared(part, NAMES) if literal.is_string]
        listed = [str(v) for v in domain.listed if v is not None] if words else []
        missing = " (and missing: IS NULL)" if words and None in domain.listed else ""
        notes.extend(
            f"{w!r} is not a value of {name!r}{did_you_mean(w, listed)}{missing}" for w in words if w not in listed
        )


def _compared(part: exp.Expression, ways: tuple[type[exp.Expression], ...]) -> list[exp.Literal]:
    """The constants that a column itself, and not a function of it, is compared with in one of these ways."""
    atoms = []
    for literal in part.find_all(exp.Literal):
        comparison = literal.parent.parent if isinstance(literal.parent, exp.Neg) else literal.parent
        if isinstance(comparison, ways):
            sides = (comparison.this, comparison.args.get("expression"))
            atoms.extend([literal] if any(isinstance(side, exp.Column) for side in sides) else [])
    return atoms


def _number(literal: exp.Literal) -> float | None:
    if literal.is_string:
        return None
    return -float(literal.name) if isinstance(literal.parent, exp.Neg) else float(literal.name)


def conjuncts(where: exp.Expression | None) -> list[exp.Expression]:
    """The conditions that all have to hold, in their order; a loop, because thousands of them nest as deeply."""
    parts, left = list[exp.Expression](), [where] if where is not None else []
    while left:
        part = left.pop()
        if isinstance(part, exp.Paren):
            left.append(part.this)
        elif isinstance(part, exp.And):
            left += [part.right, part.left]
        else:
            parts.append(part)
    return parts


def _columns(part: exp.Expression) -> list[str]:
    return list(dict.fromkeys(column.name for column in part.find_all(exp.Column)))


def leaves(node: Node) -> list[SetAtom | PublicAtom]:
    """Each once, although parts of a tree may stand in several places of it: by comparisons of comparisons in 2^16."""
    atoms, left, seen = list[SetAtom | PublicAtom](), [node], set[int]()
    while left:
        part = left.pop()
        if id(part) not in seen:
            seen.add(id(part))
            if isinstance(part, Tree):
                left.extend(reversed(part.parts))
            else:
                atoms.append(part)
    return atoms
