"""The mechanism anatomy: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.anatomy.settings import Settings
from scumble.mechanisms.mechanism import Mechanism, Traits, deferred
from scumble.mechanisms.words import CENTRAL, NO_NEIGHBOURS, Words

MECHANISM = Mechanism(
    name="anatomy",
    form="buckets",
    words=Words(
        "Rows were put into buckets; public columns and sensitive values are published in two tables that only the bucket connects.",
        ("Anatomization: sensitive values stand in a table apart.",),
        "K-anonymity, with l-diversity of the sensitive values",
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    plan=deferred("scumble.mechanisms.anatomy.plan", "plan"),
    derive=deferred("scumble.mechanisms.anatomy.terms", "derive"),
    publish=deferred("scumble.mechanisms.anatomy.publish", "publish"),
    settings=Settings,
    traits=Traits(needs_counts=True, one_attribute=True, adds_rows=True, unforeseen="are not foreseen"),
    at_posterior=lambda setter, level: setter.by_diversity("anatomy", level),
)
