"""Mixtures against other channels for numbers at the same epsilon: by formula, and the square wave, which has none, by simulation.

    one bit      Duchi, Jordan, Wainwright: a number is rounded at random to one of the two ends, which is told by randomized response
    piecewise    Wang et al.: a window around the number, on a line
    Laplace      the number and noise of scale range / epsilon
    square wave  Li et al.: a window around the number, read off by smoothed expectation maximisation (EMS), which is biased

All of them promise ln gamma for any belief in a row. Errors are root mean squares over coins, for the ages of Adult where that table is here.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks.measure import Figure
from scumble import Channel, Design
from scumble.core.channel_base import BaseChannel, Vector
from scumble.core.mixture_choice import best_mixture
from scumble.core.mixture_part import Numbers

ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult.parquet"
LOW, HIGH = 17, 90
POINTS = HIGH - LOW + 1
EPSILONS = (0.5, 1.0, math.log(3), 2.0)
DRAWS = 12
"""Publications by the square wave."""
TURNS = 2000
"""Of its search, at most."""


def ages() -> Vector:
    """How many people have each age: of Adult, or a table with about its shares."""
    if ADULT.exists():
        own = pq.read_table(ADULT, columns=["age"]).column(0).to_numpy()
        return np.bincount(own - LOW, minlength=POINTS).astype(np.float64)
    x = np.arange(POINTS)
    shape = (x + 3) ** 1.2 * np.exp(-x / 11)
    return np.rint(48_842 * shape / shape.sum())


def questions() -> dict[str, Vector]:
    """The average in units of the range, the ages from 30 to 49, and the age of 40."""
    age = np.arange(LOW, HIGH + 1)
    return {
        "average": (age - LOW) / (HIGH - LOW),
        "range": ((age >= 30) & (age <= 49)).astype(float),
        "point": (age == 40).astype(float),
    }


def error(channel: BaseChannel, counts: Vector, h: Vector) -> float:
    """The standard error of the sum of h, for each root of rows."""
    return math.sqrt(counts @ channel.variance(h) / counts.sum())


def of_sums(epsilon: float, counts: Vector) -> dict[str, float]:
    """The errors of the average by channels that are made for it, in closed form: of numbers from -1 to 1, halved."""
    x, e, t = 2 * questions()["average"] - 1, math.exp(epsilon), math.exp(epsilon / 2)
    variances = {
        "one bit": ((e + 1) / (e - 1)) ** 2 - x**2,
        "piecewise": x**2 / (t - 1) + (t + 3) / (3 * (t - 1) ** 2),
        "Laplace": np.full(len(x), 8 / epsilon**2),
    }
    return {name: math.sqrt(counts @ v / counts.sum()) / 2 for name, v in variances.items()}


def square_wave(epsilon: float, counts: Vector) -> dict[str, float]:
    """The errors of all questions by the square wave: each of some publications is read off, and compared with the truth."""
    e = math.exp(epsilon)
    width = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    moved = _wave(width, e)
    law = moved @ counts / counts.sum()
    draw, total = np.random.default_rng(8), counts.sum()
    found = [_read_off(draw.multinomial(int(total), law), moved, e) * total for _ in range(DRAWS)]
    return {
        name: math.sqrt(np.mean([(own @ h - counts @ h) ** 2 for own in found]) / total)
        for name, h in questions().items()
    }


def _wave(width: float, e: float) -> Vector:
    """Pr[cell of what is published | age]: cells as wide as those of ages, from -width to 1 + width."""
    cells = round(POINTS * (1 + 2 * width))
    ends = np.linspace(-width, 1 + width, cells + 1)
    middle = (np.arange(POINTS) + 0.5) / POINTS
    inside = np.clip(np.minimum(ends[1:, None], middle + width) - np.maximum(ends[:-1, None], middle - width), 0, None)
    return np.asarray((np.diff(ends)[:, None] + (e - 1) * inside) / (2 * width * e + 1))


def _read_off(seen: Vector, moved: Vector, e: float) -> Vector:
    """Shares of ages, by expectation maximisation with smoothing, until the likelihood gains less than 0.001 e."""
    shares, before = np.full(POINTS, 1 / POINTS), -math.inf
    for _ in range(TURNS):
        law = moved @ shares
        shares = shares * (moved.T @ (seen / law))
        padded = np.concatenate([shares[:1], shares, shares[-1:]])
        shares = padded[:-2] + 2 * padded[1:-1] + padded[2:]
        shares /= shares.sum()
        likelihood = float(seen @ np.log(moved @ shares))
        if abs(likelihood - before) < 1e-3 * e:
            break
        before = likelihood
    return np.asarray(shares)


def compared(epsilon: float) -> Iterator[Figure]:
    """The limits: sums 1.05 and 1.7 times the best peer for them, ranges and points better than all."""
    counts, gamma, asked = ages(), math.exp(epsilon), questions()
    peers = of_sums(epsilon, counts)
    wave = square_wave(epsilon, counts)
    best = min(peers, key=peers.__getitem__)
    listed = ", ".join(f"{name} {own:.3g}" for name, own in {**peers, "square wave": wave["average"]}.items())
    for kinds, limit in ((("sum",), 1.05), (("sum", "range", "point"), 1.7)):
        own = error(best_mixture(Numbers(POINTS), gamma, kinds), counts, asked["average"])
        name = f"AVG, epsilon = {epsilon:.2g}, asked {' '.join(kinds)}, against {best}"
        yield Figure(name, own / peers[best], limit, detail=f"{own:.3g} a row; {listed}")
    others: dict[str, BaseChannel] = {"uniform": Channel.from_gamma(POINTS, gamma), "design": Design(POINTS, gamma)}
    for kind in ("range", "point"):
        own = error(best_mixture(Numbers(POINTS), gamma, (kind,)), counts, asked[kind])
        found = {name: error(channel, counts, asked[kind]) for name, channel in others.items()}
        nearest = min(found, key=found.__getitem__)
        detail = f"{own:.3g} a row; {', '.join(f'{n} {v:.3g}' for n, v in found.items())}, square wave {wave[kind]:.3g} (biased)"
        yield Figure(
            f"count of a {kind}, epsilon = {epsilon:.2g}, against {nearest}", own / found[nearest], 1.01, detail=detail
        )


def figures() -> Iterator[Figure]:
    for epsilon in EPSILONS:
        yield from compared(epsilon)
