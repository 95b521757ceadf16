"""Linkability of two releases: are rows of one matched to rows of the other, being the same person's?

A row is matched to a random one with the same public values; of n alike that is right once in n. The baseline is any row at all.
"""

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import Publication, together
from scumble.auditing.finding import Finding, wilson

NAME = "linkability"


def attack(case: Case) -> Finding | None:
    """The other release that is matched best; none where no other one has a public column of this one."""
    findings = [made for other in case.others if (made := _public(case.publication, other)) is not None]
    return max(findings, key=lambda finding: finding.success, default=None)


def _public(ours: Publication, theirs: Publication) -> Finding | None:
    quasi = [name for name in ours.quasi if name in theirs.table.column_names]
    if not quasi:
        return None
    (a, b), count = together(quasi, ours.table, theirs.table)
    rows, others = np.bincount(a, minlength=count), np.bincount(b, minlength=count)
    right = float(np.minimum(rows, others)[others > 0].astype(float) @ (1 / others[others > 0]))
    sentence = f"rows of {ours.name} are matched to rows of {theirs.name} by {', '.join(quasi)}, if both are of the same people"
    right = min(right, float(len(a)))  # a sum of parts of 1, whose last bit may lie above
    success, chance = right / len(a), 1 / max(1, len(b))
    return Finding(NAME, success, chance, *wilson(right, len(a)), sentence, "linkability", ours.says("singling_out"))
