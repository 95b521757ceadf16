"""What several releases promise together: derived from the coins of all of them, never read from one.

Joined, a row shows the columns of all parts. Coins of different owners are independent, so that the likelihood ratio of the whole row is the
product of the parts':

    gamma = gamma_1 gamma_2 ...,        epsilon = epsilon_1 + epsilon_2 + ...

Stacked, a person's row is in one of the parts, and the weakest of them is what all are promised: gamma = the largest. Whoever is in several of
them is told of several times, and for them the factors multiply.
"""

from collections.abc import Sequence
from fractions import Fraction

from scumble.mechanisms.facts import Terms, joint_factor
from scumble.privacy.guarantee import Clause, Guarantee, amplification_guarantee, clauses
from scumble.privacy.numerals import upward
from scumble.release.manifest import Manifest
from scumble.release.persons import PersonsRecord, under_persons
from scumble.release.terms import facts_of

COINS = ("fresh_coins", "keyed_coins", "memoised_coins", "once_by_counts")
"""Conditions that say where coins come from."""

MEANINGFUL = 1e6
"""A factor above which nothing is promised of all columns together."""


def joined_terms(parts: Sequence[tuple[Manifest, Terms]]) -> Terms:
    """Of the columns of all parts: the product of their factors, and what each promises of its own columns alone."""
    gamma = _product([factor(manifest) for manifest, _ in parts])
    columns = [name for manifest, _ in parts for name in manifest.sensitive]
    together = Clause(code="joined", parameters={"parts": len(parts)})
    whole = _whole(columns, gamma, parts, [together])
    own = [_alone(guarantee) for _, terms in parts for guarantee in terms.guarantees if guarantee.kind in OF_A_PART]
    return Terms([*whole, *own], *_beside(parts))


def stacked_terms(parts: Sequence[tuple[Manifest, Terms]]) -> Terms:
    """Of the rows of all parts: the largest of their factors, and what all of them promise alike."""
    factors = [factor(manifest) for manifest, _ in parts]
    several = _product(factors)
    beyond = {"gamma": upward(several)} if several is not None and several <= MEANINGFUL else {}
    clause = Clause(code="one_owner", parameters={"parts": len(parts), **beyond})
    bounded = [number for number in factors if number is not None]
    largest = max(bounded) if len(bounded) == len(factors) else None
    whole = _whole(parts[0][0].sensitive, largest, parts, [clause])
    first, *others = [terms.guarantees for _, terms in parts]
    alike = [g for g in first if g.kind in OF_A_PART and all(g in guarantees for guarantees in others)]
    own = [g.model_copy(update={"conditions": [*g.conditions, clause]}) for g in alike]
    return Terms([*whole, *own], *_beside(parts))


OF_A_PART = ("rho", "value_odds", "memoised", "breach", "product_breach")
"""Guarantees of a part that still hold for its own columns, beside the factor of all."""


def factor(manifest: Manifest) -> Fraction | None:
    """The factor of all perturbed columns of a part, exactly; none where replacements follow the data."""
    coins = facts_of(manifest).coins
    return None if any(column.own for column in coins.values()) else joint_factor(coins)


def _product(factors: Sequence[Fraction | None]) -> Fraction | None:
    product = Fraction(1)
    for number in factors:
        if number is None:
            return None
        product *= number
    return product


def _whole(
    columns: list[str], gamma: Fraction | None, parts: Sequence[tuple[Manifest, Terms]], more: list[Clause]
) -> list[Guarantee]:
    """The factor of the whole, for a row, and for a person who has several."""
    if not columns or gamma is None or gamma > MEANINGFUL:
        return []
    every = [condition for _, terms in parts for guarantee in terms.guarantees for condition in guarantee.conditions]
    coins = [condition for condition in dict.fromkeys(c.code for c in every) if condition in COINS]
    conditions = clauses("one_row", *coins, *_known([c.code for c in every]))
    guarantee = amplification_guarantee(columns, gamma).model_copy(update={"conditions": [*conditions, *more]})
    return under_persons(Terms([guarantee], [], []), persons_of([manifest for manifest, _ in parts])).guarantees


def _known(codes: Sequence[str]) -> list[str]:
    """What the attacker may know, by the part that allows the least."""
    return ["not_all_others"] if "not_all_others" in codes else ["knows_all_others"]


def persons_of(manifests: Sequence[Manifest]) -> PersonsRecord | None:
    """Whose rows they are, by the part that says the least, or has the most rows of a person."""
    records = [manifest.persons for manifest in manifests]
    known = [record for record in records if record is not None]
    if len(known) < len(records):
        return None
    for how in ("unanswered", "users", "stated"):
        named = [record for record in known if record.how == how]
        if named and max(record.most for record in known) == 1:
            return named[0]
    return max(known, key=lambda record: record.most)


def _alone(guarantee: Guarantee) -> Guarantee:
    """What holds for the columns of one part, whatever the others show."""
    if guarantee.under("alone"):
        return guarantee
    return guarantee.model_copy(update={"conditions": [*guarantee.conditions, *clauses("alone")]})


def _beside(parts: Sequence[tuple[Manifest, Terms]]) -> tuple[list[Clause], list[Clause]]:
    """What none of them covers, and what was taken from the data of any."""
    sides: tuple[list[Clause], list[Clause]] = ([], [])
    for _, terms in parts:
        for side, listed in zip(sides, (terms.not_covered, terms.depends_on_data), strict=True):
            side += [clause for clause in listed if clause not in side]
    return sides
