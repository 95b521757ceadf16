"""What anatomy promises: made by the plan, and derived again from a manifest by whoever opens a release."""

from scumble.forms.buckets.record import BucketsRecord
from scumble.mechanisms.facts import Facts, Terms
from scumble.privacy.guarantee import NOT_COVERED, Clause, Guarantee, clauses, dependence_of_domains


def derive(facts: Facts) -> Terms:
    """What follows from buckets of l different values; whether rows were left out, and where the domain is from, is the publisher's word."""
    record, names = facts.form_as(BucketsRecord), facts.named("apart")
    facts.demand(len(names) == 1, "one column of values apart, and the manifest has not")
    facts.demand(record.diversity > 1, "buckets of 2 different values or more, and the manifest has fewer")
    from_data = names if facts.says("domain_from_data") else []
    return terms_of(names[0], record.diversity, from_data, facts.says("left_out"))


def terms_of(name: str, diversity: int, from_data: list[str], left_out: bool) -> Terms:
    """Buckets of l different values; `left_out` says whether rows had to go for it."""
    tells = [Clause(code="buckets_follow", parameters={"column": name})]
    tells += [Clause(code="left_out", parameters={"column": name, "l": diversity})] if left_out else []
    return Terms(
        [l_guarantee([name], diversity, 1 / diversity)],
        [*clauses("corruption_of_buckets"), *NOT_COVERED],
        [*dependence_of_domains(from_data), *tells],
    )


def l_guarantee(columns: list[str], diversity: int, share: float) -> Guarantee:
    """No value has more than a share of a bucket, and under what that bounds a belief."""
    return Guarantee(
        kind="l_diversity",
        columns=columns,
        parameters={"l": float(diversity), "largest_share": share},
        conditions=clauses("one_row", "knows_bucket", "alike_in_bucket"),
    )
