"""Crowds: is every row one of at least k with the same quasi-identifiers, as a k-anonymous table promises?

The k is that of the manifest where a release counts tuples, and otherwise the one that is asked for (5 when nothing is said). People in smaller classes
are re-identified with a probability above 1/k by whoever knows their quasi-identifiers.
"""

import numpy as np

from scumble.audit.case import Case
from scumble.audit.exhibit import together
from scumble.audit.finding import Finding

NAME = "crowds"


def attack(case: Case) -> Finding | None:
    """The share of rows in classes of fewer than k."""
    exhibit = case.exhibit
    if exhibit.manifest is not None or not exhibit.quasi:
        return None
    (number,), _ = together(exhibit.quasi, exhibit.table)
    size = np.bincount(number)
    small = size[(size > 0) & (size < exhibit.k)]
    told = (
        f"{int(small.sum()):,} of {len(number):,} rows are in {len(small):,} classes of fewer than {exhibit.k}; "
        f"the smallest class has {int(size[size > 0].min(initial=len(number)))}"
    )
    return Finding.of_facts(NAME, int(small.sum()), len(number), told, "singling out")
