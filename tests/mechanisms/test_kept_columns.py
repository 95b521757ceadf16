"""What a cap on columns takes away is counted with noise, and put back into counts: budget, unbiasedness, coverage, and lower counts without it."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import with_care
from naming import publish_openly
from scipy import sparse

import scumble
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError, ReleaseError
from scumble.forms.tuples.record import TuplesRecord
from scumble.mechanisms.columnized.histogram import kept_by_columns, noisy_histogram
from scumble.mechanisms.kept_columns import KeptColumn, rungs
from scumble.release.verify import verify

ITEMS = 6
SINGLE = [[item] for item in range(ITEMS)]
PAIRS = [[0, 1], [2, 3], [4, 5]]
BY_ITEM = "SELECT item, COUNT(*) AS n FROM release GROUP BY item"


@pytest.fixture(scope="module")
def baskets() -> pa.Table:
    """2,500 users with 1 to 6 of 6 items, all alike."""
    draw = np.random.default_rng(1)
    chosen = [(user, item) for user in range(2500) for item in draw.permutation(ITEMS)[: draw.integers(1, ITEMS + 1)]]
    users, items = zip(*chosen, strict=True)
    return pa.table({"user": users, "item": items})


def capped(table: pa.Table, schema: list[list[int]], seed: int = 1, **settings: Any) -> scumble.Release:
    given = {"k": 10, "delta": 1e-5, "user": "user", "item": "item", "schema": schema, "c_star": 2, **settings}
    return publish_openly(table, mechanism="columnized", epsilon=4, drop="user", settings=given, seed=seed)


def truths(table: pa.Table) -> dict[int, int]:
    values, counts = np.unique(table["item"].to_numpy(), return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def test_a_tuple_changes_c_star_counts_by_one() -> None:
    """And no others: with the same coins for everybody else, whatever columns it has."""
    draw = np.random.default_rng(2)
    kept = sparse.csr_array(np.argsort(draw.random((40, 9)), axis=1) < 3)
    had = draw.integers(3, 10, 40)
    whole = kept_by_columns(Entropy.seeded(1).stream("law"), had, kept, 3)
    less = kept_by_columns(Entropy.seeded(1).stream("law"), had[:-1], kept[:-1], 3)
    assert whole.shape == (9, len(rungs(3, 9)))
    assert np.abs(whole - less).sum() == 3
    assert (whole - less).max() == 1


def test_rounding_keeps_the_mean_number_of_columns() -> None:
    """20,000 tuples with 8 of 60 columns, between the rungs 7 and 10: the mean within 5 standard errors (5 x 0.010)."""
    had = np.full(20_000, 8)
    kept = sparse.csr_array(np.ones((20_000, 1), bool))
    wide = sparse.hstack([kept, sparse.csr_array((20_000, 59), dtype=bool)]).tocsr()
    (counts,) = kept_by_columns(Entropy.seeded(3).stream("law"), had, wide, 5)[:1]
    ladder = rungs(5, 60)
    assert set(np.flatnonzero(counts)) == {ladder.index(7), ladder.index(10)}
    assert counts @ np.array(ladder) / 20_000 == pytest.approx(8, abs=0.05)


def test_the_noise_is_as_wide_as_the_budget_asks() -> None:
    """40,000 counts at epsilon 0.5 and c* = 3: the mean of |Z| is 2r/(1 - r^2), within 6 standard errors; that of a tenth more epsilon is refused."""
    drawn = np.array(noisy_histogram(Entropy.seeded(4).stream("law"), np.zeros((200, 200), np.int64), 3, 0.5))
    found, error = np.abs(drawn).mean(), np.abs(drawn).std() / 200

    def expected(rate: float) -> float:
        r = np.exp(-rate)
        return float(2 * r / (1 - r**2))

    assert abs(found - expected(0.5 / 3)) < 6 * error
    assert abs(found - expected(0.55 / 3)) > 6 * error


def test_the_factor_and_its_extremes() -> None:
    column = KeptColumn.of([6000, 0, 0, 3000], 2, 5, 1000.0)
    assert column is not None
    assert column.factor == pytest.approx((6000 + 2.5 * 3000) / 9000)
    some = np.array([1000.0])
    assert column.extreme(some, heaviest=False)[0] < column.factor * 1000 < column.extreme(some, heaviest=True)[0]


@pytest.mark.slow
def test_corrected_counts_cover_the_truth(baskets: pa.Table) -> None:
    """18 publications of 6 items, 108 intervals at 95%: more than 22 misses have probability below 1e-6; lower counts miss all of them."""
    truth, misses, errors, short = truths(baskets), 0, [], 0
    for seed in range(18):
        for row in capped(baskets, SINGLE, seed).query(BY_ITEM).to_list():
            misses += not row["n_low"] <= truth[row["item"]] <= row["n_high"]
            errors.append((row["n"] - truth[row["item"]]) / row["n_se"])
            short += row["n"] < 0.8 * truth[row["item"]]
    assert misses <= 22
    assert abs(np.mean(errors)) < 5 / np.sqrt(len(errors))
    assert 0.6 < np.std(errors) < 1.4
    assert short == 0


@pytest.mark.slow
def test_bounds_hold_where_those_who_match_have_more_columns(baskets: pa.Table) -> None:
    """Of two items in a column who has a given one has more items than others: bounds need no assumption about that."""
    truth = truths(baskets)
    for row in capped(baskets, PAIRS, c_star=1).query(BY_ITEM).to_list():
        assert row["n_least"] <= row["n_low"] < row["n_high"] <= row["n_bound"]
        assert row["n_least"] < truth[row["item"]] < row["n_bound"]


@pytest.mark.slow
def test_rows_without_missing_values_are_put_right_exactly() -> None:
    """9,000 rows in one of three columns each: the factor is 3, and sums and averages follow."""
    draw = np.random.default_rng(5)
    table = pa.table({name: draw.integers(0, 3, 9000) for name in "abc"})
    settings = {"k": 10, "delta": 1e-5, "schema": [["a"], ["b"], ["c"]], "c_star": 1}
    release = publish_openly(table, mechanism="columnized", epsilon=4, settings=settings, seed=1)
    (row,) = release.query("SELECT COUNT(*) AS n, SUM(b) AS s, AVG(b) AS m FROM release WHERE b > 0").to_list()
    b = table["b"].to_numpy()
    for name, true in (("n", (b > 0).sum()), ("s", b.sum()), ("m", b[b > 0].mean())):
        assert abs(row[name] - true) < 5 * row[f"{name}_se"], name
    assert row["m_se"] > 0.005  # 2,000 of 6,000 rows are left: that is sampling error


@pytest.mark.slow
def test_without_a_histogram_a_count_is_a_lower_count(baskets: pa.Table) -> None:
    release = capped(baskets, SINGLE, histogram_share=0)
    answer = release.query(BY_ITEM)
    truth = truths(baskets)
    assert all(row["n_high"] is None and row["n_low"] < row["n"] < truth[row["item"]] for row in answer.to_list())
    assert "lower than the truth" in " ".join(answer.notes)


@pytest.fixture
def folder(baskets: pa.Table, tmp_path: Path) -> Path:
    release = capped(baskets, SINGLE)
    shutil.copytree(release.path, tmp_path / "release")
    return tmp_path / "release"


def _failed(folder: Path) -> set[str]:
    return {check.name for check in verify(scumble.open(folder)) if not check.passed}


@pytest.mark.slow
def test_the_budget_of_the_histogram_is_derived(folder: Path) -> None:
    """epsilon is what the tables and the histogram use together; a histogram that claims to have cost less, or more, fails."""
    before = _failed(folder)
    manifest = scumble.open(folder).manifest
    assert isinstance(manifest.form, TuplesRecord)
    parameters = manifest.guarantees[0].parameters
    assert parameters["total_epsilon"] == pytest.approx(4)
    assert parameters["histogram"] == pytest.approx(0.4)
    with_care(folder, lambda document: document["form"]["schema"]["kept"].update(epsilon=0.1))
    assert "guarantee" in _failed(folder) - before


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"counts": [[1]]}, {"epsilon": 0}, {"counts": "x"}, {"more": 1}])
def test_a_histogram_of_another_shape_is_refused(folder: Path, change: dict[str, Any]) -> None:
    document = json.loads((folder / "manifest.json").read_text())
    document["form"]["schema"]["kept"].update(change)
    (folder / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(ReleaseError):
        scumble.open(folder)


@pytest.mark.parametrize(
    ("settings", "match"),
    [({"histogram_share": 1}, "part of epsilon"), ({"histogram_share": 0.1, "c_star": ITEMS}, "give c_star")],
)
def test_shares_that_cannot_be_are_refused(baskets: pa.Table, settings: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        capped(baskets, SINGLE, **settings)
