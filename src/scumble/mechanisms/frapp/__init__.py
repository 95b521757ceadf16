"""The mechanism frapp: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.words import LOCAL, LOCAL_DP, REPLACE_ONE, REPLACED, Words

MECHANISM = Mechanism(
    name="frapp",
    form="rows",
    words=Words(
        "All sensitive values of a row were kept together with a public probability, or replaced together by one combination of values, each alike.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    plan=deferred("scumble.mechanisms.frapp.plan", "plan"),
    derive=deferred("scumble.mechanisms.frapp.terms", "derive"),
    publish=deferred("scumble.mechanisms.frapp.publish", "publish"),
    traits=Traits(by_target=True, columns_together=True, unforeseen="are not foreseen"),
    at_posterior=lambda setter, level: setter.by_gamma("frapp", level),
)
