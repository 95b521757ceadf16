"""How a mechanism is spoken of: in plain words, and in those of ISO/IEC 20889 and NIST SP 800-226."""

from dataclasses import dataclass


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


CENTRAL = (
    "Central model: one trusted curator, the publisher, held the table and ran the mechanism on it. Nobody else has to be trusted, "
    "and the publisher has to be."
)
TRUSTED = "the publisher is trusted with the table, noise is added once, to counts of some columns at a time, and no row is published, so that nothing can be asked that these counts do not hold."
LOCAL = (
    "Local model, applied by a trusted curator: every row was randomized by itself, with coins of its own, as a person could have done "
    "before handing it over. The publisher held the raw table and is trusted with it; towards everybody else the promise needs no trust."
)
COLLECTED = (
    "Local model: every respondent randomized the own answers on the own device, with coins of the own, before they were sent. The collector never "
    "held a raw answer. Nobody has to be trusted but the software on that device."
)
REPLACED = (
    "Randomization: each value is kept or replaced at random (randomized response), by probabilities that are public."
)
LEFT_OUT = "Suppression: records that are rare are left out."
NOISE = "Randomization: noise addition to each count."

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
