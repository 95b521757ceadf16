"""The mechanism uniform: its declaration. Planning is in plan.py, the promise in terms.py; rows go through the common pipeline."""

from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.words import LOCAL, LOCAL_DP, REPLACE_ONE, REPLACED, Words

MECHANISM = Mechanism(
    name="uniform",
    form="rows",
    words=Words(
        "Each sensitive value was kept with a public probability and otherwise replaced by one of all values of its domain, each alike.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    plan=deferred("scumble.mechanisms.uniform.plan", "plan"),
    derive=deferred("scumble.mechanisms.uniform.terms", "derive"),
    publish=deferred("scumble.publishing.rows", "publish_rows"),
    traits=Traits(by_target=True, keyed_coins=True, stackable=True),
    at_posterior=lambda setter, level: setter.by_gamma("uniform", level),
    advised=True,
)
