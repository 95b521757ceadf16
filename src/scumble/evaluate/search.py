"""The search: for each mechanism the setting that fits an accuracy, or the accuracy that a posterior leaves, and the best of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from scumble.core.errors import InputError, ParameterError
from scumble.core.parameters import plain
from scumble.evaluate.attacker import Beliefs
from scumble.evaluate.foresight import Foreseen, Foresight
from scumble.evaluate.measured import percent
from scumble.evaluate.settings import Setter, Setting, why_not
from scumble.mechanisms.plan import Plan
from scumble.spec.spec import Spec, Target

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

    @property
    def central(self) -> bool:
        """Whether it publishes counts with noise, and no rows."""
        return self.setting.central


def error_text(error: float, absolute: bool) -> str:
    """An error in units of the answer, or as a share of the truth."""
    return "no answer" if not math.isfinite(error) else plain(error, 4) if absolute else percent(error)


@dataclass(frozen=True, eq=False)
class Search:
    """Looks for the setting of each mechanism."""

    setter: Setter
    foresight: Foresight
    wanted: dict[str, float]
    absolute: bool

    def offers(self, names: Sequence[str], posterior: Any) -> tuple[list[Offer], dict[str, str]]:
        """What each mechanism gives, at the posterior or at the errors that are wanted."""
        offers: list[Offer] = []
        refused: dict[str, str] = {}
        level = None if posterior is None else self.setter.attacker.demand(posterior)
        for name in names:
            try:
                offers.append(self._offer(name, level, up=False) if level is not None else self._strongest(name))
            except InputError as error:
                refused[name] = why_not(error)
        return offers, refused

    def _offer(self, name: str, level: float, up: bool) -> Offer:
        setting = self.setter.at(name, level)
        spec = _rounded(setting.spec, up)
        plan = self.setter.plan(spec)
        beliefs = self.setter.attacker.beliefs(plan)
        errors = self.foresight.under(plan, self.absolute)
        counting = [error.error for error in errors if not self.wanted or error.sql in self.wanted]
        return Offer(replace(setting, spec=spec, beliefs=beliefs), plan, errors, max(counting))

    def _fits(self, offer: Offer) -> bool:
        return all(answer.error <= self.wanted.get(answer.sql, math.inf) for answer in offer.foreseen)

    def _strongest(self, name: str) -> Offer:
        """The smallest posterior that fits, by halving the range of the logarithm of the odds."""
        prior = self.setter.attacker.prior
        low, high = 0.0, math.log(LOOSEST)

        def at(log: float) -> Offer:
            odds = math.exp(log) * prior / (1 - prior)
            return self._offer(name, odds / (1 + odds), up=True)

        best = at(high)
        if not self._fits(best):
            raise ParameterError(self._too_much(best))
        for _ in range(STEPS):
            middle = (low + high) / 2
            offer = at(middle)
            if self._fits(offer):
                best, high = offer, middle
            else:
                low = middle
        return best

    def _too_much(self, best: Offer) -> str:
        """Why an accuracy cannot be had, and what can."""
        worst = max(best.foreseen, key=lambda answer: answer.error / self.wanted.get(answer.sql, math.inf))
        line = f" ({worst.line}: {plain(worst.truth)})" if worst.line else ""
        times = (worst.error / self.wanted[worst.sql]) ** 2
        return (
            f"even at a posterior of {best.beliefs.posterior:.4g} the worst line{line} of {worst.sql!r} has an error of {error_text(worst.error, self.absolute)}; that is what is feasible. "
            f"About {plain(times, 3)} times as many rows would do, or coarser groups"
        )

    def decide(self, offers: Sequence[Offer], posterior: Any) -> tuple[Offer, str]:
        """The best offer, and why; among those as good, the one with the stronger promise, which is the first."""
        if posterior is None:
            least = min(offer.beliefs.posterior for offer in offers)
            best = next(offer for offer in offers if offer.beliefs.posterior <= AS_GOOD * least)
            rest = [f"{o.setting.name} {o.beliefs.posterior:.4g}" for o in offers if o is not best]
            sentence = f"{best.setting.name} gives this accuracy at a posterior of {best.beliefs.posterior:.4g}"
            sentence += (
                ""
                if best.beliefs.posterior == least
                else ", within 5% of the smallest, and has the stronger promise of these"
            )
        else:
            least = min(offer.error for offer in offers)
            best = next(offer for offer in offers if offer.error <= AS_GOOD * least)
            rest = [f"{o.setting.name} {error_text(o.error, self.absolute)}" for o in offers if o is not best]
            sentence = (
                f"{best.setting.name} has a worst error of {error_text(best.error, self.absolute)} at this posterior"
            )
            sentence += (
                "" if best.error == least else ", within 5% of the smallest, and has the stronger promise of these"
            )
        return best, sentence + (f"; the others: {', '.join(rest)}" if rest else "")

    def suggestions(self, best: Offer, rows: int) -> list[str]:
        """What would allow more privacy at the same accuracy."""
        prior = self.setter.attacker.prior
        modest = 3 * prior / (1 + 2 * prior)
        if best.beliefs.posterior <= AS_GOOD * modest:
            return []
        there = self._offer(best.setting.name, modest, up=True)
        worst = max(there.foreseen, key=lambda answer: answer.error / self.wanted.get(answer.sql, math.inf))
        if worst.sql not in self.wanted or not math.isfinite(worst.error):
            return []
        times = (worst.error / self.wanted[worst.sql]) ** 2
        groups = (
            f", or answers about groups {plain(math.sqrt(times), 3)} times as large (coarser columns)"
            if not self.absolute
            else ""
        )
        return [
            f"for a posterior of {modest:.4g} (odds three times those without a release) this accuracy would need about {plain(times, 3)} times as many rows "
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
