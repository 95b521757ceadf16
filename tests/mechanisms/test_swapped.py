"""Identity perturbation and swapping: laws, streaming, estimates, and what they warn of."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from forged import restated
from naming import publish_openly
from scipy.stats import chi2

import scumble
from scumble.core.errors import ParameterError
from scumble.release.verify import verify

VALUES = ["a", "b", "c", "d"]
SHARES = [0.5, 0.3, 0.15, 0.05]
ROWS = 400_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    draw = np.random.default_rng(9)
    true = draw.choice(VALUES, ROWS, p=SHARES)
    return pa.table(
        {"true": true, "value": true, "sex": np.where(draw.random(ROWS) < np.where(true == "c", 0.8, 0.4), "F", "M")}
    )


@pytest.fixture(scope="module", params=["identity", "swapped"])
def release(request: pytest.FixtureRequest, table: pa.Table) -> scumble.Release:
    return publish_openly(
        table, sensitive="value", domains={"value": VALUES}, retain=0.3, mechanism=request.param, seed=3
    )


def transitions(release: scumble.Release) -> np.ndarray:
    rows = release.table().group_by(["true", "value"]).aggregate([([], "count_all")]).to_pylist()
    counts = np.zeros((4, 4))
    for row in rows:
        counts[VALUES.index(row["value"]), VALUES.index(row["true"])] = row["count_all"]
    return counts


@pytest.mark.slow
def test_every_cell_has_its_probability(release: scumble.Release) -> None:
    """n = 400,000, 16 cells, false alarm 1e-6 (for swapping an upper bound); a retention off by 1% is rejected."""
    counts = transitions(release)
    own = counts.sum(axis=0) / ROWS

    def statistic(p: float) -> float:
        expected = (p * np.eye(4) + (1 - p) * own[:, None]) * counts.sum(axis=0)
        return float(((counts - expected) ** 2 / expected).sum())

    assert statistic(0.3) < chi2.isf(1e-6, 12)
    assert statistic(0.31) > chi2.isf(1e-6, 12)


@pytest.mark.slow
def test_swapping_keeps_the_counts_of_the_column_exactly(table: pa.Table) -> None:
    release = publish_openly(table, sensitive="value", domains={"value": VALUES}, retain=0.3, mechanism="swapped")
    assert sorted(release.table().column("value").to_pylist()) == sorted(table.column("value").to_pylist())
    answer = release.query("SELECT value, COUNT(*) AS n FROM release GROUP BY value")
    truth = [table.column("value").to_pylist().count(v) for v in VALUES]
    assert np.allclose(answer["n"].value, truth)


@pytest.mark.slow
def test_conditions_on_public_columns_come_back(release: scumble.Release, table: pa.Table) -> None:
    """Within 5 standard errors, where the published counts alone are 20 and more away."""
    frame = table.to_pandas()
    for value in VALUES:
        truth = int(((frame.value == value) & (frame.sex == "F")).sum())
        answer = release.query(f"SELECT COUNT(*) AS n FROM release WHERE value = '{value}' AND sex = 'F'")["n"]
        assert abs(answer.value[0] - truth) < 5 * answer.se[0]
    seen = int(((release.table().to_pandas().value == "c") & (release.table().to_pandas().sex == "F")).sum())
    assert abs(seen - int(((frame.value == "c") & (frame.sex == "F")).sum())) > 20 * answer.se[0]


@pytest.mark.parametrize("mechanism", ["identity", "swapped"])
@pytest.mark.slow
def test_intervals_cover(mechanism: str) -> None:
    """150 publications of 1,000 rows: 95% intervals cover at least 90% (2.8 standard errors; the seeds are fixed) and, for
    swapping an upper bound, up to all.
    """
    draw = np.random.default_rng(4)
    value = draw.choice(VALUES, 1000, p=SHARES)
    small = pa.table({"value": value, "sex": np.where(draw.random(1000) < np.where(value == "b", 0.7, 0.4), "F", "M")})
    truth = int(((value == "b") & (small.column("sex").to_numpy() == "F")).sum())
    hits = 0
    for seed in range(150):
        release = publish_openly(
            small, sensitive="value", domains={"value": VALUES}, retain=0.4, mechanism=mechanism, seed=seed
        )
        answer = release.query("SELECT COUNT(*) AS n FROM release WHERE value = 'b' AND sex = 'F'")["n"]
        hits += bool(answer.low[0] <= truth <= answer.high[0])
    assert hits >= 0.9 * 150


def test_swapping_streams_over_many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values cross batches: with the source sorted by value, batches of 1,000 hold one value each, and are mixed after."""
    monkeypatch.setattr("scumble.sources.source.BATCH", 1000)
    table = pa.table({"batch": np.arange(8000) // 1000, "value": np.repeat(VALUES, 2000)})
    release = publish_openly(
        table, sensitive="value", domains={"value": VALUES}, retain=0.0, mechanism="swapped", seed=1
    )
    frame = release.table().to_pandas()
    assert sorted(frame.value) == sorted(table.column("value").to_pylist())
    share = frame.groupby("batch").value.apply(lambda v: (v == "a").mean())
    assert ((share > 0.18) & (share < 0.32)).all()


@pytest.mark.slow
def test_the_manifest_says_what_is_promised_and_verify_recomputes_it(table: pa.Table) -> None:
    release = publish_openly(
        table, sensitive="value", domains={"value": VALUES}, rho1="1/5", rho2="1/2", mechanism="identity"
    )
    guarantee = release.manifest.guarantees[0]
    assert guarantee.kind == "own_distribution"
    assert release.manifest.column("value").channel.retain == pytest.approx(0.375, abs=1e-6)
    assert any("rare value" in condition for condition in guarantee.conditions)
    assert all(check.passed for check in verify(release))
    assert "which does not follow" in restated(release, rho2=0.4).doubts[0]


@pytest.mark.slow
def test_a_small_swapped_table_keeps_its_bound() -> None:
    """n = 10, one rare row: the row's own value is in the pool. 12,000 publications of the codes; false alarm 1e-6."""
    from scumble.core.coins import own_threshold
    from scumble.core.entropy import Entropy
    from scumble.privacy.breach import swapping_posterior
    from scumble.publishing.perturb_own import Swapped

    codes, seen, true = np.array([1] + [0] * 9, dtype=np.uint8), 0, 0
    coins = {"value": own_threshold(4 / 9, 2)}
    for seed in range(12_000):
        way = Swapped(coins, {"value": np.array([9, 1])}, Entropy.seeded(seed))
        published = way.apply(0, {"value": codes}, None, way.prepare(0, {"value": codes}))["value"]
        seen += int(published.sum())
        true += int(published[0])
    expected, error = swapping_posterior(4 / 9, 0.1, 10), 0.5 / np.sqrt(12_000)
    assert abs(true / seen - expected) < 5 * error
    assert abs(true / seen - swapping_posterior(4 / 9, 0.1)) > 5 * error


def test_rare_values_are_warned_of_by_name(publish_simply: Callable[..., scumble.Release]) -> None:
    table = pa.table({"value": ["a"] * 500 + ["b"] * 3})
    with pytest.warns(UserWarning, match=r"1 value of 'value' has fewer than 20 rows \(b\)"):
        publish_simply(table=table, sensitive=["value"], drop=(), domains={"value": ["a", "b"]}, mechanism="swapped")


@pytest.mark.parametrize("target", [{"gamma": 3}, {"epsilon": 1}])
def test_targets_that_cannot_be_met_are_refused(
    target: dict[str, float], publish_simply: Callable[..., scumble.Release]
) -> None:
    with pytest.raises(ParameterError, match="no bound on gamma or epsilon"):
        publish_simply(mechanism="identity", retain=None, **target)
    with pytest.raises(ParameterError, match="coins by key"):
        publish_simply(mechanism="swapped", key=bytes(32), id="name", drop=())
