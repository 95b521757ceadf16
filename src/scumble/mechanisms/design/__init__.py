"""The mechanism design: its declaration. Planning is in plan.py, the channel in core/design.py; rows go through the common pipeline."""

from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.words import LOCAL, LOCAL_DP, REPLACE_ONE, REPLACED, Words

MECHANISM = Mechanism(
    name="design",
    form="rows",
    words=Words(
        "Each sensitive value was published as a code that stands for a set of values. The set holds the true one with a public probability, and each other value with a smaller one.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    plan=deferred("scumble.mechanisms.design.plan", "plan"),
    derive=deferred("scumble.mechanisms.design.terms", "derive"),
    publish=deferred("scumble.publishing.rows", "publish_rows"),
    traits=Traits(by_target=True, keyed_coins=True, stackable=True),
    at_posterior=lambda setter, level: setter.by_gamma("design", level),
    advised=True,
)
