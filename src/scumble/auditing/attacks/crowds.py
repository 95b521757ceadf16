"""Crowds: is every row one of at least k with the same quasi-identifiers, as a k-anonymous table promises? And every box of a generalised release that of k people?

The k is that of the manifest where a release counts tuples, and otherwise the one that is asked for (5 when nothing is said). People in smaller classes
are re-identified with a probability above 1/k by whoever knows their quasi-identifiers.
"""

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import together
from scumble.auditing.finding import Finding

NAME = "crowds"


def attack(case: Case) -> Finding | None:
    """The share of rows in classes of fewer than k."""
    publication = case.publication
    if publication.generalized:
        return _boxes(case)
    if publication.manifest is not None or not publication.quasi:
        return None
    (number,), _ = together(publication.quasi, publication.table)
    size = np.bincount(number)
    small = size[(size > 0) & (size < publication.k)]
    sentence = (
        f"{int(small.sum()):,} of {len(number):,} rows are in {len(small):,} classes of fewer than {publication.k}; "
        f"the smallest class has {int(size[size > 0].min(initial=len(number)))}"
    )
    return Finding.of_facts(NAME, int(small.sum()), len(number), sentence, "singling out")


def _boxes(case: Case) -> Finding:
    """Boxes that say themselves that they have fewer than k people, or that the raw table fills otherwise than they say."""
    publication = case.publication
    assert publication.manifest is not None
    said = publication.table.column(publication.manifest.role("size")).to_numpy()
    small = said < publication.k
    sentence = f"{int(small.sum()):,} of {len(said):,} boxes say that they have fewer than {publication.k} people; the smallest has {int(said.min(initial=len(said)))}"
    if case.raw is not None:
        people = np.bincount(case.boxes[case.boxes >= 0], minlength=len(said))
        wrong, outside = people != said, int((case.boxes < 0).sum())
        sentence += f"; of the raw table {outside:,} people lie in no box, and {int(wrong.sum()):,} boxes have other numbers of people than they say"
        small = small | wrong
    return Finding.of_facts(NAME, int(small.sum()), len(said), sentence, "singling out")
