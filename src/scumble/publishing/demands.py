"""What coins by key ask of a spec, before the table is read."""

from dataclasses import replace
from typing import Any

from scumble.core.errors import ParameterError, SchemaError
from scumble.mechanisms import find_mechanism, names
from scumble.mechanisms.mechanism import Mechanism
from scumble.mechanisms.plan import Profile
from scumble.publishing.row_pipeline import CoinSource
from scumble.spec.spec import Spec


def demanded(spec: Spec, chosen: Mechanism[Any], coins: CoinSource, ledger_named: bool) -> CoinSource:
    """Where the coins come from, once they can: from the key, or, where a ledger was named and coins belong to no row, not from it."""
    _demand_attributes(spec)
    if coins.key is not None and not chosen.traits.keyed_coins:
        if not ledger_named:
            raise ParameterError(_no_row(chosen))
        coins = replace(coins, keyed=False)
    if spec.fresh is not None and not coins.by_key:
        raise ParameterError("fresh coins over a memoised response need a key that this comes from; give key and id")
    if isinstance(spec.rows_per_person, int) and coins.by_key:
        raise ParameterError(
            "rows_per_person draws other rows of a person in each release, so that coins by key are of other rows; choose the rows before publishing"
        )
    return coins


def _no_row(chosen: Mechanism[Any]) -> str:
    """A keyed coin belongs to a row: where coins belong to groups, tuples or the whole table, another row changes them all."""
    able = [name for name in names() if find_mechanism(name).traits.keyed_coins]
    return (
        f"coins by key are for {' and '.join(able)}; those of {chosen.name} belong to no single row, so that another row changes them all. "
        "With --ledger (ledger=) the key is for the ledger alone, and coins are fresh"
    )


def _demand_attributes(spec: Spec) -> None:
    """Two columns of one attribute would have the same coins, so that published values that differ prove that the true ones do."""
    owners: dict[str, str] = {}
    for name in spec.sensitive:
        attribute = spec.columns[name].attribute or name
        if (first := owners.setdefault(attribute, name)) != name:
            raise SchemaError(
                f"the columns {first!r} and {name!r} have one attribute, {attribute!r}, and would have the same coins; give each its own"
            )


def demand_declared(profile: Profile, coins: CoinSource) -> None:
    """A domain that follows the data changes with it."""
    if coins.by_key and profile.from_data:
        raise ParameterError(
            f"coins by key need a declared domain for {profile.from_data[0]!r}: one that follows the data changes with it, and then the coins are fresh"
        )
