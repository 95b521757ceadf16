"""The raw table as a release would show it if no coin were flipped: what answers are compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import sqlglot

from scumble.core.domain import Domain
from scumble.core.errors import ParameterError
from scumble.engines.duckdb.engine import exact
from scumble.evaluate.forecast import coarse_columns
from scumble.publishing.encode import prepared
from scumble.publishing.publish import profile
from scumble.query.coarse import Coarse, spreads
from scumble.query.middle import at_middles
from scumble.query.parse import Group, parse
from scumble.release.release import Release
from scumble.sources.source import Source, read, read_source
from scumble.spec.spec import ColumnSpec, Spec, read_spec

Key = tuple[Any, ...]
"""The group values of a line of an answer."""

ROWS = "scumble rows"


@dataclass(frozen=True, eq=False)
class Truth:
    """The columns to be published, public ones coarsened and numbers on their grid, with their true values."""

    table: pa.Table
    public: Sequence[str]
    sensitive: Sequence[str]
    domains: Mapping[str, Domain]
    coarse: Mapping[str, Coarse] = field(default_factory=dict)
    """The columns that were made coarser."""

    @classmethod
    def of(cls, raw: Any, against: "Spec | Release | Truth | str | Path | None" = None) -> "Truth":
        """The truth about a raw table (a path, a data frame, or a spec that names it), for a spec or a release."""
        if isinstance(raw, Truth):
            return raw
        if isinstance(against, Truth):
            return against
        if isinstance(raw, str | Path) and Path(raw).suffix == ".toml":
            spec = read_spec(raw)
            table = read_source(spec)
            return cls.of_spec(table, spec) if not isinstance(against, Release) else cls.of_release(table, against)
        table = raw if hasattr(raw, "batches") else read(raw)
        if isinstance(against, Release):
            return cls.of_release(table, against)
        if against is None:
            raise ParameterError("say which columns are sensitive: give the spec or the release beside the raw table")
        return cls.of_spec(table, against if isinstance(against, Spec) else read_spec(against))

    @classmethod
    def of_spec(cls, table: Source, spec: Spec) -> "Truth":
        """By what a spec says of the columns, whatever its mechanism."""
        plain = spec.model_copy(update={"mechanism": "uniform"}).for_schema(table.schema)
        domains = profile(table, plain).domains
        public = [name for name in plain.published if name not in domains]
        return cls(prepared(table, plain, domains), public, plain.sensitive, domains, coarse_columns(table, plain))

    @classmethod
    def of_release(cls, table: Source, release: Release) -> "Truth":
        """By what the manifest of a release says of the columns."""
        domains = release.manifest.domains
        records = [c for c in release.manifest.columns if c.name in table.schema.names]
        kept = {c.name: ColumnSpec.model_validate({"role": "public", "coarsen": c.coarsened}) for c in records}
        sensitive = [c.name for c in records if c.role in ("sensitive", "apart")] or list(domains)
        public = [c.name for c in records if c.name not in sensitive]
        return cls(prepared(table, Spec(columns=kept), domains), public, sensitive, domains, release.coarse)

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.table.num_rows)

    def counts(self, name: str) -> npt.NDArray[np.int64]:
        """How often each value of the domain of a sensitive column occurs."""
        domain = self.domains[name]
        codes = domain.encode(self.table.column(name).combine_chunks(), name)
        return np.bincount(codes, minlength=domain.size)

    def answer(self, sql: str) -> dict[Key, tuple[float, list[float]]]:
        """The true answer to a question: for each line its rows, and its numbers in the order of the aggregates.

        ORDER BY and LIMIT are left out, so that every line of an answer finds its truth. Columns in steps are summed at the middles of these.
        """
        names = self.table.column_names
        outputs = parse(sql, names).outputs
        select = at_middles(sqlglot.parse_one(sql, read="duckdb"), names, spreads(self.coarse))
        for part in ("order", "limit", "offset"):
            select.set(part, None)
        found = exact(select.select(f'COUNT(*) AS "{ROWS}"').sql(dialect="duckdb"), self.table)
        columns = [column.to_pylist() for column in found.columns]
        *told, rows = columns
        groups = [c for c, output in zip(told, outputs, strict=True) if isinstance(output, Group)]
        numbers = [c for c, output in zip(told, outputs, strict=True) if not isinstance(output, Group)]
        return {
            tuple(c[i] for c in groups): (float(n), [np.nan if c[i] is None else float(c[i]) for c in numbers])
            for i, n in enumerate(rows)
        }
