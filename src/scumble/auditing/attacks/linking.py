"""Linking on quasi-identifiers: whoever knows a person's public values looks for the one row that has them.

    alone     the share of published rows that no other row is like
    with raw  the share of people whom exactly one published row fits, where it is theirs

Of n people with the same public values and one published row among them, the row is that of one. The baseline is 0: where every row has
others like it, nobody is pointed at.
"""

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import together
from scumble.auditing.finding import Finding

NAME = "linking"


def attack(case: Case) -> Finding | None:
    """How many people are singled out by the columns that an attacker may know."""
    publication = case.publication
    if not publication.quasi:
        return None
    if publication.of_nobody:
        sentence = "every tuple of the domain may be published, whether anybody has it or not: a row that fits one person points at nobody"
        return Finding.of_facts(NAME, 0, publication.table.num_rows, sentence, "singling out")
    uncovered = publication.says("singling_out")
    if len(publication.tables) == 1 and case.scored:
        groups = case.groups
        hits, people = int(((groups.rows == 1) & (groups.people > 0)).sum()), len(groups.raw)
        sentence = f"{hits:,} of {people:,} people are found as the one row that has their {_known(publication.quasi)}"
        return Finding.of_facts(NAME, hits, people, sentence, "singling out", uncovered)
    alone = rows = 0
    for table in publication.tables:
        (number,), _ = together([name for name in publication.quasi if name in table.column_names], table)
        alone, rows = alone + int((np.bincount(number) == 1).sum()), rows + len(number)
    sentence = f"{alone:,} of {rows:,} rows are alone with their {_known(publication.quasi)}"
    return Finding.of_facts(NAME, alone, rows, sentence, "singling out", uncovered)


def _known(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
