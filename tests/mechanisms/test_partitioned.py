"""mechanism = "partitioned": exact quotas, guarantees that can fail, settings, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble.core.channel import replacement_of
from scumble.core.channel_base import BaseChannel
from scumble.core.coins import Coins
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError, SchemaError, TableError
from scumble.mechanisms.partitioned.partitioning import partition
from scumble.mechanisms.partitioned.plan import plan
from scumble.mechanisms.partitioned.subtables import Subtables, deal
from scumble.mechanisms.plan import Profile
from scumble.privacy import posteriors
from scumble.privacy.checks import meets_bounds, meets_posterior
from scumble.privacy.values import fall, rise, worst_posteriors
from scumble.release.verify import verify
from scumble.spec.spec import ColumnSpec, Spec, Target

VALUES = list("abcdefghij")
COUNTS = np.array([12, 8, 6, 5, 4, 3, 1, 1, 1, 1]) * 100


def spec(settings: dict[str, Any] | None = None, **target: Any) -> Spec:
    column = ColumnSpec(role="sensitive", values=VALUES)
    return Spec(mechanism="partitioned", settings=settings or {}, privacy=Target(**target), columns={"disease": column})


def profile(counts: np.ndarray = COUNTS) -> Profile:
    domain = ColumnSpec(role="sensitive", values=VALUES[: len(counts)]).domain("disease", pa.string())
    return Profile({"disease": domain}, counts={"disease": np.asarray(counts)})


def table(rows: np.ndarray = COUNTS) -> pa.Table:
    disease = np.repeat(VALUES[: len(rows)], rows)
    return pa.table({"sex": np.where(np.arange(len(disease)) % 3 == 0, "F", "M"), "disease": disease})


@pytest.fixture(scope="module")
def release() -> scumble.Release:
    return publish()


def publish(**changes: Any) -> scumble.Release:
    settings: dict[str, Any] = {
        "sensitive": "disease",
        "domains": {"disease": VALUES},
        "mechanism": "partitioned",
        "rho1": "1/3",
        "rho2": "2/3",
        "seed": 4,
    } | changes
    return publish_openly(settings.pop("table", table()), settings.pop("out", None), **settings)


def test_the_thesis_sub_tables_are_published(release: scumble.Release) -> None:
    """The worked figure: sub-tables of 3,600 and 600 rows with diagonals 4/9 and 2/3, each with its own values only."""
    manifest = release.manifest
    column = manifest.column("disease")
    assert column is not None
    assert [record.size for record in column.records] == [6, 6]
    diagonals = [float(r.retain) + (1 - float(r.retain)) / r.size for r in column.records]  # type: ignore[arg-type]
    assert diagonals == pytest.approx([4 / 9, 2 / 3], rel=1e-8)
    rows = release.table().to_pydict()
    for number, (size, record) in enumerate(zip([3600, 600], column.records, strict=True)):
        seen = {d for d, s in zip(rows["disease"], rows["subtable"], strict=True) if s == number}
        assert rows["subtable"].count(number) == size
        assert seen == {VALUES[place] for place in record.members or []}
    assert manifest.role("stratum") == "subtable"
    assert all(check.passed for check in verify(release))


def test_the_query_layer_knows_sub_tables(release: scumble.Release) -> None:
    """Counts of single values add up to the rows, and each interval of five standard errors holds the truth."""
    answer = release.query("SELECT disease, COUNT(*) AS n FROM release GROUP BY disease").to_arrow().to_pydict()
    truth = dict(zip(VALUES, COUNTS, strict=True))
    assert sum(answer["n"]) == pytest.approx(COUNTS.sum())
    for value, n, se in zip(answer["disease"], answer["n"], answer["n_se"], strict=True):
        assert abs(n - truth[value]) < 5 * se


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"settings": {"inside": "fine_grain"}},
        {"mechanism": "fine_grain", "rho1": None, "rho2": None, "settings": {"theta": 3}},
    ],
)
def test_the_readme_lets_a_stranger_count(how: dict[str, Any]) -> None:
    """The statement in the README, copied and run, is the estimate and the standard error that scumble gives."""
    release = publish(**how)
    text = (release.path / "README.md").read_text()
    sql = text.split("```sql")[1].split("```")[0].replace("'data.parquet'", f"'{release.path / 'data.parquet'}'")
    estimate, error = duckdb.sql(sql).fetchall()[0]
    answer = release.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'a'")["n"]
    assert estimate == pytest.approx(answer.value[0], rel=1e-9)
    assert error == pytest.approx(answer.se[0], rel=1e-9)


def keeps(guarantee: Any, strata: list[dict[str, BaseChannel]]) -> bool:
    channels = [replacement_of(stratum["disease"]) for stratum in strata]
    return meets_posterior(guarantee.parameters) and meets_bounds(channels, guarantee.bounds, 0)


def test_a_guarantee_fails_for_a_channel_that_keeps_more(release: scumble.Release) -> None:
    """The check is computed from the channels: one per cent more retention in one sub-table is found out."""
    (guarantee,) = release.manifest.guarantees
    strata = [dict(stratum) for stratum in release.manifest.strata]
    assert keeps(guarantee, strata)
    honest = replacement_of(strata[1]["disease"])
    strata[1]["disease"] = scumble.Channel(honest.retain * 1.01, honest.replace)
    assert not keeps(guarantee, strata)
    assert not keeps(guarantee, strata[:1])


def test_conditions_do_not_promise_what_does_not_hold(release: scumble.Release) -> None:
    """No condition lets the attacker know every other row, and what a sub-table's number tells is written down."""
    (guarantee,) = release.manifest.guarantees
    assert not any("probabilities and every other row" in line for line in guarantee.conditions)
    assert any("believes the table's own frequencies" in line for line in guarantee.conditions)
    assert any(line.startswith("Downward") for line in release.manifest.not_covered)
    assert any("values of the domain do not occur" in line for line in release.manifest.depends_on_data)
    assert "upward only" in guarantee.statement


@pytest.mark.parametrize("inside", ["uniform", "fine_grain"])
@pytest.mark.parametrize("seed", range(6))
def test_no_posterior_of_a_plan_passes_rho2(inside: str, seed: int) -> None:
    """Every posterior of every sub-table by the whole matrix, from the coins that would be flipped; the largest is what is stated."""
    draw = np.random.default_rng(seed)
    counts = (draw.dirichlet(np.full(10, 0.7)) * 5000).astype(int) + 1
    rho1 = np.sort(counts)[-1 - seed % 3] / counts.sum()
    rho2 = rho1 + (1 - rho1) * 0.4
    made = plan(profile(counts), spec({"inside": inside}, rho1=rho1, rho2=rho2))
    found, protected = made.partition, counts / counts.sum() <= rho1
    largest = 0.0
    for row, stratum in zip(found.subtables, made.channels, strict=True):
        with np.errstate(invalid="ignore"):
            table = posteriors(stratum["disease"], row)
        largest = max(largest, float(np.nanmax(table[:, protected])))
    assert largest <= rho2 * (1 + 1e-9)
    assert made.guarantees[0].parameters["largest_posterior"] == pytest.approx(largest, rel=1e-9)
    assert keeps(made.guarantees[0], made.channels)


def test_fine_grain_inside_keeps_more_where_shares_differ() -> None:
    """Rare values of a sub-table may keep more than its most frequent one: some retention rises, and none is zero."""
    uniform = plan(profile(), spec(rho1="1/3", rho2="2/3"))
    both = plan(profile(), spec({"inside": "fine_grain"}, rho1="1/3", rho2="2/3"))
    kept = [
        [float(row @ (c.retention + (1 - c.retention) * c.replace)) for row, c in zip(rows, channels, strict=True)]
        for rows, channels in (
            (p.partition.subtables, [replacement_of(s["disease"]) for s in p.channels]) for p in (uniform, both)
        )
    ]
    assert sum(kept[1]) > 1.05 * sum(kept[0])
    assert not any(len(s["disease"].never_retained) for s in both.channels)


def test_a_guarded_set_stays_within_rho2_with_fine_grain_inside() -> None:
    """A set of values is not covered by factors of single ones: where its posterior would pass rho2 the sub-table stays uniform."""
    counts = np.array([12, 8, 8, 7, 7]) * 10
    made = plan(
        profile(counts), spec({"inside": "fine_grain", "together": [["a", "b"]]}, rho1="0.5", rho2="2/3").model_copy()
    )
    for row, stratum in zip(made.partition.subtables, made.channels, strict=True):
        assert np.nanmax(posteriors(stratum["disease"], row)[:, :2].sum(axis=1)) <= 2 / 3 * (1 + 1e-9)


def test_a_set_above_rho1_is_not_bounded_and_that_is_said() -> None:
    made = plan(profile(), spec({"together": [["a", "b"]]}, rho1="1/3", rho2="2/3"))
    assert "a, b in together is 0.4762 of the table, which is above rho1" in made.warnings[0]
    assert all(set(values) - {0, 1} for values in made.partition.values)
    guarded = plan(profile(), spec({"together": [["i", "j"]]}, rho1="1/3", rho2="2/3"))
    assert not guarded.warnings
    assert "nor a guarded set" in guarded.guarantees[0].statement


def test_quotas_are_exact_whatever_the_batches() -> None:
    """Batches of 1 to 700 rows: every sub-table gets exactly its planned count of every value."""
    found = partition(COUNTS, "1/3", "2/3")
    made = plan(profile(), spec(rho1="1/3", rho2="2/3"))
    coins = [stratum["disease"] for stratum in made.replacing_strata]
    draw = np.random.default_rng(2)
    codes = draw.permutation(np.repeat(np.arange(10, dtype=np.uint8), COUNTS))
    way = Subtables("disease", "subtable", coins, found.subtables, Entropy.seeded(3))
    got, start, index = np.zeros_like(found.subtables), 0, 0
    while start < len(codes):
        part = codes[start : start + int(draw.integers(1, 700))]
        state = way.prepare(index, {"disease": part})
        labels = way.apply(index, {"disease": part}, None, state)["subtable"]
        np.add.at(got, (labels, part), 1)
        start, index = start + len(part), index + 1
    way.demand_spent()
    assert got.tolist() == found.subtables.tolist()


def test_a_plan_is_not_used_up() -> None:
    """One sub-table, whose transposed counts lie in memory as they are: dealing from a plan leaves its counts alone."""
    counts = np.array([[3, 5]])
    way = Subtables("d", "s", [Coins.of(scumble.Channel(0.5, size=2))], counts, Entropy.seeded(1))
    way.prepare(0, {"d": np.repeat(np.arange(2, dtype=np.uint8), [3, 5])})
    assert counts.tolist() == [[3, 5]]


@pytest.mark.slow
def test_every_record_of_a_value_is_equally_likely_in_a_sub_table() -> None:
    """8 records of one value, 3 to sub-table 1, in batches that hold 5 and 3 of them, 4,000 times: each record is there 3/8 of the time, and each
    of the 56 sets of three equally often. Chi-square with 55 degrees of freedom is above 117 with probability 1e-6."""
    counts = np.array([[5, 4], [3, 4]])
    coins = [Coins.of(scumble.Channel(0.5, size=2))] * 2
    sets: dict[tuple[int, ...], int] = {}
    for seed in range(4000):
        way = Subtables("d", "s", coins, counts, Entropy.seeded(seed))
        labels: list[int] = []
        for index, part in enumerate([[0, 0, 1, 0, 0, 1, 0], [1, 0, 1, 1, 0, 1, 1, 0, 1]]):
            codes = np.array(part, dtype=np.uint8)
            state = way.prepare(index, {"d": codes})
            labels += way.apply(index, {"d": codes}, None, state)["s"][codes == 0].tolist()
        chosen = tuple(np.flatnonzero(labels).tolist())
        sets[chosen] = sets.get(chosen, 0) + 1
    assert all(len(each) == 3 for each in sets)
    expected = 4000 / 56
    assert sum((n - expected) ** 2 / expected for n in sets.values()) + (56 - len(sets)) * expected < 117


def test_rows_of_a_large_batch_are_dealt_alike() -> None:
    """Two values of 600 rows, 400 times: most rows get labels by a byte. Each row's count of label 0 has its binomial mean and variance: the sum of
    squared deviations, chi-square with about 1,200 degrees of freedom, stays within 6 standard deviations; and so do neighbours' products."""
    state = np.array([[360, 200, 40], [300, 0, 300]])
    codes = np.tile(np.array([0, 1], dtype=np.uint8), 600)
    dealt = np.array([deal(codes, state, Entropy.seeded(seed).stream("d")) for seed in range(400)])
    assert all(np.array_equal(np.bincount(codes * 3 + row, minlength=6).reshape(2, 3), state) for row in dealt)
    first, p = dealt == 0, np.where(codes == 0, 0.6, 0.5)
    squares = ((first.sum(axis=0) - 400 * p) ** 2 / (400 * p * (1 - p))).sum() * 599 / 600
    assert abs(squares - 1198) < 6 * np.sqrt(2 * 1198)
    signs = (first - p) / np.sqrt(p * (1 - p))
    products = (signs[:, :-2] * signs[:, 2:]).mean()  # rows of the same value: correlation -1/599
    assert abs(products + 1 / 599) < 6 / np.sqrt(400 * 1198)


def test_a_share_above_its_quota_is_dealt_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares that do not fall short pass their quotas in nearly every batch; the counts are exact all the same."""
    monkeypatch.setattr("scumble.mechanisms.partitioned.subtables.SHORT_BY", 0)
    state = np.array([[300, 300], [10, 590]])
    codes = np.repeat(np.array([0, 1], dtype=np.uint8), 600)
    for seed in range(20):
        labels = deal(codes, state, Entropy.seeded(seed).stream("d"))
        assert np.bincount(codes * 2 + labels, minlength=4).tolist() == state.ravel().tolist()


def test_a_table_that_changes_between_the_passes_is_refused(tmp_path: Path) -> None:
    class Growing:
        """A frame that has more rows each time it is read."""

        reads = 0

        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            Growing.reads += 1
            rows = COUNTS + Growing.reads
            return table(rows).__arrow_c_stream__(schema)

    with pytest.raises(TableError, match="changed between counting"):
        publish(table=Growing(), out=tmp_path / "r")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rho2": "1/4", "rho1": "1/3"}, "'a', has 1200/4200 = 0.285714 of the table, and any rho2 above that"),
        ({"rho2": "1/4", "rho1": None}, "rho2 = 0.25 is not above what the table itself tells"),
        ({"rho2": "1/3", "rho1": "2/5"}, "0 < rho1 < rho2 < 1"),
        ({"rho1": None, "rho2": "0.2"}, "most frequent protected value, 'a', has 1200/4200"),
        ({"rho1": "0.001"}, "no value that occurs is protected: .* the rarest value, 'g'"),
        ({"rho1": None, "rho2": None, "gamma": 3}, "partitioned bounds posteriors: give rho2"),
        ({"settings": {"protected": []}}, "the protected set is empty"),
        ({"settings": {"protected": ["flu"]}}, "protected names the value 'flu', which is not in the domain"),
        ({"settings": {"together": [["a", "z"]]}}, "together names the value 'z'"),
        ({"settings": {"together": [VALUES]}}, "holds every value that occurs"),
        ({"settings": {"delta": 2}}, "delta is the probability"),
        ({"settings": {"thetas": 2}}, "'thetas' is not a known setting"),
        (
            {"key": b"k" * 32, "id": "sex"},
            "coins by key are for uniform and design and mixture and shaped and fine_grain",
        ),
    ],
)
def test_bad_input_is_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        publish(**changes)


def test_columns_with_targets_of_their_own_and_a_clash_of_names_are_refused() -> None:
    """Several sensitive columns are taken as one, which has one target."""
    with pytest.raises(SchemaError, match="takes sex, disease as one, which has one target"):
        publish(sensitive=["disease", "sex"], domains={"disease": VALUES, "sex": ["F", "M"]}, rho2={"sex": 0.9})
    clash = table().append_column("subtable", pa.array(np.zeros(COUNTS.sum(), int)))
    with pytest.raises(SchemaError, match="'subtable' has the name"):
        publish(table=clash)


def test_one_sub_table_and_values_that_do_not_occur() -> None:
    """A flat table is best in one piece; values of the domain without records are never published."""
    flat = publish(table=table(np.full(5, 300)), rho1="0.2", rho2="0.3")
    assert set(flat.table().column("subtable").to_pylist()) == {0}
    assert set(flat.table().column("disease").to_pylist()) == set("abcde")
    answer = flat.query("SELECT COUNT(*) AS n FROM release WHERE disease IN ('a', 'j')")["n"]
    assert abs(answer.value[0] - 300) < 5 * answer.se[0]
    assert all(check.passed for check in verify(flat))


def test_counts_from_the_engine_are_those_of_the_rows(tmp_path: Path, publish_simply: Callable[..., Any]) -> None:
    """A Parquet file is counted by GROUP BY, a frame row by row: same plan, same manifest channels."""
    import pyarrow.parquet as pq

    pq.write_table(table(), tmp_path / "t.parquet")
    from_file, from_frame = publish(table=tmp_path / "t.parquet"), publish()
    columns = [release.manifest.column("disease") for release in (from_file, from_frame)]
    assert columns[0] == columns[1]


@pytest.mark.parametrize("inside", ["uniform", "fine_grain"])
@pytest.mark.slow
def test_the_forecast_is_what_publications_come_to(inside: str) -> None:
    """The truth comes back exactly, and the standard error foreseen is the mean of 10 publications within 5%."""
    from scumble.evaluate.forecast import forecast
    from scumble.sources.source import read

    sql = "SELECT sex, COUNT(*) AS n FROM release WHERE disease IN ('a', 'd') GROUP BY sex"
    given = spec({"inside": inside}, rho1="1/3", rho2="2/3")
    given = given.model_copy(update={"columns": {"sex": ColumnSpec(role="public"), **given.columns}})
    foreseen = forecast(read(table()), given, [sql]).answers[0][1]["n"]
    assert foreseen.value.sum() == pytest.approx(1700)
    settings = {"settings": {"inside": inside}}
    squares = np.mean([publish(seed=seed, **settings).query(sql)["n"].se ** 2 for seed in range(10)], axis=0)
    assert foreseen.se == pytest.approx(np.sqrt(squares), rel=0.05)


def test_worst_posteriors_are_those_of_the_matrix() -> None:
    """Largest and smallest posterior of each value at O(m), against the whole matrix; factors on odds against its ratios."""
    draw = np.random.default_rng(8)
    for _ in range(30):
        m = int(draw.integers(2, 8))
        channel = scumble.Channel(draw.random(m) * 0.9, draw.dirichlet(np.ones(m)))
        prior = draw.dirichlet(np.ones(m))
        table, worst = posteriors(channel, prior), worst_posteriors(channel, prior)
        assert worst.largest == pytest.approx(table.max(axis=0))
        assert worst.smallest == pytest.approx(table.min(axis=0))
        matrix = channel.matrix()
        for i in range(m):
            others = np.delete(matrix, i, axis=1)
            assert rise(channel)[i] >= (matrix[:, [i]] / others).max() * (1 - 1e-9)
            assert fall(channel)[i] >= (others / matrix[:, [i]]).max() * (1 - 1e-9)
