"""Models from a release: the ordinary fit where nothing is perturbed, and the truth within their errors where much is."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from scipy.stats import chi2, norm

import scumble
from scumble.core.channel import Channel
from scumble.core.domain import Domain, Grid
from scumble.core.errors import InputError, NotEstimable, ParameterError, QueryError
from scumble.engines import open_engine
from scumble.engines.engine import TABLE
from scumble.query.compile import Published

pytest.importorskip("sklearn", reason="the models follow scikit-learn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

from scumble.learn import ReleaseLinearRegression, ReleaseLogisticRegression, ReleasePoissonRegression
from scumble.learn.estimating import Solution, solve
from scumble.learn.family import find_family
from scumble.learn.model_rows import equations_of
from scumble.learn.training_rows import TrainingRows

SIZES = {"age": 5, "ill": 3, "y": 2, "pay": 9, "visits": 7}
"""The perturbed columns, each with the values 0, 1, ... below these."""
FORMULAS = {"linear": "pay ~ age + C(ill) + sex", "logistic": "y ~ age + C(ill) + sex", "poisson": "visits ~ age*sex"}
MODELS = {
    "linear": ReleaseLinearRegression,
    "logistic": ReleaseLogisticRegression,
    "poisson": ReleasePoissonRegression,
}


def people(n: int, draw: np.random.Generator) -> dict[str, Any]:
    age, ill, sex = draw.integers(0, 5, n), draw.choice(3, n, p=[0.5, 0.3, 0.2]), draw.integers(0, 2, n)
    eta = -1 + 0.3 * age + 0.8 * (ill == 1) - 0.4 * (ill == 2) + 0.5 * sex
    visits = np.minimum(draw.poisson(np.exp(-0.5 + 0.15 * age + 0.3 * sex)), 6)
    pay = np.clip(np.rint(2 + 0.5 * age + 1.5 * (ill == 2) + draw.normal(0, 1, n)), 0, 8).astype(int)
    y = (draw.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    return {"age": age, "ill": ill, "sex": sex, "y": y, "pay": pay, "visits": visits}


def perturbed(rows: dict[str, Any], retain: list[float], draw: np.random.Generator) -> dict[str, Any]:
    """The rows after coins, dealt into sub-tables of a retention each."""
    n = len(rows["age"])
    stratum = draw.integers(0, len(retain), n)
    table = {**rows, "part": stratum}
    for name, size in SIZES.items():
        kept = draw.random(n) < np.array(retain)[stratum]
        table[name] = np.where(kept, rows[name], draw.integers(0, size, n))
    return table


def known(table: dict[str, Any], retain: list[float]) -> TrainingRows:
    """Perturbed rows with their channels."""
    domains: dict[str, Domain] = {name: Grid("0", str(size - 1), "1", pa.int64()) for name, size in SIZES.items()}
    channels = [{name: Channel(p, size=size) for name, size in SIZES.items()} for p in retain]
    return TrainingRows(Published(list(table), domains, channels, "part"), open_engine({TABLE: pa.table(table)}))


def published(rows: dict[str, Any], retain: list[float], draw: np.random.Generator) -> TrainingRows:
    """The rows as a release has them."""
    return known(perturbed(rows, retain, draw), retain)


def solved(source: Any, family: str) -> Solution:
    return solve(equations_of(source, FORMULAS[family], find_family(family), None)[1])


def design(rows: dict[str, Any], family: str) -> tuple[np.ndarray, np.ndarray]:
    one = np.ones(len(rows["age"]))
    if family == "poisson":
        return np.stack([one, rows["age"], rows["sex"], rows["age"] * rows["sex"]], axis=1), rows["visits"]
    columns = [one, rows["age"], rows["ill"] == 1, rows["ill"] == 2, rows["sex"]]
    return np.stack(columns, axis=1).astype(float), rows["pay" if family == "linear" else "y"]


def ordinary(rows: dict[str, Any], family: str) -> np.ndarray:
    """The maximum of the likelihood of raw rows, by Newton."""
    X, y = design(rows, family)
    b = np.zeros(X.shape[1])
    for _ in range(12):
        eta = X @ b
        mean, slope = {
            "linear": (eta, np.ones_like(eta)),
            "logistic": (1 / (1 + np.exp(-eta)), np.exp(-np.abs(eta)) / (1 + np.exp(-np.abs(eta))) ** 2),
            "poisson": (np.exp(eta), np.exp(eta)),
        }[family]
        b = b + np.linalg.solve((X.T * slope) @ X, X.T @ (y - mean))
    return b


@pytest.mark.parametrize("family", FORMULAS)
def test_at_retention_1_it_is_the_ordinary_fit(family: str) -> None:
    draw = np.random.default_rng(3)
    rows = people(2000, draw)
    X, y = design(rows, family)
    peer = {
        "linear": LinearRegression(),
        "logistic": LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000),
        "poisson": PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000),
    }[family].fit(X[:, 1:], y)
    for source in (published(rows, [1.0], draw), published(rows, [1.0, 1.0], draw), pa.table(rows)):
        model = MODELS[family](about="table").fit(source, FORMULAS[family])
        assert np.ravel(model.coef_) == pytest.approx(np.ravel(peer.coef_), abs=1e-5)
        assert float(np.ravel(model.intercept_)[0]) == pytest.approx(float(np.ravel(peer.intercept_)[0]), abs=1e-5)
        assert model.covariance_ == pytest.approx(0, abs=1e-12)
        assert model.predict(pa.table(rows)) == pytest.approx(peer.predict(X[:, 1:]), abs=1e-4)


def test_errors_of_raw_rows_are_the_sandwich_of_textbooks() -> None:
    rows = people(500, np.random.default_rng(4))
    X, y = design(rows, "linear")
    b = np.linalg.lstsq(X, y, rcond=None)[0]
    bread = np.linalg.inv(X.T @ X)
    expected = bread @ ((X.T * (y - X @ b) ** 2) @ X) @ bread
    model = ReleaseLinearRegression().fit(pa.table(rows), FORMULAS["linear"])
    assert model.covariance_ == pytest.approx(expected, rel=1e-8)


@pytest.mark.slow
def test_errors_are_those_of_coins_and_of_coins_and_draw() -> None:
    """60 tables of 4,000 rows in two sub-tables (retentions 0.5 and 0.7), all columns of the models perturbed but one.

    z of each coefficient against the fit on the raw table, and against the population. Each of 28 sums of 60 squares, and each of 28 means, leaves its
    bounds with probability 1e-8: 6e-7 in all. The naive fit on published rows, and errors that are half or twice as large, leave them.
    """
    draw = np.random.default_rng(20)
    population = people(400_000, draw)  # its error is a tenth of that of 4,000 raw rows
    targets = {family: ordinary(population, family) for family in FORMULAS}
    z: dict[str, list[np.ndarray]] = {}
    naive: dict[str, list[np.ndarray]] = {}
    for _ in range(60):
        rows = people(4000, draw)
        table = perturbed(rows, [0.5, 0.7], draw)
        source = known(table, [0.5, 0.7])
        for family in FORMULAS:
            found, raw = solved(source, family), ordinary(rows, family)
            coins = np.sqrt(np.diag(found.by_coins))
            z.setdefault(family + " table", []).append((found.coefficients - raw) / coins)
            both = np.sqrt(np.diag(found.by_coins + found.by_draw))
            z.setdefault(family + " population", []).append((found.coefficients - targets[family]) / both)
            naive.setdefault(family, []).append((ordinary(table, family) - raw) / coins)
    low, high = chi2.ppf([0.5e-8, 1 - 0.5e-8], 60)
    far = norm.ppf(1 - 0.5e-8) / np.sqrt(60)
    for values in (np.array(found) for found in z.values()):
        squares = (values**2).sum(axis=0)
        assert np.all((squares > low) & (squares < high))
        assert np.all(np.abs(values.mean(axis=0)) < far)
        assert squares.mean() / 0.5**2 > high
        assert squares.mean() * 0.5**2 < low
    assert all(np.max(np.abs(np.mean(values, axis=0))) > 2 * far for values in naive.values())


TABLE_ROWS = 6000
ILLS = ["asthma", "cold", "flu", "none"]


@pytest.fixture(scope="module")
def patients_of_models() -> pa.Table:
    draw = np.random.default_rng(6)
    ill, sex = draw.choice(ILLS, TABLE_ROWS, p=[0.4, 0.3, 0.2, 0.1]), draw.choice(["F", "M"], TABLE_ROWS)
    eta = -0.5 + 1.5 * (ill == "cold") + 0.5 * (sex == "M")
    visits = np.minimum(draw.poisson(2 + (sex == "M")), 10)
    return pa.table(
        {"ill": ill, "sex": sex, "smoker": draw.random(TABLE_ROWS) < 1 / (1 + np.exp(-eta)), "visits": visits}
    )


ONE: dict[str, Any] = {"sensitive": "ill", "domains": {"ill": ILLS}}
KINDS: dict[str, dict[str, Any]] = {
    "uniform": {**ONE, "retain": 0.6},
    "design": {"sensitive": "visits", "domains": {"visits": {"low": 0, "high": 10}}, "gamma": 2.5},
    "shaped": {**ONE, "rho2": 0.6, "gamma": 9},
    "fine_grain": {**ONE, "rho1": 0.4, "rho2": 0.8},
    "partitioned": {**ONE, "rho2": 0.7},
    "identity": {**ONE, "retain": 0.6},
    "swapped": {**ONE, "retain": 0.6},
    "frapp": {"sensitive": ["ill", "smoker"], "domains": {"ill": ILLS, "smoker": [False, True]}, "gamma": 30},
    "mixture": {"sensitive": "visits", "domains": {"visits": {"low": 0, "high": 10}}, "gamma": 9},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_channel_of_rows_gives_the_truth_within_its_errors(name: str, patients_of_models: pa.Table) -> None:
    """One release each, about 10 coefficients in all and each within 6 standard errors: a false alarm has probability 1e-7 at most."""
    release = publish_openly(patients_of_models, mechanism=name, seed=8, **KINDS[name])
    numbers = "visits" in KINDS[name]["domains"]
    model = (ReleaseLinearRegression if numbers else ReleaseLogisticRegression)(about="table")
    formula = "visits ~ sex" if numbers else "smoker ~ ill + sex"
    truth = clone(model).fit(patients_of_models, formula)
    model.fit(release, formula)
    errors = np.sqrt(np.diag(model.covariance_))
    far = np.abs(np.append(model.coef_ - truth.coef_, model.intercept_ - truth.intercept_))
    own = np.append(errors[1:], errors[0])
    assert np.all(errors > 0)
    assert np.all(far < 6 * own)


@pytest.fixture(scope="module")
def two_columns(patients_of_models: pa.Table) -> scumble.Release:
    draw = np.random.default_rng(9)
    gone = pa.array(draw.random(TABLE_ROWS) < 0.1)
    table = patients_of_models.set_column(0, "ill", pa.compute.if_else(gone, None, patients_of_models["ill"]))
    table = table.append_column("age", pa.array(draw.integers(20, 60, TABLE_ROWS)))
    domains = {"ill": [*ILLS, None], "smoker": [False, True], "visits": {"low": 0, "high": 10}}
    return publish_openly(table, sensitive=list(domains), domains=domains, retain=0.7, seed=2)


def test_a_summary_prints_and_converts(two_columns: scumble.Release) -> None:
    model = ReleaseLogisticRegression().fit(two_columns, "smoker ~ C(ill, 'none') + sex*age", where="visits < 9")
    table = model.summary(level=0.9)
    assert list(table.to_arrow().column_names) == ["term", "coef", "coef_se", "coef_low", "coef_high", "z", "p"]
    assert table.to_pandas()["term"].tolist() == [
        "intercept",
        "C(ill, 'none')[asthma]",
        "C(ill, 'none')[cold]",
        "C(ill, 'none')[flu]",
        "sex[M]",
        "age",
        "sex[M]:age",
    ]
    first = table[0]
    assert first["z"] == pytest.approx(first["coef"] / first["coef_se"])
    assert first["coef_high"] - first["coef"] == pytest.approx(norm.ppf(0.95) * first["coef_se"])
    assert first["p"] == pytest.approx(2 * norm.sf(abs(first["z"])))
    text = str(table)
    assert "logistic regression of smoker (of True against False)" in text
    assert "90% interval" in text
    assert "about a population that the rows are drawn from" in text
    assert "left out: about" in text
    assert "<table" in table._repr_html_()
    assert table.to_csv().startswith("term,coef,")
    assert [line["term"] for line in table.take(np.array([1, 0]))][1] == "intercept"


def test_predictions_follow_the_conventions_of_scikit_learn(two_columns: scumble.Release) -> None:
    model = ReleaseLogisticRegression()
    with pytest.raises(NotFittedError):
        model.predict({"ill": ["cold"], "sex": ["F"]})
    model.fit(two_columns, target="smoker", features=["ill", "sex"])
    assert (model.coef_.shape, model.classes_.tolist(), model.n_features_in_) == ((1, 4), [False, True], 2)
    chances = model.predict_proba({"ill": ["cold", "flu"], "sex": ["M", "F"]})
    assert chances.sum(axis=1) == pytest.approx(1)
    assert model.predict([["cold", "M"], ["flu", "F"]]).tolist() == [True, False]
    assert model.score({"ill": ["cold"], "sex": ["M"], "smoker": [True]}) == 1
    cold = ReleaseLogisticRegression().fit(two_columns, "ill = 'cold' ~ sex")
    assert cold.score({"ill": ["cold", "flu"], "sex": ["M", "F"]}) == 0.5
    for rows, sentence in (
        ({"ill": ["plague"], "sex": ["M"]}, "'plague', which the model was not fitted with"),
        ({"ill": ["cold"]}, "no column 'sex'"),
        ({"ill": [None], "sex": ["M"]}, "row 0 has no value of ill"),
    ):
        with pytest.raises(InputError, match=sentence):
            model.predict(rows)


def test_a_category_without_its_main_effect_is_coded_in_full(two_columns: scumble.Release) -> None:
    model = ReleaseLinearRegression().fit(two_columns, "visits ~ 0 + sex + sex:age")
    assert model.terms_.tolist() == ["sex[F]", "sex[M]", "sex[F]:age", "sex[M]:age"]
    assert model.intercept_ == 0


@pytest.mark.parametrize(
    ("family", "formula", "sentence"),
    [
        ("linear", "visits ~ nothing", "column 'nothing'"),
        ("linear", "ill ~ age", "needs numbers"),
        ("logistic", "ill ~ age", "has 4 values"),
        ("linear", "visits ~ age + I(2 * age)", "collinear"),
        ("linear", "visits ~ I(age * visits)", "both sides|mixes"),
        ("linear", "age ~ I(CASE WHEN smoker THEN sex ELSE 'x' END)", "mixes"),
        ("logistic", "smoker ~ age + smoker", "both sides"),
        ("linear", "visits ~ I(1)", "names no column"),
        ("linear", "visits ~ C(ill, 'plague')", "no value 'plague'"),
        ("linear", "visits ~ read_csv('/etc/passwd')", "cannot be answered"),
        ("poisson", "visits - 5 ~ age", "negative values"),
        ("linear", "visits ~ log(age - 20)", r"log\(age - 20\) has values that are infinite"),
    ],
)
def test_what_cannot_be_fitted_is_refused_by_name(
    family: str, formula: str, sentence: str, two_columns: scumble.Release
) -> None:
    with pytest.raises(QueryError, match=sentence):
        MODELS[family]().fit(two_columns, formula)


def test_what_has_no_solution_is_said(two_columns: scumble.Release) -> None:
    separated = pa.table({"x": np.arange(40), "y": np.arange(40) >= 20})
    with pytest.raises(NotEstimable, match=r"x tells the outcome .* \(separation\)"):
        ReleaseLogisticRegression().fit(separated, "y ~ x")
    draw = np.random.default_rng(2)
    hidden = published(people(300, draw), [0.05], draw)
    for family, formula in FORMULAS.items():
        with pytest.raises(NotEstimable, match="the coins hide too much"):
            MODELS[family]().fit(hidden, formula)
    with pytest.raises(NotEstimable, match="no rows are estimated"):
        ReleaseLinearRegression().fit(two_columns, "visits ~ sex", where="age > 200")


def test_wrong_use_is_refused(two_columns: scumble.Release) -> None:
    for arguments in ({}, {"formula": "visits ~ sex", "target": "visits"}):
        with pytest.raises(ParameterError):
            ReleaseLinearRegression().fit(two_columns, **arguments)
    with pytest.raises(ParameterError, match="population, table"):
        ReleaseLinearRegression(about="coins").fit(two_columns, "visits ~ sex")
    with pytest.raises(QueryError, match="as a text, not int"):
        ReleaseLinearRegression().fit(two_columns, "visits ~ sex", where=3)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="not valid SQL"):
        ReleaseLinearRegression().fit(two_columns, "visits ~ sex", where="age > 30) OR (1 = 1 GROUP BY sex")
    with pytest.raises(ParameterError, match="as many outcomes"):
        ReleaseLinearRegression().fit([[1.0], [2.0]], [1.0, 2.0, 3.0])
