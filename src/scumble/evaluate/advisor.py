"""From an accuracy to the strongest privacy that gives it, and from a privacy to the accuracy that it leaves.

The error of a question is the standard error of its worst line over the truth of that line: of many publications, two thirds give an answer
within it. Errors are foreseen exactly, before any coin is flipped (search.py), and then met by publishing in a temporary folder (promise.py).
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scumble.core.errors import ParameterError
from scumble.core.parameters import number
from scumble.evaluate.advice import Advice
from scumble.evaluate.attacker import Attacker
from scumble.evaluate.foresight import Foreseen, Foresight
from scumble.evaluate.parallel import Progress, demand
from scumble.evaluate.promise import Met, met
from scumble.evaluate.search import Offer, Search, error_text
from scumble.evaluate.settings import Setter, advised
from scumble.evaluate.specified_table import SpecifiedTable
from scumble.evaluate.workload import Workload
from scumble.mechanisms import find_mechanism
from scumble.mechanisms import names as registered
from scumble.mechanisms.words import TRUSTED


def advise(
    table: Any,
    spec: Any = None,
    *,
    error: tuple[str, Any] | Sequence[tuple[str, Any]] | None = None,
    posterior: Any = None,
    questions: Sequence[str] = (),
    absolute: bool = False,
    mechanisms: Sequence[str] | None = None,
    repetitions: int = 20,
    processes: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Advice:
    """The spec that gives an accuracy at the strongest privacy, or the best accuracy at a privacy.

    table, spec  a spec (.toml) that names its table; or a table, and a spec for it
    error        (question, standard error), or several: of the worst line of the answer, over its truth
    posterior    instead: the largest belief in a protected value to allow, such as "1/6"
    questions    further questions, whose errors are told
    absolute     errors are in units of the answer, not shares of the truth
    mechanisms   those to choose from
    repetitions  how often the advised spec is published to check the promise; 0 leaves that out
    """
    if (error is None) == (posterior is None):
        raise ParameterError("say what is needed: the error of a question, or the posterior to allow; one of them")
    demand(max(repetitions, 1), processes)
    subject = SpecifiedTable.of(table, spec)
    wanted = _wanted(error)
    asked = list(dict.fromkeys([*(sql for sql, _ in wanted), *questions])) or counts_of(subject)
    search = Search(
        Setter(subject.spec, subject.profile, Attacker.of(subject.truth, subject.spec.privacy.rho1)),
        Foresight(subject.truth, asked),
        dict(wanted),
        absolute,
    )
    offers, refused = search.offers(choosable(mechanisms, subject), posterior)
    if not offers:
        name, reason = next(iter(refused.items()))
        raise ParameterError(f"{'that accuracy cannot be had' if wanted else 'no mechanism applies'}: {name}: {reason}")
    for answer in offers[0].foreseen:
        if answer.sql in search.wanted:
            _demand_error(answer, absolute)
    best, why = search.decide(_candidates(offers, mechanisms), posterior)
    kept = met(subject, best.setting.spec, best.foreseen, absolute, repetitions, processes, seed, progress)
    folder = Path(table).parent if isinstance(table, str | Path) else None
    beside = [_of_counts(offer, absolute) for offer in offers if offer is not best and offer.central]
    notes = [*(search.suggestions(best, subject.truth.rows) if wanted else []), *_notes(best, offers, kept), *beside]
    prior = search.setter.attacker.prior
    return Advice(best, why, offers, refused, prior, absolute, kept, notes, folder, not wanted, search.setter.exempt)


def _notes(best: Offer, offers: Sequence[Offer], kept: dict[str, Met]) -> list[str]:
    notes = []
    firm = [offer for offer in offers if math.isfinite(offer.beliefs.factor) and not offer.central]
    if math.isinf(best.beliefs.factor) and firm:
        notes.append(f"for a promise that holds whatever an attacker believes, take --mechanism {firm[0].setting.name}")
    if kept:
        times = next(iter(kept.values())).publications
        chance = 2 / math.sqrt(2 * times)
        notes.append(
            f"measured on {times} fresh publications: the error of one line comes out within about {chance:.0%} of what it is"
        )
    return notes


def _candidates(offers: Sequence[Offer], mechanisms: Sequence[str] | None) -> Sequence[Offer]:
    """What is chosen from: one that publishes no rows is chosen where it is named, or where nothing else applies."""
    return [offer for offer in offers if mechanisms or not offer.central] or offers


def _of_counts(offer: Offer, absolute: bool) -> str:
    name = offer.setting.name
    return (
        f"{name} ({offer.setting.label}) would have a worst error of {error_text(offer.error, absolute)} at a posterior of {offer.beliefs.posterior:.4g}: {TRUSTED} "
        f"Take --mechanism {name} where that is enough"
    )


def _wanted(error: Any) -> list[tuple[str, float]]:
    pairs = [] if error is None else [error] if isinstance(error[0], str) else list(error)
    wanted = [(sql, number(target, "the error")) for sql, target in pairs]
    for _, target in wanted:
        if target <= 0:
            raise ParameterError(f"an error is a number above 0, such as 0.02, not {target:g}")
    return wanted


def _demand_error(forecast: Foreseen, absolute: bool) -> None:
    """A question that has no error at any privacy says nothing about which to choose."""
    if forecast.error > 0 or forecast.answer is None:
        return
    said = "".join(f" ({note})" for note in forecast.answer.notes)
    exact = not any(e.se.any() for e in forecast.answer.estimates)
    if not any(np.nan_to_num(e.value).any() for e in forecast.answer.estimates) and (exact or not absolute):
        raise ParameterError(
            f"nothing in the table is what {forecast.sql!r} asks for{said}: its truth is 0, so that it has no relative error; check its values"
        )
    raise ParameterError(
        f"the answer to {forecast.sql!r} is exact whatever the privacy{said}; ask for the error of a question about a sensitive column"
    )


def _for_several(name: str) -> bool:
    traits = find_mechanism(name).traits
    return traits.by_target or traits.central


def counts_of(subject: SpecifiedTable) -> list[str]:
    """Without questions, the counts of each sensitive column."""
    return [question.sql for question in Workload.marginals(subject.truth, ways=(1,)).questions]


def choosable(mechanisms: Sequence[str] | None, subject: SpecifiedTable) -> list[str]:
    """The mechanisms and variants that are named, or all that can be advised for a table."""
    every = advised()
    for name in mechanisms or ():
        if name not in every:
            raise ParameterError(f"the errors of {name!r} are not foreseen; choose from {', '.join(every)}")
    several = len(subject.truth.sensitive) > 1
    able = [name for name in every if not several or (name in registered() and _for_several(name))]
    return [name for name in every if name in (mechanisms or able)]
