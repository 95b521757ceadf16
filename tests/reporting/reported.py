"""A release of every kind, published once for all tests of the page."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES

import scumble

pytest.importorskip("altair", reason="the page is drawn by altair: pip install 'scumble[report]'")

N = 1500


def people() -> pa.Table:
    draw = np.random.default_rng(5)
    return pa.table(
        {
            "age": draw.integers(0, 100, N),
            "sex": draw.choice(["F", "M"], N),
            "disease": draw.choice(DISEASES, N, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "smoker": draw.random(N) < 0.3,
            "cost": np.round(draw.gamma(2, 300, N)).astype(np.int64).clip(0, 999),
        }
    )


def tuples() -> pa.Table:
    chosen = np.random.default_rng(3).permutation(900)[:150]
    return pa.table({"x": chosen // 30, "y": chosen % 30})


def ratings() -> pa.Table:
    draw = np.random.default_rng(4)
    taste = draw.integers(0, 3, 900)
    lines = [
        (f"user {u}", 10 * int(t) + item, int(draw.integers(4, 6))) for u, t in enumerate(taste) for item in (0, 1)
    ]
    who, movie, stars = zip(*lines, strict=True)
    return pa.table({"who": who, "movie": pa.array(movie, pa.int32()), "stars": pa.array(stars, pa.int8())})


SMALL = ["age", "sex", "disease"]
DOMAIN: dict[str, Any] = {"disease": DISEASES}
ALL: dict[str, Any] = {"age": {"low": 0, "high": 99}, "sex": ["F", "M"], "disease": DISEASES}

KINDS: dict[str, tuple[Callable[[], pa.Table], list[str] | None, dict[str, Any]]] = {
    "uniform": (people, None, {"sensitive": ["disease", "smoker", "cost"], "domains": {**DOMAIN, "smoker": [False, True], "cost": {"low": 0, "high": 999}}, "retain": 0.5, "coarsen": {"age": {"edges": [18, 65]}}}),
    "rho": (people, SMALL, {"sensitive": "disease", "domains": DOMAIN, "rho1": "1/13", "rho2": "1/6", "coarsen": {"age": {"bins": 10}}, "seed": None}),
    "identity": (people, SMALL, {"sensitive": "disease", "domains": DOMAIN, "mechanism": "identity", "retain": 0.3}),
    "swapped": (people, SMALL, {"sensitive": "disease", "domains": DOMAIN, "mechanism": "swapped", "rho1": 0.4, "rho2": 0.7}),
    "fine_grain": (people, SMALL, {"sensitive": "disease", "domains": DOMAIN, "mechanism": "fine_grain", "rho1": "1/10", "rho2": "1/2", "settings": {"scores": {"hiv": 2}}}),
    "partitioned": (people, SMALL, {"sensitive": "disease", "domains": DOMAIN, "mechanism": "partitioned", "rho2": "1/2"}),
    "sps": (people, ["sex", "disease"], {"sensitive": "disease", "domains": DOMAIN, "mechanism": "sps", "retain": 0.5}),
    "duplicates": (people, SMALL, {"sensitive": "disease", "domains": DOMAIN, "mechanism": "sps", "retain": 0.5, "settings": {"duplicates": True, "generalize": ["age"]}}),
    "frapp": (people, ["age", "disease", "smoker"], {"sensitive": ["disease", "smoker"], "domains": {**DOMAIN, "smoker": [False, True]}, "mechanism": "frapp", "rho1": "1/10", "rho2": "1/2"}),
    "k_dgs": (people, SMALL, {"mechanism": "k_dgs", "settings": {"k": 5}, "coarsen": {"age": {"bins": 25}}}),
    "boxes": (people, SMALL, {"mechanism": "k_dgs", "settings": {"k": 5, "method": "midpoints"}, "sensitive": SMALL, "domains": ALL}),
    "noisy_counts": (people, SMALL, {"mechanism": "noisy_counts", "epsilon": 1, "settings": {"k": 5, "delta": 1e-5, "total": N}, "coarsen": {"age": {"bins": 25}}}),
    "full": (people, SMALL, {"mechanism": "noisy_counts", "epsilon": 1, "settings": {"matrix": "full"}, "sensitive": SMALL, "domains": ALL}),
    "columnized": (people, SMALL, {"mechanism": "columnized", "epsilon": 2, "settings": {"k": 5, "delta": 1e-5, "schema": [["age", "sex"], ["sex", "disease"]]}}),
    "transactions": (ratings, None, {"mechanism": "columnized", "epsilon": 2, "drop": ["who"], "settings": {"k": 5, "delta": 1e-5, "user": "who", "item": "movie", "value": "stars", "schema": [[0, 1], [10, 11], [20, 21]]}}),
    "anatomy": (people, SMALL, {"mechanism": "anatomy", "sensitive": "disease", "domains": DOMAIN, "settings": {"l": 2}}),
    "generalized": (people, SMALL, {"mechanism": "perturbed_generalization", "sensitive": "disease", "domains": DOMAIN, "gamma": 9, "settings": {"k": 5}}),
    "alpha_beta": (tuples, None, {"mechanism": "alpha_beta", "sensitive": ["x", "y"], "domains": {"x": {"low": 0, "high": 29}, "y": {"low": 0, "high": 29}}, "rho1": "1/10", "rho2": "1/2"}),
}  # fmt: skip


@cache
def made(kind: str) -> tuple[scumble.Release, pa.Table]:
    """The release of a kind, and the table that it was made from."""
    table, columns, settings = KINDS[kind]
    raw = table() if columns is None else table().select(columns)
    return publish_openly(raw, **{"seed": 7, **settings}), raw
