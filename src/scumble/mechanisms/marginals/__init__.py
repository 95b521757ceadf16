"""The mechanism marginals: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.marginals.settings import Settings
from scumble.mechanisms.mechanism import Customary, Mechanism, Traits, deferred
from scumble.mechanisms.words import ADD_REMOVE, CENTRAL, NOISE, SERVER_DP, Words

MECHANISM = Mechanism(
    name="marginals",
    form="tuples",
    words=Words(
        "The publisher is trusted with the table, and noise is added once: the table was counted by some columns at a time, and every combination of their declared values was published with "
        "random noise on its count. No row was published.",
        (
            "Aggregation: rows become counts of combinations of some columns, in tables apart.",
            NOISE,
        ),
        SERVER_DP,
        CENTRAL,
        ADD_REMOVE,
    ),
    plan=deferred("scumble.mechanisms.marginals.plan", "plan"),
    derive=deferred("scumble.mechanisms.marginals.terms", "derive"),
    publish=deferred("scumble.mechanisms.marginals.publish", "publish"),
    settings=Settings,
    traits=Traits(
        columns_alike=True,
        every_output=True,
        sorted_rows=True,
        adds_rows=True,
        central=True,
    ),
    customary=Customary({"epsilon": 1}),
    at_posterior=lambda setter, level: setter.by_epsilon("marginals", level),
    advised=True,
    expected=deferred("scumble.mechanisms.marginals.foresee", "expected"),
)
