"""The mechanism alpha_beta: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.alpha_beta.settings import Settings
from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.words import CENTRAL, ROW, Words

MECHANISM = Mechanism(
    name="alpha_beta",
    form="tuple_set",
    words=Words(
        "Each row of the table was published with a public probability, and each other combination of values of the domain with a smaller one.",
        ("Randomization: records are left out and made up at random.",),
        "No model of the standard: the bound is on how far the belief that a row is in the table can rise",
        CENTRAL,
        ROW + "What is protected is that the row is in the table; beliefs may rise so far, and fall without a bound.",
    ),
    plan=deferred("scumble.mechanisms.alpha_beta.plan", "plan"),
    derive=deferred("scumble.mechanisms.alpha_beta.terms", "derive"),
    publish=deferred("scumble.mechanisms.alpha_beta.publish", "publish"),
    settings=Settings,
    traits=Traits(sorted_rows=True, adds_rows=True, unforeseen="are not foreseen"),
)
