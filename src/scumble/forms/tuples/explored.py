"""What the explore page is told of counted tuples."""

from typing import TYPE_CHECKING, Any

import numpy as np

from scumble.forms.page_facts import domain_facts, kind_of
from scumble.forms.records import DomainRecord
from scumble.forms.tuples.opened import counted_release
from scumble.forms.tuples.record import TuplesRecord
from scumble.mechanisms.kept_columns import KeptColumn
from scumble.mechanisms.noisy_count_matrix import ClampedCounts

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def explored(manifest: "Manifest") -> dict[str, Any]:
    """The noise of counts, whether every row was published, and the values that columns can have, where these were declared."""
    counted, record = counted_release(manifest), manifest.form
    assert isinstance(record, TuplesRecord)
    kinds = {column.name: column.type for column in manifest.columns}
    facts: dict[str, Any] = {"complete": counted.complete}
    if counted.marginals:
        facts["noises"] = {table.name: _noise(table.noise) for table in counted.tables if table.noise is not None}
    elif (noise := counted.tables[0].noise) is not None:
        facts["noise"] = _noise(noise)
    if counted.kept is not None:
        facts["kept"] = {name: None if kept is None else _kept(kept) for name, kept in counted.kept.items()}
    if record.all_declared is not None:
        facts["full"] = {name: _domain(domain, kinds[name]) for name, domain in record.all_declared.items()}
    if record.declared:
        facts["declared"] = {name: _domain(domain, kinds[name]) for name, domain in record.declared.items()}
    return {"counted": facts}


def _noise(noise: ClampedCounts) -> dict[str, float]:
    values, variances = noise.estimate([noise.floor, noise.floor + 1])
    return {
        "floor": noise.floor,
        "rate": noise.rate,
        "at_floor": float(values[0]),
        "variance_at_floor": float(variances[0]),
        "variance_above": float(variances[1]),
    }


def _kept(kept: KeptColumn) -> dict[str, Any]:
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(kept).items()}


def _domain(record: DomainRecord, kind: str) -> dict[str, Any]:
    written = record.model_dump(mode="json", exclude_none=True)
    return {"domain": written, **domain_facts(record.domain(kind)), **kind_of(record.type or kind)}
