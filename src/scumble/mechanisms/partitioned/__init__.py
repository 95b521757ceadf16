"""The mechanism partitioned: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.partitioned.settings import Settings
from scumble.mechanisms.words import CENTRAL, NO_DP, NO_NEIGHBOURS, REPLACED, Words

MECHANISM = Mechanism(
    name="partitioned",
    form="rows",
    words=Words(
        "Rows were dealt at random into sub-tables that each have some of the sensitive values; each value was kept with a public probability, and "
        "otherwise replaced by one of the values of its sub-table.",
        (REPLACED,),
        NO_DP,
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    plan=deferred("scumble.mechanisms.partitioned.plan", "plan"),
    derive=deferred("scumble.mechanisms.partitioned.terms", "derive"),
    publish=deferred("scumble.mechanisms.partitioned.publish", "publish"),
    settings=Settings,
    traits=Traits(needs_counts=True, one_attribute=True),
    at_posterior=lambda setter, level: setter.by_posterior("partitioned", level),
    variants={
        "partitioned, fine_grain inside": lambda setter, level: setter.by_posterior(
            "partitioned", level, {"inside": "fine_grain"}
        )
    },
    advised=True,
)
