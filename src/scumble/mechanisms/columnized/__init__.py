"""The mechanism columnized: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.columnized.settings import Settings
from scumble.mechanisms.mechanism import Customary, Mechanism, Traits, deferred
from scumble.mechanisms.words import ADD_REMOVE, CENTRAL, LEFT_OUT, NOISE, SERVER_DP, Words

MECHANISM = Mechanism(
    name="columnized",
    form="tuples",
    words=Words(
        "The attributes were divided into several tables that cannot be joined; in each, combinations of values were counted, each count got random noise, "
        "and combinations that are rare are left out.",
        (
            "Aggregation: rows become counts of combinations, in tables apart.",
            NOISE,
            LEFT_OUT,
        ),
        SERVER_DP,
        CENTRAL,
        ADD_REMOVE,
    ),
    plan=deferred("scumble.mechanisms.columnized.plan", "plan"),
    derive=deferred("scumble.mechanisms.columnized.terms", "derive"),
    publish=deferred("scumble.mechanisms.columnized.publish", "publish"),
    settings=Settings,
    column_settings={"user": "identifier", "item": "public", "value": "public"},
    traits=Traits(
        columns_alike=True,
        every_output=True,
        sorted_rows=True,
        adds_rows=True,
        unforeseen="depend on how often tuples occur and are not foreseen",
    ),
    customary=Customary({"epsilon": 1}, {"k": 10, "delta": 1e-5}),
)
