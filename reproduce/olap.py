"""Privacy Preserving OLAP, section 7: figures 4 to 14 on Adult and on Zipf tables, ours beside what the paper says of them.

    python reproduce/olap.py [ADULT.parquet]          writes reproduce/out/olap.html, in under a minute

A table enters an experiment as its states: which of k predicates each row satisfies. Perturbing a column and asking whether the
published value is in a range is the same as keeping the answer with probability p and otherwise drawing it with the range's
replacement probability, so experiments perturb answers; one experiment goes the whole road (publish, query) and must agree.
"""

import itertools
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import olap_breaches
import olap_road
from olap_tables import ADULT, COLUMNS, Bits, Numbers, adult, split, zipf, zipf_bits
from page import Page, curves

from scumble.core.channel import Channel
from scumble.query.likelihood import maximize

RETENTIONS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
LINES = [0.2, 0.3, 0.5, 0.7, 0.9]
METHODS = ["randomized", "inversion", "iterative"]
REPEAT = 20


def states(bits: Bits) -> Numbers:
    """The share of rows in each of the 2^k states, one dimension for each column."""
    k = bits.shape[1]
    places = bits @ (1 << np.arange(k)[::-1])
    return np.bincount(places, minlength=1 << k).reshape((2,) * k) / len(bits)


def perturb(bits: Bits, p: float, shares: Sequence[float], draw: np.random.Generator) -> Bits:
    """Each answer kept with probability p, else drawn with its predicate's replacement probability."""
    return np.where(draw.random(bits.shape) < p, bits, draw.random(bits.shape) < np.asarray(shares))


def invert(y: Numbers, channels: Sequence[Channel]) -> Numbers:
    for place, channel in enumerate(channels):
        y = np.moveaxis(channel.solve(np.moveaxis(y, place, 0)), 0, place)
    return y


def errors(bits: Bits, p: float, shares: Sequence[float], draw: np.random.Generator, repeat: int, methods=METHODS):
    """The mean l1 distance from the true shares: before reconstruction, by inversion, by the likelihood."""
    channels, truth, n = [Channel(p, [1 - s, s]) for s in shares], states(bits), len(bits)
    found = dict.fromkeys(methods, 0.0)
    for _ in range(repeat):
        y = states(perturb(bits, p, shares, draw))
        for method in methods:
            x = y
            if method == "inversion":
                x = invert(y, channels)
            elif method == "iterative":
                x = maximize(y * n, channels).counts / n
            found[method] += float(np.abs(x - truth).sum()) / repeat
    return found


def against_retention(page: Page, bits: Bits, shares: list[float], draw: np.random.Generator) -> None:
    page.heading("Figures 4 and 5: reconstruction error against retention, 2 and 3 predicates on Adult")
    page.prose(
        "The l1 distance between the estimated and the true shares of the 2^k states, for age[25-45], fnlwgt[100000-1000000] and "
        f"hours_per_week[30-60], mean of {REPEAT} perturbations."
    )
    figures, results = [], {}
    for number, k in ((4, 2), (5, 3)):
        results[k] = {p: errors(bits[:, :k], p, shares[:k], draw, REPEAT) for p in RETENTIONS}
        series = {m: (RETENTIONS, [results[k][p][m] for p in RETENTIONS]) for m in METHODS}
        drawn = curves(series, x="retention probability p", y="l1 error", log="y", title=f"{k} predicates")
        figures.append((drawn, f"Figure {number}. Conjunction of {k} predicates."))
    page.figures(figures)
    headings = ["p", *[f"{m}, k = {k}" for k in (2, 3) for m in METHODS]]
    page.table(headings, [[p, *[results[k][p][m] for k in (2, 3) for m in METHODS]] for p in RETENTIONS])
    few, many = results[3][0.1], results[3][0.9]
    page.claims(
        [
            (
                "iterative gives smaller errors than inversion, most where columns are many and p is small",
                f"k = 3: {few['iterative']:.3f} against {few['inversion']:.3f} at p = 0.1, {many['iterative']:.4f} against "
                f"{many['inversion']:.4f} at p = 0.9, where nothing is negative and the two are one",
                few["iterative"] < few["inversion"],
            ),
            (
                "at p = 0.3 the reconstruction error is low for 2 and 3 columns",
                f"{results[2][0.3]['iterative']:.3f} and {results[3][0.3]['iterative']:.3f}",
                results[3][0.3]["iterative"] < 0.2,
            ),
            (
                "reconstruction is far below the randomized baseline",
                f"k = 3, p = 0.5: {results[3][0.5]['iterative']:.3f} against {results[3][0.5]['randomized']:.3f}. At p = 0.1 inversion "
                f"({few['inversion']:.2f}) is worse than no reconstruction ({few['randomized']:.2f})",
                None if few["inversion"] > few["randomized"] else True,
            ),
        ]
    )


def condition(page: Page) -> None:
    page.heading("Figure 6: condition number of the transition matrix")
    ks = range(1, 9)

    def number(p: float, k: int, share: float = 0.5) -> float:
        A = np.eye(1)
        for _ in range(k):
            A = np.kron(A, Channel(p, [1 - share, share]).matrix())
        return float(np.linalg.cond(A))

    found = {p: [number(p, k) for k in ks] for p in LINES}
    series = {f"p = {p}": (list(ks), found[p]) for p in LINES}
    page.figure(
        curves(series, x="columns k", y="condition number", log="y"), "Figure 6. Selectivity 0.5: exactly p^-k."
    )
    page.table(["p", *[f"k = {k}" for k in ks]], [[p, *found[p]] for p in LINES])
    off = max(abs(found[p][k - 1] * p**k - 1) for p in LINES for k in ks)
    page.claims(
        [
            (
                "grows exponentially in the number of columns, and as p falls",
                f"p^-k to {off:.0e}; for a selectivity of 0.1 it is larger: {number(0.5, 4, 0.1):.1f} instead of 16 at p = 0.5, k = 4",
                off < 1e-6,
            )
        ]
    )


def against_columns(page: Page, bits: Bits, shares: list[float], draw: np.random.Generator) -> None:
    page.heading("Figures 7 and 8: number of columns on Adult, iterative and inversion")
    ks = [1, 2, 3, 4]
    found = {(p, k): errors(bits[:, :k], p, shares[:k], draw, REPEAT, METHODS[1:]) for p in LINES for k in ks}
    figures = []
    for number, method in ((7, "iterative"), (8, "inversion")):
        series = {f"p = {p}": (ks, [found[p, k][method] for k in ks]) for p in LINES}
        drawn = curves(series, x="columns k", y="l1 error", log="y", title=method)
        figures.append((drawn, f"Figure {number}. The same four predicates, by the {method} algorithm."))
    page.figures(figures)
    rows = [[m, p, *[found[p, k][m] for k in ks]] for m in ("iterative", "inversion") for p in LINES]
    page.table(["method", "p", *[f"k = {k}" for k in ks]], rows)
    low, high = found[0.2, 4], found[0.7, 2]
    page.claims(
        [
            (
                "few columns and high retention: comparable errors",
                f"k = 2, p = 0.7: {high['iterative']:.4f} and {high['inversion']:.4f}",
                abs(high["iterative"] / high["inversion"] - 1) < 0.1,
            ),
            (
                "many columns and low retention: iterative below inversion, which grows without bound",
                f"k = 4, p = 0.2: {low['iterative']:.2f} against {low['inversion']:.2f}",
                low["iterative"] < low["inversion"],
            ),
        ]
    )


def zipf_columns(page: Page, draw: np.random.Generator) -> None:
    page.heading("Figure 9: number of columns on Zipf, 100,000 rows")
    page.prose(
        "Uncorrelated Zipf columns of parameter 0.5 whose rarest value occurs 5 times, so that a table of n rows has n/10 distinct "
        "values. Values are in no order of frequency, and each predicate takes half of them: selectivity and replacement probability are both 0.5."
    )
    ks, bits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], zipf_bits(100_000, 10, draw)
    found = {
        (p, k): errors(bits[:, :k], p, [0.5] * k, draw, 20 if k < 6 else 5, METHODS[1:]) for p in LINES for k in ks
    }
    series = {f"p = {p}": (ks, [found[p, k]["iterative"] for k in ks]) for p in LINES}
    page.figure(
        curves(series, x="columns k", y="l1 error", log="y"),
        "Figure 9. Iterative method, mean of 20 (up to 5 columns) and of 5.",
    )
    page.table(["p", *[f"k = {k}" for k in ks]], [[p, *[found[p, k]["iterative"] for k in ks]] for p in LINES])
    grow = [found[0.2, k]["iterative"] for k in (1, 4, 7, 10)]
    page.claims(
        [
            (
                "after an exponential increase the error flattens out: it cannot pass 2",
                f"p = 0.2: times {grow[1] / grow[0]:.0f}, {grow[2] / grow[1]:.1f}, {grow[3] / grow[2]:.2f} for each three more columns, "
                f"up to {grow[3]:.2f}; inversion is at {found[0.2, 10]['inversion']:.3g}",
                grow[3] / grow[2] < grow[1] / grow[0] and grow[3] <= 2,
            )
        ]
    )


def zipf_rows(page: Page, draw: np.random.Generator) -> None:
    page.heading("Figure 10: number of rows on Zipf, 8 columns")
    rows = [1_000, 10_000, 100_000, 1_000_000]
    found: dict[tuple[float, int], float] = {}
    for n in rows:
        bits = zipf_bits(n, 8, draw)
        for p in LINES:
            found[p, n] = errors(bits, p, [0.5] * 8, draw, 3 if n < 1_000_000 else 1, ["iterative"])["iterative"]
    series = {f"p = {p}": (rows, [found[p, n] for n in rows]) for p in LINES}
    guide = {"slope -0.5": ([1e3, 1e6], [0.5, 0.5 / 31.6])}
    page.figure(
        curves(series, x="rows n", y="l1 error", log="xy", guides=guide),
        "Figure 10. Iterative method; the last decade is ours.",
    )
    slopes = {p: [float(np.log10(found[p, b] / found[p, a])) for a, b in itertools.pairwise(rows)] for p in LINES}
    decades = [f"slope to {n:,}" for n in rows[1:]]
    page.table(
        ["p", *[f"n = {n:,}" for n in rows], *decades], [[p, *[found[p, n] for n in rows], *slopes[p]] for p in LINES]
    )
    page.claims(
        [
            (
                "for large n the error falls as n^-0.5",
                f"slope of the last decade {slopes[0.9][-1]:.2f} at p = 0.9, {slopes[0.7][-1]:.2f} at 0.7, {slopes[0.5][-1]:.2f} at 0.5. At p = 0.2 "
                f"({slopes[0.2][-1]:.2f}) even a million rows are not large: 0.2^-8 is 390,000",
                abs(slopes[0.9][-1] + 0.5) < 0.1,
            )
        ]
    )


def interval_width(page: Page, draw: np.random.Generator) -> None:
    page.heading("Figures 11 and 12: width of the interval, one Zipf column, p = 0.2")
    widths, p, rows = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], 0.2, [1_000, 10_000, 100_000]
    absolute, relative = {}, {}
    for n in rows:
        column = zipf(n, draw)
        for w in widths:
            bits = (column < round(w * (n // 10)))[:, None]
            share, actual = round(w * (n // 10)) / (n // 10), bits.mean()
            seen = np.array([perturb(bits, p, [share], draw).mean() for _ in range(100)])
            off = np.abs((seen - (1 - p) * share) / p - actual)
            absolute[n, w], relative[n, w] = float(off.mean()), float(off.mean() / actual)
    figures = []
    for number, name, what in ((11, "absolute error", absolute), (12, "relative error", relative)):
        series = {f"n = {n:,}": (widths, [what[n, w] for w in widths]) for n in rows}
        figures.append(
            (
                curves(series, x="interval width / domain", y=name, log="y"),
                f"Figure {number}. Mean of 100 perturbations.",
            )
        )
    page.figures(figures)
    headings = ["width", *[f"{what}, 10^{e}" for what in ("absolute", "relative") for e in (3, 4, 5)]]
    lines = [[w, *[absolute[n, w] for n in rows], *[relative[n, w] for n in rows]] for w in widths]
    page.table(headings, lines, "Errors by number of rows.")
    apart = float(np.mean([absolute[1_000, w] / absolute[100_000, w] for w in widths]))
    middle = [absolute[100_000, w] for w in widths if 0.2 <= w <= 0.8]
    page.claims(
        [
            (
                "the absolute error does not vary much with the width",
                f"from 0.2 to 0.8 within a factor {max(middle) / min(middle):.2f}; it is proportional to about sqrt(w (1 - w)), so a width of 0.02 has "
                f"{absolute[100_000, 0.5] / absolute[100_000, 0.02]:.1f} times less than 0.5",
                None,
            ),
            (
                "the relative error increases as the width decreases",
                f"n = 100,000: {relative[100_000, 0.9]:.4f} at 0.9, {relative[100_000, 0.1]:.3f} at 0.1",
                relative[100_000, 0.1] > relative[100_000, 0.9],
            ),
            (
                "a factor 10 between the lines of 1,000 and 100,000 rows",
                f"{apart:.1f} on average",
                8 < apart < 12.5,
            ),
        ]
    )


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ADULT
    if not path.exists():
        sys.exit(f"there is no Adult table at {path}; give its path: python reproduce/olap.py adult.parquet")
    began, draw = time.perf_counter(), np.random.default_rng(2005)
    train = split(path, "train")
    bits, shares, columns = adult(train)
    page = Page(
        "Privacy Preserving OLAP, reproduced",
        "Section 7 of the paper: figures 4 to 14, our numbers beside what it says.",
    )
    ranges = ", ".join(f"{c} {low}-{high}" for c, (low, high) in COLUMNS.items())
    page.prose(
        f"Adult has {len(bits):,} rows. Columns are integers on the paper's ranges ({ranges}), so the replacement probability of "
        "age[25-45] is 21/74: a share of grid points, not of a length. **Inversion** is the unbiased estimate. **Iterative** is the "
        "constrained maximum likelihood, from a strictly positive start and to within 0.001 of the largest log-likelihood; the paper starts "
        "from the published table, where a state that was not seen stays empty, and stops when two iterates do not differ much."
    )
    against_retention(page, bits, shares, draw)
    condition(page)
    against_columns(page, bits, shares, draw)
    zipf_columns(page, draw)
    zipf_rows(page, draw)
    interval_width(page, draw)
    olap_breaches.breaches(page, columns, draw)
    olap_road.question(page, train)
    olap_road.tree(page, train, split(path, "test"))
    page.write("olap.html")
    print(f"in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
