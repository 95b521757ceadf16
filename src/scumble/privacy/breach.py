"""(s, rho1, rho2)-breaches: rare properties that become likely when a row is seen to have them.

A set S of values has the prior probability p_S and the replacement probability m_S. There is an (s, rho1, rho2)-breach if

    p_S / m_S < s,    p_S <= rho1,    Pr[true in S | published in S] >= rho2

that is, if a property that few have (s near 1 or below) or not many (s large) was unlikely and is now nearly certain. With the
retention p there is none, for any prior,

    one column         if  s <= (rho2 - rho1) (1-p) / ((1-rho2) p)
    S = S_1 x .. x S_k  if  s <= rho2 (1-rho1) (1-p)^k / ((1-rho2) prod_i ((1-p) m_i + p))

where m_i = the replacement probability of S_i, `shares`; the second is largest for small shares. For one column with a given share
both hold, and the better one is taken: 68 and, for a small share, 68.4 at p = 0.2 and (0.1, 0.95). For products of sets whatever their shares

    any S = S_1 x .. x S_k  if  s <= min_i (C prod_j (1-p_j) - (1-p_i) rho1) / p_i,        C = rho2 (1-rho1) / (1-rho2)

which is the first line for one column. The second line, times m_S, says p_S <= C prod (1-p_j) m_j / ((1-p_j) m_j + p_j), whose right side rises with
every share; where s m_S > rho1 the prior is at most rho1, so the worst shares have m_S = rho1 / s (or 1, if that is less). On that surface
log ((1-p_j) m_j + p_j) is convex in log m_j, so that the sum is largest in a corner: one share rho1 / s, all others next to 1. An attacker gets there with a
belief in people who are in none of the sets, however large these are.

The notion conditions on "published in S", not on the value that was seen, and so says less than `rho.posteriors`, which
belongs beside it wherever it is printed.
"""

import math
from collections.abc import Sequence
from typing import Any

from scumble.core.channel import gamma_bound
from scumble.core.errors import ParameterError
from scumble.core.parameters import number, probability


def breach_limit(p: Any, rho1: Any, rho2: Any, k: int = 1, shares: Sequence[Any] | None = None) -> float:
    """The largest s without an (s, rho1, rho2)-breach, for retention p on each of k columns.

    shares   the replacement probability of the set in each column; without them they are taken to be small

    >>> round(breach_limit(0.2, 0.1, 0.95), 9), round(breach_limit(0.2, 0.1, 0.95, k=2), 9)
    (68.0, 273.6)
    >>> round(breach_limit(0.2, 0.1, 0.95, shares=[0.1, 0.1]), 9)
    139.591836735
    """
    retain, sizes = probability(p, "p"), _shares(k, shares)
    if retain == 1:
        gamma_bound(rho1, rho2)
        return 0.0
    several = _several(rho1, rho2) * math.prod(_dilution(retain, m) for m in sizes)
    if len(sizes) > 1:
        return several
    one = _one(rho1, rho2) * _dilution(retain, 0.0)
    return one if shares is None else max(one, several)


def largest_retention(s: Any, rho1: Any, rho2: Any, k: int = 1, shares: Sequence[Any] | None = None) -> float:
    """The largest retention without an (s, rho1, rho2)-breach; 0 where even that does not help.

    >>> round(largest_retention(68, 0.1, 0.95), 9), round(largest_retention(273.6, 0.1, 0.95, k=2), 9)
    (0.2, 0.2)
    """
    wanted, sizes = _positive(s), _shares(k, shares)
    several = _undiluted(wanted / _several(rho1, rho2), sizes)
    if len(sizes) > 1:
        return several
    one = _undiluted(wanted / _one(rho1, rho2), [0.0])
    return one if shares is None else max(one, several)


def product_limit(retentions: Sequence[Any], rho1: Any, rho2: Any) -> float:
    """The largest s without an (s, rho1, rho2)-breach of any product of sets, one set a column; 0 where there is none.

    retentions   those of the columns, which may differ

    >>> round(product_limit([0.2], 0.1, 0.95), 9), round(product_limit([0.2, 0.2], 0.1, 0.95), 9)
    (68.0, 54.32)
    """
    kept = [probability(p, "a retention") for p in retentions]
    bound, low = _several(rho1, rho2) * math.prod(1 - p for p in kept), number(rho1, "rho1")
    return max(0.0, min(((bound - (1 - p) * low) / p for p in kept if p > 0), default=math.inf))


def product_retention(s: Any, rho1: Any, rho2: Any, k: int) -> float:
    """The largest retention of k columns without an (s, rho1, rho2)-breach of any product of sets.

    >>> round(product_retention(68, 0.1, 0.95, 1), 9), round(product_retention(54.32, 0.1, 0.95, 2), 9)
    (0.2, 0.2)
    """
    wanted, bound, low = _positive(s), _several(rho1, rho2), number(rho1, "rho1")
    _shares(k, None)

    from scipy.optimize import brentq

    return float(brentq(lambda p: bound * (1 - p) ** k - (1 - p) * low - wanted * p, 0.0, 1.0, xtol=1e-15))


def identity_safe(p: Any, rho1: Any, rho2: Any) -> bool:
    """Whether replacement by the column's own distribution, or swapping, has no (rho1, rho2)-breach: rho1 < (rho2 - p) / (1 - p).

    There p_S = m_S for every set, so s = 1. It says nothing of an attacker who knows that a rare value can have one owner only.

    >>> identity_safe(0.2, 0.9, 0.95), identity_safe(0.2, 0.94, 0.95)
    (True, False)
    """
    gamma_bound(rho1, rho2)
    retain = probability(p, "p")
    return number(rho1, "rho1") * (1 - retain) < number(rho2, "rho2") - retain


def swapping_posterior(p: Any, prior: Any, rows: float = math.inf) -> float:
    """Pr[true in S | published in S] where replacements are the column's own values, S has the share f = `prior` of them.

        p + (1-p) f + (1-f) (p - p^n) / (n-1)

    where n = `rows` of a swapped table: the row's own value is among those that it is swapped with. For fresh draws from the column's
    distribution, and in the limit of many rows, the last term is 0.

    >>> round(swapping_posterior(4 / 9, 0.1, 10), 4), round(swapping_posterior(4 / 9, 0.1), 4)
    (0.5444, 0.5)
    """
    retain, share = probability(p, "p"), probability(prior, "prior")
    own = (1 - share) * (retain - retain**rows) / (rows - 1) if 1 < rows < math.inf else 0.0
    return retain + (1 - retain) * share + own


def _positive(s: Any) -> float:
    wanted = number(s, "s")
    if wanted <= 0:
        raise ParameterError(
            f"s must be above 0, not {s}: it is the prior of a set divided by its share of the replacements"
        )
    return wanted


def _one(rho1: Any, rho2: Any) -> float:
    gamma_bound(rho1, rho2)
    low, high = number(rho1, "rho1"), number(rho2, "rho2")
    return (high - low) / (1 - high)


def _several(rho1: Any, rho2: Any) -> float:
    return gamma_bound(rho1, rho2) * number(rho1, "rho1")


def _dilution(p: float, share: float) -> float:
    """(1-p) / ((1-p) m + p): how many rows of any kind there are to one that was truly in the set, by share of the set."""
    kept = (1 - p) * share + p
    return (1 - p) / kept if kept > 0 else math.inf


def _undiluted(product: float, shares: list[float]) -> float:
    """The p at which the dilutions of all shares multiply to the given product; each falls from 1/m to 0 as p rises."""
    if product * math.prod(shares) >= 1:
        return 0.0
    if len(set(shares)) == 1:
        t, m = math.exp(math.log(product) / len(shares)), shares[0]
        return (1 - t * m) / (1 + t * (1 - m))

    from scipy.optimize import brentq  # SciPy takes a while to load, and few need this

    def excess(p: float) -> float:
        return sum(math.log((1 - p) * m + p) - math.log1p(-p) for m in shares) + math.log(product)

    return float(brentq(excess, 1e-300, 1 - 1e-16, xtol=1e-15))


def _shares(k: int, shares: Sequence[Any] | None) -> list[float]:
    if shares is None:
        if k < 1:
            raise ParameterError(f"k is the number of columns and must be at least 1, not {k}")
        return [0.0] * k
    sizes = [probability(m, "a share") for m in shares]
    if not sizes or k not in (1, len(sizes)):
        raise ParameterError(f"{len(sizes)} shares do not fit k = {k}; give one share for each column")
    return sizes
