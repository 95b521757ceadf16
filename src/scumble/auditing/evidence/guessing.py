"""How many people of the raw table are guessed right, and how many the law of the manifest lets be guessed right.

`in_known_rows`: the row is known, being the only one with the person's public values. Seeing y in sub-table z, the attacker guesses d[z, y]. Given the true
value x and z, he is right with probability p [d[z, x] = x] + (1 - p) * (r of all j with d[z, j] = x), row by row independently.

`in_any_row`: the attacker takes a random row with the person's public values for the person's, and its value for the true one.

    T     = sum over published rows of c(g, y) / s(g)
    E[T]  = sum over groups and values of  c(g, j) (p_j c(g, j) + r_j sum_i (1 - p_i) c(g, i)) / n(g)
    V[T] <= sum over groups of  n(g)^2 / s(g) * the variance of c(g, y) / n(g) over one row

where n(g) people of the raw table and s(g) published rows share their public values, and c(g, i) of these people have value i. Nothing has to be
known of which row is whose. The variance is that of rows drawn independently, which is above that of rows with given values.

Both look at the whole, and at the people of each true value, of each value of each public column and of each sub-table (`parts`): for one value j,

    V[T_j] <= sum over groups of  c(g, j)^2 / s(g) * q (1 - q),  q the chance that a row of the group is published with j
"""

from collections.abc import Callable

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import ColumnLaw
from scumble.auditing.evidence.exchanged import Exchanged
from scumble.auditing.evidence.parts import Judged, Summands, at_most_one, columns_of, summed, worst
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.evidence.value_counts import ValueCounts


def in_known_rows(case: Case, name: str, truth: Codes, law: ColumnLaw, guess: Codes, error: float) -> Judged:
    """The people whose row is known."""
    publication, (people, rows) = case.publication, case.known
    x, y, z = truth[people], law.read(publication.codes(name)[rows]), publication.stratum[rows]
    terms = Summands.of_chances(guess[z, y] == x, law.chance(guess)[z, x])
    if publication.traits.permuted:
        terms = Exchanged.of(
            y == x, x, np.bincount(truth, minlength=len(law.prior)).astype(float), float(law.keep[0, 0])
        )
    parts = terms.by(x, true_values(case, name))
    if len(law.keep) > 1:
        parts += terms.by(z, lambda k: f"sub-table {k}")
    for codes, named in columns_of(publication.table, publication.quasi):
        parts += terms.by(codes[rows], named)
    return worst(terms.whole(), parts, error)


def in_any_row(case: Case, name: str, truth: Codes, law: ColumnLaw, error: float) -> Judged:
    """All people whose public values were published, by the published value itself; for releases without sub-tables."""
    publication, groups = case.publication, case.groups
    by_group, by_value = _in_groups(case, name, truth, law)
    parts = by_value.by(np.arange(len(law.prior)), true_values(case, name))
    for codes, named in columns_of(publication.table, publication.quasi):
        of_group = np.zeros(groups.count, dtype=np.int64)
        of_group[groups.published] = codes
        parts += by_group.by(of_group, named)
    return worst(by_group.whole(), parts, error)


def _in_groups(case: Case, name: str, truth: Codes, law: ColumnLaw) -> tuple[Summands, Summands]:
    """What each group adds, and what each true value does."""
    publication, groups, (p,), (r,) = case.publication, case.groups, law.keep, law.draw
    s = np.bincount(groups.published, weights=publication.weights, minlength=groups.count)
    seen, n = s > 0, groups.people
    cells = ValueCounts(groups.raw, truth, len(law.prior))
    y = publication.codes(name)
    hits = publication.weights * cells.at(groups.published, y) / s[groups.published]
    part = cells.times / n[cells.group]
    chance = (1 - p[cells.value]) * part
    chance = r[cells.value] * np.bincount(cells.group, weights=chance, minlength=groups.count)[cells.group]
    chance = at_most_one(chance + p[cells.value] * part)
    first, second = (np.bincount(cells.group, weights=chance * part**power, minlength=groups.count) for power in (1, 2))
    rows = np.where(seen, s, 1)
    there, share = seen[cells.group], cells.times / rows[cells.group]
    largest = float(share[there].max(initial=0))
    in_cells = (cells.times * chance, cells.times * share * chance * (1 - chance), cells.times)
    expected, variance, people = (summed(cells.value, np.where(there, every, 0), len(p)) for every in in_cells)
    return (
        Summands(
            summed(groups.published, hits, groups.count),
            np.where(seen, n * first, 0),
            np.where(seen, n**2.0 / rows * np.maximum(second - first**2, 0), 0),
            np.where(seen, n, 0).astype(np.float64),
            largest,
        ),
        Summands(summed(y, hits, len(p)), expected, variance, people, largest),
    )


def true_values(case: Case, name: str) -> Callable[[int], str]:
    """The words for each true value."""
    assert case.publication.manifest is not None
    values = case.publication.manifest.domains[name].values
    return lambda code: f"true {name} = {values[code]}"
