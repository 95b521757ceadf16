"""The sentences beside the guarantees: their conditions, what they do not cover, and what was taken from the data."""

from collections.abc import Callable, Mapping
from typing import Any

from scumble.privacy.numerals import at_most

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
    "joined": lambda given: f"The columns of {given['parts']} releases are read together, by a row id that they share: the factors of their coins multiply.",
    "one_owner": lambda given: f"Each person is in one of the {given['parts']} releases whose rows are put together, and this is the weakest of their promises; of whoever is in all of "
    + (f"them the odds change by a factor of up to {at_most(given['gamma'])}." if "gamma" in given else "them nothing is promised."),
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
    "believes_own_distribution": "What the attacker believed is the column's own distribution; for other beliefs nothing is guaranteed.",
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
    "given_marginals": "Which columns are counted together, and the share of epsilon of each marginal, was fixed without looking at the data.",
    "computed_schema": lambda given: f"The schema was computed from the data, from counts with noise for epsilon = {given['epsilon']:.6g}, which is part of the epsilon above.",
    "counted_columns": lambda given: f"In how many columns of the schema tuples have values was counted with noise for epsilon = {given['epsilon']:.6g}, which is part of the epsilon above.",
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
    "replacements_tell": lambda given: f"The replacements of {given['column']!r}, and the largest and smallest posterior beside the guarantee, follow the shares of its values in the "
    "table: whoever has the manifest computes each share, as far as it was not rounded, but for values so rare that only the factor for anything bounds them.",
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
    "weights_tell": lambda given: (
        f"The weight of a row tells how many rows its person has, where these are more than {given['rows']:,}."
        if given["of"] == "rows"
        else f"The weight of a row tells how many rows its person has, up to {given['rows']:,}."
    ),
    "older_words": "The manifest, which is of an older scumble, says more of what was taken from the data, in words that are not read here: see its depends_on_data.",
}  # fmt: skip
"""The sentence of each code, or what makes it from its parameters."""
