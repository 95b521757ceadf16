"""Averages over several perturbed columns of few rows: their variance is estimated, and is not less than coins make it whatever the table is."""

import itertools
import math

import numpy as np
import pyarrow as pa
from naming import publish_openly

RETAIN = 0.3
DOMAINS = {"a": ["x", "y", "z"], "b": ["u", "v", "w"]}
ROWS = 12
TOWNS = 40


def least_variance() -> float:
    """That of the weight of one row for one value of each column, over all that its true values can be; by the channel alone."""
    drawn = (1 - RETAIN) / 3
    hit, miss = (1 - drawn) / RETAIN, -drawn / RETAIN
    squares = {own: q * hit**2 + (1 - q) * miss**2 for own, q in ((1, RETAIN + drawn), (0, drawn))}
    return min(squares[one] * squares[two] - one * two for one, two in itertools.product((0, 1), repeat=2))


def test_an_average_over_two_columns_has_no_smaller_error_than_coins_make() -> None:
    draw = np.random.default_rng(1)
    columns = {name: draw.choice(values, ROWS * TOWNS) for name, values in DOMAINS.items()}
    table = pa.table({"town": np.repeat(np.arange(TOWNS), ROWS), **columns})
    release = publish_openly(table, sensitive=list(DOMAINS), domains=DOMAINS, retain=RETAIN, seed=1)
    share = "AVG(CASE WHEN a = 'x' AND b = 'u' THEN 1.0 ELSE 0 END)"
    e = release.query(f"SELECT town, {share} AS s FROM release GROUP BY town")["s"]
    least = math.sqrt(least_variance() / ROWS)
    assert np.all(e.se >= least - 1e-6)
    assert np.any(np.abs(e.se - least) < 1e-6), "in some towns the estimated variance is smaller"
    assert np.any(e.se > least + 0.05), "and in others it is larger"
