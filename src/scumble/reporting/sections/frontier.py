"""Risk against error: what other settings would have given, and where this release stands.

The curve of uniform perturbation is computed, not measured. With m values, n rows and shares f_i, a value's count has the variance

    n f_i a (1 - a) / p^2 + n (1 - f_i) b (1 - b) / p^2        b = (1 - p) / m,  a = p + b

and the largest posterior of value i is f_i a / (f_i a + (1 - f_i) b), where its own value was published.
"""

import math

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.core.errors import InputError
from scumble.privacy.values import worst_posteriors
from scumble.reporting.figure import figure, text
from scumble.reporting.numbers import share
from scumble.reporting.plots.frontier import FrontierPoint
from scumble.reporting.plots.frontier import frontier as draw
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject, shares

RETENTIONS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
MOST_VALUES = 2000
TITLE = "Risk against error"
ERROR = "typical error, of all rows"

Numbers = npt.NDArray[np.float64]


def frontier(subject: Subject) -> Section:
    """The section."""
    name = _column(subject)
    if name is None:
        return Section("frontier", TITLE, why_not=_why_not(subject))
    try:
        prior = _prior(subject, name)
        here = _this(subject, name, prior)
    except InputError as error:
        return Section(
            "frontier",
            TITLE,
            why_not=f"The distribution of {text(name)} cannot be estimated from this release: {error}.",
        )
    rows = subject.total
    settings = [
        FrontierPoint("uniform perturbation", largest_posterior(p, prior), typical_error(p, prior, rows))
        for p in RETENTIONS
    ]
    alt = (
        f"For {text(name)}: the more error is accepted, the smaller the largest belief in any value after seeing a row. This release has a largest belief of {share(here.posterior)} and a typical error of "
        f"{share(here.error, 2)} of the rows."
    )
    key = (("circle", "uniform perturbation, by its retention"), ("ring", "this release"))
    drawn = figure(lambda width: draw([*settings, here], ERROR, width), "", alt, key)
    lines = [
        (f"uniform, kept with {p:g}", share(s.posterior), share(s.error, 2), False)
        for p, s in zip(RETENTIONS, settings, strict=True)
        if p in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
    ]
    lines.append((f"this release ({subject.manifest.mechanism})", share(here.posterior), share(here.error, 2), True))
    return Section(
        "frontier",
        TITLE,
        {"figure": drawn, "column": text(name), "lines": lines, "commonest": share(float(prior.max()))},
    )


def standing(subject: Subject) -> float | None:
    """The largest belief after seeing a row of the release, where it can be computed."""
    name = _column(subject)
    return None if name is None else _this(subject, name, _prior(subject, name)).posterior


def _column(subject: Subject) -> str | None:
    """The first perturbed column whose posteriors are computed in full."""
    perturbed = subject.manifest.sensitive if subject.manifest.view.row_by_row else []
    return next((name for name in perturbed if subject.manifest.domains[name].size <= MOST_VALUES), None)


def largest_posterior(p: float, prior: Numbers) -> float:
    """Under uniform perturbation with retention p.

    >>> round(largest_posterior(0.5, np.array([0.5, 0.5])), 3)
    0.75
    """
    b = (1 - p) / len(prior)
    a = p + b
    return float(np.max(prior * a / (prior * a + (1 - prior) * b)))


def typical_error(p: float, prior: Numbers, rows: float) -> float:
    """The root of the mean variance of the values' counts, over the number of rows."""
    b = (1 - p) / len(prior)
    a = p + b
    variance = (prior * a * (1 - a) + (1 - prior) * b * (1 - b)) / p**2
    return float(math.sqrt(variance.mean() / rows))


def _prior(subject: Subject, name: str) -> Numbers:
    """The shares of the values: true ones where they are known, else estimated ones without negative parts."""
    column, domain = exp.column(name, quoted=True), subject.manifest.domains[name]
    truth = subject.true_counts([column])
    if truth is not None:
        return shares(np.array([truth.get((value,), 0) for value in domain.values.to_pylist()], dtype=np.float64))
    estimates = subject.ask([column])
    return shares(np.nan_to_num(estimates.estimates[0].value))


def _this(subject: Subject, name: str, prior: Numbers) -> FrontierPoint:
    """Where the release itself stands: its channel's largest posterior, and the standard errors of its own answers."""
    errors = subject.ask([exp.column(name, quoted=True)]).estimates[0].se
    error = float(np.sqrt(np.nanmean(errors**2))) / subject.total
    return FrontierPoint("this release", _posterior(subject, name, prior), error, this=True)


def _posterior(subject: Subject, name: str, prior: Numbers) -> float:
    """Of the channel, of several owners' the weakest; the shares within sub-tables are not those of the table, and what they come to is in the manifest."""
    stated = [g.parameters["largest_posterior"] for g in subject.terms.guarantees if g.kind == "subtable_posterior"]
    if stated:
        return max(stated)
    channels = [channels[name] for channels in subject.release.strata]
    return max(float(np.max(worst_posteriors(channel, prior).largest)) for channel in channels)


def _why_not(subject: Subject) -> str:
    if subject.manifest.sensitive and subject.manifest.view.row_by_row:
        return "The sensitive columns have so many values that posteriors are not computed here; scumble plan prints them for a spec."
    return "The privacy of this release is not set by a retention alone, so there is no curve to compute. scumble compare measures mechanisms beside each other on the raw table."
