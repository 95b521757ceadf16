"""What to know of lines that few published rows decide."""

from collections.abc import Sequence

import numpy as np

from scumble.query.estimated import Estimated
from scumble.query.estimates import Estimate
from scumble.query.form_answer import Lines
from scumble.query.small import Small
from scumble.query.stratum import Stratum
from scumble.query.terms import ONE, Tensor
from scumble.query.totals import Totals

FEW = 10
"""Published rows below which an interval may cover less than it says, unless it is that of a count whose law is known (query/few.py, query/law.py)."""

ROUNDING = 1e-6
"""Rows that a count of them may be off by the arithmetic."""


def few_rows(totals: Totals, parts: Sequence[Stratum], shown: Lines, estimates: Sequence[Estimate]) -> list[str]:
    """The note that an interval is a rough one, where it is.

    shown      the places of lines among all combinations of public groups, grouped values and keys
    estimates  what is shown of them
    """
    direct = totals.question.query.derived is None
    small = [Small(totals, parts, total) for total in totals.totals]
    if direct and all(one.lawful for one in small):
        return []
    uncertain = np.any([(e.se != 0) & ~np.isnan(e.value) & (not e.exact) for e in estimates], axis=0)
    carried = [rows[shown] for one in small if direct and (rows := one.carrying()) is not None]
    matching = _matching(totals, parts).reshape(-1)[shown]
    few = uncertain & (np.min([matching, *carried], axis=0) < FEW - ROUNDING)
    if not few.any():
        return []
    where = f"in {few.sum()} of {len(shown)} rows" if len(shown) > 1 else "here"
    or_carry = " or carry most of a sum" if np.any(matching[few] >= FEW - ROUNDING) else ""
    return [f"fewer than {FEW} published rows match{or_carry} {where}; read the interval as a rough one"]


def _matching(totals: Totals, parts: Sequence[Stratum]) -> Tensor:
    """Published rows that look as if they belonged to a line."""
    one = np.ones((1,) * totals.grid.rank)
    keys = [[Estimated(part, totals, ONE, one, key).matching() for part in parts] for key in range(totals.width)]
    return np.stack([np.sum(key, axis=0) for key in keys], axis=-1)
