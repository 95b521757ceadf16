"""Releases of every mechanism that the explore page answers for, of a table with columns of all kinds."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from naming import publish_openly
from tables import DISEASES

import scumble

VISITS = {"low": 0, "high": 10}
ONE: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": DISEASES}}
THREE: dict[str, Any] = {
    "sensitive": ["disease", "smoker", "visits"],
    "domains": {"disease": DISEASES, "smoker": [False, True], "visits": VISITS},
}
NUMBERS: dict[str, Any] = {"sensitive": "visits", "domains": {"visits": VISITS}}
FEW = ("sex", "disease", "visits")
NOISE = {"k": 5, "delta": 0.01}


@cache
def patients(rows: int = 1500) -> pa.Table:
    """People with words, truth values, numbers, days, and values that are missing."""
    draw = np.random.default_rng(5)
    wards = draw.choice(["a", "b", "c", "d", ""], rows, p=[0.5, 0.3, 0.15, 0.04, 0.01])
    return pa.table(
        {
            "age": draw.integers(0, 100, rows),
            "sex": draw.choice(["F", "M"], rows),
            "disease": draw.choice(DISEASES, rows, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "smoker": draw.random(rows) < 0.3,
            "visits": draw.integers(0, 11, rows),
            "cost": np.round(draw.gamma(2, 300, rows), 2),
            "ward": [ward or None for ward in wards],
            "admitted": pa.array(draw.integers(19000, 19030, rows), pa.int32()).cast(pa.date32()),
        }
    )


@cache
def baskets() -> pa.Table:
    """What users gave to items."""
    draw = np.random.default_rng(7)
    users, items = np.repeat(np.arange(600), 2), np.concatenate([draw.permutation(6)[:2] for _ in range(600)])
    return (
        pa.table({"user": users, "item": [f"item {i % 3}" for i in items], "stars": draw.integers(3, 6, len(items))})
        .group_by(["user", "item"])
        .aggregate([("stars", "min")])
        .rename_columns(["user", "item", "stars"])
    )


def _made(*columns: str, rows: int = 1500, **how: Any) -> Callable[[], scumble.Release]:
    """A release of some columns, or of all."""

    def make() -> scumble.Release:
        table = patients(rows)
        return publish_openly(table.select(columns) if columns else table, seed=3, **how)

    return make


def _capped_baskets(**more: Any) -> scumble.Release:
    """Users who stayed in one of two tables."""
    roles = {"user": "user", "item": "item", "value": "stars"}
    schema = [["item 0", "item 1"], ["item 2"]]
    settings = {**NOISE, **roles, "schema": schema, "c_star": 1, **more}
    return scumble.publish(baskets(), mechanism="columnized", epsilon=20, seed=3, settings=settings)


WORDS = ("sex", "disease", "smoker", "ward")
RELEASES: dict[str, Callable[[], scumble.Release]] = {
    "uniform": _made(**THREE, retain={"disease": 0.5, "smoker": 0.6, "visits": 0.7}),
    "few rows": _made(**THREE, rows=120, retain={"disease": 0.5, "smoker": 0.6, "visits": 0.7}),
    "missing": _made(sensitive="ward", domains={"ward": ["a", "b", "c", "d", None]}, retain=0.5),
    "rounded": _made(
        sensitive=["cost", "age"],
        domains={"cost": {"low": 0, "high": 6000, "step": 100}, "age": {"low": 0, "high": 100, "step": 5}},
        retain=0.6,
    ),
    "coarse": _made(
        **ONE, retain=0.5, coarsen={"age": {"bins": 10}, "ward": {"prefix": 1}, "admitted": {"date": "week"}}
    ),
    "design": _made(**ONE, mechanism="design", gamma=1.2),
    "design of numbers": _made(**NUMBERS, mechanism="design", gamma=1.5),
    "mixture": _made(**NUMBERS, mechanism="mixture", gamma=3),
    "fine_grain": _made(**ONE, mechanism="fine_grain", rho1=0.4, rho2=0.7),
    "shaped": _made(**ONE, mechanism="shaped", rho2=0.6, gamma=9),
    "partitioned": _made(**ONE, mechanism="partitioned", rho2=0.6),
    "identity": _made(**ONE, mechanism="identity", retain=0.4),
    "swapped": _made(
        sensitive=["disease", "visits"],
        domains={"disease": DISEASES, "visits": VISITS},
        mechanism="swapped",
        retain=0.4,
    ),
    "frapp": _made(
        sensitive=["disease", "smoker"],
        domains={"disease": DISEASES, "smoker": [False, True]},
        mechanism="frapp",
        gamma=30,
    ),
    "sps": _made(*WORDS, "visits", **ONE, mechanism="sps", retain=0.4),
    "sps with duplicates": _made(
        *WORDS, "visits", **NUMBERS, mechanism="sps", retain=0.4, settings={"duplicates": True}
    ),
    "k_dgs": _made(*WORDS, mechanism="k_dgs", settings={"k": 20}),
    "k_dgs of numbers": _made(*FEW, **NUMBERS, mechanism="k_dgs", settings={"k": 20}),
    "noisy_counts": _made(*WORDS, mechanism="noisy_counts", epsilon=2, settings=NOISE),
    "noisy_counts of a total": _made(
        *FEW, **NUMBERS, mechanism="noisy_counts", epsilon=1, settings={**NOISE, "total": 1500}
    ),
    "every tuple": _made(
        *FEW,
        sensitive=list(FEW),
        domains={"sex": ["F", "M"], "disease": DISEASES, "visits": VISITS},
        mechanism="noisy_counts",
        epsilon=1,
        settings={"matrix": "full"},
    ),
    "marginals": _made(
        *FEW,
        "smoker",
        sensitive=[*FEW, "smoker"],
        domains={"sex": ["F", "M"], "disease": DISEASES, "visits": VISITS, "smoker": [False, True]},
        mechanism="marginals",
        epsilon=1,
    ),
    "columnized": _made(
        *FEW,
        "smoker",
        mechanism="columnized",
        epsilon=2,
        settings={**NOISE, "schema": [list(FEW), ["disease", "smoker"]]},
    ),
    "transactions": lambda: scumble.publish(
        baskets(),
        mechanism="columnized",
        epsilon=4,
        seed=3,
        settings={
            **NOISE,
            "user": "user",
            "item": "item",
            "value": "stars",
            "schema": [["item 0", "item 1"], ["item 1", "item 2"]],
        },
    ),
    "capped columns": _made(
        *FEW,
        "ward",
        mechanism="columnized",
        epsilon=20,
        settings={**NOISE, "schema": [["sex", "disease"], ["visits"], ["ward"]], "c_star": 2},
    ),
    "capped transactions": _capped_baskets,
    "lower counts": lambda: _capped_baskets(histogram_share=0),
}
"""How each is published; those of one mechanism differ in what a page has to know of them."""


@cache
def released(name: str) -> scumble.Release:
    """A release, published once in a process."""
    return RELEASES[name]()
