"""Persons, not rows: how many rows a person has is counted before anything is published, and is part of the promise.

    named, or an identifier   counted; the column whose values have the most rows is taken where none is named
    rows_per_person = N       at most N rows of a person are read, drawn by secret coins
    persons = "one row each"  the publisher's word
    nothing of these          the condition is printed as a question without an answer

Where a person has several rows, the person's promise is printed before the row's. Where that one is empty (privacy/persons.py), publishing is
refused, unless rows_per_person = "all" says that the publisher knows. This refusal, and the number of rows, depend on the data; they say so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import is_text, published_type
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError, SchemaError
from scumble.engines.duckdb.persons import LOT, ROW, Tally, drawn_rows, tallies
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.facts import Terms
from scumble.mechanisms.mechanism import Mechanism
from scumble.mechanisms.plan import Plan
from scumble.privacy.persons import EMPTY, is_empty
from scumble.publishing.kept_rows import WEIGHT, KeptRows
from scumble.release.persons import PersonsRecord, to_persons
from scumble.sources.source import Source
from scumble.spec.looks import look
from scumble.spec.looks.seen import Seen, first_look
from scumble.spec.spec import ONE_ROW_EACH, ColumnSpec, Spec

WAYS = (
    "Ways out: rows_per_person = 1 (one row of each, drawn by coins) or another number; a stronger target; "
    'another column, by person = "..."; persons = "one row each" where this column is not of persons; '
    'or rows_per_person = "all", which publishes what holds for a row alone (--rows-per-person, --person, --persons; the same names in Python)'
)


@dataclass(frozen=True)
class Persons:
    """Whose rows they are."""

    record: PersonsRecord
    table: Source
    """The rows that are published: all of them, or those that were drawn."""
    column: str | None = None
    named: bool = True
    """Whether the publisher named the column."""
    tally: Tally | None = None
    """What was counted, for the publisher alone."""
    uncounted: tuple[str, ...] = ()
    """Columns that look as if they named people, where nobody said whose the rows are."""
    published: bool = False
    """Whether the column that was counted by is a public one."""

    @property
    def warnings(self) -> list[str]:
        """What a publisher who named nobody should look at."""
        if self.published:
            return [
                f"{self.column!r} is PUBLISHED as it is and looks as if people were told apart by it: whoever has the release puts the rows of a "
                f"person together. They were counted by it, and what is promised is promised to a person. Leave it out, as by --person {self.column} "
                f'(person=), or say persons = "{ONE_ROW_EACH}" where it tells no people apart. This was found in the data'
            ]
        if not self.uncounted:
            return []
        name, listed = self.uncounted[0], ", ".join(map(repr, self.uncounted))
        return [
            f"rows a person were NOT counted, and {listed} look{'s' * (len(self.uncounted) == 1)} as if people were told apart by it: what is "
            f'promised is promised to a row. Name the column of persons, as in --person {name} (person=), or say persons = "{ONE_ROW_EACH}". This was found in the data'
        ]

    def weighted(self, spec: Spec) -> Spec:
        """The spec with the column of weights, where there is one: it is published as it is, and may tell a sensitive one."""
        if self.record.answers is None:
            return spec
        return spec.model_copy(
            update={"columns": {**spec.columns, WEIGHT: ColumnSpec.model_validate({"role": "public"})}}
        )

    @property
    def words(self) -> str:
        """In a sentence, for the publisher."""
        if self.tally is None or self.column is None:
            return UNCOUNTED[self.record.how]
        why = (
            "it is published, and looks as if it named people"
            if self.published
            else "of all identifiers its values have the most rows"
        )
        chosen = "" if self.named else f" (no person was named: {why})"
        counted = (
            f"{self.column}{chosen}: {self.tally.values:,} persons, {self.tally.rows / max(1, self.tally.values):.3g} rows each on "
            f"average, {self.tally.most:,} at most"
        )
        if self.record.how == "capped":
            counted += (
                f"; at most {self.record.most:,} of each are published, {self.table.rows:,} of {self.tally.rows:,} rows"
            )
        gaps = f"; {self.tally.missing:,} rows have none, and count as one person's" if self.tally.missing else ""
        return f"{counted}{gaps}; answers are for {self.record.answers_for}"


UNCOUNTED = {
    "stated": "the spec says that each person is one row; nobody counted",
    "unanswered": f'UNANSWERED: is each person one row of the table? Name the column of persons (person = "..."), or say persons = "{ONE_ROW_EACH}"',
    "users": "all transactions of a user are one tuple",
}


def persons_of(table: Source, spec: Spec, entropy: Entropy, occurrence: str | None = None) -> Persons:
    """Whose rows they are, by a spec whose columns all have a role.

    occurrence   the column that tells the rows of a person apart, which counts nobody
    """
    user = spec.settings.get("user") if "user" in find_mechanism(spec.mechanism).column_settings else None
    if user is not None:
        return _of_users(table, spec, str(user))
    candidates = [spec.person] if spec.person is not None else _identifiers(table, spec, occurrence)
    if not candidates:
        if spec.rows_per_person is not None:
            raise ParameterError(
                'rows_per_person needs to know whose row it is; name the column by person = "..." (--person, person=)'
            )
        if spec.persons:
            return Persons(PersonsRecord(how="stated"), table)
        return _unnamed(table, spec, entropy)
    counted = tallies(_streamed(table, candidates), candidates)
    column = max(candidates, key=lambda name: counted[name].most)
    return _counted(table, spec, column, counted[column], entropy)


def _unnamed(table: Source, spec: Spec, entropy: Entropy) -> Persons:
    """Whose rows they are where nobody says it. By a published column that tells people apart anybody puts their rows together: it is counted by."""
    like = _like_persons(table, spec)
    public = [seen.name for seen in like if _told_apart(seen, spec.columns[seen.name])]
    counted = tallies(_streamed(table, public), public) if public else {}
    column = max(public, key=lambda name: counted[name].most, default=None)
    if column is None or counted[column].most == 1:
        return Persons(PersonsRecord(how="unanswered"), table, uncounted=tuple(seen.name for seen in like))
    return replace(_counted(table, spec, column, counted[column], entropy), published=True)


def _identifiers(table: Source, spec: Spec, occurrence: str | None) -> list[str]:
    """The columns that persons can be counted by where none is named; a stream is read once, and not for that."""
    if spec.persons or not table.stable:
        return []
    return [name for name, column in spec.columns.items() if column.role == "identifier" and name != occurrence]


def _like_persons(table: Source, spec: Spec) -> list[Seen]:
    """Columns, published or left out, that look as if they numbered people, by the first rows of the table."""
    kinds = {field.name: published_type(field.type) for field in table.schema}
    numbering = [name for name, kind in kinds.items() if is_text(kind) or pa.types.is_integer(kind)]
    names = [name for name in numbering if name in spec.columns and spec.columns[name].role != "sensitive"]
    return [seen for seen in first_look(table, names) if look(seen).kind in ("person", "code") or _repeats(seen)]


SEVERAL, SHARE = 100, 0.1
"""Different values of a column, and of these for each row, from which on a few rows of each may be a person's."""


def _repeats(seen: Seen) -> bool:
    """Whether texts repeat as those of people with a few rows each do, whatever else they look like; numbers that do may be measured."""
    return is_text(seen.kind) and len(seen.values) >= SEVERAL and seen.share > SHARE


def _told_apart(seen: Seen, column: ColumnSpec) -> bool:
    """Whether a column is published as it is and may tell people apart. One that is coarsened is not; and post codes repeat whoever lives there."""
    as_it_is = column.role == "public" and column.coarsen is None
    return as_it_is and seen.share > SHARE and look(seen).kind != "trace"


def _of_users(table: Source, spec: Spec, user: str) -> Persons:
    if spec.person not in (None, user) or spec.rows_per_person is not None:
        raise ParameterError(
            f"transactions are protected by their user, all of one's at once; person is {user!r}, and rows_per_person is not for them"
        )
    return Persons(PersonsRecord(how="users"), table, user)


def _counted(table: Source, spec: Spec, column: str, tally: Tally, entropy: Entropy) -> Persons:
    named = spec.person is not None
    if spec.persons and tally.most > 1:
        raise SchemaError(
            f'the spec says persons = "{spec.persons}", and a value of {column!r} has {tally.most:,} rows; take one of the two back (this was found in the data)'
        )
    if isinstance(spec.rows_per_person, int):
        plain = spec.answers is None or (spec.answers, spec.rows_per_person) == ("persons", 1)
        record = PersonsRecord(how="capped", rows=spec.rows_per_person, answers=None if plain else spec.answers)
        return Persons(record, _capped(table, column, tally, record, entropy), column, named, tally)
    return Persons(PersonsRecord(how="counted", rows=max(1, tally.most)), table, column, named, tally)


def _capped(table: Source, column: str, tally: Tally, record: PersonsRecord, entropy: Entropy) -> Source:
    """The table with so many rows of a person, each choice as likely as another; and with their weights, where answers go by these."""
    if tally.missing:
        raise SchemaError(
            f"{tally.missing:,} rows have no {column!r}, so nobody knows whose they are; fill it or take them out before rows_per_person"
        )
    if not table.stable:
        raise ParameterError("rows_per_person reads the table twice, and a stream is read once; pass a table")
    if record.answers is not None and WEIGHT in table.schema.names:
        raise SchemaError(
            f"the release gets a column {WEIGHT!r} for weights, and the table has one; rename it, or leave out answers"
        )
    weights = np.zeros(tally.rows)
    rows, every = drawn_rows(_streamed(table, [column], entropy), column, record.most)
    weights[rows] = record.weights(every)
    return KeptRows(table, weights, record.answers is not None)


def _streamed(table: Source, names: list[str], lots: Entropy | None = None) -> pa.RecordBatchReader:
    """The columns, batch by batch, with lots of their rows where these are drawn."""
    kinds = [table.schema.field(name) for name in names]
    plain = [pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in kinds]
    more = [] if lots is None else [pa.field(ROW, pa.int64()), pa.field(LOT, pa.uint64())]
    schema = pa.schema([*plain, *more])

    def batches() -> Iterator[pa.RecordBatch]:
        start = 0
        for index, batch in enumerate(table.batches(names)):
            arrays = [batch.column(field.name).cast(field.type) for field in plain]
            if lots is not None:
                arrays += _lots(start, batch.num_rows, lots, index)
            start += batch.num_rows
            yield pa.record_batch(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _lots(start: int, rows: int, entropy: Entropy, index: int) -> list[pa.Array]:
    numbers: npt.NDArray[np.int64] = np.arange(start, start + rows)
    return [pa.array(numbers), pa.array(entropy.stream("persons", index).integers(rows, 64))]


def demand_weighable(persons: Persons, chosen: Mechanism[Any], plan: Plan) -> None:
    """Refuses weights where an estimate does not go by rows: only there a row's weight is all that its person changes."""
    if persons.record.answers is None:
        return
    one = len(plan.strata) == 1 and not any(coins.own for coins in plan.strata[0].values())
    if chosen.form != "rows" or not one or not plan.coins or chosen.traits.adds_rows:
        raise ParameterError(
            f"answers goes by weights of rows, for mechanisms that perturb each row by itself, and {chosen.name} does not; leave out answers, "
            "and they are for the rows that were drawn"
        )


def demand_left(persons: Persons, spec: Spec, terms: Terms) -> None:
    """Refuses to publish where nothing is left of the promise to a person with several rows, and nobody said that this is known."""
    record = persons.record
    if record.most == 1 or spec.rows_per_person == "all" or not terms.guarantees:
        return
    promises = to_persons(terms, record)
    if any(not is_empty(promise) for promise in promises):
        return
    largest = max((promise.parameters["epsilon"] for promise in promises), default=None)
    why = (
        "this mechanism promises nothing of several rows together"
        if largest is None
        else f"for all of them the odds change by a factor of up to e^{largest:.4g}, and above {EMPTY:,.0f} nothing is left of a promise"
    )
    raise SchemaError(
        f"a person has up to {record.most:,} rows, by {persons.column!r}, and {why}. This depends on the data, and so does this refusal. {WAYS}"
    )
