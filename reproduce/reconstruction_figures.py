"""Figures 1 to 5 of reconstruction privacy: sizes, violations and errors, in the paper's mode and in ours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from groups import Counts, Data, Pool, pool, published, sizes
from page import Page, curves

from scumble.core.entropy import Entropy
from scumble.privacy.reconstruction import sample_size
from scumble.privacy.violations import violations

GRID = {"p": [0.1, 0.3, 0.5, 0.7, 0.9], "lambda": [0.1, 0.2, 0.3, 0.4, 0.5], "delta": [0.1, 0.2, 0.3, 0.4, 0.5]}
DEFAULT = {"p": 0.5, "lambda": 0.3, "delta": 0.3}
MODES: dict[str, dict[str, object] | None] = {
    "UP": None,
    "SPS, the paper's sizes": {"sizes": "paper", "tail": "chernoff"},
    "SPS, exact, ladder": {"sizes": "ladder"},
    "SPS, exact, one size": {},
}
SOURCE = Entropy.seeded(20)


def thresholds(page: Page) -> None:
    page.heading("Figure 1: how large a group may be")
    figures = []
    for m, low in ((2, 0.5), (50, 0.1)):
        f = np.arange(low, 0.91, 0.1).round(1)
        lines = {f"p = {p}, Chernoff": (f, sample_size(f, p, m, 0.3, 0.3, tail="chernoff")) for p in (0.3, 0.5, 0.7)}
        lines |= {f"p = {p}, exact": (f, np.maximum(sample_size(f, p, m, 0.3, 0.3), 0.5)) for p in (0.3, 0.5, 0.7)}
        figures.append(
            (
                curves(lines, x="largest frequency f", y="s", log="y", title=f"m = {m}"),
                f"Figure 1, m = {m}: lambda = delta = 0.3. Exact tails of 0.3 leave a handful of records; 0.5 on the axis means none.",
            )
        )
    page.figures(figures)
    rows = [
        [
            m,
            f,
            sample_size(f, 0.5, m, 0.3, 0.3, tail="chernoff"),
            sample_size(f, 0.5, m, 0.3, 0.3),
            sample_size(f, 0.5, m, 0.3, 0.1),
        ]
        for m, fs in ((2, (0.5, 0.7, 0.9, 1)), (50, (0.1, 0.3, 0.5, 0.9, 1)))
        for f in fs
    ]
    page.table(
        ["m", "f", "Chernoff, delta = 0.3 (paper)", "exact, 0.3", "exact, 0.1 (ours)"],
        rows,
        "Sizes at p = 0.5, lambda = 0.3.",
    )


def setting(name: str, value: float) -> dict[str, float]:
    return DEFAULT | {name: value}


def violated(page: Page, number: int, data: Data) -> None:
    counts = data.groups()[1]
    figures, rows = [], []
    for name, values in GRID.items():
        found = [
            violations(counts, s["p"], s["lambda"], s["delta"], worst=0) for s in (setting(name, v) for v in values)
        ]
        lines = {
            f"{what}, {test}": (values, [getattr(getattr(v, test), share) for v in found])
            for test in ("chernoff", "exact")
            for what, share in (("v_g", "groups"), ("v_r", "records"))
        }
        figures.append((curves(lines, x=name, y="share that fails", size=(4.2, 3.2)), f"Figure {number}, {name}."))
        rows += [
            [name, v, f.chernoff.groups, f.chernoff.records, f.exact.groups, f.exact.records]
            for v, f in zip(values, found, strict=True)
        ]
    page.figures(figures)
    page.table(
        ["parameter", "value", "v_g, Chernoff (paper)", "v_r", "v_g, exact", "v_r"],
        rows,
        f"Numbers of figure {number}: {len(counts):,} groups, uniform perturbation.",
    )


def error(counts: Counts, queries: Pool, p: float, how: dict[str, object] | None, runs: int, label: str) -> float:
    size = sizes(counts, p, how)
    if size is None:
        return float("nan")
    found = [queries.error(published(SOURCE.stream("error", label, run), counts, p, size)) for run in range(runs)]
    return float(np.mean(found))


def costs(page: Page, number: int, data: Data, queries: Pool, runs: int) -> dict[str, float]:
    counts = data.groups()[1]
    figures, rows, defaults = [], [], {}
    for name, values in GRID.items():
        lines: dict[str, tuple[Sequence[float], list[float]]] = {}
        for mode, how in MODES.items():
            settings = [setting(name, v) for v in values]
            asked = [None if how is None else {**how, "lambda": s["lambda"], "delta": s["delta"]} for s in settings]
            lines[mode] = (
                values,
                [
                    error(counts, queries, s["p"], a, runs, f"{data.name} {mode} {name} {s}")
                    for s, a in zip(settings, asked, strict=True)
                ],
            )
            if name == "p":
                defaults[mode] = lines[mode][1][2]
        figures.append(
            (curves(lines, x=name, y="mean relative error", log="y", size=(4.6, 3.6)), f"Figure {number}, {name}.")
        )
        rows += [[name, v, *[lines[mode][1][i] for mode in MODES]] for i, v in enumerate(values)]
    page.figures(figures)
    page.table(
        ["parameter", "value", *MODES],
        rows,
        f"Numbers of figure {number}: mean relative error of {len(queries.value):,} queries, {runs} runs; empty (nan) where exact tails allow not one record.",
    )
    ours = {"sizes": "one", "delta": 0.1}
    defaults["SPS by default (exact, one size, delta = 0.1)"] = error(
        counts, queries, 0.5, ours, runs, f"{data.name} default"
    )
    defaults["SPS, exact, ladder, delta = 0.1"] = error(
        counts, queries, 0.5, ours | {"sizes": "ladder"}, runs, f"{data.name} ladder"
    )
    base = defaults["UP"]
    page.table(
        ["mode, at p = 0.5, lambda = 0.3, delta = 0.3 unless said", "relative error", "against UP"],
        [[k, v, v / base] for k, v in defaults.items()],
        "What it costs.",
    )
    return defaults


def by_size(page: Page, census: Data, runs: int, queries: int) -> None:
    rows = []
    for share in (0.25, 0.5, 0.75, 1.0):
        kept = np.random.default_rng(9).permutation(len(census.sensitive))[: int(share * len(census.sensitive))]
        original = census.take(kept)
        merged = original.generalized()
        counts, asked = merged.groups()[1], pool(original, merged, queries, 2)
        found = violations(counts, 0.5, 0.3, 0.3, worst=0)
        errors = [
            error(counts, asked, 0.5, None if how is None else {**how, "delta": 0.3}, runs, f"size {share} {mode}")
            for mode, how in MODES.items()
        ]
        default = error(counts, asked, 0.5, {"delta": 0.1}, runs, f"size {share} default")
        rows.append(
            [
                len(kept),
                len(counts),
                found.chernoff.groups,
                found.chernoff.records,
                found.exact.groups,
                found.exact.records,
                *errors,
                default,
            ]
        )
    headings = [
        "records",
        "groups",
        "v_g, Chernoff",
        "v_r",
        "v_g, exact",
        "v_r",
        *MODES,
        "SPS by default (delta = 0.1)",
    ]
    page.table(headings, rows, "Figures 4d and 5d: the size of the table (each with its own generalisation).")


def reasons(page: Page, tables: Sequence[tuple[str, Data, Pool]], runs: int) -> dict[str, float]:
    """Sampling multiplies the variance of a group by n/s, so that of everything by the mean n/s over records."""
    page.heading("Where the cost comes from: a few large groups")
    rows = []
    modes: dict[str, dict[str, object]] = {
        "paper's sizes": {"sizes": "paper", "tail": "chernoff", "delta": 0.3},
        "default": {},
    }
    for what, data, queries in tables:
        counts = data.groups()[1]
        n = counts.sum(axis=1)
        base = error(counts, queries, 0.5, None, runs, f"reason {what}")
        row: list[Any] = [what, len(n), float(np.median(n)), (n**2).sum() / n.sum()]
        for mode, how in modes.items():
            size = sizes(counts, 0.5, how)
            assert size is not None
            row += [
                ((n**2 / size).sum() / n.sum()) ** 0.5,
                error(counts, queries, 0.5, how, runs, f"reason {what} {mode}") / base,
            ]
        rows.append(row)
    headings = ["table", "groups", "median size", "mean size over records"]
    headings += [f"{mode}: {x}" for mode in modes for x in ("root of mean n/s over records", "error against UP")]
    page.table(headings, rows, "Error of SPS against UP, foreseen and measured (p = 0.5, lambda = 0.3).")
    return {row[0]: row[5] for row in rows}
