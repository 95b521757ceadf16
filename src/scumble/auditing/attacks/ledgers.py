"""Ledger: what a publisher's own book says was published of whom, and what all of it comes to for one person.

Entries know people by keyed digests, so that who is in several of them can be counted without knowing anybody. Coins that are the same tell once, all others add up: epsilons add, factors on the odds multiply. Counted are people who are in
releases with different coins; the baseline is 0. Where a release has no bound, nothing bounds what all of them tell.
"""

import math
from collections import Counter

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.finding import Finding
from scumble.publishing.entries import Entry, Loss, joint
from scumble.publishing.ledger import Ledger

NAME = "ledger"


def attack(case: Case) -> Finding | None:
    """How many people were looked at more than once, and what the worst of it comes to."""
    ledger = case.ledger
    if ledger is None or not ledger.entries:
        return None
    together, people = _together(ledger)
    by_number = {entry.number: entry for entry in ledger.entries}
    losses = {key: _loss([by_number[number] for number in key]) for key in together}
    several = sum(count for key, count in together.items() if _looks([by_number[n] for n in key]) > 1)
    worst = max(losses, key=lambda key: math.inf if losses[key].epsilon is None else losses[key].epsilon or 0.0)
    loss, releases = losses[worst], ", ".join(by_number[number].release for number in worst)
    factor = f": odds change by a factor of at most {math.exp(loss.epsilon):,.4g}" if loss.epsilon is not None else ""
    sentence = (
        f"{several:,} of {people:,} people in {len(ledger.entries)} entries of {ledger.path.name} are in releases with different coins; "
        f"the worst off ({together[worst]:,}) are in {releases}, together {loss.words}{factor}"
    )
    return Finding.of_facts(NAME, several, people, sentence, "linkability", SAYS)


SAYS = "A guarantee is that of one release; those of the same people add up, and the ledger says to what."


def _together(ledger: Ledger) -> tuple[Counter[tuple[int, ...]], int]:
    """How many people are in exactly which entries."""
    digests = [np.asarray(ledger.people(entry)) for entry in ledger.entries]
    every, where = np.unique(np.concatenate(digests), return_inverse=True)
    member = np.zeros((len(every), len(digests)), dtype=np.bool_)
    start = 0
    for place, some in enumerate(digests):
        member[where[start : start + len(some)], place] = True
        start += len(some)
    patterns, counts = np.unique(member, axis=0, return_counts=True)
    numbers = [entry.number for entry in ledger.entries]
    keys = [tuple(n for n, here in zip(numbers, pattern, strict=True) if here) for pattern in patterns.tolist()]
    return Counter(dict(zip(keys, counts.tolist(), strict=True))), len(every)


def _loss(entries: list[Entry]) -> Loss:
    return joint(look for entry in entries for look in entry.looks)


def _looks(entries: list[Entry]) -> int:
    """How many different coins."""
    looks = [look for entry in entries for look in entry.looks]
    fresh = sum(look.commitment is None for look in looks)
    return fresh + len({look.commitment for look in looks if look.commitment is not None})
