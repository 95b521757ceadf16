"""What generalization and suppression promise: made by the plan, and derived again from a manifest by whoever opens a release."""

from scumble.forms.tuples.record import Exact, Midpoints, TuplesRecord
from scumble.mechanisms.counted_terms import NOT_COVERED, given_total, k_guarantee, of_total
from scumble.mechanisms.facts import Facts, Terms
from scumble.privacy.guarantee import clauses


def derive(facts: Facts) -> Terms:
    """What follows from k."""
    record = facts.form_as(TuplesRecord)
    counting, suppressed = record.counting, isinstance(record.counting, Exact)
    exactly = isinstance(counting, Exact | Midpoints) and record.schema_ is None
    facts.demand(exactly, "exact counts in one table, and the manifest has others")
    k = record.k or 0
    facts.demand(k >= 1, "a k, and the manifest has none")
    return terms_of(facts.named("counted"), k, suppressed, record.total if suppressed else None)


def terms_of(columns: list[str], k: int, suppressed: bool, total: int | None) -> Terms:
    """k, and what exact counts leave open; where rare tuples are suppressed, those too."""
    beyond = [*clauses("exact_counts"), NOT_COVERED[0], *(NOT_COVERED[1:] if suppressed else [])]
    return Terms(given_total([k_guarantee(columns, k)], total), beyond, of_total(total))
