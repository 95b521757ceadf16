"""The mechanism sps: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.mechanism import Customary, Mechanism, Traits, deferred
from scumble.mechanisms.sps.settings import Settings
from scumble.mechanisms.words import CENTRAL, LOCAL_DP, REPLACE_ONE, REPLACED, Words

MECHANISM = Mechanism(
    name="sps",
    form="rows",
    words=Words(
        "Of each group of people who agree on all public columns a small sample was taken; its sensitive values were kept with a public "
        "probability or replaced, and each row says how many it stands for.",
        (
            "Sampling: a bounded number of records of each group.",
            REPLACED,
        ),
        LOCAL_DP,
        CENTRAL,
        REPLACE_ONE + " What holds for a personal group is stated apart.",
    ),
    plan=deferred("scumble.mechanisms.sps.plan", "plan"),
    derive=deferred("scumble.mechanisms.sps.terms", "derive"),
    publish=deferred("scumble.mechanisms.sps.publish", "publish"),
    settings=Settings,
    traits=Traits(by_target=True, one_attribute=True, adds_rows=True),
    customary=Customary({"retain": 0.5}),
    foresee=deferred("scumble.mechanisms.sps.foresee", "sampled_rows"),
)
