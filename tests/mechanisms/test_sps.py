"""Sampling-perturbing-scaling: what is published, what the manifest says, merged values in questions, and bad input."""

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged import restated
from naming import plan_openly, publish_openly

import scumble
from scumble.core.entropy import Entropy
from scumble.core.errors import InputError
from scumble.mechanisms.sps.sampling import rounded_split
from scumble.privacy import sample_size
from scumble.release.verify import verify

DISEASES = ["flu", "cold", "hiv"]
Publish = Callable[..., scumble.Release]


def wards(groups: int = 40, size: int = 100) -> pa.Table:
    """Wards of `size` patients each, with frequencies of their own, and one ward of 3."""
    draw = np.random.default_rng(2)
    ward = np.concatenate([np.repeat(np.arange(groups), size), np.full(3, groups)])
    share = draw.dirichlet([2, 2, 1], groups + 1)
    disease = [draw.choice(DISEASES, p=share[w]) for w in ward]
    return pa.table({"ward": ward, "sex": np.where(ward % 2, "F", "M"), "disease": disease})


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return wards()


def sps(
    table: Any, out: Path | None = None, *, retain: Any = 0.5, domain: Any = DISEASES, **settings: Any
) -> scumble.Release:
    settings = {key.rstrip("_"): value for key, value in settings.items()}
    return publish_openly(
        table,
        out,
        sensitive="disease",
        domains={"disease": domain},
        mechanism="sps",
        retain=retain,
        settings=settings,
        seed=3,
    )


@pytest.mark.slow
def test_a_sample_is_published_once_with_its_weight(table: pa.Table) -> None:
    """One public size: every large group has s(1) rows of weight n/s, a small one all of its rows."""
    release = sps(table)
    s = sample_size(1, 0.5, 3, 0.3, 0.1)
    rows = release.table().to_pylist()
    assert release.manifest.rows == len(rows) == 40 * s + 3
    assert {r["weight"] for r in rows} == {100 / s, 1.0}
    assert release.manifest.depends_on_data == []
    assert release.manifest.view.sampling is not None
    assert release.manifest.view.sampling.least == s
    assert [g.kind for g in release.manifest.guarantees] == ["reconstruction", "amplification"]
    assert all(check.passed for check in verify(release))


def test_duplicates_fill_every_group_again(table: pa.Table) -> None:
    release = sps(table, duplicates=True)
    rows = release.table()
    assert rows.num_rows == table.num_rows
    copies = rows.column("copies").to_numpy()
    s = sample_size(1, 0.5, 3, 0.3, 0.1)
    assert set(copies) <= {1, 100 // s, 100 // s + 1}
    assert (1 / copies).sum() == pytest.approx(40 * s + 3)
    assert all(check.passed for check in verify(release))


def test_sizes_by_name_say_what_they_tell(table: pa.Table) -> None:
    with pytest.warns(UserWarning, match="can be read off"):
        paper = sps(table, sizes="paper", tail="chernoff", delta=0.3)
    assert "within 5%" in paper.manifest.depends_on_data[0]
    assert [g.kind for g in paper.manifest.guarantees] == ["amplification"]
    ladder = sps(table, sizes="ladder")
    assert "rungs" in ladder.manifest.depends_on_data[0]
    assert not ladder.doubts
    weights = set(ladder.table().column("weight").to_pylist())
    assert len(weights) <= 1 + len(ladder.manifest.view.sampling.ladder or ())


def test_chernoff_states_the_true_tails(table: pa.Table) -> None:
    release = sps(table, tail="chernoff", delta=0.3)
    stated = release.manifest.guarantees[0]
    assert stated.parameters["delta"] < 0.02
    assert "0.3 was asked for" in stated.statement
    assert not release.doubts


def test_a_guarantee_that_the_samples_do_not_keep_is_found(table: pa.Table) -> None:
    """One record more than s(1) in the stated size fails the check; so does a delta that was asked too high."""
    release = sps(table)
    stated = release.manifest.guarantees[0]
    changes: list[dict[str, Any]] = [
        {"size at f <= 1": stated.parameters["size at f <= 1"] + 1},
        {"delta": 0.2},
        {"retain": 0.6},
    ]
    for change in changes:
        assert restated(release, **change).doubts


@pytest.mark.slow
@pytest.mark.parametrize("form", ["frame", "parquet", "csv"])
def test_every_kind_of_table_gives_the_same_release(form: str, table: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / f"t.{form}"
    if form == "parquet":
        pq.write_table(table, path)
    elif form == "csv":
        table.to_pandas().to_csv(path, index=False)
    found = sps(table if form == "frame" else path).table()
    assert found.equals(sps(table).table())


def test_coarsening_comes_before_grouping(table: pa.Table) -> None:
    release = publish_openly(
        table,
        sensitive="disease",
        domains={"disease": DISEASES},
        mechanism="sps",
        retain=0.5,
        coarsen={"ward": {"bins": 20}},
        seed=1,
    )
    assert set(release.table().column("ward").to_pylist()) == {0, 20, 40}
    answer = release.query("SELECT ward, COUNT(*) AS n FROM release GROUP BY ward")
    assert answer["n"].value == pytest.approx([2000, 2000, 3])


def test_missing_public_values_and_numeric_sensitive_ones(table: pa.Table) -> None:
    """A missing public value is a group of its own; a sensitive grid rounds before it counts."""
    draw = np.random.default_rng(1)
    rows = pa.table({"a": pa.array([None, "x"] * 500), "score": draw.integers(0, 5, 1000) + 0.2})
    release = publish_openly(
        rows, sensitive="score", domains={"score": {"low": 0, "high": 4}}, mechanism="sps", retain=0.5, seed=1
    )
    assert release.query("SELECT COUNT(*) AS n FROM release WHERE a IS NULL")["n"].value == pytest.approx([500])
    answer = release.query("SELECT SUM(score) AS s, AVG(score) AS v FROM release")
    assert answer["s"].low[0] < rows.column("score").to_numpy().round().sum() < answer["s"].high[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"delta": 0}, "delta must lie between 0 and 1"),
        ({"delta": 1}, "delta must lie between 0 and 1"),
        ({"lambda_": 3}, r"lambda must lie in \(0, 1 \+ \(1-p\)/\(m p f\)\) = \(0, 1.333\)"),
        ({"lambda_": -0.1}, "lambda must lie in"),
        ({"retain": 0.95}, r"lambda must lie in \(0, 0.0\d+\); or lower p"),
        ({"retain": 1.0}, "not even one record.*lower p"),
        ({"delta": 0.6}, "lower delta, lambda or p"),
        ({"sizes": "two"}, "sizes"),
        ({"tail": "markov"}, "tail"),
        (
            {"lamda": 0.3},
            "'lamda' is not a known setting; there are: lambda, delta, tail, sizes, duplicates, generalize, ",
        ),
        ({"generalize": ["wad"]}, "did you mean 'ward'"),
    ],
)
def test_bad_settings_name_the_range(arguments: dict[str, Any], words: str, table: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        sps(table, tmp_path / "r", **arguments)
    assert not list(tmp_path.iterdir())


def test_a_value_per_person_is_refused_with_the_column_to_coarsen(table: pa.Table, tmp_path: Path) -> None:
    each = table.append_column("born", pa.array(np.arange(table.num_rows)))
    with pytest.raises(InputError, match=r"4,003 groups of 4,003 rows.*coarsen or drop 'born', which has 4,003"):
        sps(each, tmp_path / "r")


def test_groups_within_the_sample_size_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no group has more than 6 records.*nothing would be sampled.*uniform"):
        sps(wards(30, 6), tmp_path / "r")


def test_columns_that_clash_and_other_wrong_uses(table: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rename or drop the table's 'weight'"):
        sps(table.append_column("weight", table.column("ward")), tmp_path / "r")
    with pytest.raises(InputError, match="coins by key"):
        publish_openly(
            table.append_column("id", pa.array(np.arange(table.num_rows))),
            sensitive="disease",
            domains={"disease": DISEASES},
            mechanism="sps",
            retain=0.5,
            key=bytes(32),
            id="id",
        )
    with pytest.raises(InputError, match="outside its domain: 'hiv'"):
        sps(table, tmp_path / "r", domain=["flu", "cold"])
    with pytest.raises(InputError, match="no rows"):
        sps(table.slice(0, 0), tmp_path / "r")


def test_the_likelihood_of_weighted_rows_is_never_negative_and_keeps_the_interval(table: pa.Table) -> None:
    """Inside the possible it is the unbiased answer; where that is negative it is 0, and the interval is the same one, cut."""
    release = sps(table)
    sql = "SELECT ward, disease, COUNT(*) AS n FROM release GROUP BY ward, disease"
    plain, likely = release.query(sql), release.query(sql, method="likelihood")
    assert (plain["n"].value < 0).any()
    assert (likely["n"].value >= 0).all()
    inside = np.repeat((plain["n"].value.reshape(-1, 3) >= 0).all(axis=1), 3)
    assert likely["n"].value[inside] == pytest.approx(plain["n"].value[inside], abs=1e-6)
    assert likely["n"].value.reshape(-1, 3).sum(axis=1) == pytest.approx([100] * 40 + [3])
    assert (likely["n"].low <= likely["n"].value).all()
    everyone = np.repeat([100] * 40 + [3], 3)
    assert likely["n"].high[inside] == pytest.approx(np.minimum(plain["n"].high, everyone)[inside], rel=1e-6)
    assert "those of the unbiased answer" in likely.notes[-1]


def test_two_values_are_allowed_with_a_caution(table: pa.Table) -> None:
    two = table.filter(pa.compute.not_equal(table.column("disease"), "hiv"))
    with pytest.warns(UserWarning, match="made for 3 or more"):
        release = sps(two, domain=["flu", "cold"])
    assert release.manifest.rows < two.num_rows


def colours() -> pa.Table:
    """Colour tells nothing; of age what tells is 40 and more, or less."""
    draw = np.random.default_rng(4)
    age, n = draw.integers(20, 60, 20_000), 20_000
    disease = np.where(draw.random(n) < np.where(age >= 40, 0.8, 0.2), "flu", draw.choice(["cold", "hiv"], n))
    return pa.table({"colour": draw.choice(["red", "blue", "grey"], n), "age": age, "disease": disease})


@pytest.mark.slow
def test_values_that_do_not_matter_are_merged_and_may_still_be_named() -> None:
    table = colours()
    release = sps(table, generalize=True, significance=1e-6)
    colour, age = release.manifest.column("colour"), release.manifest.column("age")
    assert [m.values for m in colour.merged] == [["blue", "grey", "red"]]
    assert [m.published for m in age.merged] == [20, 40]
    assert "chi-square" in release.manifest.depends_on_data[0]
    asked = "SELECT COUNT(*) AS n FROM release WHERE {}"
    by_name = release.query(asked.format("colour = 'red' AND age = 37 AND disease = 'flu'"))
    merged = release.query(asked.format("colour = 'blue | grey | red' AND age = 20 AND disease = 'flu'"))
    assert by_name["n"].value == merged["n"].value
    assert any("'red' was published together with others, as 'blue | grey | red'" in note for note in by_name.notes)
    young = (table.column("age").to_numpy() < 40).sum()
    for condition in ("age < 40", "age <= 39", "age BETWEEN 21 AND 33", "age IN (25, 30)"):
        assert release.query(asked.format(condition))["n"].value == pytest.approx([young]), condition
    assert all(check.passed for check in verify(release))


@pytest.mark.parametrize(
    "value",
    [
        "CASE WHEN colour = 'red' THEN 1 ELSE 0 END",
        "CASE colour WHEN 'red' THEN 1 ELSE 0 END",
        "CASE WHEN NOT (colour IN ('red', 'blue')) THEN 0 ELSE 1 END",
    ],
)
def test_merged_values_are_named_inside_of_aggregates_and_groups_too(value: str) -> None:
    release = sps(colours(), generalize=True, significance=1e-6)
    answer = release.query(f"SELECT AVG({value}) AS a, SUM({value}) AS s FROM release")
    assert answer[0]["a"] == pytest.approx(1)
    assert answer[0]["s"] == pytest.approx(20_000)
    assert any("'red' was published together with others" in note for note in answer.notes)
    grouped = release.query(f"SELECT {value} AS c, COUNT(*) AS n FROM release GROUP BY {value}")
    assert [row["c"] for row in grouped] == [1]


def test_a_rare_public_value_is_a_bridge_unless_pairs_merge() -> None:
    """12 grey ones are told apart from nobody; red and blue, which differ plainly, are one value with them or two without."""
    colour = ["red"] * 600 + ["blue"] * 600 + ["grey"] * 12
    ill = ["flu"] * 360 + ["cold"] * 240 + ["flu"] * 240 + ["cold"] * 360 + ["flu", "cold"] * 6
    table = pa.table({"colour": colour, "disease": ill})
    how = {"sensitive": "disease", "domains": {"disease": ["cold", "flu", "none"]}, "retain": 0.5, "seed": 1}
    colours = {
        merging: publish_openly(table, mechanism="sps", settings={"generalize": True, "merging": merging}, **how)
        .table()["colour"]
        .unique()
        .to_pylist()
        for merging in ("connected", "agglomerative")
    }
    assert len(colours["connected"]) == 1
    assert len(colours["agglomerative"]) == 2


def test_what_sampling_costs_is_said_first() -> None:
    made = plan_openly(colours(), mechanism="sps", sensitive="disease", domains={"disease": DISEASES}, retain=0.5).plan
    assert f"at most {made.sampling.least} records" in made.warnings[0]


@pytest.mark.slow
def test_the_readme_lets_a_stranger_count_with_weights(table: pa.Table) -> None:
    import duckdb

    for duplicates in (False, True):
        release = sps(table, duplicates=duplicates)
        sql = (release.path / "README.md").read_text().split("```sql")[1].split("```")[0]
        estimate, error = duckdb.sql(sql.replace("data.parquet", str(release.path / "data.parquet"))).fetchall()[0]
        answer = release.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'flu'")["n"]
        assert estimate == pytest.approx(answer.value[0])
        assert error <= answer.se[0] <= 1.1 * error


def test_rounding_keeps_means_and_correlates_nothing_positively() -> None:
    """100,000 groups: each value has the mean c s/n and c s/n rounded down or up; no two values go together (false alarm 1e-6)."""
    counts, trials = np.array([7, 5, 3, 11, 2, 0, 9]), 100_000
    sample = rounded_split(Entropy.seeded(5).stream("test"), np.tile(counts, (trials, 1)), 12)
    x = counts * 12 / counts.sum()
    assert (sample.sum(axis=1) == 12).all()
    assert (np.abs(sample - x) < 1).all()
    assert np.abs(sample.mean(axis=0) - x).max() < 5.2 * 0.5 / np.sqrt(trials)
    covariance = np.cov(sample.T)
    np.fill_diagonal(covariance, 0)
    assert covariance.max() < 5.2 * 0.25 / np.sqrt(trials)


def test_values_a_period_apart_do_not_come_and_go_together() -> None:
    """Systematic sampling takes values 0 and 2 together or not at all: variance 1 of their sum, where 1/2 is the bound."""
    sample = rounded_split(Entropy.seeded(5).stream("test"), np.ones((20_000, 4), dtype=np.int64), 2)
    assert sample[:, [0, 2]].sum(axis=1).var() < 0.55


def duels(parts: tuple[Fraction, ...]) -> dict[tuple[int, ...], Fraction]:
    """The law of the rounded fractional parts, as mechanisms/sps/sampling.py defines the duels: each outcome with its probability."""

    def go(open_: Fraction, going: int, value: int, taken: tuple[int, ...], chance: Fraction) -> None:
        if chance == 0:
            return
        if value == len(parts):
            law[tuple(int(j in taken) for j in range(len(parts)))] += chance
            return
        both = open_ + parts[value]
        wins = Fraction(1)  # of the open value
        if both > 0:
            wins = open_ / both if both <= 1 else (1 - parts[value]) / (2 - both)
        for winner, loser, share in ((going, value, wins), (value, going, 1 - wins)):
            if both < 1:
                go(both, winner, value + 1, taken, chance * share)
            else:
                go(both - 1, loser, value + 1, (*taken, winner), chance * share)

    law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    go(Fraction(0), -1, 0, (), Fraction(1))
    return law


def covariance(parts: tuple[Fraction, ...]) -> Any:
    law = duels(parts)
    outcomes, chances = np.array(list(law), dtype=float), np.array([float(c) for c in law.values()])
    assert chances @ outcomes == pytest.approx([float(u) for u in parts])
    return (outcomes * chances[:, np.newaxis]).T @ outcomes - np.outer(chances @ outcomes, chances @ outcomes)


@pytest.mark.slow
def test_sampling_varies_no_more_than_drawing_with_replacement() -> None:
    """Proofs, section 7: Cov <= diag(u) - u u'/k as matrices, so Var[sum g N] <= sum u (g - r)^2 for numbers of any sign; exactly, for all parts in sixths of up to 5 values.

    Sums of the variances alone do not bound numbers of two signs: half of what they can be is missing.
    """
    halves = 0
    for values in (2, 3, 4, 5):
        for sixths in product(range(6), repeat=values):
            if sum(sixths) % 6 or not sum(sixths):
                continue
            parts = tuple(Fraction(u, 6) for u in sixths)
            u, found = np.array(sixths) / 6, covariance(parts)
            assert (found - np.diag(np.diag(found))).max() <= 1e-12
            assert np.linalg.eigvalsh(np.diag(u) - np.outer(u, u) / u.sum() - found).min() >= -1e-12
            halves += bool(np.linalg.eigvalsh(2 * np.diag(np.diag(found)) - found).min() < 1e-12)
            assert np.linalg.eigvalsh(2 * np.diag(np.diag(found)) - found).min() >= -1e-12
    assert halves > 0


def test_samples_have_the_covariance_of_the_duels() -> None:
    """40,000 draws; an entry of at most 1/4 has a standard error of at most 0.0025, and 0.013 is passed with probability 2e-7."""
    parts = tuple(Fraction(u, 10) for u in (7, 2, 6, 5))
    counts = np.tile([7, 2, 6, 5], (40_000, 1))
    drawn = rounded_split(Entropy.seeded(8).stream("duels"), counts, np.full(40_000, 2))
    assert np.abs(np.cov(drawn.T, bias=True) - covariance(parts)).max() < 0.013
