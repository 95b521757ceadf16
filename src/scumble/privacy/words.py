"""Every sentence of a promise, made from its code and its parameters; nothing else in the house writes one, and nothing reads one.

A guarantee, a condition, a line that is not covered and a line about what was taken from the data are all a code with parameters.
Decisions are taken by codes. A sentence may be reworded at will; but releases that were made before have the older words
in their manifest, where verification compares them: so it is reworded with a new edition of the manifest.
"""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from scumble.core.errors import InternalError
from scumble.core.parameters import plain
from scumble.privacy.numerals import as_given, at_most, at_most_share

if TYPE_CHECKING:
    from scumble.privacy.guarantee import Guarantee


def statement(guarantee: "Guarantee") -> str:
    """A guarantee as a sentence."""
    if guarantee.kind not in STATEMENTS:
        raise InternalError(f"there are no words for a guarantee of kind {guarantee.kind!r}")
    return STATEMENTS[guarantee.kind](guarantee)


def heading(code: str) -> str:
    """What a clause is headed by; most are not."""
    return HEADINGS.get(code, "")


def text(code: str, parameters: Mapping[str, Any]) -> str:
    """A clause as a sentence, without its heading."""
    if code not in CLAUSES:
        raise InternalError(f"there are no words for a clause of code {code!r}")
    made = CLAUSES[code]
    return made if isinstance(made, str) else made(parameters)


def sentence(code: str, parameters: Mapping[str, Any]) -> str:
    """A clause as a sentence."""
    head, body = heading(code), text(code, parameters)
    return f"{head}: {body}" if head else body


def _named(guarantee: "Guarantee") -> str:
    return " and ".join(guarantee.columns)


def _amplification(g: "Guarantee") -> str:
    gamma, columns = g.parameters["gamma"], _named(g)
    return (
        f"Seeing the published {columns} of a row changes the odds of anything about the true {columns} by a factor of at most {at_most(gamma)} "
        f"(local differential privacy with epsilon = {at_most(math.log(gamma))}), beyond what the public columns tell."
    )


def _memoised(g: "Guarantee") -> str:
    gamma, columns = g.parameters["gamma"], _named(g)
    return (
        f"All releases for ever, seen together, change the odds of anything about a person's {columns} by a factor of at most {at_most(gamma)} "
        f"(epsilon = {at_most(math.log(gamma))}) while it stays the same: averaging them gives the memoised response, and no more. How much each of them tells of "
        f"whether it changed is a factor of at most {at_most(g.parameters['fresh_gamma'])}."
    )


def _sampled_amplification(g: "Guarantee") -> str:
    given = g.parameters
    return (
        f"Seeing the release changes the odds of anything about a person's true {_named(g)} by a factor of at most {at_most(given['gamma'])} (epsilon = "
        f"{at_most(math.log(given['gamma']))}), beyond what the public columns tell, for whoever holds what is believed of a person apart from what is believed of "
        f"others: a published value is a perturbed one, of one row in {given['k']:g} or more. Of a group that is known to have one value the odds change by up to "
        f"{at_most(given['channel_gamma'])}."
    )


def _sampled_rho(g: "Guarantee") -> str:
    low, high = _beliefs(g)
    return (
        f"Whatever about a person's {_named(g)} was believed with probability at most {low}, apart from what was believed of others, is believed with at most "
        f"{high} after seeing the release; and what was believed with more than {high} is still believed with at least {low}."
    )


def _rho(g: "Guarantee") -> str:
    low, high = _beliefs(g)
    seeing = f"the published {_named(g)}" + (" alone" if g.under("alone") else "")
    return (
        f"Whatever about the row's {_named(g)} was believed with probability at most {low} is believed with at most {high} "
        f"after seeing {seeing}; and what was believed with more than {high} is still believed with at least {low}."
    )


def _beliefs(g: "Guarantee") -> tuple[str, str]:
    return as_given(g.parameters["rho1"]), as_given(g.parameters["rho2"])


def _breach(g: "Guarantee") -> str:
    low, high = _beliefs(g)
    several = " (a set of values of each of them, such as a range)" if g.kind == "product_breach" else ""
    limit = math.floor(1000 * g.parameters["s"]) / 1000
    return (
        f"A property of the row's {_named(g)}{several} that was at most {plain(limit)} times as likely as its share of the replacements, and believed "
        f"with at most {low}, is believed with less than {high} after seeing that the published row has it.{_stronger(g)}"
    )


def _stronger(g: "Guarantee") -> str:
    """Whether a breach guarantee says more than the factor does."""
    by_factor, rho2 = g.parameters.get("by_factor"), g.parameters["rho2"]
    if by_factor is None:
        return ""
    if by_factor <= rho2 * (1 + 1e-9):
        reached = as_given(rho2) if math.isclose(by_factor, rho2, rel_tol=1e-5) else at_most(by_factor)
        return f" The factor above is the stronger promise: by it such a belief becomes at most {reached}, whatever the property."
    return f" For such a property this is the stronger promise: by the factor above alone the belief could become {at_most(by_factor)}."


def _own_distribution(g: "Guarantee") -> str:
    low, high = _beliefs(g)
    return (
        f"For whoever believes the table's own frequencies, a property of the row's {_named(g)} that was believed with probability at most {low} is believed "
        f"with less than {high} after seeing that the published {_named(g)} has it."
    )


def _value_odds(g: "Guarantee") -> str:
    return f"{_rises(g)}. {_binds(g)}"


def _rises(g: "Guarantee") -> str:
    both, theta = bool(g.parameters["downward"]), g.parameters.get("theta")
    if theta is not None:
        return (
            f"A value of {_named(g)} that was believed with its frequency f in the table is believed with at most {plain(theta)} f after seeing the row"
            + (", and its odds fall by no larger factor than they may rise" if both else " (upward only)")
        )
    own = [bound for row in g.bounds or [] for bound in row if bound is not None]
    low, high = min(own, default=math.inf), max(own, default=math.inf)
    factors = f"{at_most(low)} for each" if low == high else f"{at_most(low)} to {at_most(high)}"
    return (
        f"Seeing the published {_named(g)} of a row multiplies the odds of a single value of it by at most the value's own factor, {factors}"
        + (", and divides them by no more" if both else " (upward only)")
    )


def _binds(g: "Guarantee") -> str:
    """What holds where a value's own factor does not."""
    beyond = [*([] if g.parameters["downward"] else ["falling odds"]), "sets of values"]
    free = sum(bound is None for row in g.bounds or [] for bound in row)
    if free:
        without = "1 value without a factor of its own" if free == 1 else f"{free} values without a factor of their own"
        beyond.append(f"{without} (frequent, or named, so that no protection is needed)")
    listed = " and ".join(filter(None, [", ".join(beyond[:-1]), beyond[-1]]))
    if "anything" not in g.parameters:
        return f"For {listed} nothing is guarantee."
    return f"For {listed} the factor for anything (below) binds; for a single value the smaller of the two."


def _subtable_posterior(g: "Guarantee") -> str:
    given = g.parameters
    count, sets = given.get("protected"), given.get("sets")
    protected = "" if count is None else f" (there are {count:g})"
    guarded = f", nor a guarded set of values (there are {sets:g})," if sets else ""
    return (
        f"For whoever believes the table's own frequencies, no protected value of {_named(g)}{protected}{guarded} is "
        f"believed with more than {as_given(given['rho2'])} after seeing a row's sub-table and published value (upward only: beliefs may fall without a bound); "
        f"the largest such belief is {at_most(given['largest_posterior'])}."
    )


OF_THE_TEST = ("lambda", "delta", "retain", "values", "asked")
"""The parameters of reconstruction privacy that are not the size of a sample; each size has the largest frequency of its groups for a name."""


def sample_sizes(g: "Guarantee") -> dict[str, int]:
    """The sizes of samples that a guarantee of reconstruction privacy names."""
    return {name: int(value) for name, value in g.parameters.items() if name not in OF_THE_TEST}


def _reconstruction(g: "Guarantee") -> str:
    given = g.parameters
    most, delta = max(sample_sizes(g).values()), given["delta"]
    asked = (
        f" ({given['asked']:g} was asked for by the Chernoff bound, which is far above the true tails)"
        if "asked" in given
        else ""
    )
    return (
        f"Of a group of people who agree on all public columns at most {most} are in the sample, so few that for every value of "
        f"{_named(g)} its share of the sample is estimated more than {given['lambda']:.4g} of itself too high with probability {delta:.4g} or more, "
        f"and as much too low with {delta:.4g} or more{asked}."
    )


def _semantic_k(g: "Guarantee") -> str:
    k = int(g.parameters["k"])
    return (
        f"Semantic {k}-anonymity: each tuple can be removed, or replaced by any of {k - 1} other tuples of the table, without "
        "changing the probability of any outcome."
    )


NOISY_COUNTS = "noisy_counts"
"""The kind of guarantee that noise in counts gives; two mechanisms have it, one of them of the same name."""


def _noisy_counts(g: "Guarantee") -> str:
    given = g.parameters
    epsilon, delta, parts = given["total_epsilon"], given["total_delta"], int(given["parts"])
    pair = f"({plain(given['epsilon'])}, {plain(given['delta'])})"
    together = f", from {parts} tables at {pair} that a tuple can be in" if parts > 1 else ""
    return (
        f"({plain(epsilon)}, {plain(delta)})-differential privacy for one tuple: the probability of the outcome changes by a factor of at most "
        f"{at_most(math.exp(epsilon))} by adding or removing it, save with probability {plain(delta)}{together}."
    )


def _full_counts(g: "Guarantee") -> str:
    epsilon = g.parameters["epsilon"]
    return (
        f"Differential privacy with epsilon = {plain(epsilon)}: the probability of any outcome changes by a factor of at most "
        f"{at_most(math.exp(epsilon))} by adding or removing one tuple."
    )


def _tuple_membership(g: "Guarantee") -> str:
    low, high = _beliefs(g)
    return f"That a tuple is in the table, believed with at most {low}, is believed with at most {high} after seeing the release."


def _l_diversity(g: "Guarantee") -> str:
    return f"In no bucket has a value more than {at_most_share(g.parameters['largest_share'])} of the records."


def _person_amplification(g: "Guarantee") -> str:
    gamma, rows, columns = g.parameters["gamma"], int(g.parameters["rows"]), _named(g)
    return (
        f"Seeing the published {columns} of all rows of a person, up to {rows:,} of them, changes the odds of anything about the person's true {columns} by a factor "
        f"of at most {at_most(gamma)} (epsilon = {at_most(g.parameters['epsilon'])}), beyond what the public columns tell; of one row by at most "
        f"{at_most(g.parameters['row_gamma'])}."
    )


def _person_counts(g: "Guarantee") -> str:
    given = g.parameters
    save = f", save with probability {at_most(given['delta'])}" if given["delta"] else ""
    return (
        f"Adding or removing a person with all of its rows, up to {int(given['rows']):,} of them, changes the probability of the outcome by a factor of at most "
        f"{at_most(given['gamma'])} (epsilon = {at_most(given['epsilon'])}){save}; one row changes it by epsilon = {at_most(given['row_epsilon'])}."
    )


STATEMENTS: dict[str, Callable[["Guarantee"], str]] = {
    "amplification": _amplification,
    "breach": _breach,
    "full_counts": _full_counts,
    "joint_amplification": _amplification,
    "l_diversity": _l_diversity,
    "memoised": _memoised,
    NOISY_COUNTS: _noisy_counts,
    "own_distribution": _own_distribution,
    "person_amplification": _person_amplification,
    "person_counts": _person_counts,
    "product_breach": _breach,
    "reconstruction": _reconstruction,
    "rho": _rho,
    "sampled_amplification": _sampled_amplification,
    "sampled_rho": _sampled_rho,
    "semantic_k": _semantic_k,
    "subtable_posterior": _subtable_posterior,
    "tuple_membership": _tuple_membership,
    "value_odds": _value_odds,
}
"""The sentence of each kind of guarantee."""

HEADINGS: dict[str, str] = {
    "singling_out": "Singling out",
    "presence": "Presence",
    "public_columns": "What public columns tell",
    "group": "What holds for a group",
    "frequent_group": "What holds for a group",
    "sets": "Sets of values",
    "downward": "Downward breaches",
    "other_beliefs": "Other beliefs",
    "impossible_outside": "Downward",
    "unnamed_properties": "Properties that were not named",
    "rare_values": "Rare values",
    "corruption": "Corruption",
    "corruption_of_buckets": "Corruption and other beliefs",
    "extremes": "Extremes",
    "exact_counts": "Differential privacy",
    "apart": "Semantic k-anonymity of all tables together",
    "falling": "Beliefs that fall",
}
"""What lines that are not covered are headed by."""

CLAUSES: dict[str, str | Callable[[Mapping[str, Any]], str]] = {
    # conditions of rows
    "one_row": "Each person is one row of the table.",
    "rows_counted": lambda given: (
        "Each person is one row of the table, as the publisher counted by an identifier that is not published."
        if given["rows"] == 1
        else f"No person has more than {given['rows']:,} rows of the table, as the publisher counted by an identifier that is not published."
    ),
    "rows_capped": lambda given: f"Of each person at most {given['rows']:,} row{'s were' if given['rows'] > 1 else ' was'} taken into the release, drawn by secret coins.",
    "one_row_stated": "Each person is one row of the table: the publisher says so, and nobody counted.",
    "one_row_unanswered": "UNANSWERED: is each person one row of the table? The publisher did not say. If not, a person with c rows is promised less: "
    "the c-th power of a factor, and c times an epsilon.",
    "one_user": "Each person is one user, whose transactions are one tuple together.",
    "one_of_rows": lambda given: f"What is said of a row, or of a tuple, holds for one of them alone. A person has up to {given['rows']:,}: what is promised of all of "
    "them together is what is said of a person, and nothing else.",
    "fresh_coins": "The same person is not published again with fresh coins; repeated publication uses a key.",
    "keyed_coins": "Coins are keyed, so that the same person with the same value keeps the same published value in every release of the same domain and "
    "retention (another one counts as one more look). Two different published values of a person prove that the value, too, is another one.",
    "memoised_coins": "A response is memoised by key, the same in every release for the same person and value, and a fresh one is laid over it: this is of one release "
    "alone, and what all of them tell together is stated apart.",
    "memoised_values": "Each value that a person ever has is memoised by itself: of d different ones the factors multiply. That and when a value changed comes out in the "
    "long run, as releases add up. Releases of another domain or retention count as one more look.",
    "knows_all_others": "The attacker may know the manifest, the public columns, the coins' probabilities and every other row.",
    "alone": "Where a promise is about one perturbed column alone, the others of the row are not used; for whoever uses them, the factor that is stated for all columns "
    "together holds.",
    "alone_in_row": "The other perturbed columns of the row are not used.",
    "seen_property": "What is promised of properties that are likelier than among the replacements is about seeing that the published row has the property, not which "
    "value it has; the factor holds for that too.",
    "once_by_counts": "The same person is not published again, not with a key either: retentions follow the table's counts, so that another version of the table "
    "gets other coins.",
    "not_all_others": "The attacker may know the manifest, the public columns and the coins' probabilities, but not every other row: the retentions were "
    "computed from the table's counts, and who knows all rows but one may find which value of that one gives them.",
    "once_by_subtables": "The table is published once: another publication draws other sub-tables, and the two together tell more.",
    "believes_frequencies": "The attacker believes the table's own frequencies of the column, and sees the manifest and the row's sub-table and published value.",
    "not_others_subtables": "The attacker does not know which rows, with their sub-tables, all the others are: counts in sub-tables are exact, and who knows every "
    "other row may find the last one's value from them.",
    "not_most_others": "The attacker may know the manifest, the public columns and the coins' probabilities, but not the values of most others in the group: "
    "how many of a value are sampled follows their frequencies.",
    "own_group": "The attacker estimates from the person's own group. Values of public columns that make no difference to the sensitive one were merged "
    "(the setting generalize), or the attacker does not know that they make none; what larger groups tell is statistics, which is meant to be learnt.",
    "believes_own_distribution": "What the attacker believed is the column's own distribution; for other beliefs nothing is guarantee.",
    "not_which_value": "The attacker uses that the published value has the property, not which value it is: seeing a rare value tells far more.",
    "once_by_draws": "The table is published once: another publication draws other rows and flips other coins, and the two together tell more.",
    "believed_apart": "The attacker knows every other row, or what is believed of the person does not hang together with what is believed of the others in the group: "
    "where all of them have the same value, whoever knows that learns it from one published row as far as the channel alone allows.",
    # conditions of tuples and buckets
    "one_tuple": "Each person is one tuple: one row of the table, or all the transactions of one user.",
    "neighbours": "Neighbours differ by one tuple added or removed; for one tuple replaced by another, epsilon and delta are twice as large.",
    "adds_up": "The same people are not published again: each publication adds its epsilon and its delta.",
    "fixed_recoding": "The recoding of the columns was fixed without looking at the data.",
    "all_counted": "All published attributes are counted; joined with another table of the same people this guarantee is lost.",
    "declared_domain": "The domain was declared without looking at the data.",
    "given_schema": "The schema and the bound on the columns of a tuple were fixed without looking at the data.",
    "computed_schema": lambda given: f"The schema was computed from the data, from counts with noise for epsilon = {given['epsilon']:.6g}, which is part of the epsilon above.",
    "known_total": lambda given: f"That there are {given['total']:,} tuples was public before; these guarantees do not cover what it tells.",
    "knows_bucket": "The attacker knows which bucket a person is in, and of nobody in it the value: who knows the others knows the last.",
    "alike_in_bucket": "The attacker believes that all of a bucket's values are equally likely for each of its rows.",
    "set_of_tuples": "The table is a set of tuples.",
    "independent_tuples": "The attacker believes that tuples are in the table independently.",
    # what is not covered
    "singling_out": "public columns are published as they are, so a row can be recognised by them.",
    "presence": "whoever recognises a row knows that the person is in the table.",
    "public_columns": "where one of them depends on a sensitive column, it tells of it whatever the coins do.",
    "group": "statistics are meant to be learnt, and may tell about members of the group.",
    "frequent_group": "frequent tuples are meant to be learnt, and may tell about the members of the group.",
    "rare_tuples": "Tuples that are rare are missing: the published table is no sample, and its share of a group is not the group's.",
    "downward": "a value's own factor bounds how far its odds rise, not how far they fall; that is bounded by the factor for anything alone, where one is "
    'stated (breaches = "both" lets its own bound both).',
    "sets": "a value's own factor is for that value; what is believed about a set of them is bounded by the factor for anything alone, where one is stated.",
    "other_beliefs": "a sub-table excludes the values that it does not have, so there is no local differential privacy, and no bound for "
    "beliefs that differ from the table's frequencies, by the row's public columns say.",
    "impossible_outside": "a row's sub-table makes each value outside it impossible.",
    "unnamed_properties": "a row surely has one of its sub-table's values, and whatever these have in common is told. Sets in "
    "`together` are for that.",
    "rare_values": "one that few rows have is hardly ever drawn as a replacement, so where it is seen it is true.",
    "corruption": "the published counts are the true ones, so whoever knows the values of all others in the table takes them away, and the last person's is left.",
    "corruption_of_buckets": "values are published as they are, beside the rows. Whoever knows the values of all others in a bucket knows the "
    "last one's, and whoever knows that some of its values are impossible for a person believes the others more. There is no bound on gamma.",
    "extremes": "the ends of a box are values of its rows, and the smallest and the largest value of a public column are published with the box that has them.",
    "exact_counts": "published counts are exact. Whoever knows all rows but one can tell from them what that one is, "
    "where it is not rare.",
    "apart": "each table has it by itself, but it does not compose. Whoever knows a person's tuples in several tables may learn more.",
    "falling": "that a tuple is not published tells against it, and no bound is stated for that.",
    # what was taken from the data
    "domain_from_data": lambda given: f"The domain of {given['column']!r} was taken from the data: each of its values was somebody's, and no other value occurred.",
    "factors_tell": lambda given: f"The factors of {given['column']!r} follow from the exact frequency of each of its values (rho1 = f, rho2 = theta f), "
    "and tell it.",
    "retentions_tell": lambda given: f"The retentions of {given['column']!r}, and the largest and smallest posterior beside the guarantee, were computed from the counts "
    "of its values: they tell which values are frequent, and about how frequent.",
    "subtables_tell": lambda given: f"The sub-tables of {given['column']!r} were made from the counts of its values: the values, size and retention of each are published. "
    "They tell which values of the domain do not occur, and the share of the most frequent protected value in each sub-table (a bound on it, where a set in "
    "`together` is stricter).",
    "shares_tell": "Each protected value's factor in a sub-table tells its exact share there, and so its count in the table.",
    "rho1_tells": "rho1 is the frequency of the most frequent value, and tells it.",
    "sizes_tell": "The sample size of a group is computed from the frequency f of its most frequent value, and weights or duplicates show it: f can be "
    "read off, in most sampled groups within 5% (scumble audit). A group that was not sampled shows that f is below what its size asks for.",
    "rungs_tell": lambda given: f"The sample size of a group shows between which of the rungs {', '.join(f'{rung:.4g}' for rung in given['ladder'])} the frequency of its most "
    "frequent value lies.",
    "merged": "Values of public columns were merged where a chi-square test does not tell their sensitive values apart: the map says which differ and which do not.",
    "counts_told": lambda given: f"The published counts of {given['column']!r} are exactly those of the table: all of them are told.",
    "replacements_follow": lambda given: f"The replacements of {given['column']!r} follow the table's own distribution, which the release tells up to the noise of its coins.",
    "stated_total": lambda given: f"The number of rows, {given['total']:,}, was stated as public knowledge. Where it is not, whoever knows all rows but one learns whether that "
    "one is in the table.",
    "buckets_follow": lambda given: f"The buckets follow the counts of {given['column']!r}, and the table of values tells these counts exactly.",
    "left_out": lambda given: f"Rows of the most frequent values of {given['column']!r} were left out until none has more than 1/{given['l']} of the rest.",
    "boxes_follow": "The boxes follow the public columns: each tells how many rows lie in it, and its ends are values of theirs.",
    "rows_tell": lambda given: (
        "That each person has one row was counted in the table."
        if given["rows"] == 1
        else f"That a person has up to {given['rows']:,} rows was counted in the table, and is told without noise: somebody has exactly so many."
    ),
    "older_words": "The manifest, which is of an older scumble, says more of what was taken from the data, in words that are not read here: see its depends_on_data.",
}  # fmt: skip
"""The sentence of each code, or what makes it from its parameters."""
