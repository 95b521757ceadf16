"""Guarantees as a reader needs them: one sentence, what each parameter means, and how far a belief can move."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from scumble.core.parameters import plain
from scumble.privacy.breach import swapping_posterior
from scumble.privacy.guarantee import Guarantee
from scumble.privacy.rho import posterior_bound
from scumble.privacy.words_of_counts import NOISY_COUNTS, sample_sizes
from scumble.reporting.figure import text
from scumble.reporting.numbers import at_most_share, down, fraction, up

Given = dict[str, float]

PARAMETERS = {
    "gamma": "the most by which seeing the published values can multiply or divide the odds",
    "epsilon": "the privacy loss parameter ε = ln γ; 0 tells nothing, and each step of 0.69 doubles the odds factor",
    "rho1": "what was believed before, at most",
    "rho2": "what is believed after, at most",
    "s": "how much likelier than among the replacements a property may be, for the bound to hold",
    "k": "the smallest number of rows that a published combination of values stands for",
    "delta": "the probability outside of which the factor holds",
    "total_epsilon": "the privacy loss parameter ε of all tables together",
    "total_delta": "the probability δ outside of which ε holds, all tables together",
    "parts": "the number of tables that one row can be in",
    "beside": "the part of ε that the choice of the tables used",
    "histogram": "the part of ε that counting the columns of people used",
    "l": "no value has more than 1/l of a bucket",
    "largest_share": "the largest share of a value in a bucket, as published",
    "alpha": "a row of the table is published with probability α + β",
    "beta": "any other combination of values is published with probability β",
    "lambda": "an estimate for a small group that is within this share of the truth counts as too good",
    "retain": "the probability that a value is kept",
    "values": "the number of values in the domain",
    "rows": "the number of rows",
    "downward": "1 where falling beliefs are bounded as well, 0 where only rising ones are",
    "largest_posterior": "the largest belief in a value after seeing a row, for whoever believes the table's own shares",
    "smallest_posterior": "the smallest such belief",
    "theta": "how many times its share in the table a value can be believed with, at most",
    "anything": "the most by which the odds of anything else can change",
    "by_factor": "what the factor alone lets such a belief become",
    "asked": "the δ that the publisher asked for, by a bound that is far above the true tails",
    "protected": "the number of protected values",
    "sets": "the number of sets of values that are protected as one",
    "channel_gamma": "the factor that the coins alone allow",
    "row_gamma": "the factor of one row of a person who has several",
    "row_epsilon": "the privacy loss parameter of one row",
    "fresh_gamma": "the most by which one release can change the odds of whether a value is another one than before",
}
TAIL = "an estimate for the group is wrong by more than λ with at least this probability, on either side"
SYMBOLS = {
    "gamma": "γ", "epsilon": "ε", "rho1": "ρ₁", "rho2": "ρ₂", "delta": "δ", "alpha": "α", "beta": "β", "lambda": "λ",
    "total_epsilon": "ε", "total_delta": "δ", "largest_share": "largest share", "largest_posterior": "largest belief",
    "smallest_posterior": "smallest belief",
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """A number of a guarantee, with its meaning."""

    symbol: str
    value: str
    meaning: str


def parameters(guarantee: Guarantee) -> list[Parameter]:
    """All of them, as bounds that hold as they are printed."""
    several = "total_epsilon" in guarantee.parameters
    sizes = sample_sizes(guarantee) if guarantee.kind == "reconstruction" else {}
    pairs = []
    for name, value in guarantee.parameters.items():
        if several and name in ("epsilon", "delta"):
            continue
        meaning = PARAMETERS.get(name, "the size of a sample" if name in sizes else "see the manifest")
        if name == "delta" and guarantee.kind == "reconstruction":
            meaning = TAIL
        shown = fraction(value) if name in ("rho1", "rho2") else _bound(name, value)
        pairs.append(Parameter(SYMBOLS.get(name, name), shown, meaning))
    return pairs


SHARES = ("largest_posterior", "largest_share", "by_factor")
"""Probabilities that are bounds from above."""
UPWARD = (
    "gamma", "epsilon", "total_epsilon", "total_delta", "delta", "beta", "anything", "channel_gamma", "row_gamma",
    "row_epsilon", "fresh_gamma", "theta",
)  # fmt: skip
"""Other numbers that bound something from above; they are rounded up, all others down."""


def _bound(name: str, value: float) -> str:
    """In three digits, as everywhere on the page, rounded to the side on which it holds; whole numbers in full."""
    if name in SHARES:
        return at_most_share(value)
    if float(value).is_integer():
        return plain(value)
    return up(value) if name in UPWARD else down(value)


def _columns(guarantee: Guarantee) -> str:
    named = [text(name) for name in guarantee.columns]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 2 else named)


def whose(guarantee: Guarantee) -> str:
    """Whom a guarantee of a row is about: the person, unless nobody said that a person is one row."""
    return "row" if guarantee.under("one_row_unanswered") else "person"


def _moves(guarantee: Guarantee) -> str:
    given = guarantee.parameters
    return (
        f"Whoever believed something about a {whose(guarantee)}'s {_columns(guarantee)} with {fraction(given['rho1'])} believes it with at most "
        f"{fraction(given['rho2'])} after seeing {_seen(guarantee)}."
    )


def _seen(guarantee: Guarantee) -> str:
    alone = guarantee.under("alone") or guarantee.under("alone_in_row")
    of_one = "the row" if whose(guarantee) == "row" else "the person's row"
    return f"the {whose(guarantee)}'s published {_columns(guarantee)} alone" if alone else of_one


def _odds(guarantee: Guarantee) -> str:
    who = whose(guarantee)
    seen = "a row" if who == "row" else "a person's row"
    return (
        f"Seeing {seen} changes the odds of anything about the {who}'s {_columns(guarantee)} by a factor of at most "
        f"{up(guarantee.parameters['gamma'])}."
    )


SENTENCES: dict[str, Callable[[Guarantee], str]] = {
    "rho": _moves,
    "own_distribution": lambda g: f"For whoever believes the table's own shares: a property of a {whose(g)}'s {_columns(g)} that was believed with "
    f"{fraction(g.parameters['rho1'])} is believed with less than {fraction(g.parameters['rho2'])} after seeing that the published row has it.",
    "amplification": _odds,
    "joint_amplification": _odds,
    "person_amplification": lambda g: f"Seeing all rows of a person, up to {g.parameters['rows']:,.0f} of them, changes the odds of anything about the person's {_columns(g)} "
    f"by a factor of at most {up(g.parameters['gamma'])}.",
    "person_counts": lambda g: f"Whether a person with all of its rows, up to {g.parameters['rows']:,.0f} of them, is in the table changes the probability of the release by a "
    f"factor of at most {up(g.parameters['gamma'])}" + (f", save with probability {up(g.parameters['delta'])}." if g.parameters["delta"] else "."),
    "sampled_amplification": _odds,
    "subtable_posterior": lambda g: f"For whoever believes the table's own shares, no protected value of {_columns(g)} is believed with more than "
    f"{fraction(g.parameters['rho2'])} after seeing a row.",
    "value_odds": lambda g: f"Seeing {_seen(g)} multiplies the odds of a single {_protected(g)} of {_columns(g)} by at most the value's own factor, "
    f"{_range([bound for row in g.bounds or [] for bound in row if bound is not None])}.",
    "reconstruction": lambda g: "Of no group of people who agree on all public columns can the share of a value be estimated well from the sample.",
    "semantic_k": lambda g: f"Every published combination of values stands for {g.parameters['k']:g} rows or more.",
    NOISY_COUNTS: lambda g: f"Whether a {whose(g)} is in the table changes the probability of the release by a factor of at most "
    f"{up(math.exp(g.parameters['total_epsilon']))}, save with probability {plain(g.parameters['total_delta'])}.",
    "full_counts": lambda g: f"Whether a {whose(g)} is in the table changes the probability of the release by a factor of at most "
    f"{up(math.exp(g.parameters['epsilon']))}.",
    "tuple_membership": lambda g: f"That a person's row is in the table, believed with {fraction(g.parameters['rho1'])}, is believed with at most "
    f"{fraction(g.parameters['rho2'])} after seeing the release.",
    "l_diversity": lambda g: f"For whoever knows nothing of the others in a bucket, no value of {_columns(g)} is believed with more than "
    f"1/{g.parameters['l']:g}.",
    "breach": lambda g: f"A property of a {whose(g)}'s {_columns(g)} that was not much likelier than among the replacements, and believed with at most "
    f"{fraction(g.parameters['rho1'])}, is believed with less than {fraction(g.parameters['rho2'])} after seeing that the row has it.",
    "product_breach": lambda g: f"A rare property of a {whose(g)}'s {_columns(g)}, a set of values of each, believed with at most "
    f"{fraction(g.parameters['rho1'])}, is believed with less than {fraction(g.parameters['rho2'])} after seeing that the row has it.",
}  # fmt: skip

AMPLIFICATIONS = ("person_amplification", "memoised", "amplification", "joint_amplification", "sampled_amplification")
"""Guarantees that bound the odds of anything by one factor."""

BREACHES = ("breach", "product_breach")
"""Guarantees about properties that a row is seen to have."""

NOT_OF_ALL = (*BREACHES, "subtable_posterior")
"""Guarantees whose rho1 and rho2 are not those of every belief."""


BESIDE_PUBLIC = (
    "rho", "own_distribution", "amplification", "joint_amplification", "person_amplification", "sampled_amplification",
    "subtable_posterior", "value_odds", *BREACHES,
)  # fmt: skip
"""Guarantees of sensitive columns, which public ones of the same row may tell: the coins are not all that an attacker sees."""


def sentence(guarantee: Guarantee, *, public: bool = False) -> str:
    """The guarantee in one plain sentence; its own statement where there is no plainer one. `public` where public columns stand beside."""
    made = SENTENCES.get(guarantee.kind)
    plainly = made(guarantee) if made else guarantee.statement
    if made and public and guarantee.kind in BESIDE_PUBLIC:
        plainly = f"{plainly.removesuffix('.')}, beyond what public columns tell."
    return f"Of one row alone, of the several that a person may have: {plainly}" if of_one_row(guarantee) else plainly


def of_one_row(guarantee: Guarantee) -> bool:
    """Whether persons have several rows, and this is about one of them alone."""
    return guarantee.under("one_of_rows")


def of_persons(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """Those that hold for all that a release has of a person."""
    return [guarantee for guarantee in guarantees if not of_one_row(guarantee)]


@dataclass(frozen=True)
class Belief:
    """How far a belief can rise, for every prior: the number that people understand."""

    about: str
    """What is believed."""
    bound: Callable[[float], float]
    holder: str
    """For whom the bound holds."""
    factor: float | None = None
    """The odds factor, where there is one."""
    save: float = 0.0
    """The probability outside of which it holds."""
    own: bool = False
    """Whether it holds for those alone who believe the table's own shares."""


def belief(guarantees: Sequence[Guarantee]) -> Belief | None:
    """The strongest bound for every prior that the guarantees give; None where they bound something else."""
    for guarantee in of_persons(guarantees):
        given = guarantee.parameters
        if guarantee.kind == "person_counts":
            return _by_factor("that a person is in the table", given["gamma"], "every attacker", given["delta"])
        if guarantee.kind in AMPLIFICATIONS:
            about = f"anything about a {whose(guarantee)}'s {_columns(guarantee)}"
            return _by_factor(about, given["gamma"], _holder(guarantee))
        if guarantee.kind == "tuple_membership":
            return _by_factor("that a person's row is in the table", given["gamma"], "every attacker")
        if guarantee.kind in (NOISY_COUNTS, "full_counts"):
            epsilon = given.get("total_epsilon", given.get("epsilon", math.inf))
            about = f"that a {whose(guarantee)} is in the table"
            return _by_factor(about, math.exp(epsilon), "every attacker", given.get("total_delta", 0.0))
        if guarantee.kind == "own_distribution":
            about = f"that a {whose(guarantee)}'s {_columns(guarantee)} is what the published row says"
            return Belief(about, partial(_own, given["retain"], given.get("rows", math.inf)), OWN, own=True)
    return None


def _holder(guarantee: Guarantee) -> str:
    """For whom a factor holds."""
    if guarantee.kind == "sampled_amplification":
        return "every attacker who holds what is believed of a person apart from what is believed of others"
    known = guarantee.under("knows_all_others")
    return "every attacker, whoever else's row is known" if known else "every attacker who does not know all other rows"


OWN = "whoever believes the table's own shares"


def _own(retain: float, rows: float, prior: float) -> float:
    return swapping_posterior(retain, prior, rows)


def _by_factor(about: str, factor: float, holder: str, save: float = 0.0) -> Belief:
    return Belief(about, lambda prior: posterior_bound(factor, prior), holder, factor, save)


def of_the_row(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """Those that are about all columns that any of them is about: what they say holds for whoever sees the whole row."""
    every = {name for guarantee in guarantees for name in guarantee.columns}
    return [guarantee for guarantee in guarantees if set(guarantee.columns) == every]


def headline(guarantees: Sequence[Guarantee], *, public: bool = False) -> str:
    """What is promised first of all: about the whole row, where something is."""
    first = [*of_the_row(guarantees), *guarantees][:1]
    return sentence(first[0], public=public) if first else ""


def says_nothing(guarantee: Guarantee) -> bool:
    """Whether the factor that is promised beside it bounds the same belief as low or lower."""
    by_factor = guarantee.parameters.get("by_factor")
    return (
        guarantee.kind in BREACHES and by_factor is not None and by_factor <= guarantee.parameters["rho2"] * (1 + 1e-9)
    )


def example(guarantees: Sequence[Guarantee], belief: Belief | None) -> tuple[str, str] | None:
    """A prior and what it can become by seeing the row: the publisher's own pair, or one chance in ten."""
    for guarantee in of_persons(of_the_row(guarantees)):
        if {"rho1", "rho2"} <= guarantee.parameters.keys() and guarantee.kind not in NOT_OF_ALL:
            return fraction(guarantee.parameters["rho1"]), fraction(guarantee.parameters["rho2"])
    return (fraction(0.1), at_most_share(belief.bound(0.1))) if belief is not None else None


def _protected(guarantee: Guarantee) -> str:
    free = any(bound is None for row in guarantee.bounds or [] for bound in row)
    return "protected value" if free else "value"


def _range(numbers: Sequence[float]) -> str:
    if not numbers:
        return "which is in the manifest"
    low, high = min(numbers), max(numbers)
    return f"{up(high)} for each" if low == high else f"{up(low)} to {up(high)}"
