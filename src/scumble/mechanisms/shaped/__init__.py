"""The mechanism shaped: its declaration. Planning is in plan.py, the promise in terms.py; rows go through the common pipeline."""

from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.shaped.settings import Settings
from scumble.mechanisms.words import LOCAL, LOCAL_DP, REPLACE_ONE, REPLACED, Words

MECHANISM = Mechanism(
    name="shaped",
    form="rows",
    words=Words(
        "Each sensitive value was kept with a public probability and otherwise replaced by a value of its domain, common ones more often than rare ones, by public probabilities.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    plan=deferred("scumble.mechanisms.shaped.plan", "plan"),
    derive=deferred("scumble.mechanisms.shaped.terms", "derive"),
    publish=deferred("scumble.publishing.rows", "publish_rows"),
    settings=Settings,
    traits=Traits(needs_counts=True, keyed_coins=True, stackable=True),
    at_posterior=lambda setter, level: setter.by_shape("shaped", level, 20),
    variants={
        "shaped, gamma = 5": lambda setter, level: setter.by_shape("shaped", level, 5),
        "shaped, a retention each": lambda setter, level: setter.by_shape(
            "shaped", level, 20, {"objective": "error", "weights": "balanced"}
        ),
    },
    advised=True,
)
