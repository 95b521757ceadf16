"""What noisy marginals promise: made by the plan, and derived again from a manifest by whoever opens a release."""

import math
from collections.abc import Sequence

from scumble.forms.tuples.record import Marginals, TuplesRecord
from scumble.mechanisms.counted_terms import NOT_COVERED, check_full, demand_verdict
from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.noisy_count_matrix import ClampedCounts
from scumble.privacy.guarantee import Guarantee, clauses


def derive(facts: Facts) -> Terms:
    """What follows from the noise of each table: a tuple is counted once in each of them."""
    record = facts.form_as(TuplesRecord)
    counting, columns = record.counting, facts.named("counted")
    facts.demand(isinstance(counting, Marginals), "marginals, and the manifest has other counts")
    assert isinstance(counting, Marginals)
    held = {name for table in record.tables for name in table.attributes}
    facts.demand(held == {*columns}, "each column in a marginal, and the manifest has others")
    facts.demand(record.total is None, "no total, and the manifest has one")
    return terms_of(columns, counting.epsilons)


def terms_of(columns: list[str], epsilons: Sequence[float]) -> Terms:
    """Differential privacy with the sum of what each marginal costs."""
    for rate in {*epsilons}:
        demand_verdict(check_full(ClampedCounts.full(rate)))
    guarantee = Guarantee(
        kind="full_counts",
        columns=columns,
        parameters={"epsilon": math.fsum(epsilons)},
        conditions=clauses("one_tuple", "neighbours", "adds_up", "declared_domain", "given_marginals"),
    )
    return Terms([guarantee], list(NOT_COVERED[:1]), [])
