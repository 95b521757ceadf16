"""The mechanism mixture: its declaration. Planning is in plan.py, the channel in core/mixture.py; rows go through the common pipeline."""

from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.mixture.settings import Settings
from scumble.mechanisms.words import LOCAL, LOCAL_DP, REPLACE_ONE, REPLACED, Words

MECHANISM = Mechanism(
    name="mixture",
    form="rows",
    words=Words(
        "Each sensitive number was published as a code of one of several kinds, drawn by public probabilities: it stands for a window of numbers, or for a set of intervals or of single numbers, "
        "which holds the true one with a public probability. Other values have codes that stand for sets of values.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    plan=deferred("scumble.mechanisms.mixture.plan", "plan"),
    derive=deferred("scumble.mechanisms.mixture.terms", "derive"),
    publish=deferred("scumble.publishing.rows", "publish_rows"),
    settings=Settings,
    traits=Traits(by_target=True, keyed_coins=True, stackable=True),
    at_posterior=lambda setter, level: setter.by_gamma("mixture", level),
    variants={
        "mixture for sums": lambda setter, level: setter.by_gamma("mixture", level, {"asked": ["sum"]}),
        "mixture for ranges": lambda setter, level: setter.by_gamma("mixture", level, {"asked": ["range"]}),
    },
    advised=True,
)
