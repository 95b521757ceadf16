"""The mechanism noisy_counts: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.mechanism import Customary, Mechanism, Traits, deferred
from scumble.mechanisms.noisy_counts.settings import Settings
from scumble.mechanisms.words import ADD_REMOVE, CENTRAL, LEFT_OUT, NOISE, SERVER_DP, Words

MECHANISM = Mechanism(
    name="noisy_counts",
    form="tuples",
    words=Words(
        "Rows were counted by their combination of values; each count got random noise, and combinations that are rare are left out.",
        (
            "Aggregation: rows become counts of combinations.",
            NOISE,
            LEFT_OUT,
        ),
        SERVER_DP,
        CENTRAL,
        ADD_REMOVE,
    ),
    plan=deferred("scumble.mechanisms.noisy_counts.plan", "plan"),
    derive=deferred("scumble.mechanisms.noisy_counts.terms", "derive"),
    publish=deferred("scumble.mechanisms.noisy_counts.publish", "publish"),
    settings=Settings,
    traits=Traits(
        columns_alike=True,
        every_output=True,
        sorted_rows=True,
        adds_rows=True,
        unforeseen="depend on how often tuples occur and are not foreseen",
    ),
    customary=Customary({"epsilon": 1}, {"k": 10, "delta": 1e-5}),
)
