"""Other mechanisms at the same privacy, measured: what the same largest belief would have cost in error with each of them."""

from typing import Any

from scumble.core.domain import Grid
from scumble.core.errors import InputError
from scumble.core.parameters import plain
from scumble.core.scale import Scale
from scumble.evaluate import Truth, compare
from scumble.evaluate.attacker import Attacker
from scumble.mechanisms import find_mechanism, names
from scumble.reporting.figure import text
from scumble.reporting.numbers import share
from scumble.reporting.section import Section
from scumble.reporting.sections.frontier import standing
from scumble.reporting.subject import Subject
from scumble.spec.spec import ColumnSpec, Spec

REPETITIONS = 3
TITLE = "Other mechanisms at the same privacy"


def mechanisms(subject: Subject) -> Section | None:
    """The section; only in an internal edition that asks for it, because the table is published many times over."""
    if not subject.compare:
        return None
    here = _level(subject)
    if here is None or subject.truth is None:
        return Section(
            "mechanisms",
            TITLE,
            why_not="This release has no column that is perturbed by itself, to whose privacy others could be set.",
        )
    try:
        comparison = compare(
            subject.truth,
            _spec(subject),
            mechanisms=_comparable(),
            levels=[here],
            repetitions=REPETITIONS,
            processes=1,
            seed=1,
        )
    except InputError as error:
        return Section("mechanisms", TITLE, why_not=f"Nothing can be compared: {error}.")
    best = comparison.frontier()
    lines = [
        (
            line.setting.name,
            line.setting.label,
            share(line.posterior),
            share(line.error),
            share(line.metrics["median_relative_error"][1], 2),
            f"× {plain(line.setting.beliefs.factor, 3)}" if line.setting.beliefs.factor < 1e12 else "none",
            line in best,
        )
        for line in sorted(comparison.lines, key=lambda line: line.error)
    ]
    facts = {
        "lines": lines,
        "level": share(here),
        "mechanism": subject.manifest.mechanism,
        "repetitions": REPETITIONS,
        "questions": comparison.questions,
        "refused": [(name, text(why)) for name, why in comparison.refused.items()],
    }
    return Section("mechanisms", TITLE, facts)


def _comparable() -> list[str]:
    """Mechanisms that publish rows with a channel for each column, whose privacy can be set to one posterior."""
    known = [find_mechanism(name) for name in names()]
    return [m.name for m in known if m.form == "rows" and m.at_posterior and not m.traits.columns_together]


def _level(subject: Subject) -> float | None:
    """The largest belief in a value after seeing a row: all of its perturbed columns together, as others are set to."""
    manifest = subject.manifest
    if len(manifest.sensitive) < 2 or not manifest.view.row_by_row or subject.truth is None:
        return standing(subject)
    if find_mechanism(manifest.mechanism).traits.columns_together:
        return None
    truth = Truth(subject.truth, manifest.public, manifest.sensitive, manifest.domains)
    return Attacker.of(truth).together(subject.release.strata[0]).posterior


def _spec(subject: Subject) -> Spec:
    """The columns of the release, with the domains that it declares."""
    columns: dict[str, dict[str, Any]] = {name: {"role": "public"} for name in subject.manifest.public}
    for name, domain in subject.manifest.domains.items():
        if isinstance(domain, Grid | Scale):
            given: dict[str, Any] = {"low": domain.low, "high": domain.high, "step": domain.step}
            given["missing"] = isinstance(domain, Scale) and domain.missing
        else:
            kept = domain.values.drop_null().to_pylist()
            given = {"values": kept, "missing": len(kept) < domain.size}
        columns[name] = {"role": "sensitive", **given}
    return Spec(columns={name: ColumnSpec.model_validate(fields) for name, fields in columns.items()})
