"""Linkability by values: of the rows that public columns match, one that also has the same published sensitive values.

The pairs that public columns match surely show how often a person is published alike in both releases. The baseline is the match by public
columns alone: what is above it, the sensitive values give away.
"""

import numpy as np

from scumble.auditing.attacks.averaging import FEWEST, linked
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import Codes, Publication, together
from scumble.auditing.finding import Finding, wilson

NAME = "linkability by values"


def attack(case: Case) -> Finding | None:
    """The other release that is matched best."""
    findings = [finding for other in case.others if (finding := _values(case.publication, other)) is not None]
    return max(findings, key=lambda finding: finding.success - finding.baseline, default=None)


def _values(ours: Publication, theirs: Publication) -> Finding | None:
    """Expected, not measured: which row is whose is not known."""
    quasi = [name for name in ours.quasi if name in theirs.table.column_names]
    names = [name for name in ours.sensitive if name in theirs.sensitive]
    (sure_a, sure_b), _ = linked(quasi, [ours.table, theirs.table], None)
    if not names or len(sure_a) < FEWEST:
        return None
    (value_a, value_b), size = together(names, ours.table, theirs.table)
    shares = [np.bincount(value, minlength=size) / len(value) for value in (value_a, value_b)]
    stranger, same = float(shares[0] @ shares[1]), int((value_a[sure_a] == value_b[sure_b]).sum())
    (a, b), count = together(quasi, ours.table, theirs.table)
    (c, d), cells = together([*quasi, *names], ours.table, theirs.table)
    others, alike = np.bincount(b, minlength=count)[a], np.bincount(d, minlength=cells)[c]
    candidates = (others[others > 0], alike[others > 0])
    ends = wilson(same, len(sure_a))
    public, success, low, high = (
        _matched(rate, stranger, *candidates) / len(a) for rate in (stranger, same / len(sure_a), *ends)
    )
    sentence = (
        f"of {len(sure_a):,} rows that public columns match surely {same / len(sure_a):.1%} have the same published {' and '.join(names)}, "
        f"of strangers {stranger:.1%}; that matches {success:.2%} of all rows, public columns alone {public:.2%}"
    )
    keyed = ours.manifest is not None and ours.manifest.randomness.keyed
    uncovered = ours.says("keyed_coins") if keyed else ""
    return Finding(
        NAME,
        max(success, public),
        public,
        max(low, public),
        max(high, public),
        sentence,
        "linkability",
        uncovered,
    )


def _matched(rate: float, stranger: float, others: Codes, alike: Codes) -> float:
    """Expected right matches. A person is published alike with probability A, a stranger with probability B; of n candidates a have the same value.

    each of the a is the person's with probability A (1 - B) / D,  each other one with (1 - A) B / D,  D = A (1 - B) a + (1 - A) B (n - a)
    """
    own, other = rate * (1 - stranger), (1 - rate) * stranger
    total = own * alike + other * (others - alike)
    chosen = np.where((alike > 0) & ((own >= other) | (others == alike)), own, other)
    return float(np.where(total > 0, chosen / np.where(total > 0, total, 1), 1 / others).sum())
