"""The mechanism k_dgs: its declaration. Planning is in plan.py, the promise in terms.py, publishing in publish.py."""

from scumble.mechanisms.k_dgs.settings import Settings
from scumble.mechanisms.mechanism import Customary, Mechanism, Traits, deferred
from scumble.mechanisms.words import CENTRAL, K_MODEL, LEFT_OUT, NO_NEIGHBOURS, Words

MECHANISM = Mechanism(
    name="k_dgs",
    form="tuples",
    words=Words(
        "Columns were recoded by rules that were fixed before; combinations of values that fewer than k rows have are left out, or lie in ranges "
        "that k rows share.",
        (
            "Generalization: values become ranges or groups.",
            LEFT_OUT,
        ),
        K_MODEL,
        CENTRAL,
        NO_NEIGHBOURS,
    ),
    plan=deferred("scumble.mechanisms.k_dgs.plan", "plan"),
    derive=deferred("scumble.mechanisms.k_dgs.terms", "derive"),
    publish=deferred("scumble.mechanisms.k_dgs.publish", "publish"),
    settings=Settings,
    traits=Traits(
        columns_alike=True,
        every_output=True,
        sorted_rows=True,
        deterministic=True,
        unforeseen="depend on how often tuples occur and are not foreseen",
    ),
    customary=Customary({}, {"k": 10}),
)
