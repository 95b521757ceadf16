"""Whether a noisy count matrix, or any small algorithm, keeps what it promises: exact, and apart from the code it checks.

A noisy count matrix M(i, j) = Pr[published count = j | true count = i] is semantically k-anonymous and
(epsilon, delta)-differentially private, for one tuple added or removed, when

    (a)   sum_j M(i, j) = 1
    (b1)  M(i, 0) = 1                                                       i < k
    (b2)  M(k, 0) >= e^-epsilon,   1 - M(k, 0) <= delta
    (b3)  e^-epsilon M(i-1, j) <= M(i, j) <= e^epsilon M(i-1, j)            i > k, every j

Probabilities are taken as the rational numbers that they are (a double is one), and e^x as an interval of rationals around it, of
which the end that is harder to satisfy is used: a verdict that holds with slack 0 is a proof for the counts that were checked.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from scumble.core.errors import ParameterError

Number = int | float | Fraction
Dataset = tuple[Hashable, ...]
Algorithm = Callable[[Dataset], Mapping[Any, Fraction]]
"""From a dataset to the distribution of what is published for it."""

_PRECISION = 1280


@dataclass(frozen=True)
class Verdict:
    """The first violation, or none, and the smallest relative distance from a limit: negative where it is violated."""

    violation: str | None
    count: int | None
    margin: float

    @property
    def holds(self) -> bool:
        """Whether nothing is violated."""
        return self.violation is None

    def __str__(self) -> str:
        return self.violation or f"no violation; the nearest limit is {self.margin:.3g} away"


def exp_interval(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals below and above e^exponent, closer than 2^-1200 of it.

    The Taylor series of e^(x / 2^s) <= 2 in integers, rounded down, each term losing less than 2 units; then s squarings, rounded
    outward. Negative exponents by 1 / e^-x.

    >>> low, high = exp_interval(Fraction(1))
    >>> low < high, float(low) == float(high) == math.e
    (True, True)
    """
    if exponent < 0:
        low, high = exp_interval(-exponent)
        return 1 / high, 1 / low
    halvings = max(0, math.ceil(exponent).bit_length() + 1)
    one = 1 << _PRECISION
    term, total, n = one, one, 0
    while term:
        n += 1
        term = term * exponent.numerator // (exponent.denominator * n << halvings)
        total += term
    down, up = total, total + 2 * n + 2
    for _ in range(halvings):
        down, up = down * down >> _PRECISION, -(-up * up >> _PRECISION)
    return Fraction(down, one), Fraction(up, one)


def check_suppression(
    published: Sequence[Number],
    suppressed: Sequence[Number],
    k: int,
    epsilon: float,
    delta: float,
    *,
    slack: float = 0.0,
) -> Verdict:
    """Conditions a, b1, b2, b3 of the practical matrix with probabilities w = `published`, u = `suppressed` of counts 0, 1, ...

    Its noise is two-sided geometric with r = e^(-epsilon/2), so M(i, j) / M(i-1, j) for j > 0 is r w_i/w_{i-1} or w_i/(r w_{i-1})
    and b3 is

        e^-epsilon u_{i-1} <= u_i <= e^epsilon u_{i-1}        e^(-epsilon/2) w_{i-1} <= w_i <= e^(epsilon/2) w_{i-1}

    slack   relative, for probabilities that were rounded to doubles; the thresholds that are drawn from need none

    >>> check_suppression([0, 0.125], [1, 0.875], k=1, epsilon=1, delta=0.1).violation
    'b2: a count of 1 = k is published with probability 0.125, above delta = 0.1'
    """
    limits = _Limits(k, epsilon, delta, Fraction(slack))
    verdict = Verdict(None, None, math.inf)
    rows = zip(published, suppressed, strict=True)
    before: tuple[Number, Number] | None = None
    for i, row in enumerate(rows):
        if row == before and i > k + 1:
            continue  # a row like the one before it: every ratio is 1
        problem = limits.row(i, *row, before)
        before = row
        if problem.margin < verdict.margin or not problem.holds:
            verdict = problem
        if not verdict.holds:
            return verdict
    return verdict


class _Limits:
    def __init__(self, k: int, epsilon: float, delta: float, slack: Fraction) -> None:
        _demand(k, epsilon)
        self.k, self.delta, self.slack = k, Fraction(delta), slack
        self.whole = exp_interval(Fraction(epsilon))[0]
        self.half = exp_interval(Fraction(epsilon) / 2)[0]
        self.named = f"epsilon = {epsilon:g}"

    def row(self, i: int, w: Number, u: Number, before: tuple[Number, Number] | None) -> Verdict:
        published, suppressed = Fraction(w), Fraction(u)
        sentence = f"a count of {i}"
        rules = [
            (abs(published + suppressed - 1), self.slack, f"a: the probabilities of {sentence} do not sum to 1"),
            (-published, Fraction(0), f"a: {sentence} is published with a negative probability"),
            (-suppressed, Fraction(0), f"a: {sentence} is suppressed with a negative probability"),
        ]
        if i < self.k:
            rules.append((published, Fraction(0), f"b1: {sentence}, below k = {self.k}, may be published"))
        elif i == self.k:
            above = f"published with probability {float(published):.6g}, above delta = {float(self.delta):g}"
            rules.append((published, self.delta * (1 + self.slack), f"b2: {sentence} = k is {above}"))
            rules.append(
                (Fraction(1), self._most(suppressed, self.whole), f"b2: {sentence} = k is suppressed too rarely")
            )
        elif before is not None:
            w0, u0 = (Fraction(v) for v in before)
            rules += self._ratios(sentence, "suppressed", u0, suppressed, self.whole)
            rules += self._ratios(sentence, "published", w0, published, self.half)
        return _first(rules, i)

    def _ratios(
        self, sentence: str, what: str, old: Fraction, new: Fraction, bound: Fraction
    ) -> list[tuple[Fraction, Fraction, str]]:
        text = f"b3: {sentence} is {what} {float(new / old) if old else math.inf:.6g} times as often as one less; {self.named}"
        return [(new, self._most(old, bound), text), (old, self._most(new, bound), text)]

    def _most(self, base: Fraction, bound: Fraction) -> Fraction:
        return base * bound * (1 + self.slack)


def _first(rules: Sequence[tuple[Fraction, Fraction, str]], i: int) -> Verdict:
    """The first rule (value <= limit) that is broken, or the smallest margin of those whose limit can be approached."""
    margin = math.inf
    for value, limit, text in rules:
        if value > limit:
            return Verdict(text, i, -float((value - limit) / limit) if limit > 0 else -math.inf)
        if limit > 0 and value > 0:
            margin = min(margin, float(1 - value / limit))
    return Verdict(None, None, margin)


def check_cells(matrix: Any, k: int, epsilon: float, delta: float, *, slack: float = 1e-12) -> Verdict:
    """Conditions b1, b2, b3 of any matrix, cell by cell; with k = 0 there is only b3: plain epsilon-differential privacy.

    matrix   row i the distribution of the published count for a true count of i; columns may stop where the tail is negligible

    >>> duplicated = np.zeros((4, 10)); duplicated[range(4), range(0, 10, 3)] = 1
    >>> check_cells(duplicated, k=3, epsilon=1, delta=1e-5).violation
    'b1: a count of 1, below k = 3, may be published'
    """
    _demand(max(k, 1), epsilon)
    cells = np.asarray(matrix, np.float64)
    for i in range(min(k, len(cells))):
        if np.any(cells[i, 1:] > 0):
            return Verdict(f"b1: a count of {i}, below k = {k}, may be published", i, -math.inf)
    if 0 < k < len(cells):
        problem = _first(_crossing(cells[k, 0], k, epsilon, delta, slack), k)
        if not problem.holds:
            return problem
    return _cell_ratios(cells, k + 1, epsilon, slack)


def _crossing(
    suppressed: float, k: int, epsilon: float, delta: float, slack: float
) -> list[tuple[Fraction, Fraction, str]]:
    least = exp_interval(-Fraction(epsilon))[1] * (1 - Fraction(slack))
    return [
        (
            1 - Fraction(suppressed),
            Fraction(delta) + Fraction(slack),
            f"b2: a count of {k} = k is published above delta = {delta:g}",
        ),
        (least, Fraction(suppressed), f"b2: a count of {k} = k is suppressed too rarely"),
    ]


def _cell_ratios(cells: Any, start: int, epsilon: float, slack: float) -> Verdict:
    bound = np.nextafter(math.exp(epsilon), 0) * (1 + slack)
    margin = math.inf
    for i in range(max(start, 1), len(cells)):
        old, new = cells[i - 1], cells[i]
        more, less = np.maximum(old, new), np.minimum(old, new) * bound
        if np.any(more > less):
            j = int(np.argmax(more > less))
            text = f"b3: {j} is published for a count of {i} with {new[j]:.6g}, for {i - 1} with {old[j]:.6g}; epsilon = {epsilon:g}"
            return Verdict(text, i, -float((more[j] - less[j]) / less[j]) if less[j] > 0 else -math.inf)
        margin = min(margin, float(np.min(1 - more[less > 0] / less[less > 0], initial=math.inf)))
    return Verdict(None, None, margin)


def check_algorithm(algorithm: Algorithm, dataset: Dataset, k: int, epsilon: float = 0.0) -> Verdict:
    """Semantic (k, epsilon)-anonymity of an algorithm on one small dataset, by its definition.

    For each tuple t, either removing t, or replacing it by each of k - 1 other tuples of the dataset, changes no outcome's
    probability by more than a factor of e^epsilon.

    >>> str(check_algorithm(lambda rows: {rows * 3: Fraction(1)}, ("a", "b", "c"), k=3))
    "tuple 'a' can be neither removed nor replaced by 2 others unseen: only 0 of them would do"
    """
    _demand(k, epsilon)
    bound = exp_interval(Fraction(epsilon))[0] if epsilon else Fraction(1)
    truth = algorithm(dataset)
    for place, row in enumerate(dataset):
        others = dataset[:place] + dataset[place + 1 :]
        if _alike(truth, algorithm(others), bound):
            continue
        alike = sum(_alike(truth, algorithm((*dataset[:place], t, *dataset[place + 1 :])), bound) for t in others)
        if alike < k - 1:
            text = f"tuple {row!r} can be neither removed nor replaced by {k - 1} others unseen: only {alike} of them would do"
            return Verdict(text, place, -math.inf)
    return Verdict(None, None, 0.0)


def _alike(one: Mapping[Any, Fraction], other: Mapping[Any, Fraction], bound: Fraction) -> bool:
    pairs = [(one.get(s, Fraction(0)), other.get(s, Fraction(0))) for s in {*one, *other}]
    return all(p <= bound * q and q <= bound * p for p, q in pairs)


def _demand(k: int, epsilon: float) -> None:
    if k < 1:
        raise ParameterError(f"k is the size of a crowd and must be at least 1, not {k}")
    if not 0 <= epsilon <= 700:
        raise ParameterError(f"epsilon must lie in [0, 700], not {epsilon}")
