"""Which parameters each code has: what its sentence needs, and what may stand beside. A stranger's manifest is held to it before a sentence is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scumble.privacy.words_of_counts import NOISY_COUNTS


@dataclass(frozen=True)
class Declared:
    """The names of parameters."""

    needed: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    prefix: str | None = None
    """What further names begin with, where there are as many as there are; one at least."""

    def problem(self, given: Mapping[str, Any]) -> str:
        """What is missing, or not known; nothing where all is in order."""
        more = [name for name in given if self.prefix is not None and name.startswith(self.prefix)]
        missing = [*sorted(self.needed - given.keys()), *([self.prefix] if self.prefix and not more else [])]
        if missing:
            return f"lacks the parameter {missing[0]!r}"
        unknown = sorted(given.keys() - self.needed - self.beside - set(more))
        return f"has a parameter {unknown[0][:60]!r}, which is none of its kind" if unknown else ""


def _of(needed: str = "", beside: str = "", prefix: str | None = None) -> Declared:
    return Declared(frozenset(needed.split()), frozenset(beside.split()), prefix)


GUARANTEES: dict[str, Declared] = {
    "amplification": _of("gamma epsilon"),
    "breach": _of("s rho1 rho2", "by_factor"),
    "full_counts": _of("epsilon"),
    "joint_amplification": _of("gamma epsilon"),
    "l_diversity": _of("l largest_share"),
    "memoised": _of("gamma epsilon fresh_gamma"),
    NOISY_COUNTS: _of("k epsilon delta parts beside total_epsilon total_delta", "histogram"),
    "own_distribution": _of("rho1 rho2 retain", "rows"),
    "person_amplification": _of("gamma epsilon rows row_gamma"),
    "person_counts": _of("gamma epsilon delta rows row_epsilon"),
    "product_breach": _of("s rho1 rho2", "by_factor"),
    "reconstruction": _of("lambda delta retain values", "asked", "size at f <= "),
    "rho": _of("rho1 rho2"),
    "sampled_amplification": _of("gamma epsilon k channel_gamma"),
    "sampled_rho": _of("rho1 rho2 k"),
    "semantic_k": _of("k"),
    "subtable_posterior": _of("rho1 rho2 largest_posterior downward", "protected sets"),
    "tuple_membership": _of("rho1 rho2 gamma alpha beta"),
    "value_odds": _of("downward", "theta rho2 largest_posterior smallest_posterior anything"),
}
"""Of each kind of guarantee. What may be absent came later, or belongs to a way of asking."""

CLAUSES: dict[str, Declared] = {
    "buckets_follow": _of("column"),
    "computed_schema": _of("epsilon"),
    "counted_columns": _of("epsilon"),
    "counts_told": _of("column"),
    "domain_from_data": _of("column"),
    "factors_tell": _of("column"),
    "joined": _of("parts"),
    "known_total": _of("total"),
    "left_out": _of("column l"),
    "one_of_rows": _of("rows"),
    "one_owner": _of("parts", "gamma"),
    "replacements_follow": _of("column"),
    "replacements_tell": _of("column"),
    "retentions_tell": _of("column"),
    "rows_capped": _of("rows"),
    "rows_counted": _of("rows"),
    "rows_tell": _of("rows"),
    "rungs_tell": _of("ladder"),
    "stated_total": _of("total"),
    "subtables_tell": _of("column"),
    "weights_tell": _of("rows of"),
}
"""Of each clause that has any."""
