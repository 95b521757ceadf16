"""Groups that borrow strength: the formulas against matrices, and how often intervals hold on average."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize_scalar

from scumble.query.areas import Areas

Numbers = npt.NDArray[np.float64]

GROUPS, FAMILIES = 12, 6000


def drawn(between: float, seed: int) -> tuple[Areas, Numbers]:
    """Many families of 12 groups, each with a mean that is common and a truth of its own."""
    rng = np.random.default_rng(seed)
    variance = np.exp(np.linspace(-1, 1, GROUPS))
    variance /= variance.mean()
    truth = rng.normal(3, np.sqrt(between), (FAMILIES, GROUPS))
    direct = rng.normal(truth, np.sqrt(variance))
    shape = direct.shape
    design = np.ones((GROUPS, 1)) / np.sqrt(GROUPS)
    return Areas(direct, np.broadcast_to(variance, shape), np.zeros(shape), np.ones(shape), design), truth


def low_and_high(held: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Between which shares the average coverage lies: 5.4 standard errors around, which families that are independent leave with 1e-7."""
    by_family = held.mean(axis=1)
    off = 5.4 * by_family.std() / np.sqrt(len(by_family))
    return by_family.mean() - off, by_family.mean() + off


@pytest.mark.parametrize(("between", "seed"), [(0.3, 1), (1.0, 2), (4.0, 3)])
def test_intervals_hold_95_percent_on_average(between: float, seed: int) -> None:
    """6,000 families of 12 groups; false alarms 1e-7 each. What does not count that rho is estimated is rejected, and so are variances that are 20% off."""
    areas, truth = drawn(between, seed)
    found = areas.borrowed()
    least, most = low_and_high(np.abs(found.estimate - truth) <= 1.96 * np.sqrt(found.mse))
    assert most >= 0.95, "too short"
    assert least <= 0.99, "too long to be of use"
    assert np.mean((found.estimate - truth) ** 2) < 0.93 * np.mean((areas.direct - truth) ** 2)


def test_what_is_a_little_wrong_is_rejected() -> None:
    areas, truth = drawn(1.0, 2)
    found = areas.borrowed()
    assert low_and_high(np.abs(found.estimate - truth) <= 1.96 * np.sqrt(found.g1 + found.g2))[1] < 0.95
    wrong = Areas(areas.direct, areas.variance / 1.4, areas.floor, areas.slope, areas.design).borrowed()
    assert low_and_high(np.abs(wrong.estimate - truth) <= 1.96 * np.sqrt(wrong.mse))[1] < 0.95


@pytest.fixture
def areas() -> Areas:
    """Three families of ten groups, with two effects and shapes of their own."""
    rng = np.random.default_rng(7)
    shape = (3, 10)
    design = np.linalg.qr(np.stack([np.ones(10), np.arange(10.0)], axis=1))[0]
    variance, floor, slope = rng.uniform(0.5, 2, shape), rng.uniform(0, 0.3, shape), rng.uniform(0.5, 1, shape)
    return Areas(rng.normal(1, 1.5, shape), variance, floor, slope, design)


def test_rho_is_where_the_adjusted_restricted_likelihood_is_greatest(areas: Areas) -> None:
    def minus(rho: float, family: int) -> float:
        total = np.diag(areas.variance[family] + areas.floor[family] + rho * areas.slope[family])
        z, y, inverse = areas.design, areas.direct[family], np.linalg.inv(total)
        inside = z.T @ inverse @ z
        project = inverse - inverse @ z @ np.linalg.inv(inside) @ z.T @ inverse
        sizes = np.linalg.slogdet(total)[1] + np.linalg.slogdet(inside)[1]
        return float(0.5 * (sizes + y @ project @ y) - 0.5 * np.log(rho))

    for family in range(3):
        best = minimize_scalar(minus, bounds=(1e-9, 50), args=(family,), method="bounded", options={"xatol": 1e-10})
        assert areas.rho[family] == pytest.approx(best.x, rel=1e-4)
        assert minus(areas.rho[family], family) - minus(0.9, family) == pytest.approx(
            (minus_of(areas, 0.9) - minus_of(areas, None))[family], abs=1e-9
        )


def minus_of(areas: Areas, rho: float | None) -> Numbers:
    """Half of the likelihood that the code has, at its own rho or at another."""
    at = areas.rho if rho is None else np.full(len(areas.direct), rho)
    return areas._fit(at).likelihood / 2


def test_estimates_and_errors_are_those_of_the_best_linear_predictor(areas: Areas) -> None:
    found = areas.borrowed()
    for family in range(3):
        z, y, v = areas.design, areas.direct[family], np.diag(areas.variance[family])
        psi = np.diag(found.between[family])
        inverse = np.linalg.inv(v + psi)
        covariance = np.linalg.inv(z.T @ inverse @ z)
        hat = z @ covariance @ z.T @ inverse
        predictor = hat + psi @ inverse @ (np.eye(10) - hat)
        assert found.estimate[family] == pytest.approx(predictor @ y)
        off = predictor - np.eye(10)
        error = predictor @ v @ predictor.T + off @ psi @ off.T
        assert found.g1[family] + found.g2[family] == pytest.approx(np.diag(error))
        weights = np.arange(1.0, 11)
        short = weights @ (np.eye(10) - predictor)
        assert areas.shortfall(weights[None, :], found)[family] == pytest.approx(short @ (v + psi) @ short)
        assert short @ (v + psi) @ predictor.T == pytest.approx(short @ psi), "the shortfall is independent of errors"


def test_a_group_of_which_nothing_is_known_is_what_the_model_expects(areas: Areas) -> None:
    some = np.arange(10) == 4
    blind = Areas(np.where(some, np.nan, areas.direct), areas.variance, areas.floor, areas.slope, areas.design)
    keep = ~some
    direct, variance, floor, slope = (x[:, keep] for x in (areas.direct, areas.variance, areas.floor, areas.slope))
    short = Areas(direct, variance, floor, slope, areas.design[keep])
    found, beside = blind.borrowed(), short.borrowed()
    assert found.estimate[:, keep] == pytest.approx(beside.estimate, rel=1e-6)
    assert found.estimate[:, 4] == pytest.approx(found.synthetic[:, 4])
    assert found.mse[:, 4] == pytest.approx(found.between[:, 4] + found.g2[:, 4], rel=1e-6)


def test_what_is_known_stays(areas: Areas) -> None:
    sure = Areas(
        areas.direct, np.where(np.arange(10) == 2, 0.0, areas.variance), areas.floor, areas.slope, areas.design
    )
    found = sure.borrowed()
    assert found.estimate[:, 2] == pytest.approx(areas.direct[:, 2])
    assert found.mse[:, 2] == pytest.approx(0)
