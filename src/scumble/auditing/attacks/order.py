"""Order: does the place of a row tell where it stood in the source, or which rows belong together?

Within runs of rows that were sorted by what they publish (`runs`) every order is alike likely. So each row has scores, less the mean of those that are left in its run (`trials.without_return`), and these are looked at along the
published rows (`serial`): do they rise or fall, have they a period, do they go with those of another row at some distance? Scores are signs of the values of each column; and with the raw table, the place that
rows with these public values have there, and how many of their people have the published value, which is higher where values were kept. The last two are looked at along row groups as well.

The success is the share of pairs of rows whose order is told right, 1/2 + asin(r)/pi for a correlation r; 1/2 is a coin.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers, column_law
from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.evidence.runs import runs_of
from scumble.auditing.evidence.serial import Series
from scumble.auditing.evidence.signs import Sign, finding_of
from scumble.auditing.evidence.trials import without_return
from scumble.auditing.evidence.value_counts import ValueCounts
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of
from scumble.core.entropy import Entropy
from scumble.forms.files import row_groups

NAME = "order"


def attack(case: Case) -> Finding | None:
    """The strongest sign of an order that is not random."""
    publication = case.publication
    if publication.manifest is not None and publication.manifest.order == "sorted" and _by_value(case):
        sentence = "rows are in the order of their values, copies side by side, which tells nothing that they do not"
        return Finding(NAME, 0.5, 0.5, 0.5, 0.5, sentence, "integrity")
    plain, scored = list[Sign](), list[Sign]()
    for place, table in enumerate(publication.tables):
        if table.num_rows > 2:
            rows, run = runs_of(publication, place, _files(case, place))
            at, length = publication.places[place][rows], publication.lengths[place]
            plain += [s for score, of in _columns(table) for s in _signs(score[rows], run, of, at, length)]
            if len(publication.tables) == 1 and case.scored:
                scored += [s for score, of in _against_raw(case) for s in _signs(score[rows], run, of, at, length)]
    return finding_of(NAME, [plain, scored, list(_between_groups(case))], error_of(NAME), "random order")


def _between_groups(case: Case) -> Iterator[Sign]:
    """Along the row groups, into which rows are dealt by coins: within each they are put into an order of ours, so that every arrangement is alike likely."""
    publication = case.publication
    if publication.manifest is None or publication.manifest.order != "shuffled" or not publication.excerpt.whole:
        return
    sizes = [size for path in _files(case, 0) for size in row_groups(path)] if len(publication.tables) == 1 else []
    if len(sizes) < 2 or sum(sizes) != publication.table.num_rows or not case.scored:
        return
    lots = Entropy.seeded(0).stream("within row groups").integers(sum(sizes), 64)
    rows = np.lexsort((lots, np.repeat(np.arange(len(sizes)), sizes)))
    for score, of in _against_raw(case):
        value, variance = without_return(score[rows], np.zeros(len(rows), dtype=np.int64))
        for sign in Series(value, variance, np.arange(len(rows)), len(rows)).by_place() if variance.any() else ():
            told = 0.5 + math.asin(min(1.0, sign.seen)) / math.pi
            words = f"{of} {sign.of}, by row groups, a correlation of {sign.seen:.3f}"
            yield replace(sign, seen=told, expected=0.5, of=words)


def _files(case: Case, place: int) -> list[Path]:
    """The files of one of several tables; of a table that is no release, none."""
    release = case.publication.release
    return [] if release is None else release.table_files(release.manifest.view.people[place])


def _by_value(case: Case) -> bool:
    """Whether equal rows lie together in every table, as where tuples are written one after the other."""
    for table in case.publication.tables:
        (number,), count = together(table.column_names, table)
        if int((np.diff(number) != 0).sum()) + 1 > count:
            return False
    return True


def _signs(score: Numbers, run: Codes, of: str, place: Codes, length: int) -> Iterator[Sign]:
    """Scores between 0 and 1, along the rows."""
    value, variance = without_return(score, run)
    if not variance.any():
        return
    series = Series(value, variance, place, length)
    for sign in (*series.by_place(), series.by_distance()):
        told = 0.5 + math.asin(min(1.0, sign.seen)) / math.pi
        yield replace(sign, seen=told, expected=0.5, of=f"{of} {sign.of}, a correlation of {sign.seen:.3f}")


def _columns(table: pa.Table) -> Iterator[tuple[Numbers, str]]:
    """A sign for each value of each column."""
    for name in table.column_names:
        (codes,), count = together([name], table)
        sign = Entropy.seeded(0).stream("signs of values", name).integers(count, 8) % np.uint8(2)
        yield sign.astype(np.float64)[codes], f"the value of {name}"


def _against_raw(case: Case) -> Iterator[tuple[Numbers, str]]:
    """The place in the raw table, and what was kept."""
    groups, publication = case.groups, case.publication
    people = np.maximum(groups.people, 1)
    mean = np.bincount(groups.raw, weights=case.place, minlength=groups.count) / people
    yield mean[groups.published] / max(1, case.length), "the place in the raw table"
    for name in publication.sensitive if publication.coined else []:
        assert publication.manifest is not None
        cells = ValueCounts(groups.raw, case.truth(name), publication.manifest.domains[name].size)
        seen = column_law(publication, name, case.truth(name)).read(publication.codes(name))
        yield cells.at(groups.published, seen) / people[groups.published], f"which {name} was kept"
