"""The whole road on Adult: publish, ask, and grow a tree (section 6.3), beside what the raw rows say."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from olap_tables import COLUMNS, RANGES, satisfied
from page import Page

import scumble
from scumble.core.channel import Channel
from scumble.learn import ReleaseTreeClassifier

FEATURES = ["age", "education_num", "hours_per_week"]
SEEDS = range(300, 310)


def published(table: pa.Table, sensitive: list[str], p: float, seed: int) -> scumble.Release:
    grids = {c: {"low": low, "high": high} for c, (low, high) in COLUMNS.items()}
    domains = {c: grids.get(c) or sorted(set(table.column(c).to_pylist())) for c in sensitive}
    public = [name for name in table.column_names if name not in sensitive]
    return scumble.publish(table, sensitive=sensitive, public=public, domains=domains, retain=p, seed=seed)


def question(page: Page, train: pa.Table) -> None:
    """One release, one question, both methods; the unbiased answer must be the inversion of the published states."""
    page.heading("The whole road once")
    names = list(COLUMNS)[:3]
    release = published(train.select(names), names, 0.3, 7)
    where = " AND ".join(f"{c} BETWEEN {RANGES[c][0]} AND {RANGES[c][1]}" for c in names)
    rows = []
    for method in ("unbiased", "likelihood"):
        answer = release.query(f"SELECT COUNT(*) AS n FROM release WHERE {where}", method=method).to_list()[0]
        rows.append([method, answer["n"], answer["n_se"], f"{answer['n_low']:,.0f} to {answer['n_high']:,.0f}"])
    true = int(satisfied({c: train.column(c).to_numpy() for c in names}, names).all(axis=1).sum())
    inverted = _inverted(release, names)
    if abs(inverted - rows[0][1]) > 1e-6:
        sys.exit(
            f"release.query says {rows[0][1]}, the inversion of the published states {inverted}: one of them is wrong"
        )
    page.prose(
        "`scumble.publish` with p = 0.3 on three columns, then `release.query` for the three predicates. The unbiased answer is the inversion of "
        f"the published states, computed apart ({inverted:,.3f})."
    )
    page.table(["method", "estimate", "standard error", "95% interval"], [*rows, ["true count", true, None, ""]])


def _inverted(release: scumble.Release, names: list[str]) -> float:
    """With the retention of the manifest, which is 0.3 rounded to a multiple of 2^-32."""
    table, channels = release.table(), release.published.strata[0]
    bits = satisfied({c: table.column(c).to_numpy() for c in names}, names)
    shares = [(RANGES[c][1] - RANGES[c][0] + 1) / (COLUMNS[c][1] - COLUMNS[c][0] + 1) for c in names]
    weights = [Channel(channels[c].retain, [1 - s, s]).weights([0.0, 1.0]) for c, s in zip(names, shares, strict=True)]
    return float(np.prod([w[b.astype(int)] for w, b in zip(weights, bits.T, strict=True)], axis=0).sum())


def tree(page: Page, train: pa.Table, test: pa.Table) -> None:
    """Accuracy on the test rows: the majority class, trees on releases, the same tree on raw rows."""
    page.heading("Decision tree (section 6.3)")
    page.prose(
        "Income from age, education_num and hours_per_week, each perturbed with p = 0.5 on its grid; 32,561 rows to learn from, 16,281 to predict. "
        "`ReleaseTreeClassifier` with its defaults, on 10 releases each. The paper describes the construction and gives no accuracy."
    )
    majority = float(pc.mean(pc.equal(test.column("income"), "<=50K").cast(pa.int8())).as_py())
    raw = ReleaseTreeClassifier().fit(train, target="income", features=FEATURES).score(test)
    rows: list[list[object]] = [["majority class", majority, 0.0, ""]]
    for name, hidden in (("release, income perturbed too", ["income"]), ("release, income public", [])):
        releases = [published(train.select([*FEATURES, "income"]), FEATURES + hidden, 0.5, seed) for seed in SEEDS]
        found = [ReleaseTreeClassifier().fit(r, target="income", features=FEATURES).score(test) for r in releases]
        kept = (np.array(found) - majority) / (raw - majority)
        rows.append([name, float(np.mean(found)), float(kept.mean()), f"{kept.min():.2f} to {kept.max():.2f}"])
    page.table(["learned from", "accuracy", "gap kept", "in single releases"], [*rows, ["raw rows", raw, 1.0, ""]])
