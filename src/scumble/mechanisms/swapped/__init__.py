"""The mechanism swapped: its declaration. Planning and the promise are in own_values.py and own_values_terms.py, beside this folder."""

from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.words import CENTRAL, NO_DP, NO_NEIGHBOURS, Words

MECHANISM = Mechanism(
    name="swapped",
    form="rows",
    words=Words(
        "Each sensitive value was kept with a public probability; those that were not kept were permuted among themselves.",
        ("Randomization: permutation of values between rows, of a random part of them.",),
        NO_DP,
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    plan=deferred("scumble.mechanisms.own_values", "plan_swapped"),
    derive=deferred("scumble.mechanisms.own_values_terms", "derive"),
    publish=deferred("scumble.mechanisms.swapped.publish", "publish"),
    traits=Traits(needs_counts=True, by_target=True, permuted=True, unforeseen="are not foreseen"),
    at_posterior=lambda setter, level: setter.by_retention("swapped", level),
)
