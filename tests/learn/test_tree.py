"""A tree from a release: the same as from raw rows where nothing is perturbed, nearly as good where much is."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import scumble
from scumble.core.errors import InputError, ParameterError

pytest.importorskip("sklearn", reason="the tree needs scikit-learn")

from naming import publish_openly
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from scumble.learn import ReleaseTreeClassifier
from scumble.learn.axis import feature_axis
from scumble.learn.counts import Box, sums
from scumble.learn.splits import entropy, gini, project
from scumble.learn.training_rows import training_rows

pytestmark = pytest.mark.slow

FEATURES = ["age", "income", "town", "smoker"]
DOMAINS = {
    "age": {"low": 20, "high": 79},
    "income": {"low": 0, "high": 100},
    "town": list("abcdef"),
    "smoker": [False, True],
    "ill": ["no", "yes"],
}


def people(n: int, seed: int) -> pa.Table:
    """Illness depends on age, on town where people are old, and not on income."""
    draw = np.random.default_rng(seed)
    age, town = draw.integers(20, 80, n), draw.choice(list("abcdef"), n)
    rate = np.where(age < 50, 0.1, np.where(np.isin(town, ["a", "c", "f"]), 0.9, 0.3))
    return pa.table(
        {
            "age": age,
            "income": draw.integers(0, 101, n),
            "town": town,
            "smoker": draw.random(n) < 0.5,
            "ill": np.where(draw.random(n) < rate, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def train() -> pa.Table:
    return people(20_000, 1)


@pytest.fixture(scope="module")
def test() -> pa.Table:
    return people(5_000, 2)


def release_of(table: pa.Table, sensitive: list[str], retain: Any = 0.6, seed: int = 3) -> scumble.Release:
    return publish_openly(
        table, sensitive=sensitive, domains={c: DOMAINS[c] for c in sensitive}, retain=retain, seed=seed
    )


def test_raw_rows_give_the_tree_that_made_them(train: pa.Table, test: pa.Table) -> None:
    tree = ReleaseTreeClassifier(max_depth=2).fit(train, target="ill", features=FEATURES)
    assert (tree.depth_, tree.leaves_) == (2, 3)
    assert "age < 49.5" in tree.text()
    assert "town in {a, c, f}" in tree.text()
    assert "income" not in tree.text()
    assert tree.score(test) > 0.84


@pytest.mark.parametrize(
    "sensitive", [["age"], ["town"], ["ill"], ["age", "town"], ["age", "town", "ill"]], ids=lambda s: "+".join(s)
)
def test_perturbed_features_and_targets_give_nearly_the_same(
    train: pa.Table, test: pa.Table, sensitive: list[str]
) -> None:
    raw = ReleaseTreeClassifier().fit(train, target="ill", features=FEATURES).score(test)
    tree = ReleaseTreeClassifier().fit(release_of(train, sensitive), target="ill", features=FEATURES)
    assert tree.score(test) > raw - 0.02


def test_what_is_not_reconstructed_would_do_worse(train: pa.Table) -> None:
    """Published rows taken for true ones give wrong probabilities: the test above is about reconstruction."""
    release = release_of(train, ["age", "town", "ill"], retain=0.5)
    rows, rates = {"age": [30, 70, 70], "town": ["a", "a", "b"]}, [0.1, 0.9, 0.3]
    naive, tree = (
        ReleaseTreeClassifier(max_depth=2).fit(data, target="ill", features=["age", "town"]).predict_proba(rows)[:, 1]
        for data in (release.table(), release)
    )
    assert np.abs(tree - rates).max() < 0.12
    assert np.abs(naive - rates).max() > 0.2


def test_nothing_is_learned_where_there_is_nothing() -> None:
    """30 roots whose features tell nothing, split at significance 0.05: more than 8 have a probability of 1e-5."""
    split = 0
    for seed in range(15):
        table = people(2_000, seed).select(["income", "smoker", "ill"])
        release = release_of(table, ["income", "ill"], retain=0.5, seed=seed)
        for data in (table, release):
            split += ReleaseTreeClassifier(max_depth=1).fit(data, target="ill").depth_
    assert split <= 8


def test_counts_of_a_node_are_unbiased_and_their_variance_is_right(train: pa.Table) -> None:
    """60 releases, the ill people in a box of age: mean within 5 standard errors; the given variance is that of the coins and of drawing rows."""
    small = train.slice(0, 1_000)
    found, given = [], []
    for seed in range(60):
        data = training_rows(release_of(small, ["age", "ill"], seed=seed))
        age, town, ill = (feature_axis(data, name, 60) for name in ("age", "town", "ill"))
        assert age.thresholds is not None
        old = np.append(age.thresholds, 80) > 50
        got = sums(data, [age, town], ill, [Box({0: old})], 1)[0]
        phi = ill.channels[0].weights(np.array([0.0, 1.0]))
        found.append(float(got.first[0].sum(axis=0) @ phi))
        given.append(float(got.second[0].sum(axis=0) @ phi**2))
    true = small.filter((pc.field("age") >= 50) & (pc.field("ill") == "yes")).num_rows
    assert abs(np.mean(found) - true) < 5 * np.std(found) / np.sqrt(len(found))
    assert 0.5 < (np.var(found) + true) / np.mean(given) < 2


def test_impurity_never_sees_a_negative_count(train: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def watched(counts: Any) -> Any:
        seen.append(float(np.min(counts)))
        return gini(counts)

    monkeypatch.setitem(scumble.learn.tree.CRITERIA, "gini", watched)
    release = release_of(train.slice(0, 500), ["age", "town", "income"], retain=0.2)
    ReleaseTreeClassifier(significance=1, min_samples_leaf=1, max_depth=3).fit(release, target="ill", features=FEATURES)
    assert seen
    assert min(seen) >= 0


def test_projection_is_the_nearest_possible_table() -> None:
    draw = np.random.default_rng(0)
    tables = draw.normal(10, 30, (200, 2, 3))
    tables = tables[tables.sum(axis=(1, 2)) > 1]
    found = project(tables)
    assert found.min() >= 0
    assert np.allclose(found.sum(axis=(1, 2)), tables.sum(axis=(1, 2)))
    others = (
        draw.dirichlet(np.ones(6), (len(tables), 500)).reshape(len(tables), 500, 2, 3)
        * found.sum(axis=(1, 2))[:, None, None, None]
    )
    distance = ((found - tables) ** 2).sum(axis=(1, 2))
    assert np.all(distance[:, None] <= ((others - tables[:, None]) ** 2).sum(axis=(2, 3)) + 1e-9)


def test_entropy_is_zero_only_for_one_class() -> None:
    assert entropy(np.array([4.0, 0.0])) == 0
    assert entropy(np.array([2.0, 2.0])) == 4


def test_rows_come_in_every_shape(train: pa.Table, test: pa.Table) -> None:
    tree = ReleaseTreeClassifier().fit(release_of(train, ["age"]), target="ill", features=["age", "income"])
    want = tree.predict(test)
    rows = test.select(["age", "income"])
    columns = {name: rows.column(name).to_numpy() for name in rows.column_names}
    for shape in (
        test.to_pandas(),
        columns,
        np.column_stack(list(columns.values())),
        rows.to_pandas().to_numpy().tolist(),
    ):
        assert np.array_equal(tree.predict(shape), want)
    assert np.allclose(tree.predict_proba(rows).sum(axis=1), 1)
    assert tree.score(rows, test.column("ill")) == tree.score(test)


def test_what_was_never_seen_goes_with_the_many(train: pa.Table) -> None:
    tree = ReleaseTreeClassifier().fit(train, target="ill", features=["age", "town"])
    shares = tree.predict_proba({"age": [30, 70, None], "town": ["a", "nowhere", None]})
    assert np.allclose(shares.sum(axis=1), 1)


def test_strata_and_their_channels_are_used(train: pa.Table, test: pa.Table) -> None:
    """Two halves published with different retentions, as strata of one source, give one tree."""
    from dataclasses import replace

    from scumble.engines import open_engine
    from scumble.learn.training_rows import TrainingRows

    parts = [
        release_of(train.slice(i * 10_000, 10_000), ["age", "ill"], retain=p, seed=i) for i, p in enumerate((0.3, 0.8))
    ]
    rows = pa.concat_tables(
        [part.table().append_column("part", pa.array([i] * 10_000)) for i, part in enumerate(parts)]
    )
    strata = [part.published.strata[0] for part in parts]
    known = replace(parts[0].published, columns=rows.column_names, strata=strata, stratum="part")
    tree = ReleaseTreeClassifier().fit(
        TrainingRows(known, open_engine({"release": rows})), target="ill", features=["age", "town"]
    )
    raw = ReleaseTreeClassifier().fit(train, target="ill", features=["age", "town"])
    assert tree.score(test) > raw.score(test) - 0.02
    wrong = replace(known, strata=strata[::-1])
    assert abs(tree.root_.shares[1] - raw.root_.shares[1]) < 0.03
    swapped = ReleaseTreeClassifier().fit(
        TrainingRows(wrong, open_engine({"release": rows})), target="ill", features=["age", "town"]
    )
    assert abs(swapped.root_.shares[1] - raw.root_.shares[1]) > 0.03


def test_three_classes_and_the_releases_of_two_owners(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    size, kind = draw.integers(0, 30, 30_000), draw.choice(list("pqrs"), 30_000)
    made = np.where(size < 10, "x", np.where(np.isin(kind, ["p", "s"]), "y", "z"))
    label = np.where(draw.random(30_000) < 0.15, draw.choice(list("xyz"), 30_000), made)
    table = pa.table({"size": size, "kind": kind, "label": label})
    domains = {"size": {"low": 0, "high": 29}, "label": list("xyz")}
    paths = [tmp_path / f"{i}.release" for i in range(2)]
    for i, path in enumerate(paths):
        publish_openly(
            table.slice(15_000 * i, 15_000), path, sensitive=list(domains), domains=domains, retain=0.5, seed=i
        )
    tree = ReleaseTreeClassifier().fit(scumble.open(*paths), target="label")
    assert tree.root_.counts.sum() == pytest.approx(30_000)
    assert tree.score({"size": size, "kind": kind}, made) > 0.99


def test_leaves_come_with_their_standard_errors(train: pa.Table) -> None:
    """The errors of shares: within 4 of them from the truth, larger where more is perturbed, and in the text."""
    errors = []
    for sensitive in ([], ["age"], ["age", "ill"]):
        data = release_of(train, sensitive) if sensitive else train
        tree = ReleaseTreeClassifier(max_depth=1).fit(data, target="ill", features=["age"])
        young = tree.root_.children[0]
        assert abs(young.shares[1] - 0.1) < 4 * young.shares_se[1] + 0.01
        errors.append(float(young.shares_se[1]))
        assert "±" in tree.text()
    assert errors[0] < errors[1] < errors[2]
    assert errors[0] == pytest.approx(np.sqrt(0.1 * 0.9 / 10_000), rel=0.1)


def test_a_release_without_rows_is_refused(train: pa.Table) -> None:
    counted = publish_openly(
        train.select(["town", "ill"]), mechanism="noisy_counts", epsilon=1, settings={"k": 10, "delta": 1e-5}, seed=1
    )
    with pytest.raises(InputError, match="counted tuples"):
        ReleaseTreeClassifier().fit(counted, target="ill")


def test_conventions_of_scikit_learn(train: pa.Table) -> None:
    tree = ReleaseTreeClassifier(criterion="entropy", max_depth=3)
    copy = clone(tree.fit(train, target="ill", features=["age"]))
    assert copy.get_params() == tree.get_params()
    assert not hasattr(copy, "root_")
    assert copy.set_params(max_depth=1).max_depth == 1
    with pytest.raises(NotFittedError):
        copy.predict(train)
    assert tree.classes_.tolist() == ["no", "yes"]
    assert tree.feature_names_in_.tolist() == ["age"]


def test_the_checks_of_scikit_learn_hold_on_raw_rows() -> None:
    """They call fit(X, y) with matrices, which are raw rows here; a release is not something they could make."""
    check_estimator(ReleaseTreeClassifier())


@pytest.mark.parametrize(
    ("settings", "fit", "error", "says"),
    [
        ({"criterion": "log"}, {}, ParameterError, "gini, entropy"),
        ({"significance": 0}, {}, ParameterError, "significance"),
        ({"max_bins": 1}, {}, ParameterError, "max_bins"),
        ({}, {"target": "il"}, InputError, "did you mean 'ill'"),
        ({}, {"features": ["aeg"]}, InputError, "did you mean 'age'"),
        ({}, {"features": ["ill"]}, InputError, "beside its target"),
        ({}, {"target": None}, InputError, "target="),
    ],
)
def test_mistakes_are_named(
    train: pa.Table, settings: dict[str, Any], fit: dict[str, Any], error: type, says: str
) -> None:
    with pytest.raises(error, match=says):
        ReleaseTreeClassifier(**settings).fit(train, **{"target": "ill", "features": ["age"], **fit})


def adult(shared_data: Path) -> tuple[pa.Table, pa.Table]:
    table = pq.read_table(shared_data / "adult.parquet")
    return table.filter(pc.field("split") == "train"), table.filter(pc.field("split") == "test")


@pytest.mark.parametrize("hidden", [[], ["income"]], ids=["income public", "income perturbed"])
def test_adult_keeps_half_of_the_gap(shared_data: Path, hidden: list[str]) -> None:
    """Features at p = 0.5: at least half of what the raw tree gains over the majority class, as a mean of 5 releases."""
    train, rest = adult(shared_data)
    features = ["age", "education_num", "hours_per_week"]
    domains: dict[str, Any] = {
        "age": {"low": 17, "high": 90},
        "education_num": {"low": 1, "high": 16},
        "hours_per_week": {"low": 1, "high": 99},
        "income": ["<=50K", ">50K"],
    }
    sensitive = features + hidden
    majority = pc.mean(pc.equal(rest.column("income"), "<=50K").cast(pa.int8())).as_py()
    raw = ReleaseTreeClassifier().fit(train, target="income", features=features).score(rest)
    found = []
    for seed in range(5):
        release = publish_openly(
            train.select([*features, "income"]),
            sensitive=sensitive,
            domains={name: domains[name] for name in sensitive},
            retain=0.5,
            seed=seed,
        )
        found.append(ReleaseTreeClassifier().fit(release, target="income", features=features).score(rest))
    assert raw > majority + 0.03
    assert np.mean(found) >= majority + (raw - majority) / 2
