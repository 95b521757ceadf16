"""May this table be published, after all that was published before? The rules by which a publisher's ledger is kept.

A second release of the same people is refused where

    its coins are fresh for an attribute that was published before, or belong to no row: the two can be averaged
    its counts are exact, as those of an earlier one are, and few people came or went: the difference tells their values
    what all releases tell together is past the budget, or is new where no budget was declared

`again` accepts it, and what all of them come to is printed. Coins by key that were published before tell nothing more.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from scumble.core.errors import LedgerError, ParameterError, TableError
from scumble.core.parameters import number
from scumble.core.staged_coins import memoised
from scumble.mechanisms.facts import Terms
from scumble.mechanisms.plan import Plan
from scumble.privacy.guarantee import Guarantee
from scumble.publishing.entries import EXACT, Entry, Look, Loss, joint
from scumble.publishing.keyed import Ids, KeyedCoins, ledger_keys
from scumble.publishing.ledger import Ledger, People, held
from scumble.publishing.row_pipeline import CoinSource
from scumble.release.manifest import Manifest
from scumble.sources.source import Source

FEW = 0.05
"""The share of a table up to which people who came or went are few."""


NONE = "ledger: none, for there is no key file and none was named (--ledger): nobody notes what was published of whom, and releases of the same people add up"


@dataclass(frozen=True)
class Wanted:
    """What a publisher says about the ledger."""

    path: Path | None = None
    again: bool = False
    budget: float | None = None
    named: bool = False
    """Whether the publisher named the file."""
    others: tuple[Path, ...] = ()
    """Other ledgers that lie beside the key: what they know of the people is not looked at."""

    @classmethod
    def of(cls, path: Any, key: Any, again: bool, budget: Any) -> "Wanted":
        """As it was given: beside the key file where no path is."""
        if path is not None and key is None:
            raise ParameterError("a ledger knows people by keyed digests of their ids; give key and id beside it")
        named = path is not None
        beside = [] if key is None or isinstance(key, bytes) else _beside(Path(key))
        path = beside[0] if path is None and beside else path
        if path is None and (again or budget is not None):
            raise ParameterError(
                "again and budget are about earlier releases, which a ledger knows; give key and id, and a ledger"
            )
        chosen = None if path is None else Path(path)
        others = tuple(p for p in beside if chosen and p.exists() and p.resolve() != chosen.resolve())
        return cls(chosen, again, _above_zero(budget), named, others)

    @property
    def warnings(self) -> list[str]:
        """Ledgers that were passed over, each in a line."""
        return [
            f"{str(other)!r} lies beside the key and was NOT looked at: this release was noted in {str(self.path)!r} alone. "
            "Whoever is in both was published more often than either says; keep one ledger for a key"
            for other in self.others
        ]


NO_LEDGER = Wanted()


def _beside(key: Path) -> list[Path]:
    """Where the ledger of a key file is: beside the file itself, whatever links lead to it; and beside the link, where one was given."""
    file = key.resolve() if key.is_file() else key
    return list(dict.fromkeys(path.with_name(f"{path.name}.ledger") for path in (file, key)))


def _above_zero(given: Any) -> float | None:
    if given is None:
        return None
    value = number(given, "budget")
    if not value > 0:
        raise ParameterError(f"a budget is an epsilon above 0, not {given!r}")
    return value


@dataclass(frozen=True)
class Account:
    """One publication and the ledger that it goes into."""

    ledger: Ledger
    people: People
    entry: Entry
    accepted: list[str] = field(default_factory=list)
    """What was objected to, and accepted by --again."""
    notes: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """What the publisher is told."""
        return [*(f"accepted by --again: {objection}" for objection in self.accepted), *self.notes]

    def pending(self, manifest: Manifest) -> None:
        """The entry is on the disk before the release takes its place."""
        self.ledger.add(self.entry.model_copy(update={"digest": manifest.digest}), self.people)

    def confirm(self) -> None:
        """The release is in place."""
        self.ledger.confirm(self.entry.number)


@contextmanager
def ledger_of(wanted: Wanted, coins: CoinSource, out: Path) -> Iterator[Ledger | None]:
    """The ledger that a publication goes into, for this one alone; None where there is none."""
    if wanted.path is None or coins.key is None:
        yield None
        return
    if out.absolute() in wanted.path.absolute().parents:
        raise ParameterError(f"the ledger {wanted.path.name!r} is not for the public; keep it outside of the release")
    with held(wanted.path, ledger_keys(coins.key)[0]) as ledger:
        yield ledger


def account(
    ledger: Ledger,
    wanted: Wanted,
    table: Source,
    plan: Plan,
    terms: Terms,
    coins: CoinSource,
    keyed: Mapping[str, KeyedCoins],
    out: Path,
) -> Account:
    """The account of a publication that may take place; refused where it may not."""
    assert coins.key is not None
    assert coins.id is not None
    people, most = _people(table, coins.id, ledger_keys(coins.key)[1])
    entry = Entry(
        number=ledger.next,
        status="pending",
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        release=out.name,
        digest="",
        mechanism=plan.mechanism,
        id=coins.id,
        people=len(people),
        people_file=f"{ledger.next:06d}",
        rows_of_a_person=most,
        looks=looks(plan, terms.guarantees, keyed, most),
        exact=bool({clause.code for clause in plan.not_covered} & EXACT),
    )
    return _judged(ledger, entry, people, wanted)


def _people(table: Source, id: str, key: bytes) -> tuple[People, int]:
    """The digests of the people in rising order, eight bytes each, and how many rows one of them has at most."""
    if not table.stable:
        raise TableError("a ledger reads the ids before the rows, and a stream can be read once; pass a table instead")
    parts = [Ids.of(batch.column(id), id).fingerprints(key) for batch in table.batches([id])]
    people, rows = np.unique(np.concatenate(parts) if parts else np.empty(0, np.uint64), return_counts=True)
    return people, int(rows.max(initial=1))


def looks(plan: Plan, guarantees: Sequence[Guarantee], keyed: Mapping[str, KeyedCoins], rows: int) -> list[Look]:
    """What a release lets be seen of a person: by key, the coins of each attribute; else what its guarantees come to.

    rows   how many rows a person has at most, each with keyed coins of its own; guarantees are the person's already
    """
    if keyed:
        return [
            Look(
                attribute=coins.attribute,
                commitment=coins.commitment,
                epsilon=rows * math.log(memoised(plan.coins[name]).amplification),
            )
            for name, coins in keyed.items()
        ]
    loss = of_guarantees(guarantees)
    return [Look(epsilon=loss.epsilon, delta=loss.delta)]


def of_guarantees(guarantees: Sequence[Guarantee]) -> Loss:
    """The epsilon and delta of the first guarantee that has any: the person's, where there is one."""
    for guarantee in guarantees:
        given = guarantee.parameters
        if "total_epsilon" in given:
            return Loss(given["total_epsilon"], given["total_delta"])
        if "epsilon" in given:
            return Loss(given["epsilon"], given.get("delta", 0.0))
    return Loss(None, 0.0)


def _judged(ledger: Ledger, entry: Entry, people: People, wanted: Wanted) -> Account:
    shared = {earlier.number: ledger.shared(earlier, people) for earlier in ledger.entries}
    before = [earlier for earlier in ledger.entries if shared[earlier.number]]
    total = joint(look for publication in (*before, entry) for look in publication.looks)
    objections = [text for earlier in before if (text := _objection(earlier, entry, shared[earlier.number]))]
    objections += _of_ids(ledger, entry) + _of_budget(before, entry, total, wanted.budget)
    if objections and not wanted.again:
        raise LedgerError(f"{objections[0]}; {_way_out(total)}")
    entry = entry.model_copy(update={"again": bool(objections)})
    notes = [f"ledger: {ledger.path.name}, entry {entry.number}, {entry.people:,} people"]
    if before:
        notes.append(f"all {len(before) + 1} releases of these people together: {total.words}")
    return Account(ledger, people, entry, objections, notes)


def _way_out(total: Loss) -> str:
    return f"all releases together come to {total.words}: --again (again=True) accepts that and says so"


def _objection(before: Entry, now: Entry, shared: int) -> str:
    """What is wrong with a second release of some of the people of an earlier one."""
    whom = f"{shared:,} of {now.people:,} people were published in {before.release!r} ({before.when[:10]})"
    moved = before.people + now.people - 2 * shared
    if before.exact and now.exact and 0 < moved <= FEW * now.people + 1:
        came = now.people - shared
        certain = (
            "that person's values are told with certainty" if moved == 1 else f"the values of these {moved:,} are told"
        )
        return (
            f"{whom}; {came:,} came and {moved - came:,} went. {now.mechanism} publishes counts of the table itself, so by the "
            f"difference of the two releases {certain}"
        )
    seen = {look.commitment for look in before.looks if look.commitment}
    renewed = [
        look for look in now.looks if look.commitment is None or (look.commitment not in seen and _known(look, before))
    ]
    if not renewed:
        return ""
    what = renewed[0].attribute
    again = f"{what!r} has fresh coins now" if what else f"the coins of {now.mechanism} are fresh each time"
    return f"{whom}, and {again}, so that the two releases can be averaged"


def _known(look: Look, before: Entry) -> bool:
    """Whether an attribute was published before, by itself or in whole rows."""
    return any(other.attribute in (None, look.attribute) for other in before.looks)


def _of_ids(ledger: Ledger, entry: Entry) -> list[str]:
    names = sorted({e.id for e in ledger.entries} - {entry.id})
    if not names:
        return []
    return [
        f"{ledger.path.name} knows people by {names[0]!r}, and these are named by {entry.id!r}: who is who cannot be told"
    ]


def _of_budget(before: Sequence[Entry], entry: Entry, total: Loss, budget: float | None) -> list[str]:
    if budget is not None:
        if total.epsilon is not None and total.epsilon <= budget * (1 + 1e-9):
            return []
        return [f"the budget is epsilon = {budget:g}, and all releases of these people together come to {total.words}"]
    new = [look for look in entry.looks if look.commitment and not any(_known(look, earlier) for earlier in before)]
    if before and new:
        return ["these people were published before, and what is new adds to that, with no budget declared"]
    return []
