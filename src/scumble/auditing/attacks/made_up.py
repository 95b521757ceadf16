"""Made-up tuples: does the (alpha, beta) algorithm publish its true tuples as seldom, and make up as many, as the manifest says?

With the raw table: a true tuple is published with probability alpha + beta, each for itself, in the whole table and among the tuples of each value of each column; any other tuple of the
domain is missing with probability 1 - beta. The more are missing, the more likely those that are there are true. True tuples that are missing are looked at in the same way, and both in
twenty parts of the order of all tuples: those that are kept are drawn, and not the first ones.
"""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.parts import HitCount, Summands, columns_of, worst
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of
from scumble.core.domain import Domain
from scumble.forms.tuple_set.record import TupleSetRecord

PLACES = 20
"""Parts of the order of tuples that are looked at."""


def attack(case: Case) -> Finding | None:
    """True tuples that are there, and made-up ones that are not."""
    assert case.publication.manifest is not None
    record = case.publication.manifest.form
    if case.raw is None or not isinstance(record, TupleSetRecord):
        return None
    columns = case.publication.manifest.columns
    domains = {c.name: record.domains[c.name].domain(c.type) for c in columns}
    published, raw = (_tuples(table, domains) for table in (case.publication.table, case.raw))
    hits = np.isin(raw, published)
    chance = np.full(len(raw), record.alpha + record.beta)
    terms = Summands.of_chances(hits, chance)
    gone = Summands.of_chances(~hits, 1 - chance)
    place = np.argsort(np.argsort(raw, kind="stable")) * PLACES // max(1, len(raw))
    parts = [part for codes, named in columns_of(case.raw, list(domains)) for part in terms.by(codes, named)]
    parts += [
        *terms.by(place, _part_of_order),
        *gone.by(place, lambda code: f"{_part_of_order(code)} that are missing"),
    ]
    parts.append(replace(gone.whole(), of="the table that are missing"))
    others = float(math.prod(domain.size for domain in domains.values()) - len(np.unique(raw)))
    missing, beta = others - float((~np.isin(np.unique(published), raw)).sum()), record.beta
    parts.append(
        HitCount(missing, others * (1 - beta), others * beta * (1 - beta), others, of="nobody, which are missing")
    )
    measured = worst(terms.whole(), parts, error_of("retention"))
    which = f" of {measured.of}" if measured.of else " of the table that are published"
    sentence = (
        f"{measured.success:.2%} of {measured.people:,} tuples{which}, where the manifest gives {measured.expected:.2%}"
    )
    return measured.finding("retention", sentence)


def _part_of_order(code: int) -> str:
    return f"part {code + 1} of {PLACES} in the order of values"


def _tuples(table: pa.Table, domains: dict[str, Domain]) -> Codes:
    """Every row as one number, its place in the domain."""
    codes = [domain.encode(table.column(name).combine_chunks(), name) for name, domain in domains.items()]
    return np.ravel_multi_index([code.astype(np.int64) for code in codes], [d.size for d in domains.values()])
