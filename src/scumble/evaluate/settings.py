"""Every mechanism set to one privacy: the largest posterior of an attacker who believes the table's own shares.

    uniform, fine_grain, partitioned   from rho2 = the level, for each protected value
    identity, swapped                  the retention p with p + (1 - p) f = level, f the largest protected share
    frapp, and several columns         the gamma, or p, at which the exact posterior is the level, by bisection
    anatomy                            l = 1 / level, rounded up
    marginals                          epsilon with exp(2 epsilon) = gamma of uniform: the same bound, against whoever knows all other rows
    perturbed_generalization           groups of 10, and the gamma of uniform, which it promises against whoever knows all others of a group

Mechanisms that promise something else are set to what the spec says, or to customary values, and are never called equal.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scumble.core.channel import gamma_bound
from scumble.core.errors import InputError, ParameterError, did_you_mean
from scumble.evaluate.attacker import Attacker, Beliefs
from scumble.mechanisms import find_mechanism
from scumble.mechanisms import names as registered
from scumble.mechanisms.mechanism import AtPosterior, Customary
from scumble.mechanisms.plan import Plan, Profile
from scumble.spec.spec import Spec, Target
from scumble.spec.value_names import names

NAMED = 12
"""Values that a sentence names, at most."""

STEPS = 30
"""Halvings of a bisection."""


@dataclass(frozen=True)
class Setting:
    """A mechanism with its parameters, planned."""

    name: str
    spec: Spec
    level: float | None
    """The posterior that it was set to; None where it promises something else."""
    beliefs: Beliefs
    label: str
    """The parameters, for people."""
    guarantee: str
    """What it promises, in its own words."""
    deterministic: bool = False
    central: bool = False


@dataclass(frozen=True, eq=False)
class Setter:
    """Sets mechanisms on one table."""

    spec: Spec
    profile: Profile
    attacker: Attacker

    def at(self, name: str, level: float) -> Setting:
        """A mechanism at a level; an InputError says why it does not apply."""
        ways = levels_of()
        if name not in ways:
            raise ParameterError(f"{name} promises something else than a posterior")
        spec = ways[name](self, level)
        plan = self.plan(spec)
        return self._setting(name, spec, plan, level)

    def own(self, name: str) -> Setting:
        """A mechanism with another promise, as the spec sets it or as is customary."""
        usual = find_mechanism(name).customary or Customary(self.spec.privacy.model_dump(exclude_none=True))
        spec = self.spec if self.spec.mechanism == name else self._with(name, dict(usual.target), dict(usual.settings))
        return self._setting(name, spec, self.plan(spec), None)

    def plan(self, spec: Spec) -> Plan:
        """The plan of a spec for this table."""
        chosen = find_mechanism(spec.mechanism)
        domains = self.profile.domains
        if chosen.traits.columns_alike:
            domains = {name: domain for name, domain in domains.items() if name not in self.profile.from_data}
        made: Plan = chosen.plan(Profile(domains, self.profile.from_data, self.profile.counts), spec)
        return made

    def _setting(self, name: str, spec: Spec, plan: Plan, level: float | None) -> Setting:
        return Setting(
            name,
            spec,
            level,
            self.attacker.beliefs(plan),
            plan.parameters,
            plan.guarantees[0].statement if plan.guarantees else "nothing",
            find_mechanism(plan.mechanism).traits.deterministic,
            find_mechanism(plan.mechanism).traits.central,
        )

    def _with(self, mechanism: str, target: dict[str, Any], settings: dict[str, Any] | None = None) -> Spec:
        plain = {name: column.model_copy(update={"privacy": None}) for name, column in self.spec.columns.items()}
        return self.spec.model_copy(
            update={"mechanism": mechanism, "privacy": Target(**target), "settings": settings or {}, "columns": plain}
        )

    @property
    def single(self) -> bool:
        """Whether one column is sensitive."""
        return len(self.attacker.columns) == 1

    @property
    def exempt(self) -> list[str]:
        """A sentence for each column that has values which no posterior is about, because they are commoner than rho1."""
        said = []
        for column in self.attacker.columns:
            called, protected = names(self.profile.domains[column]), self.attacker.protected(column)
            common = [str(v) for v, p in zip(called, protected, strict=True) if not p]
            if common:
                shown = ", ".join(common[:NAMED]) + (f" and {len(common) - NAMED} more" if len(common) > NAMED else "")
                said.append(
                    f"NOT among the protected values of {column!r}, because more than rho1 = {self.attacker.rho1:.4g} of the rows have them: {shown}; "
                    "without rho1 in the spec all are protected"
                )
        return said

    def by_gamma(self, mechanism: str, level: float, settings: dict[str, Any] | None = None) -> Spec:
        """The largest gamma whose exact posterior is within the level."""
        least = gamma_bound(
            self.attacker.prior, level
        )  # within the level whatever the columns have to do with each other
        if self.single:
            return self._with(mechanism, {"gamma": least}, settings)
        low, high = math.log(least) if least > 1 else 0.0, 30.0

        def fits(log: float) -> bool:
            made = self.plan(self._with(mechanism, {"gamma": math.exp(log)}, settings))
            return self.attacker.beliefs(made).posterior <= level

        return self._with(mechanism, {"gamma": math.exp(_largest(fits, low, high))}, settings)

    def by_epsilon(self, mechanism: str, level: float) -> Spec:
        """A row exchanged for another changes odds by exp(2 epsilon) at most: to those of the level, from those of the commonest value."""
        settings = dict(self.spec.settings) if self.spec.mechanism == mechanism else {}
        return self._with(mechanism, {"epsilon": math.log(gamma_bound(self.attacker.prior, level)) / 2}, settings)

    def by_retention(self, mechanism: str, level: float) -> Spec:
        """The largest retention whose exact posterior is within the level."""
        if self.single:
            return self._with(mechanism, {"rho1": self.attacker.prior, "rho2": level})

        def fits(p: float) -> bool:
            made = self.plan(self._with(mechanism, {"retain": p}))
            return self.attacker.beliefs(made).posterior <= level

        return self._with(mechanism, {"retain": _largest(fits, 0.0, 1.0)})

    def by_value(self, mechanism: str, level: float) -> Spec:
        """For each protected value the factor that its own share allows, none for the others; least error."""
        if not self.single:
            return self.by_gamma(mechanism, level, {"objective": "error"})
        (column,) = self.attacker.columns
        counts, protected = self.attacker.counts[column], self.attacker.protected(column)
        called, rows = names(self.profile.domains[column]), float(counts.sum())
        # a value that does not occur is held as rare as half a row: its factor must not tell that nobody has it
        pairs = {v: [max(float(n), 0.5) / rows, level] for v, n, p in zip(called, counts, protected, strict=True) if p}
        free = {v: 0 for v, p in zip(called, protected, strict=True) if not p}
        return self._with(mechanism, {"gamma": 2}, {"rho": pairs, "scores": free, "objective": "error"})

    def by_posterior(self, mechanism: str, level: float, settings: dict[str, Any] | None = None) -> Spec:
        """rho2 is the level."""
        rho1 = {} if self.attacker.rho1 is None or self._all_protected else {"rho1": self.attacker.rho1}
        return self._with(mechanism, {**rho1, "rho2": level}, settings)

    def by_shape(self, mechanism: str, level: float, gamma: float, settings: dict[str, Any] | None = None) -> Spec:
        """rho2 is the level, and odds of anything change by gamma at most; by the spec's own gamma, where it has one beside rho2."""
        own = self.spec.privacy.gamma if self.spec.privacy.rho2 is not None else None
        spec = self.by_posterior(mechanism, level, settings)
        return spec.model_copy(update={"privacy": spec.privacy.model_copy(update={"gamma": own or gamma})})

    @property
    def _all_protected(self) -> bool:
        return all(self.attacker.protected(name).all() for name in self.attacker.columns)

    def by_diversity(self, mechanism: str, level: float) -> Spec:
        """1 / l is within the level."""
        return self._with(mechanism, {}, {"l": max(2, math.ceil(1 / level - 1e-9))})


def levels_of() -> dict[str, AtPosterior]:
    """How each mechanism, and each variant of one, is set to a posterior: those that promise one."""
    levels: dict[str, AtPosterior] = {}
    for mechanism in (find_mechanism(name) for name in registered()):
        if mechanism.at_posterior is not None:
            levels |= {mechanism.name: mechanism.at_posterior, **mechanism.variants}
    return levels


def advised() -> list[str]:
    """The mechanisms and variants that advice searches among."""
    chosen = [mechanism for name in registered() if (mechanism := find_mechanism(name)).advised]
    return [name for mechanism in chosen for name in (mechanism.name, *mechanism.variants)]


def known(mechanisms: Any = None) -> list[str]:
    """The mechanisms that are named, or all there are: first those that can be set to a posterior."""
    every = list(dict.fromkeys([*levels_of(), *registered()]))
    for name in mechanisms or ():
        if name not in every:
            raise ParameterError(f"there is no mechanism {name!r}{did_you_mean(name, every)}")
    return list(dict.fromkeys(mechanisms)) if mechanisms else every


def why_not(error: InputError) -> str:
    """Why a mechanism does not apply, on one line."""
    return " ".join(str(error).split())


def _largest(fits: Callable[[float], bool], low: float, high: float) -> float:
    """The largest number that fits, by bisection: `low` does."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
