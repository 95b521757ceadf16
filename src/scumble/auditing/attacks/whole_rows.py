"""Whole rows: are more rows published with several of their true values at once than the coins make?

The coins of a row's columns are thrown each for itself, so that with k perturbed columns hardly any row keeps all. Rows that were passed by, a batch that was forgotten, people who
were spared, keep all of them. Each column by itself has them among the many that are kept by chance; together they stand out. For people whose row is known (with the raw table), the number
of columns published with the true value has the law

    Pr[equal in column c | x_c] = p_c + (1 - p_c) r_c       with p_c of the value x_c, in each column for itself
    where coins are joint:  all of them with p, otherwise each with its r_c

and rows with t or more of them are counted for t = k and for every t from 2 on, all at one level; where coins are joint also rows that do not keep all, which
coins of each column by itself make more of.
"""

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers, column_law
from scumble.auditing.evidence.parts import HitCount, Judged, worst
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of

NAME = "whole rows"


def attack(case: Case) -> Finding | None:
    """The number of columns of which most rows beyond chance have all true."""
    publication = case.publication
    if case.raw is None or not publication.perturbed or len(publication.sensitive) < 2:
        return None
    people, rows = case.known
    if not len(rows):
        return None
    equal, shown, kept, drawn = np.zeros(len(rows), dtype=np.int64), list[Numbers](), list[Numbers](), list[Numbers]()
    for name in publication.sensitive:
        truth = case.truth(name)
        law, x = column_law(publication, name, truth), truth[people]
        equal += x == law.read(publication.codes(name)[rows])
        shown.append(law.shown[publication.stratum[rows], x])
        kept.append(law.keep[publication.stratum[rows], x])
        drawn.append(law.draw[publication.stratum[rows], x])
    joint = publication.manifest is not None and bool(publication.manifest.view.joint)
    chance = _tails_of_joint(kept, drawn) if joint else _tails(shown)
    measured = _judged(equal, chance, joint)
    sentence = (
        f"{measured.success:.2%} of {measured.people:,} known rows have {measured.of} of {len(kept)} perturbed columns, where the channels of the manifest give "
        f"{measured.expected:.2%}; rows that were passed by show from {measured.shows:.2%} of them on"
    )
    return measured.finding(NAME, sentence)


def _judged(equal: Codes, chance: Numbers, joint: bool) -> Judged:
    """All columns first, and fewer of them; where coins are joint, also too few rows that keep all."""
    columns = len(chance) - 1
    words = {columns: "the true value in all"}
    sums = [
        HitCount.of_chances(
            float((equal >= least).sum()), chance[least], words.get(least, f"the true value in {least} or more")
        )
        for least in range(columns, 1, -1)
    ]
    if joint:
        apart = float((equal < columns).sum())
        sums.append(HitCount.of_chances(apart, 1 - chance[columns], "another value than the true one in some"))
    return worst(sums[0], sums[1:], error_of(NAME))


def _tails(chances: list[Numbers]) -> Numbers:
    """The probability of t or more columns, a line for each t from 0 on, column by column.

    >>> _tails([np.array([0.5]), np.array([0.25])])[:, 0].tolist()
    [1.0, 0.625, 0.125]
    """
    exactly = [np.ones_like(chances[0])]
    for q in chances:
        none = np.zeros_like(q)
        exactly = [a * (1 - q) + b * q for a, b in zip([*exactly, none], [none, *exactly], strict=True)]
    return np.asarray(np.cumsum(np.stack(exactly)[::-1], axis=0)[::-1])


def _tails_of_joint(kept: list[Numbers], drawn: list[Numbers]) -> Numbers:
    return np.asarray(kept[0] + (1 - kept[0]) * _tails(drawn))
