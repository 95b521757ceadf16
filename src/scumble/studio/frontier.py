"""Before publishing: what each mechanism costs in error, over a range of what an attacker may come to believe. Nothing is published for it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scumble.core.errors import InputError
from scumble.core.parameters import plain
from scumble.core.progress import Progress
from scumble.evaluate.advisor import choosable, counts_of
from scumble.evaluate.attacker import Attacker
from scumble.evaluate.foresight import Foreseen, Foresight
from scumble.evaluate.measured import labels
from scumble.evaluate.search import Offer, Search
from scumble.evaluate.settings import Setter
from scumble.evaluate.specified_table import SpecifiedTable
from scumble.mechanisms.declared_table import declared
from scumble.sources.source import read
from scumble.spec.spec import Spec
from scumble.studio.reading import TableScan

FACTORS = (1.3, 1.7, 2.2, 3.0, 4.5, 7.0, 12.0, 25.0, 60.0)
"""Factors on the odds of the commonest protected value: the places of the slider, the most private first."""
MOST_LINES = 12
"""Lines of an answer that are drawn."""


@dataclass(frozen=True)
class Frontier:
    """The offers of every mechanism at each level."""

    levels: Sequence[float]
    names: Sequence[str]
    offers: Sequence[dict[str, Offer]]
    """At each level, by mechanism."""
    refused: dict[str, str]
    prior: float
    exempt: Sequence[str]
    now: tuple[float, float] | None
    """What the spec gives as it is: the largest belief, and the error."""
    scale: float
    """How many times as many rows the table has as the sample that this was computed from."""

    @property
    def smaller(self) -> str:
        """By what relative errors of the sample are divided to be about those of the table."""
        return plain(math.sqrt(self.scale), 2)

    def best(self, level: int) -> str | None:
        """The mechanism with the smallest error at a level."""
        able = {name: offer.error for name, offer in self.offers[level].items() if math.isfinite(offer.error)}
        return min(able, key=lambda name: able[name]) if able else next(iter(self.offers[level]), None)


def fingerprint(spec: Spec, questions: Sequence[str]) -> str:
    """What a frontier depends on: all of the spec but the privacy that is chosen on it, and the questions."""
    rest = spec.model_copy(
        update={
            "privacy": spec.privacy.model_copy(update={"rho2": None, "gamma": None, "epsilon": None, "retain": None})
        }
    )
    return rest.model_dump_json(exclude={"mechanism", "settings"}) + "\n".join(questions)


def frontier(scan: TableScan, spec: Spec, questions: Sequence[str], progress: Progress) -> Frontier:
    """The frontier of a table, or of a sample of it."""
    subject = SpecifiedTable.of(declared(read(scan.sample), spec, scan.sample), spec)
    asked = list(questions) or counts_of(subject)
    setter = Setter(subject.spec, subject.profile, Attacker.of(subject.truth, subject.spec.privacy.rho1))
    search = Search(setter, Foresight(subject.truth, asked), {}, False)
    prior, names = setter.attacker.prior, choosable(None, subject)
    levels = [f * prior / (1 - prior + f * prior) for f in FACTORS] if prior < 1 else []
    offers: list[dict[str, Offer]] = [{} for _ in levels]
    refused: dict[str, str] = {}
    for place, name in enumerate(names):
        for number, level in enumerate(levels):
            progress(place * len(levels) + number, len(names) * len(levels))
            made, why = search.offers([name], f"{level:.4g}")
            refused |= why
            offers[number] |= {offer.setting.name: offer for offer in made}
    able = [name for name in names if any(name in at for at in offers)]
    refused = {name: why for name, why in refused.items() if name not in able}
    now = _now(search, subject.spec)
    return Frontier(
        [float(f"{level:.4g}") for level in levels],
        able,
        offers,
        refused,
        prior,
        setter.exempt,
        now,
        scan.rows / max(1, scan.sample.num_rows),
    )


def _now(search: Search, spec: Spec) -> tuple[float, float] | None:
    """Where the spec stands, where that can be foreseen."""
    try:
        plan = search.setter.plan(spec)
        errors = [answer.error for answer in search.foresight.under(plan)]
        point = (search.setter.attacker.beliefs(plan).posterior, max(errors))
    except (InputError, ArithmeticError, ValueError, KeyError, IndexError):
        return None
    return point if all(map(math.isfinite, point)) else None


@dataclass(frozen=True)
class ForeseenLine:
    """A line of an answer to come: what is true, and the interval that it will have."""

    label: str
    value: float
    low: float
    high: float


def lines(foreseen: Foreseen) -> list[ForeseenLine]:
    """The largest lines of a question."""
    answer = foreseen.answer
    if answer is None or not answer.estimates:
        return []
    estimate, named = answer.estimates[0], labels(answer)
    order = np.argsort(-np.nan_to_num(estimate.value), kind="stable")[:MOST_LINES].tolist()
    drawn = [
        (
            named[i][0].rpartition(": ")[0] or named[i][0],
            *(float(n[i]) for n in (estimate.value, estimate.low, estimate.high)),
        )
        for i in order
    ]
    return [ForeseenLine(*each) for each in drawn if all(map(math.isfinite, each[1:]))]
