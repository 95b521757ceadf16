"""The equations of a model, from a formula and the rows of a release: one question, whose groups are the variables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from scumble.core.errors import InputError, QueryError
from scumble.engines import open_engine
from scumble.engines.engine import TABLE
from scumble.engines.expressions import select
from scumble.learn.estimating import Equations
from scumble.learn.family import ResponseFamily
from scumble.learn.formula import Formula, Variable, parse_formula
from scumble.learn.terms import Coding, ModelColumns, Tensor
from scumble.learn.training_rows import TrainingRows, as_table
from scumble.query.gated import gated
from scumble.query.parse import parse
from scumble.query.reconstruction import Reconstruction, reconstruct
from scumble.query.rewrites import Recoding

NAMED = "scumble v{}"
"""What the variables are called in the question."""
ROW = "scumble row"


@dataclass(frozen=True)
class FittedFormula:
    """A formula with the columns that it came to on some rows."""

    formula: Formula
    columns: ModelColumns
    classes: list[Any]
    """Of a logistic model: the two values of the outcome, of which the second one is modelled."""
    named: Sequence[str]
    """The columns that the formula may name."""

    def matrix(self, rows: Any) -> Tensor:
        """The columns for ordinary rows."""
        table = as_table(rows)
        variables = [*self.formula.variables.values()]
        if not variables:
            return self.columns.matrix({}, table.num_rows)
        values = _evaluated(table, variables, self.named)
        matrix = self.columns.matrix({v.label: values[v.label] for v in variables}, table.num_rows)
        missing = np.flatnonzero(np.isnan(matrix).any(axis=1))
        if len(missing):
            label = next(v.label for v in variables if not values[v.label][int(missing[0])].is_valid)
            raise InputError(
                f"row {missing[0]} has no value of {label}; fill it, or leave out rows with missing values"
            )
        return matrix

    def outcomes(self, rows: Any) -> Any:
        """The outcomes of ordinary rows."""
        own = self.formula.outcome
        return np.array(_evaluated(as_table(rows), [own], self.named)[own.label].to_pylist())


def columns_of(source: TrainingRows) -> list[str]:
    """The columns that a formula may name."""
    published, parts = source.published, source.release.recoding.parts if source.release is not None else {}
    others = {published.stratum, published.weight, published.copies, *(part.whole for part in parts.values())}
    return [*(name for name in published.columns if name not in others), *parts]


def equations_of(
    source: TrainingRows, text: str, family: ResponseFamily, where: str | None
) -> tuple[FittedFormula, Equations]:
    """A formula on the rows of a release, or on raw rows."""
    formula = parse_formula(text, columns_of(source))
    variables = [formula.outcome, *formula.variables.values()]
    rows = _asked(source, variables, where)
    values = {v.label: rows.values(NAMED.format(i)) for i, v in list(enumerate(variables))[1:]}
    (outcome, public), shape = rows.values(NAMED.format(0)), rows.shape
    y, classes = family.outcome(outcome, formula.outcome.label)
    codings = {label: Coding.of(formula.variables[label], numbers) for label, (numbers, _) in values.items()}
    columns = ModelColumns.of(formula, codings)
    U, V = (
        columns.matrix({label: numbers for label, (numbers, own) in values.items() if own is side}, size)
        for side, size in ((True, shape[0]), (False, shape[1]))
    )
    known, other = (np.where(np.isnan(part).any(axis=1), 0.0, 1.0) for part in (U, V))
    there = known.reshape(-1, 1) * other * (~np.isnan(y)).reshape((-1, 1) if public else (1, -1))
    y = np.nan_to_num(y).reshape((-1, 1) if public else (1, -1))
    equations = Equations(
        rows, rows.counts() * there, np.nan_to_num(U), np.nan_to_num(V), y, there, family, columns.names
    )
    return FittedFormula(formula, columns, classes, columns_of(source)), equations


def _asked(source: TrainingRows, variables: Sequence[Variable], where: str | None) -> Reconstruction:
    _demand_apart(source, variables)
    named = ", ".join(f'{v.sql} AS "{NAMED.format(i)}"' for i, v in enumerate(variables))
    if where is not None and not isinstance(where, str):
        raise QueryError(f"where is a condition in SQL, as a text, not {type(where).__name__}")
    chosen = f" WHERE ({where}\n)" if where else ""  # a comment at its end ends there
    sql = f"SELECT {named}, COUNT(*) AS n FROM {TABLE}{chosen} GROUP BY ALL"
    if source.release is not None:
        return source.release.reconstruct(sql)
    published, engine = source.published, source.engine
    types = {field.name: field.type for field in engine.run(exp.select("*").from_(TABLE).limit(0)).schema}
    return gated(sql, {TABLE: types}, lambda: reconstruct(sql, published.columns, Recoding(), published, engine))


def _demand_apart(source: TrainingRows, variables: Sequence[Variable]) -> None:
    """Refuses an expression of public and perturbed columns, which is no function of either; one of none; and a column on both sides."""
    names, hidden = columns_of(source), set(source.published.domains)
    hidden |= set(source.release.recoding.parts) if source.release is not None else set()
    own: set[str] = set()
    for variable, expression in zip(variables, _expressions(variables, names), strict=True):
        used = {c.name for c in expression.find_all(exp.Column)}
        own = own or used  # those of the outcome, which comes first
        if variable is not variables[0] and used & own:
            raise QueryError(
                f"{variable.label}: {sorted(used & own)[0]!r} stands on both sides of the formula; leave it out on one"
            )
        if not used:
            raise QueryError(f"{variable.label} names no column; leave it out, or name one")
        if used & hidden and used - hidden:
            perturbed, public = sorted(used & hidden)[0], sorted(used - hidden)[0]
            raise QueryError(
                f"{variable.label} mixes {perturbed!r}, which is perturbed, with {public!r}, which is public; write an interaction, {perturbed}:{public}"
            )


def _evaluated(table: pa.Table, variables: Sequence[Variable], names: Sequence[str]) -> dict[str, pa.Array]:
    """The variables of ordinary rows, in their order."""
    wanted = {NAMED.format(i): e for i, e in enumerate(_expressions(variables, names))}
    used = {c.name for e in wanted.values() for c in e.find_all(exp.Column)}
    if missing := sorted(used - set(table.column_names)):
        raise InputError(f"the rows have no column {missing[0]!r}, which the model was fitted with")
    numbered = table.append_column(ROW, pa.array(np.arange(table.num_rows)))
    engine = open_engine({TABLE: numbered})
    rows = engine.run(select({**wanted, ROW: exp.column(ROW, quoted=True)}, TABLE))
    order = pa.array(np.argsort(rows.column(ROW).to_numpy()))
    return {v.label: rows.column(NAMED.format(i)).combine_chunks().take(order) for i, v in enumerate(variables)}


def _expressions(variables: Sequence[Variable], names: Sequence[str]) -> list[exp.Expression]:
    """The variables as questions have them: of these columns, and of functions on the list."""
    named = ", ".join(f'COUNT({v.sql}) AS "{NAMED.format(i)}"' for i, v in enumerate(variables))
    query = parse(f"SELECT {named} FROM {TABLE}", names)
    return [aggregate.value or exp.Null() for aggregate in query.aggregates]
