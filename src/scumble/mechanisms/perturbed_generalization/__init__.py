"""The mechanism perturbed_generalization: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.perturbed_generalization.settings import Settings
from scumble.mechanisms.words import CENTRAL, REPLACE_ONE, REPLACED, SERVER_DP, Words

MECHANISM = Mechanism(
    name="perturbed_generalization",
    form="boxes",
    words=Words(
        "Rows were put into groups that are alike in their public columns; of each group one row, drawn at random, is published with ranges instead of its public "
        "values, and with its sensitive value kept with a public probability or replaced.",
        (
            "Generalization: public values become the ranges or sets of their group.",
            "Sampling: one record of each group.",
            REPLACED,
        ),
        SERVER_DP,
        CENTRAL,
        REPLACE_ONE,
    ),
    plan=deferred("scumble.mechanisms.perturbed_generalization.plan", "plan"),
    derive=deferred("scumble.mechanisms.perturbed_generalization.terms", "derive"),
    publish=deferred("scumble.mechanisms.perturbed_generalization.publish", "publish"),
    settings=Settings,
    traits=Traits(by_target=True),
    at_posterior=lambda setter, level: setter.by_gamma("perturbed_generalization", level, {"k": 10}),
)
