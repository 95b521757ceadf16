"""Breaches by set: the published figures, both formulas against exact posteriors, inverses, and what reconstruction needs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble import Channel
from scumble.core.errors import ParameterError
from scumble.privacy.breach import breach_limit, identity_safe, largest_retention, product_limit, product_retention
from scumble.privacy.reconstructability import condition_number, rows_needed

inner = st.floats(0.01, 0.99)
rhos = st.tuples(inner, inner).filter(lambda pair: pair[1] - pair[0] > 0.01 or pair[0] - pair[1] > 0.01).map(sorted)


def test_published_figures():
    assert breach_limit(0.2, 0.1, 0.95) == pytest.approx(68)
    assert breach_limit(0.2, 0.1, 0.95, k=2) == pytest.approx(273.6)
    assert breach_limit("1/5", "1/10", "19/20", shares=[1e-9]) == pytest.approx(68.4)
    assert largest_retention(1, 0.937, 0.95) == pytest.approx(0.2, abs=0.01)


def test_figures_13_and_14_of_the_paper():
    """Ten intervals a column, rho2 = 0.95, rho1 = 0.5: s = 15 and 30 for the commonest, 0.1 for a rare set."""
    two, three = [0.1] * 2, [0.1] * 3
    assert largest_retention(15, 0.5, 0.95, shares=two) == pytest.approx(0.4103, abs=1e-4)
    assert largest_retention(30, 0.5, 0.95, shares=three) == pytest.approx(0.3678, abs=1e-4)
    assert largest_retention(0.1, 0.5, 0.95, shares=two) > 0.8
    assert largest_retention(0.1, 0.5, 0.95, shares=three) > 0.8


@pytest.mark.slow
@given(inner, rhos, inner, st.floats(0.001, 1))
def test_one_column_has_no_breach_below_the_limit(p, rho, prior, share):
    """The exact posterior of a set with p_S <= rho1 and p_S / m_S at most the limit is at most rho2."""
    rho1, rho2 = rho
    prior = min(prior, rho1)
    posterior = (prior * (1 - p) * share + p * prior) / ((1 - p) * share + p * prior)
    if prior / share <= breach_limit(p, rho1, rho2, shares=[share]):
        assert posterior <= rho2 + 1e-9


def worst_posterior(retentions, shares, prior):
    """Of a product of sets, where whoever is not in it is in none of its sets."""
    hit, miss = (math.prod((1 - p) * m + p * kept for p, m in zip(retentions, shares, strict=True)) for kept in (1, 0))
    return hit * prior / (hit * prior + miss * (1 - prior))


columns = st.lists(st.tuples(inner, st.floats(0.001, 0.999)), min_size=1, max_size=4)


@pytest.mark.slow
@given(columns, rhos)
def test_no_product_of_sets_has_a_breach_below_the_limit_of_all(columns, rho):
    """Whatever the shares: the largest prior that s and rho1 allow gives at most rho2."""
    (retentions, shares), (rho1, rho2) = zip(*columns, strict=True), rho
    s = product_limit(retentions, rho1, rho2)
    if s > 0:
        assert worst_posterior(retentions, shares, min(rho1, s * math.prod(shares))) <= rho2 + 1e-9


@pytest.mark.parametrize("retentions", [[0.2], [0.2, 0.2], [0.3, 0.5, 0.4]])
def test_the_limit_of_all_products_is_reached(retentions):
    """One set as rare as s allows, the others next to everything: 1% above the limit there is a breach, 1% below there is none."""
    rho1, rho2 = 0.1, 0.95
    limit, place = product_limit(retentions, rho1, rho2), int(np.argmax(retentions))
    for s, breached in ((1.01 * limit, True), (0.99 * limit, False)):
        shares = [rho1 / s if i == place else 1 - 1e-6 for i in range(len(retentions))]
        assert (worst_posterior(retentions, shares, rho1 * (1 - 1e-6)) >= rho2) is breached


def test_the_limit_of_small_sets_does_not_hold_for_larger_ones():
    """At the retention that avoids (15, 0.1, 0.95) for small sets of three columns, sets of a fifth of each column are breached."""
    small, every = largest_retention(15, 0.1, 0.95, k=3), product_retention(15, 0.1, 0.95, 3)
    shares = [(0.0999 / 14.99) ** (1 / 3)] * 3
    assert 0.0999 / math.prod(shares) < 15
    assert worst_posterior([small] * 3, shares, 0.0999) > 0.95 > worst_posterior([every] * 3, shares, 0.0999)


def test_the_limit_of_one_column_is_the_same_for_all_products():
    assert product_limit([0.3], 0.2, 0.9) == pytest.approx(breach_limit(0.3, 0.2, 0.9))
    assert product_limit([0, 0], 0.2, 0.9) == math.inf
    assert product_limit([0.9] * 5, 0.2, 0.9) == 0
    assert product_limit([product_retention(3, 0.2, 0.9, 4)] * 4, 0.2, 0.9) == pytest.approx(3)


def test_the_limit_of_one_column_is_reached():
    p, rho1, rho2 = 0.2, 0.1, 0.95
    share = rho1 / breach_limit(p, rho1, rho2)
    assert (rho1 * (1 - p) * share + p * rho1) / ((1 - p) * share + p * rho1) == pytest.approx(rho2)


@pytest.mark.slow
@given(inner, rhos, st.lists(st.floats(0.001, 1), min_size=2, max_size=4), inner)
def test_several_columns_have_no_breach_below_the_limit(p, rho, shares, prior):
    """The worst prior has all the rest outside every S_i; its posterior is at most rho2 wherever the limit holds."""
    rho1, rho2 = rho
    prior = min(prior, rho1)
    hit, miss = (math.prod((1 - p) * m + kept for m in shares) for kept in (p, 0.0))
    if prior / math.prod(shares) <= breach_limit(p, rho1, rho2, shares=shares):
        assert hit * prior / (hit * prior + miss * (1 - prior)) <= rho2 + 1e-9


@pytest.mark.slow
@given(inner, rhos, st.one_of(st.none(), st.lists(st.floats(0.01, 0.9), min_size=1, max_size=4)), st.integers(1, 4))
def test_the_largest_retention_is_the_inverse(p, rho, shares, k):
    s = breach_limit(p, *rho, **({"k": k} if shares is None else {"shares": shares}))
    back = largest_retention(s, *rho, **({"k": k} if shares is None else {"shares": shares}))
    assert back == pytest.approx(p, abs=1e-7)


def test_extremes():
    assert breach_limit(1, 0.1, 0.9) == 0
    assert breach_limit(0, 0.1, 0.9) == math.inf
    assert largest_retention(1e9, 0.1, 0.9, shares=[0.5, 0.5]) == 0


@pytest.mark.slow
@given(inner, rhos)
def test_identity_is_the_case_of_equal_prior_and_share(p, rho):
    limit = breach_limit(p, *rho)
    if abs(limit - 1) > 1e-9:
        assert identity_safe(p, *rho) == (limit > 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: breach_limit(1.2, 0.1, 0.9), "p is a probability"),
        (lambda: breach_limit(0.2, 0.9, 0.1), "rho1 < rho2"),
        (lambda: breach_limit(0.2, 0.1, 0.9, k=0), "at least 1"),
        (lambda: breach_limit(0.2, 0.1, 0.9, k=3, shares=[0.1, 0.1]), "2 shares do not fit k = 3"),
        (lambda: largest_retention(0, 0.1, 0.9), "s must be above 0"),
        (lambda: identity_safe(0.2, 0.9, 0.1), "rho1 < rho2"),
        (lambda: rows_needed(0, 0.1, 0.1), "retentions above 0"),
        (lambda: rows_needed(0.5, 0.1, 0.1, bound="markov"), "'markov' is not known"),
        (lambda: rows_needed([0.5, 0.5], 0.1, 0.1, bound="chernoff"), "not known for 2 columns"),
        (lambda: rows_needed([0.5, 0.5], 0.1, 0.1, shares=[0.1]), "1 shares do not fit 2 retentions"),
    ],
)
def test_wrong_use_is_named(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_rows_of_the_theorem():
    assert rows_needed(0.2, 0.05, 0.05, bound="chernoff") == math.ceil(4 * math.log(2 / 0.05) / (0.2 * 0.05) ** 2)
    assert rows_needed(0.2, 0.05, 0.05, bound="chernoff") == pytest.approx(8 * rows_needed(0.2, 0.05, 0.05), rel=1e-3)


@pytest.mark.parametrize(
    ("retain", "shares"), [([0.3], [0.2]), ([0.4, 0.6], [0.3, 0.5]), ([0.5, 0.5, 0.7], [0.9, 0.8, 0.2])]
)
def test_so_many_rows_are_enough(retain, shares):
    """4,000 tables: more than delta = 0.05 of them off by epsilon is a false alarm below 1e-6, since the true share is far below delta."""
    epsilon, delta, rng = 0.1, 0.05, np.random.default_rng(4)
    rows = rows_needed(retain, epsilon, delta, shares=shares)
    channels = [Channel(p, [1 - m, m]) for p, m in zip(retain, shares, strict=True)]
    weight: np.ndarray = np.ones(1)
    cells: np.ndarray = np.ones(1)
    for channel in channels:
        weight, cells = np.kron(weight, channel.weights([0, 1])), np.kron(cells, channel.matrix() @ [0.5, 0.5])
    assert np.ptp(weight) ** 2 * math.log(2 / delta) / (2 * epsilon**2) == pytest.approx(rows, rel=0.01)
    estimates = rng.multinomial(rows, cells, size=4000) @ weight / rows
    assert (np.abs(estimates - 0.5 ** len(retain)) >= epsilon).mean() < delta


@pytest.mark.parametrize(
    "channel",
    [
        Channel(0.3, size=5),
        Channel(0.3, [0.9, 0.1]),
        Channel(0.2, [0.5, 0.3, 0.15, 0.05]),
        Channel([0.2, 0.5, 0.9], size=3),
        Channel(0.5, size=1),
        Channel(1.0, size=4),
    ],
)
def test_condition_numbers_are_those_of_the_matrix(channel):
    assert condition_number([channel]) == pytest.approx(np.linalg.cond(channel.matrix()))
    whole = np.kron(channel.matrix(), Channel(0.4, [0.8, 0.2]).matrix())
    assert condition_number([channel, Channel(0.4, [0.8, 0.2])]) == pytest.approx(np.linalg.cond(whole))


def test_condition_number_of_even_predicates_is_p_to_the_minus_k():
    assert condition_number([Channel(0.2, size=2)] * 4) == pytest.approx(0.2**-4)
    assert condition_number([Channel(0.0, size=2)]) == math.inf
    assert condition_number([Channel(0.3, size=100_000)]) == pytest.approx(1 / 0.3)
