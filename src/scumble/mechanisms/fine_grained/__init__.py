"""The mechanism fine_grain: its declaration. Planning is in plan.py, the promise in terms.py; rows go through the common pipeline."""

from scumble.mechanisms.fine_grained.settings import Settings
from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.words import LOCAL, LOCAL_DP, REPLACE_ONE, REPLACED, Words

MECHANISM = Mechanism(
    name="fine_grain",
    form="rows",
    words=Words(
        "Each sensitive value was kept with a public probability of its own, larger where the value needs less protection, and otherwise replaced "
        "by one of all values of its domain, each alike.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    plan=deferred("scumble.mechanisms.fine_grained.plan", "plan"),
    derive=deferred("scumble.mechanisms.fine_grained.terms", "derive"),
    publish=deferred("scumble.publishing.rows", "publish_rows"),
    settings=Settings,
    traits=Traits(needs_counts=True, keyed_coins=True, stackable=True),
    at_posterior=lambda setter, level: setter.by_value("fine_grain", level),
    advised=True,
)
