"""What the (alpha, beta) algorithm promises: made by the plan, and derived again from a manifest by whoever opens a release."""

from collections.abc import Sequence
from fractions import Fraction

from scumble.forms.tuple_set.record import TupleSetRecord
from scumble.mechanisms.facts import Facts, Terms
from scumble.privacy.checks import meets_rho
from scumble.privacy.guarantee import ROUNDING, Guarantee, clauses

NOT_COVERED = clauses("falling", "group")


def derive(facts: Facts) -> Terms:
    """What follows from alpha and beta: the pair that was asked for, where they keep it."""
    record, columns = facts.form_as(TupleSetRecord), facts.named("tuple")
    alpha, beta = record.alpha, record.beta
    facts.demand(
        0 < beta < alpha + beta <= 1 + ROUNDING, "alpha and beta that are probabilities, and the manifest has not"
    )
    gamma = (Fraction(alpha) + Fraction(beta)) / Fraction(beta)
    asked = [claim.parameters for claim in facts.asked("tuple_membership") if meets_rho(gamma, claim.parameters)]
    return terms_of(columns, alpha, beta, [(given["rho1"], given["rho2"]) for given in asked])


def terms_of(columns: Sequence[str], alpha: float, beta: float, asked: Sequence[tuple[float, float]]) -> Terms:
    """The pairs that were asked for, of whether a tuple is in the table."""
    guarantees = [
        Guarantee(
            kind="tuple_membership",
            columns=list(columns),
            parameters={"rho1": rho1, "rho2": rho2, "gamma": (alpha + beta) / beta, "alpha": alpha, "beta": beta},
            conditions=clauses("set_of_tuples", "independent_tuples"),
        )
        for rho1, rho2 in asked
    ]
    return Terms(guarantees, list(NOT_COVERED), [])
