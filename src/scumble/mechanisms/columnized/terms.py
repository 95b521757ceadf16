"""What a columnized release promises: made by the plan, and derived again from a manifest by whoever opens a release."""

from scumble.forms.tuples.record import Practical, TuplesRecord
from scumble.mechanisms.counted_terms import (
    NOT_COVERED,
    derived_matrix,
    dp_guarantee,
    given_total,
    of_total,
)
from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.noisy_count_matrix import NoisyCountMatrix
from scumble.privacy.guarantee import Clause, clauses


def derive(facts: Facts) -> Terms:
    """What follows from the matrix, from how many tables a tuple can be in, and from what the publisher says that the schema cost."""
    record = facts.form_as(TuplesRecord)
    counting, schema = record.counting, record.schema_
    facts.demand(isinstance(counting, Practical), "noisy counts from k on, and the manifest has others")
    assert isinstance(counting, Practical)
    matrix = derived_matrix(facts, counting.k, counting.epsilon, counting.delta)
    facts.demand(schema is not None, "a schema, and the manifest has none")
    assert schema is not None
    parts = schema.c_star
    facts.demand(
        1 <= parts <= len(schema.tables), "tables of which a tuple is in c* or fewer, and the manifest has not"
    )
    claims = facts.asked("noisy_counts")
    spent = claims[0].parameters.get("beside", 0.0) if claims and schema.schema_from == "budget" else None
    paid = schema.schema_from == "given" or (spent is not None and spent > 0)
    facts.demand(paid, "a schema that was given, or paid for with a part of epsilon, and the manifest says neither")
    columns = facts.named("counted")
    if record.transactions is not None:
        columns = [record.transactions[role] for role in ("item", "value") if role in record.transactions]
    claimed = claims[0].columns if claims else []
    named = claimed if sorted(claimed) == sorted(columns) else columns
    return terms_of(named, matrix, parts, spent, record.total, schema.kept.epsilon if schema.kept else 0.0)


def terms_of(
    columns: list[str],
    matrix: NoisyCountMatrix,
    parts: int,
    spent: float | None,
    total: int | None,
    histogram: float = 0.0,
) -> Terms:
    """The terms of so many tables; `spent` is what a computed schema cost, `histogram` what counting the columns of tuples did."""
    given = dp_guarantee(columns, matrix, parts, spent or 0.0, histogram)
    schema = (
        clauses("given_schema") if spent is None else [Clause(code="computed_schema", parameters={"epsilon": spent})]
    )
    counted = [Clause(code="counted_columns", parameters={"epsilon": histogram})] if histogram else []
    terms = given.model_copy(update={"conditions": [*given.conditions, *schema, *counted]})
    return Terms(given_total([terms], total), [*clauses("apart"), *NOT_COVERED], of_total(total))
