"""From an accuracy to the strongest privacy that gives it, and from a privacy to the accuracy that it leaves.

The error of a question is the standard error of its worst line over the truth of that line: of many publications, two thirds give an answer
within it. Errors are foreseen exactly, before any coin is flipped, and then met: the advised spec is published several times in a temporary
folder, and what comes out stands beside what was promised.
"""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from scumble.display import Card, Grid, Items, Note, Part, Shown
from scumble.entropy import Entropy
from scumble.errors import InputError, ParameterError
from scumble.evaluate.attacker import Attacker, Beliefs
from scumble.evaluate.foresight import Foreseen, Foresight
from scumble.evaluate.measured import Measured, Truths, digits, labels, percent
from scumble.evaluate.parallel import Progress, demand, run
from scumble.evaluate.settings import BOTH, Setter, Setting, why_not
from scumble.evaluate.subject import Subject
from scumble.evaluate.trial import Bench, answered
from scumble.evaluate.workload import Workload
from scumble.mechanisms import Plan
from scumble.parameters import number
from scumble.schema import Spec, Target
from scumble.spec_text import spec_toml

FORESEEN = ("uniform", "fine_grain", "partitioned", BOTH)
"""Mechanisms whose errors are known before publishing; the first of those that are as good is advised."""

AS_GOOD = 1.05
"""Posteriors, and errors, within this factor are as good as each other: then the stronger promise decides."""

LOOSEST = 1000.0
"""The largest factor on the odds of the commonest value that is still called privacy."""

STEPS = 14
"""Halvings of the search for a posterior: to a ten-thousandth of its logarithm's range."""


@dataclass(frozen=True)
class Offer:
    """What one mechanism would give."""

    setting: Setting
    plan: Plan
    foreseen: Sequence[Foreseen]
    error: float
    """The largest error of the questions that count."""

    @property
    def beliefs(self) -> Beliefs:
        """What the attacker comes to believe."""
        return self.setting.beliefs


@dataclass(frozen=True)
class Met:
    """A question's worst line, as it came out."""

    error: float
    """The root mean square error of that line over the publications."""
    ratio: float
    """Root mean square of (error / foreseen standard error), over all lines: 1 where the promise is exact."""
    publications: int


@dataclass(frozen=True, repr=False)
class Advice(Shown):
    """Which spec to use, and what it gives."""

    chosen: Offer
    why: str
    others: Sequence[Offer]
    refused: dict[str, str]
    prior: float
    absolute: bool
    met: dict[str, Met]
    notes: Sequence[str]
    folder: Path | None
    asked_posterior: bool = False
    """Whether the privacy was given and the accuracy followed, or the other way round."""

    @property
    def mechanism(self) -> str:
        """The mechanism to use."""
        return self.chosen.setting.spec.mechanism

    @property
    def posterior(self) -> float:
        """What the attacker comes to believe at most of a protected value."""
        return self.chosen.beliefs.posterior

    @property
    def foreseen(self) -> Sequence[Foreseen]:
        """The error that each question will have."""
        return self.chosen.foreseen

    @property
    def spec(self) -> str:
        """The spec to publish with, as TOML."""
        return self.written(self.folder)

    def written(self, folder: Path | None) -> str:
        """The same, for a folder that it is written into."""
        told = [
            f"Advised: {self.why}",
            f"An attacker who knows the table's shares believes a protected value with at most {self.posterior:.4g}.",
        ]
        told += [f"{self._shown(each.error)}: {' '.join(each.sql.split())}" for each in self.foreseen]
        return spec_toml(self.chosen.setting.spec, folder, told)

    def to_list(self) -> list[dict[str, Any]]:
        """One dictionary for each question, with the spec in each."""
        return [
            {
                "question": each.sql,
                "error": each.error if math.isfinite(each.error) else None,
                "worst_line": each.line,
                "measured_error": self.met[each.sql].error if each.sql in self.met else None,
                "ratio": self.met[each.sql].ratio if each.sql in self.met else None,
                "publications": self.met[each.sql].publications if each.sql in self.met else 0,
                "mechanism": self.mechanism,
                "posterior": self.posterior,
                "prior": self.prior,
                "factor": self.chosen.beliefs.factor if math.isfinite(self.chosen.beliefs.factor) else None,
                "spec": self.spec,
            }
            for each in self.foreseen
        ]

    def _shown(self, error: float) -> str:
        if not math.isfinite(error):
            return "no answer"
        return f"standard error {error:,.4g}" if self.absolute else f"standard error {percent(error)}"

    def card(self) -> Card:
        """The choice, the errors, the beliefs, and the spec."""
        factor = self.chosen.beliefs.factor
        beliefs = (
            f"attacker: a protected value is believed with {self.prior:.4g} before and {self.posterior:.4g} at most after; the best guess is right for "
            f"{percent(self.chosen.beliefs.guess)} of the rows; for other beliefs "
            + (f"odds change by at most {factor:.4g}" if factor < 1e4 else "nothing is promised")
        )
        parts: list[Part] = [
            Note(self.why),
            Note(beliefs),
            self._errors(),
            self._offers(),
            *(Note(note) for note in self.notes),
        ]
        if self.refused:
            parts.append(Items("does not apply", [f"{name}: {why}" for name, why in self.refused.items()]))
        told = self.chosen.plan.depends_on_data
        parts.append(
            Items(
                "what the parameters tell of the table, because they were chosen with it",
                [SET if self.asked_posterior else CHOSEN, *told],
            )
        )
        return Card(f"use {self.chosen.setting.name}", parts)

    def _errors(self) -> Grid:
        rows = []
        for each in self.foreseen:
            met = self.met.get(each.sql)
            rows.append(
                [
                    " ".join(each.sql.split()),
                    each.line or "-",
                    f"{each.truth:,.6g}" if math.isfinite(each.truth) else "-",
                    self._shown(each.error).removeprefix("standard error "),
                    "-" if met is None else (f"{met.error:,.4g}" if self.absolute else percent(met.error)),
                    "-" if met is None else f"{met.ratio:.2f}",
                ]
            )
        headings = ["question", "worst line", "true", "error to expect", "measured", "measured / expected, all lines"]
        return Grid(headings, rows, left=[0, 1])

    def _offers(self) -> Grid:
        rows = [
            [
                "*" if offer is self.chosen else "",
                offer.setting.name,
                offer.setting.told,
                f"{offer.beliefs.posterior:.4g}",
                f"x {offer.beliefs.factor:.4g}" if offer.beliefs.factor < 1e4 else "none",
                self._shown(offer.error).removeprefix("standard error "),
            ]
            for offer in self.others
        ]
        return Grid(["", "mechanism", "setting", "posterior", "other beliefs", "worst error"], rows, left=[0, 1, 2])


CHOSEN = (
    "The privacy was chosen by looking at the table: that it was just enough for this accuracy tells about how many rows the questions are about. "
    "Publish a rounded parameter, or one fixed beforehand, where that is too much."
)
SET = (
    "The parameter was computed from the table's own shares: that it is just enough for this posterior tells how common the commonest protected value is. "
    "Publish a rounded parameter, or one fixed beforehand, where that is too much."
)


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
    subject = Subject.of(table, spec)
    wanted = _wanted(error)
    asked = list(dict.fromkeys([*(sql for sql, _ in wanted), *questions])) or _counts_of(subject)
    seeker = _Seeker(
        Setter(subject.spec, subject.profile, Attacker.of(subject.truth, subject.spec.privacy.rho1)),
        Foresight(subject.truth, asked),
        dict(wanted),
        absolute,
    )
    offers, refused = seeker.offers(_chosen(mechanisms, subject), posterior)
    if not offers:
        name, reason = next(iter(refused.items()))
        raise ParameterError(f"{'that accuracy cannot be had' if wanted else 'no mechanism applies'}: {name}: {reason}")
    for each in offers[0].foreseen:
        if each.sql in seeker.wanted:
            _demand_error(each, absolute)
    best, why = seeker.decide(offers, posterior)
    met = _simulated(subject, best, asked, absolute, repetitions, processes, seed, progress)
    folder = Path(table).parent if isinstance(table, str | Path) else None
    notes = [*(seeker.suggestions(best, subject.truth.rows) if wanted else []), *_notes(best, offers, met)]
    prior = seeker.setter.attacker.prior
    return Advice(best, why, offers, refused, prior, absolute, met, notes, folder, not wanted)


def _notes(best: Offer, offers: Sequence[Offer], met: dict[str, Met]) -> list[str]:
    found = []
    firm = [offer for offer in offers if math.isfinite(offer.beliefs.factor)]
    if math.isinf(best.beliefs.factor) and firm:
        found.append(f"for a promise that holds whatever an attacker believes, take --mechanism {firm[0].setting.name}")
    if met:
        times = next(iter(met.values())).publications
        chance = 2 / math.sqrt(2 * times)
        found.append(
            f"measured on {times} fresh publications: the error of one line comes out within about {chance:.0%} of what it is"
        )
    return found


def _wanted(error: Any) -> list[tuple[str, float]]:
    pairs = [] if error is None else [error] if isinstance(error[0], str) else list(error)
    found = [(sql, number(target, "the error")) for sql, target in pairs]
    for _, target in found:
        if target <= 0:
            raise ParameterError(f"an error is a number above 0, such as 0.02, not {target:g}")
    return found


def _demand_error(each: Foreseen, absolute: bool) -> None:
    """A question that has no error at any privacy says nothing about which to choose."""
    if each.error > 0 or each.answer is None:
        return
    said = "".join(f" ({note})" for note in each.answer.notes)
    exact = not any(e.se.any() for e in each.answer.estimates)
    if not any(np.nan_to_num(e.value).any() for e in each.answer.estimates) and (exact or not absolute):
        raise ParameterError(
            f"nothing in the table is what {each.sql!r} asks for{said}: its truth is 0, so that it has no relative error; check its values"
        )
    raise ParameterError(
        f"the answer to {each.sql!r} is exact whatever the privacy{said}; ask for the error of a question about a sensitive column"
    )


def _counts_of(subject: Subject) -> list[str]:
    """Without questions, the counts of each sensitive column."""
    return [question.sql for question in Workload.marginals(subject.truth, ways=(1,)).questions]


def _chosen(mechanisms: Sequence[str] | None, subject: Subject) -> list[str]:
    for name in mechanisms or ():
        if name not in FORESEEN:
            raise ParameterError(f"the errors of {name!r} are not foreseen; choose from {', '.join(FORESEEN)}")
    able = FORESEEN if len(subject.truth.sensitive) == 1 else FORESEEN[:1]
    return [name for name in FORESEEN if name in (mechanisms or able)]


@dataclass(frozen=True, eq=False)
class _Seeker:
    """Looks for the setting of each mechanism."""

    setter: Setter
    foresight: Foresight
    wanted: dict[str, float]
    absolute: bool

    def offers(self, names: Sequence[str], posterior: Any) -> tuple[list[Offer], dict[str, str]]:
        """What each mechanism gives, at the posterior or at the errors that are wanted."""
        found: list[Offer] = []
        refused: dict[str, str] = {}
        level = None if posterior is None else self.setter.attacker.demand(posterior)
        for name in names:
            try:
                found.append(self._offer(name, level, up=False) if level is not None else self._strongest(name))
            except InputError as error:
                refused[name] = why_not(error)
        return found, refused

    def _offer(self, name: str, level: float, up: bool) -> Offer:
        setting = self.setter.at(name, level)
        spec = _rounded(setting.spec, up)
        plan = self.setter.plan(spec)
        beliefs = self.setter.attacker.beliefs(plan)
        errors = self.foresight.under(plan, self.absolute)
        counting = [each.error for each in errors if not self.wanted or each.sql in self.wanted]
        return Offer(replace(setting, spec=spec, beliefs=beliefs), plan, errors, max(counting))

    def _fits(self, offer: Offer) -> bool:
        return all(each.error <= self.wanted.get(each.sql, math.inf) for each in offer.foreseen)

    def _strongest(self, name: str) -> Offer:
        """The smallest posterior that fits, by halving the range of the logarithm of the odds."""
        prior = self.setter.attacker.prior
        low, high = 0.0, math.log(LOOSEST)

        def at(log: float) -> Offer:
            odds = math.exp(log) * prior / (1 - prior)
            return self._offer(name, odds / (1 + odds), up=True)

        best = at(high)
        if not self._fits(best):
            raise ParameterError(self._too_much(name, best))
        for _ in range(STEPS):
            middle = (low + high) / 2
            offer = at(middle)
            if self._fits(offer):
                best, high = offer, middle
            else:
                low = middle
        return best

    def _too_much(self, name: str, best: Offer) -> str:
        """Why an accuracy cannot be had, and what can."""
        worst = max(best.foreseen, key=lambda each: each.error / self.wanted.get(each.sql, math.inf))
        line = f" ({worst.line}: {worst.truth:,.6g})" if worst.line else ""
        shown = f"{worst.error:,.4g}" if self.absolute else percent(worst.error)
        times = (worst.error / self.wanted[worst.sql]) ** 2
        return (
            f"even at a posterior of {best.beliefs.posterior:.4g} the worst line{line} of {worst.sql!r} has an error of {shown}; that is what is feasible. "
            f"About {digits(times, 3)} times as many rows would do, or coarser groups"
        )

    def decide(self, offers: Sequence[Offer], posterior: Any) -> tuple[Offer, str]:
        """The best offer, and why; among those as good, the one with the stronger promise, which is the first."""
        if posterior is None:
            least = min(offer.beliefs.posterior for offer in offers)
            best = next(offer for offer in offers if offer.beliefs.posterior <= AS_GOOD * least)
            rest = [f"{o.setting.name} {o.beliefs.posterior:.4g}" for o in offers if o is not best]
            told = f"{best.setting.name} gives this accuracy at a posterior of {best.beliefs.posterior:.4g}"
            told += (
                ""
                if best.beliefs.posterior == least
                else ", within 5% of the smallest, and has the stronger promise of these"
            )
        else:
            least = min(offer.error for offer in offers)
            best = next(offer for offer in offers if offer.error <= AS_GOOD * least)
            rest = [f"{o.setting.name} {self._told(o.error)}" for o in offers if o is not best]
            told = f"{best.setting.name} has a worst error of {self._told(best.error)} at this posterior"
            told += "" if best.error == least else ", within 5% of the smallest, and has the stronger promise of these"
        return best, told + (f"; the others: {', '.join(rest)}" if rest else "")

    def _told(self, error: float) -> str:
        return "no answer" if not math.isfinite(error) else f"{error:,.4g}" if self.absolute else percent(error)

    def suggestions(self, best: Offer, rows: int) -> list[str]:
        """What would allow more privacy at the same accuracy."""
        prior = self.setter.attacker.prior
        modest = 3 * prior / (1 + 2 * prior)
        if best.beliefs.posterior <= AS_GOOD * modest:
            return []
        there = self._offer(best.setting.name, modest, up=True)
        worst = max(there.foreseen, key=lambda each: each.error / self.wanted.get(each.sql, math.inf))
        if worst.sql not in self.wanted or not math.isfinite(worst.error):
            return []
        times = (worst.error / self.wanted[worst.sql]) ** 2
        groups = (
            f", or answers about groups {digits(math.sqrt(times), 3)} times as large (coarser columns)"
            if not self.absolute
            else ""
        )
        return [
            f"for a posterior of {modest:.4g} (odds three times those without a release) this accuracy would need about {digits(times, 3)} times as many rows "
            f"({times * rows:,.0f}){groups}"
        ]


def _rounded(spec: Spec, up: bool) -> Spec:
    """Parameters in four digits, toward the accuracy (up) or toward the privacy that was asked for."""
    target = {
        name: _digits(value, 4, up) if isinstance(value, float) else value
        for name, value in spec.privacy.model_dump(exclude_none=True).items()
    }
    settings = dict(spec.settings)
    if "rho" in settings:
        settings["rho"] = {
            value: [_digits(f, 4, not up), _digits(level, 4, up)] for value, (f, level) in settings["rho"].items()
        }
    return spec.model_copy(update={"privacy": Target(**target), "settings": settings})


def _digits(value: float, digits: int, up: bool) -> float:
    """Rounded to so many significant digits, up or down.

    >>> _digits(0.166666, 4, False), _digits(2.06251, 4, True)
    (0.1666, 2.063)
    """
    power = 10.0 ** (digits - 1 - math.floor(math.log10(abs(value))))
    whole = math.ceil(value * power - 1e-9) if up else math.floor(value * power + 1e-9)
    return float(f"{whole / power:.{digits}g}")


def _simulated(
    subject: Subject,
    best: Offer,
    asked: Sequence[str],
    absolute: bool,
    repetitions: int,
    processes: int | None,
    seed: int | None,
    progress: Progress | None,
) -> dict[str, Met]:
    """Publishes by the advised spec, and puts the errors that come out beside the foreseen ones."""
    if repetitions < 1:
        return {}
    workload = Workload.sql([each.sql for each in best.foreseen if each.answer is not None and each.error > 0])
    truths = Truths.of(subject.truth, workload)
    start = int(Entropy.system().stream("seed").integers(1, 32)[0]) if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="scumble-") as folder:
        bench = Bench.of(subject.truth, [best.setting.spec], truths, folder, start)
        found = run(answered, bench, [(0, i) for i in range(repetitions)], processes, progress)
    return {
        each.sql: _met(each, found, absolute) for each in best.foreseen if each.answer is not None and each.error > 0
    }


def _met(each: Foreseen, found: Sequence[Measured], absolute: bool) -> Met:
    assert each.answer is not None
    names = [name for line in labels(each.answer) for name in line]
    truth, se = (
        np.stack([getattr(e, part) for e in each.answer.estimates], axis=1).reshape(-1) for part in ("value", "se")
    )
    values = [{line.line: line.value for line in measured.lines if line.question == each.sql} for measured in found]
    # a line that ORDER BY and LIMIT left out of an answer has no error in it
    off = np.array([[told.get(name, math.nan) for name in names] for told in values]) - truth
    square = np.nanmean(off**2, axis=0)
    scale = np.ones_like(truth) if absolute else np.where(truth != 0, np.abs(truth), math.inf)
    seen = (se > 0) & np.isfinite(square)
    ratio = float(np.sqrt((square[seen] / se[seen] ** 2).mean()))
    worst = names.index(each.line)
    return Met(float(np.sqrt(square[worst]) / scale[worst]), ratio, len(found))
