"""Public values that were altered on the way are found by the raw table, and do not stop the other attacks."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from auditing.attacked import DISEASES, ONE
from naming import publish_openly

from scumble.auditing import audit
from scumble.core.errors import ParameterError
from scumble.release.release import Release

Forge = Callable[[Release, pa.Table], Release]
Table = tuple[pa.Table, Release]


@pytest.fixture(scope="module")
def scored(raw: pa.Table) -> Table:
    """People with a cost, of which every fifth is 0 and every fifth no number."""
    cost = np.round(np.random.default_rng(2).gamma(2, 1000, len(raw)), 2)
    cost[::5], cost[1::5] = 0.0, np.nan
    table = raw.append_column("cost", pa.array(cost))
    return table, publish_openly(table, seed=1, **ONE, retain=0.4)


def _hidden(cost: np.ndarray, code: np.ndarray, how: str) -> np.ndarray:  # type: ignore[type-arg]
    if how == "the sixth decimal":
        return np.asarray(cost + code * 1e-6)
    if how == "the sign of zeros":
        return np.where((cost == 0) & (code % 2 == 1), -0.0, cost)
    bits = cost.view(np.uint64).copy()
    bits[np.isnan(cost)] += code[np.isnan(cost)].astype(np.uint64)
    return np.asarray(bits.view(np.float64))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["the sixth decimal", "the sign of zeros", "the bits of missing numbers"])
def test_true_values_hidden_in_a_number(how: str, scored: Table, forge: Forge) -> None:
    raw, release = scored
    code = np.array([DISEASES.index(value) for value in raw["disease"].to_pylist()])
    cost = pa.array(_hidden(raw["cost"].to_numpy(), code, how))
    rows = raw.drop_columns(["cost", "disease"]).append_column("cost", cost)
    rows = rows.append_column("disease", release.table()["disease"]).select(release.table().column_names)
    shuffled = rows.take(pa.array(np.random.default_rng(1).permutation(len(raw))))
    found = {f.attack: f for f in audit(forge(release, shuffled), raw)}
    assert found["altered values"].verdict == "broken"
    assert "'cost'" in found["altered values"].detail
    assert {"linking", "retention", "inference", "order"} <= set(found)


def test_unaltered_values_hold(scored: Table) -> None:
    raw, release = scored
    (found,) = (f for f in audit(release, raw) if f.attack == "altered values")
    assert found.verdict == "holds"


@pytest.mark.parametrize("column", ["age", "sex"])
def test_another_table_is_refused(column: str, scored: Table) -> None:
    """Numbers that lie elsewhere, or words of which it has none."""
    raw, release = scored
    made = pa.array(raw["age"].to_numpy() + 1000) if column == "age" else pa.array(["X"] * len(raw))
    other = raw.set_column(raw.column_names.index(column), column, made)
    for table in (other, raw.slice(0, 1000)):
        with pytest.raises(ParameterError, match="is it the table that was published"):
            audit(release, table)
