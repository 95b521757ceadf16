"""The mechanism identity: its declaration. Planning and the promise are in own_values.py and own_values_terms.py, beside this folder."""

from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.words import CENTRAL, NO_DP, NO_NEIGHBOURS, REPLACED, Words

MECHANISM = Mechanism(
    name="identity",
    form="rows",
    words=Words(
        "Each sensitive value was kept with a public probability and otherwise replaced by that of a random row.",
        (REPLACED,),
        NO_DP,
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    plan=deferred("scumble.mechanisms.own_values", "plan_identity"),
    derive=deferred("scumble.mechanisms.own_values_terms", "derive"),
    publish=deferred("scumble.mechanisms.identity.publish", "publish"),
    traits=Traits(needs_counts=True, by_target=True, unforeseen="are not foreseen"),
    at_posterior=lambda setter, level: setter.by_retention("identity", level),
)
