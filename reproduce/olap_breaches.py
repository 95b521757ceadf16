"""Figures 13 and 14: retention and breaches on Adult."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from olap_tables import COLUMNS, Numbers
from page import Page, curves

from scumble.privacy.breach import largest_retention

SHOWN = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)


def edges(name: str) -> Numbers:
    """The ends of ten intervals of equal width, between points of the grid."""
    low, high = COLUMNS[name]
    return np.linspace(low - 0.5, high + 0.5, 11)


def shares(name: str) -> Numbers:
    """The replacement probability of each interval: a share of grid points, not of a length."""
    low, high = COLUMNS[name]
    return np.histogram(np.arange(low, high + 1), edges(name))[0] / (high - low + 1)


def relative_priors(columns: dict[str, Numbers], names: Sequence[str], observed: bool = False) -> Numbers:
    """s = prior / replacement probability for all products of 10 equiwidth intervals of some columns.

    observed   intervals between the smallest and the largest value of the table, each a tenth of a continuum, instead of the declared grid
    """
    cuts = [np.linspace(columns[c].min(), columns[c].max(), 11) if observed else edges(c) for c in names]
    counts, _ = np.histogramdd(np.stack([columns[c] for c in names], axis=1), bins=cuts)
    replaced = np.ones(())
    for name in names:
        replaced = np.multiply.outer(replaced, np.full(10, 0.1) if observed else shares(name))
    return np.asarray(counts / counts.sum() / replaced)


def posterior_by_value(columns: dict[str, Numbers], p: float, draw: np.random.Generator) -> tuple[float, float, float]:
    """For the most common of the 10 x 10 sets: its prior, Pr[in S | published in S], and the largest Pr[in S | published value]."""
    names = list(COLUMNS)[:2]
    s = relative_priors(columns, names)
    inside, sizes, drawn = [], [], []
    for name, place in zip(names, np.unravel_index(int(s.argmax()), s.shape), strict=True):
        low, high = COLUMNS[name]
        begin, end = edges(name)[place : place + 2]
        inside.append((columns[name] >= begin) & (columns[name] < end))
        sizes.append(high - low + 1)
        drawn.append(shares(name)[place])
    true = inside[0] & inside[1]
    to_set = [np.where(i, p + (1 - p) * m, (1 - p) * m) for i, m in zip(inside, drawn, strict=True)]
    both = to_set[0] * to_set[1]
    seen = draw.choice(np.flatnonzero(true), 300, replace=False)
    worst = 0.0
    for row in seen:
        like = np.ones(len(true))
        for name, m in zip(names, sizes, strict=True):
            like *= np.where(columns[name] == columns[name][row], p, 0) + (1 - p) / m
        worst = max(worst, float(like[true].sum() / like.sum()))
    return float(true.mean()), float(both[true].sum() / both.sum()), worst


def breaches(page: Page, columns: dict[str, Numbers], draw: np.random.Generator) -> None:
    page.heading("Figures 13 and 14: the largest retention that avoids a breach, rho2 = 0.95")
    page.prose(
        "Each column is cut into 10 intervals of equal width; s is the prior of a product of intervals divided by its replacement "
        "probability, a share of grid points. Theorem 5, for intervals of a tenth of each column, then gives the largest p that avoids an (s, rho1, 0.95)-breach."
    )
    rho1 = [round(0.05 * i, 2) for i in range(1, 19)]
    figures, rows, most = [], [], {}
    for number, k, theirs in ((13, 2, 15.0), (14, 3, 30.0)):
        most[k] = float(relative_priors(columns, list(COLUMNS)[:k]).max())
        lines = {
            f"s = {most[k]:.3g}, largest here": most[k],
            f"s = {theirs:g}, the paper's largest": theirs,
            "s = 1": 1.0,
            "s = 0.1": 0.1,
        }
        limits = {name: [largest_retention(s, r, 0.95, shares=[0.1] * k) for r in rho1] for name, s in lines.items()}
        series = {name: (rho1, line) for name, line in limits.items()}
        drawn = curves(series, x="rho1", y="largest p", title=f"{k} columns")
        drawn.axes[0].set_ylim(0, 1)
        figures.append((drawn, f"Figure {number}. {k} columns of Adult."))
        rows += [[k, lines[name], *[line[rho1.index(r)] for r in SHOWN]] for name, line in limits.items()]
    page.figures(figures)
    page.table(["columns", "s", *[f"rho1 = {r}" for r in SHOWN]], rows, "The largest p.")
    page.claims([_largest_claim(columns, most), *_retention_claims(most), _posterior_claim(columns, draw)])


def _largest_claim(columns: dict[str, Numbers], most: dict[int, float]) -> tuple[str, str, bool | None]:
    spread = {k: [relative_priors(columns, names).max() for names in combinations(COLUMNS, k)] for k in (2, 3)}
    near = [
        relative_priors(columns, names, observed=True).max()
        for names in (("fnlwgt", "education_num"), ("age", "fnlwgt", "education_num"))
    ]
    median = float(np.median(relative_priors(columns, list(COLUMNS)[:2])))
    here = (
        f"{most[2]:.1f} and {most[3]:.1f} for the first two and three columns. The paper does not say which it took: over all pairs the largest s is "
        f"{min(spread[2]):.1f} to {max(spread[2]):.1f}, over all triples {min(spread[3]):.0f} to {max(spread[3]):.0f}. With intervals between the smallest and "
        f"largest value seen, each taken for a tenth of a continuum, fnlwgt and education_num have {near[0]:.1f}, and with age {near[1]:.1f}. The median of 1 is over all sets of values; over these "
        f"products it is {median:.3f}"
    )
    return "the largest s is 15 (two columns) and 30 (three); the median is 1", here, False


def _retention_claims(most: dict[int, float]) -> list[tuple[str, str, bool | None]]:
    def upto(s: float, k: int, p: float) -> float:
        """The largest rho1 at which p still avoids the breach."""
        grid = np.linspace(0.01, 0.949, 940)
        return float(max((r for r in grid if largest_retention(s, r, 0.95, shares=[0.1] * k) >= p), default=0.0))

    rare, common, theirs = (
        [upto(s[k], k, p) for k in (2, 3)] for s, p in (({2: 0.1, 3: 0.1}, 0.8), (most, 0.3), ({2: 15.0, 3: 30.0}, 0.3))
    )
    return [
        (
            "if only rare properties (s <= 0.1) are to be hidden, p can be 0.8 for rho1 > 0.5",
            f"p = 0.8 holds up to rho1 = {rare[0]:.2f} (two columns) and {rare[1]:.2f} (three): a larger rho1 allows a smaller p, so "
            '"rho1 > 0.5" ends there',
            None,
        ),
        (
            "p = 0.3 hides even the most common property for rho1 > 0.5",
            f"at rho1 = 0.5 it does, and up to {common[0]:.2f} (two columns) and {common[1]:.2f} (three) for the largest s here, up to {theirs[0]:.2f} and "
            f"{theirs[1]:.2f} for the paper's; not beyond",
            None,
        ),
    ]


def _posterior_claim(columns: dict[str, Numbers], draw: np.random.Generator) -> tuple[str, str, bool | None]:
    prior, in_set, by_value = posterior_by_value(columns, 0.3, draw)
    here = (
        f"in the sense of the definition: the most common set of two columns has the prior {prior:.3f}, and Pr[true in S | published in S] = {in_set:.3f}. But a "
        f"reader sees the value and not only the set: Pr[true in S | published value] reaches {by_value:.3f}, because fnlwgt has a grid of 1.5 million points, "
        "and a published value that somebody has was hardly drawn by chance. Exact posteriors belong beside this notion"
    )
    return "reconstructability and privacy are both achieved with p = 0.3", here, None
