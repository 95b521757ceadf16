"""A mechanism of one file: every sensitive value is kept with one probability, 1/2 unless a setting says otherwise, or replaced by any value alike.

Registered by one line: REGISTRY["coin"] = "toys.mechanism".
"""

from fractions import Fraction
from typing import Literal

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.errors import ParameterError
from scumble.mechanisms.facts import Facts, Terms, joint_factor, of_rows
from scumble.mechanisms.mechanism import Customary, Mechanism, Traits, deferred
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.words import LOCAL, LOCAL_DP, REPLACE_ONE, REPLACED, Words
from scumble.privacy.guarantee import amplification_guarantee, dependence_of_domains
from scumble.spec.spec import Model, Spec


class Settings(Model):
    """How often a value is kept."""

    kept: Literal["1/2", "1/3"] = "1/2"


def plan(profile: Profile, spec: Spec) -> Plan:
    """The same retention for every column."""
    if spec.privacy.given:
        raise ParameterError("coin tosses coins and takes no privacy target; leave it out, or set kept")
    kept = float(Fraction(spec.settings_as(Settings).kept))
    coins = {name: Coins.of(Channel(kept, size=domain.size)) for name, domain in profile.domains.items()}
    terms = _terms(coins, profile.from_data)
    return Plan("coin", [coins], terms.guarantees, terms.depends_on_data)


def derive(facts: Facts) -> Terms:
    """What follows from coins of single columns."""
    facts.demand_rows()
    return _terms(facts.coins, facts.from_data)


def _terms(coins: dict[str, Coins], from_data: list[str]) -> Terms:
    claims = [amplification_guarantee(list(coins), joint_factor(coins))]
    return of_rows(claims, dependence_of_domains(from_data))


MECHANISM = Mechanism(
    name="coin",
    form="rows",
    words=Words(
        "For each sensitive value a coin was tossed: heads kept it, tails put any value in its place.",
        (REPLACED,),
        LOCAL_DP,
        LOCAL,
        REPLACE_ONE,
    ),
    plan=plan,
    derive=derive,
    publish=deferred("scumble.publishing.rows", "publish_rows"),
    settings=Settings,
    traits=Traits(keyed_coins=True, stackable=True),
    customary=Customary(),
)
