"""Mechanisms in plain words, and in those of ISO/IEC 20889 and NIST SP 800-226."""

from dataclasses import dataclass

CENTRAL = (
    "Central model: one trusted curator, the publisher, held the table and ran the mechanism on it. Nobody else has to be trusted, "
    "and the publisher has to be."
)
LOCAL = (
    "Local model, applied by a trusted curator: every row was randomized by itself, with coins of its own, as a person could have done "
    "before handing it over. The publisher held the raw table and is trusted with it; towards everybody else the promise needs no trust."
)
REPLACED = (
    "Randomization: each value is kept or replaced at random (randomized response), by probabilities that are public."
)


@dataclass(frozen=True)
class Words:
    """How a mechanism is spoken of."""

    plain: str
    """What was done to the table."""
    techniques: tuple[str, ...]
    """The classes of techniques of ISO/IEC 20889 that it belongs to."""
    model: str
    """The formal privacy measurement model of ISO/IEC 20889 that its guarantee is stated in."""
    trust: str
    unit: str
    """The unit of privacy of NIST SP 800-226, and how neighbouring tables differ."""


ROW = "One row. Where each person is one row, as the conditions ask, that is one person. "
REPLACE_ONE = (
    ROW
    + "Tables are neighbours where the sensitive values of one row differ (bounded: that the row is there is not hidden)."
)
ADD_REMOVE = ROW + "Tables are neighbours where one row is added or removed (unbounded: presence is protected too)."
NO_NEIGHBOURS = ROW + "The guarantee is not differential privacy, so no neighbouring tables are compared."

LOCAL_DP = "Differential privacy, local model"
SERVER_DP = "Differential privacy, server model"
NO_DP = (
    "No model of the standard: the bound is on what is believed about a row, by whoever believes the table's own shares"
)
K_MODEL = "K-anonymity"

WORDS: dict[str, Words] = {
    "uniform": Words(
        "Each sensitive value was kept with a public probability and otherwise replaced by one of all values of its domain, each alike.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    "fine_grain": Words(
        "Each sensitive value was kept with a public probability of its own, larger where the value needs less protection, and otherwise replaced "
        "by one of all values of its domain, each alike.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    "partitioned": Words(
        "Rows were dealt at random into sub-tables that each have some of the sensitive values; each value was kept with a public probability, and "
        "otherwise replaced by one of the values of its sub-table.",
        (REPLACED,),
        NO_DP,
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    "identity": Words(
        "Each sensitive value was kept with a public probability and otherwise replaced by that of a random row.",
        (REPLACED,),
        NO_DP,
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    "swapped": Words(
        "Each sensitive value was kept with a public probability; those that were not kept were permuted among themselves.",
        ("Randomization: permutation of values between rows, of a random part of them.",),
        NO_DP,
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    "frapp": Words(
        "All sensitive values of a row were kept together with a public probability, or replaced together by one combination of values, each alike.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    "sps": Words(
        "Of each group of people who agree on all public columns a small sample was taken; its sensitive values were kept with a public "
        "probability or replaced, and each row says how many it stands for.",
        ("Sampling: a bounded number of records of each group.", REPLACED),
        LOCAL_DP,
        CENTRAL,
        REPLACE_ONE + " What holds for a personal group is stated apart.",
    ),
    "k_dgs": Words(
        "Columns were recoded by rules that were fixed before; combinations of values that fewer than k rows have are left out, or lie in ranges "
        "that k rows share.",
        ("Generalization: values become ranges or groups.", "Suppression: records that are rare are left out."),
        K_MODEL,
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    "noisy_counts": Words(
        "Rows were counted by their combination of values; each count got random noise, and combinations that are rare are left out.",
        (
            "Aggregation: rows become counts of combinations.",
            "Randomization: noise addition to each count.",
            "Suppression: records that are rare are left out.",
        ),
        SERVER_DP,
        CENTRAL,
        ADD_REMOVE,
    ),
    "columnized": Words(
        "The attributes were divided into several tables that cannot be joined; in each, combinations of values were counted, each count got random noise, "
        "and combinations that are rare are left out.",
        (
            "Aggregation: rows become counts of combinations, in tables apart.",
            "Randomization: noise addition to each count.",
            "Suppression: records that are rare are left out.",
        ),
        SERVER_DP,
        CENTRAL,
        ADD_REMOVE,
    ),
    "perturbed_generalization": Words(
        "Rows were put into groups that are alike in their public columns; of each group one row, drawn at random, is published with ranges instead of its public "
        "values, and with its sensitive value kept with a public probability or replaced.",
        (
            "Generalization: public values become the ranges or sets of their group.",
            "Sampling: one record of each group.",
            REPLACED,
        ),
        SERVER_DP,
        CENTRAL,
        REPLACE_ONE,
    ),
    "anatomy": Words(
        "Rows were put into buckets; public columns and sensitive values are published in two tables that only the bucket connects.",
        ("Anatomization: sensitive values stand in a table apart.",),
        "K-anonymity, with l-diversity of the sensitive values",
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    "alpha_beta": Words(
        "Each row of the table was published with a public probability, and each other combination of values of the domain with a smaller one.",
        ("Randomization: records are left out and made up at random.",),
        "No model of the standard: the bound is on how far the belief that a row is in the table can rise",
        CENTRAL,
        ROW + "What is protected is that the row is in the table; beliefs may rise so far, and fall without a bound.",
    ),
}


KEYED = ("uniform", "fine_grain")
"""Mechanisms whose coins can be a function of a key, so that the same people are published alike again."""

WITHOUT_COINS = ("k_dgs",)
"""Mechanisms that publish the same of the same table always."""


def words(mechanism: str) -> Words:
    """The words for a mechanism."""
    return WORDS[mechanism]
