"""Mechanisms beside each other: the errors that they cost at one privacy, and one of them over a range of privacy.

Every line is made by really publishing and really asking, many times with fresh coins. What makes lines comparable, and what does not, is
in attacker.py and docs/compare.md.
"""

import math
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.core.display import Card, Grid, Items, Note, Part, Shown
from scumble.core.errors import InputError, ParameterError
from scumble.core.parameters import number, plain
from scumble.core.scratch import private_folder
from scumble.evaluate.attacker import Attacker
from scumble.evaluate.measured import FLOORS, Truths, percent
from scumble.evaluate.parallel import Progress, demand, run
from scumble.evaluate.settings import Setter, Setting, known, levels_of, why_not
from scumble.evaluate.specified_table import SpecifiedTable
from scumble.evaluate.trial import Bench, drawn, trial
from scumble.evaluate.workload import Workload
from scumble.mechanisms.words import TRUSTED

RANGE = (1.5, 2.0, 3.0, 5.0, 9.0)
"""Factors on the odds of the commonest protected value, for one mechanism over a range of privacy."""


@dataclass(frozen=True)
class Compared:
    """One mechanism at one setting."""

    setting: Setting
    posterior: float
    guess: float
    metrics: dict[str, tuple[float, float]]
    """Mean and standard deviation over the repetitions."""
    repetitions: int

    @property
    def equal(self) -> bool:
        """Whether its posterior was set, and can be compared."""
        return self.setting.level is not None

    @property
    def error(self) -> float:
        """The median relative error of the workload."""
        return self.metrics["median_relative_error"][0]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        line: dict[str, Any] = {
            "mechanism": self.setting.name,
            "setting": self.setting.label,
            "equal": self.equal,
            "level": self.setting.level,
            "posterior": _finite(self.posterior),
            "guess": _finite(self.guess),
            "rise": _finite(self.setting.beliefs.rise),
            "factor": _finite(self.setting.beliefs.factor),
            "kept": _finite(self.setting.beliefs.kept),
            "guarantee": self.setting.guarantee,
            "repetitions": self.repetitions,
        }
        for name, (mean, deviation) in self.metrics.items():
            plain = name.replace(" ", "_")
            line |= {plain: _finite(mean), f"{plain}_sd": _finite(deviation)}
        return line


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Mechanisms on one table and one workload."""

    lines: Sequence[Compared]
    refused: dict[str, str]
    """Mechanisms that do not apply, and why."""
    prior: float
    """What is believed of the commonest protected value without any release."""
    rows: int
    questions: int
    seed: int
    exempt: Sequence[str] = ()
    """What is said of values that the posterior is not about."""

    def to_list(self) -> list[dict[str, Any]]:
        """A dictionary for each line."""
        best = self.frontier()
        return [{**line.to_dict(), "frontier": line in best} for line in self.lines]

    def to_arrow(self) -> pa.Table:
        """A row for each line."""
        return pa.Table.from_pylist(self.to_list())

    def frontier(self) -> list[Compared]:
        """The comparable lines that no other beats in both posterior and error, by posterior."""
        able = [line for line in self.lines if line.equal and math.isfinite(line.error)]
        best = [one for one in able if not any(_beats(other, one) for other in able)]
        return sorted(best, key=lambda line: line.posterior)

    def card(self) -> Card:
        """A table for each level, what cannot be compared, and what does not apply."""
        parts: list[Part] = [Note(sentence) for sentence in self.exempt]
        levels = dict.fromkeys(line.setting.level for line in self.lines if line.equal)
        best = self.frontier()
        for level in levels:
            assert level is not None
            lines = [line for line in self.lines if line.setting.level == level]
            parts += [
                Note(f"posterior at most {level:.4g}, by the beliefs of whoever knows the table's shares:"),
                _grid(lines, best),
            ]
        if central := list(dict.fromkeys(line.setting.name for line in self.lines if line.setting.central)):
            parts.append(
                Note(f"{', '.join(central)}: {TRUSTED} Its posterior is a bound, for whoever knows all other rows.")
            )
        others = [line for line in self.lines if not line.equal]
        if others:
            parts += [Note("another promise: set by itself, NOT at equal privacy:"), _grid(others, [])]
            parts.append(
                Items("what these promise", [f"{line.setting.name}: {line.setting.guarantee}" for line in others])
            )
        if self.refused:
            parts.append(Items("does not apply", [f"{name}: {why}" for name, why in self.refused.items()]))
        title = f"{self.rows:,} rows, {self.questions:,} question{'' if self.questions == 1 else 's'}; without a release the commonest protected value is believed with {self.prior:.4g}"
        return Card(title, [*parts, *(Note(text) for text in LEGEND)])


LEGEND = [
    "* on the frontier: no comparable line has a smaller posterior and a smaller error",
    "posterior: the largest belief in a protected value after seeing a row. rise: the most by which the belief in any of them is multiplied. guess: how often the best guess is right. "
    "other beliefs: odds change by at most this factor for every attacker; none: nothing is promised for other beliefs",
    "error: median relative error, ± its standard deviation over publications; at 0.1%, 0.5%, 1%: mean relative error of counts of that share "
    "or more. coverage: 95% intervals that hold the truth. width: of an interval, over the truth. TV: total variation between the reconstructed and the true "
    "sensitive column. kept: rows published with their true value. rows: published. refused: questions that it does not answer",
]


def compare(
    table: Any,
    spec: Any = None,
    *,
    mechanisms: Sequence[str] | None = None,
    levels: Sequence[Any] | None = None,
    workload: Workload | None = None,
    repetitions: int = 20,
    processes: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Publishes a table by every mechanism that applies, at the same privacy, and measures what each costs.

    table, spec  a spec (.toml) that names its table; or a table, and a spec for it
    mechanisms   those to compare; all when absent
    levels       posteriors to set them to, such as "1/6"; when absent that of the spec, and for one mechanism a range
    workload     the questions; a random pool of 200 counts when absent
    repetitions  how often each is published
    processes    how many at a time; as many as there are processors when absent
    seed         the same numbers again
    """
    demand(repetitions, processes)
    subject = SpecifiedTable.of(table, spec)
    attacker = Attacker.of(subject.truth, subject.spec.privacy.rho1)
    setter = Setter(subject.spec, subject.profile, attacker)
    chosen = known(mechanisms)
    asked = [attacker.demand(level) for level in levels] if levels else _levels(setter, chosen)
    settings, refused = _settings(setter, chosen, asked)
    _demand_some(settings, refused)
    seed = drawn(seed)
    pool = workload or Workload.counts(subject.truth, seed=seed)
    truths = Truths.of(subject.truth, pool)
    with tempfile.TemporaryDirectory(dir=private_folder(os.getpid())) as folder:
        bench = Bench.of(subject.truth, [setting.spec for setting in settings], truths, folder, seed)
        tasks = [(i, r) for i, s in enumerate(settings) for r in range(1 if s.deterministic else repetitions)]
        outcomes = run(trial, bench, tasks, processes, progress)
    lines = []
    for i, setting in enumerate(settings):
        results = [result for (place, _), result in zip(tasks, outcomes, strict=True) if place == i]
        whys = [result for result in results if isinstance(result, str)]
        if whys:
            refused[setting.name] = whys[0]
        else:
            lines.append(_compared(setting, [result for result in results if not isinstance(result, str)]))
    _demand_some(lines, refused)
    return Comparison(lines, refused, attacker.prior, subject.truth.rows, len(pool), seed, setter.exempt)


def _demand_some(settings: Sequence[object], refused: dict[str, str]) -> None:
    if not settings:
        raise ParameterError(f"no mechanism applies: {'; '.join(f'{name}: {why}' for name, why in refused.items())}")


def _levels(setter: Setter, chosen: Sequence[str]) -> list[float]:
    """The spec's own posterior; for one mechanism a range."""
    prior = setter.attacker.prior
    odds = prior / (1 - prior)
    if len(chosen) == 1:
        return [factor * odds / (1 + factor * odds) for factor in RANGE]
    target = setter.spec.privacy
    if target.rho2 is not None and prior < number(target.rho2, "rho2") < 1:
        return [number(target.rho2, "rho2")]
    try:
        own = setter.attacker.beliefs(setter.plan(setter.spec)).posterior
    except InputError:
        own = math.nan
    return [own if prior < own < 1 else 3 * odds / (1 + 3 * odds)]


def _settings(setter: Setter, chosen: Iterable[str], levels: Sequence[float]) -> tuple[list[Setting], dict[str, str]]:
    settings: list[Setting] = []
    refused: dict[str, str] = {}
    for name in chosen:
        ways = levels if name in levels_of() else [None]
        for level in ways:
            try:
                settings.append(setter.own(name) if level is None else setter.at(name, level))
            except InputError as error:
                refused[name] = why_not(error)
    settings.sort(key=lambda setting: (setting.level is None, setting.level or 0.0))
    return settings, refused


def _compared(setting: Setting, results: Sequence[dict[str, float]]) -> Compared:
    names = list(dict.fromkeys(name for result in results for name in result))
    metrics = {name: _spread([result[name] for result in results if name in result]) for name in names}
    posterior, guess = (metrics.pop(name, (math.nan, 0.0))[0] for name in ("posterior", "guess"))
    by_plan = setting.beliefs
    return Compared(
        setting,
        by_plan.posterior if math.isfinite(by_plan.posterior) else posterior,
        by_plan.guess if math.isfinite(by_plan.guess) else guess,
        metrics,
        len(results),
    )


def _spread(numbers: Sequence[float]) -> tuple[float, float]:
    known_ = np.array([n for n in numbers if not math.isnan(n)])
    if not len(known_):
        return math.nan, math.nan
    return float(known_.mean()), float(known_.std(ddof=1)) if len(known_) > 1 else math.nan


def _beats(one: Compared, other: Compared) -> bool:
    """Posteriors within 1% are alike."""
    no_worse = one.posterior <= other.posterior * 1.01 and one.error <= other.error
    return no_worse and (one.posterior < other.posterior / 1.01 or one.error < other.error)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _belief(line: Compared) -> str:
    """The posterior; at most that, where there are too many combinations to compute it."""
    if math.isnan(line.posterior):
        return "-"
    return f"{'≤ ' if line.setting.beliefs.bound else ''}{line.posterior:.3g}"


def _grid(lines: Sequence[Compared], best: Sequence[Compared]) -> Grid:
    headings = ["", "mechanism", "setting", "posterior", "rise", "guess", "other beliefs", "error", "±"]
    headings += [f"at {floor:.1%}" for floor in FLOORS] + ["coverage", "width", "TV", "kept", "rows", "refused"]
    rows = []
    for line in sorted(lines, key=lambda point: (math.isnan(point.error), point.error)):
        m, factor = line.metrics, line.setting.beliefs.factor
        rows.append(
            [
                "*" if line in best else "",
                line.setting.name,
                line.setting.label,
                _belief(line),
                f"x {plain(line.setting.beliefs.rise, 3)}" if math.isfinite(line.setting.beliefs.rise) else "-",
                percent(line.guess),
                f"x {plain(factor, 3)}" if factor < 1e4 else "none",
                percent(line.error),
                percent(m["median_relative_error"][1]),
                *[percent(m[f"error at {floor:g}"][0]) for floor in FLOORS],
                percent(m["coverage"][0]),
                percent(m["median_width"][0]),
                plain(round(m["total_variation"][0], 9), 3) if "total_variation" in m else "-",
                percent(line.setting.beliefs.kept),
                f"{m['rows'][0]:,.0f}",
                f"{m['refused'][0]:.0f}",
            ]
        )
    return Grid(headings, rows, left=[0, 1, 2])
