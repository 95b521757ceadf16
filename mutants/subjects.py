"""What is published: a table of people, and the ways to publish it. Nothing here imports scumble, because a mutant edits it on import."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

ROWS = 4000
ILLS = ["flu", "cold", "gout", "hiv", "angina", "ulcer", "croup", "asthma"]
SHARES = [0.2, 0.18, 0.15, 0.13, 0.12, 0.1, 0.08, 0.04]
TRADES = [f"trade {n:02d}" for n in range(24)]
WEIGHTS = 1 / np.arange(2, 26)
REGIONS = [f"region {n:02d}" for n in range(12)]


def people(rows: int = ROWS, seed: int = 1) -> pa.Table:
    """People of whom nearly everybody is alone with the public values."""
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draw.integers(0, 100, rows),
            "sex": draw.choice(["F", "M"], rows),
            "region": [REGIONS[n] for n in draw.permutation(rows) % 12],
            "code": draw.permutation(rows) // 2 * 7919 % 1_000_003,
            "ill": draw.choice(ILLS, rows, p=SHARES),
            "job": draw.choice(ILLS, rows),
            "trade": draw.choice(TRADES, rows, p=WEIGHTS / WEIGHTS.sum()),
            "amount": np.round(draw.gamma(3, 12, rows).clip(0, 100), 1),
            "id": [f"hospital-of-the-north-{n:06d}" for n in draw.permutation(rows)],
        }
    )


def _ill(*more: str, **how: Any) -> dict[str, Any]:
    """One sensitive column; the public ones are named."""
    public = list(more) or ["age", "sex", "region", "code"]
    return {"sensitive": "ill", "domains": {"ill": ILLS}, "public": public, "retain": 0.4, **how}


TWO: dict[str, Any] = {**_ill(), "sensitive": ["ill", "job"], "domains": {"ill": ILLS, "job": ILLS}}
AMOUNT: dict[str, Any] = {"sensitive": "amount", "public": ["age", "sex", "region", "code"]}
TRADE = {"sensitive": "trade", "domains": {"trade": TRADES}, "public": ["age", "sex", "region", "code"]}
COLUMNS = {"public": ["region", "ill", "job"], "mechanism": "columnized", "epsilon": 4}
PAIRS = [["region", "ill"], ["ill", "job"], ["region", "job"]]
SCHEMA = {"k": 3, "delta": 0.1, "schema": PAIRS}
KEY = bytes(range(32))

SUBJECTS: dict[str, dict[str, Any]] = {
    "uniform": TWO,
    "batches": TWO,
    "csv": TWO,
    "coarse": _ill("sex", "code", coarsen={"age": {"bins": 7}}),
    "numbers": {**AMOUNT, "domains": {"amount": {"low": 0, "high": 100, "step": 10}}, "retain": 0.5},
    "keyed": {**TWO, "key": KEY, "id": "id"},
    "staged": {**TWO, "key": KEY, "id": "id", "fresh": 0.6},
    "fine_grain": _ill(mechanism="fine_grain", retain=None, gamma=4, settings={"scores": {"hiv": 3, "flu": 2}}),
    "shaped": _ill(mechanism="shaped", retain=None, rho2=0.5, gamma=9),
    "design": {**TRADE, "mechanism": "design", "gamma": 3},
    "mixture": {**AMOUNT, "domains": {"amount": {"low": 0, "high": 100, "step": 1}}, "mechanism": "mixture", "gamma": 6},
    "identity": _ill(mechanism="identity"),
    "swapped": _ill(mechanism="swapped"),
    "frapp": {**TWO, "mechanism": "frapp", "retain": None, "gamma": 30},
    "partitioned": {**TRADE, "mechanism": "partitioned", "rho2": 0.4, "persons": "one row each"},
    "sps": _ill("age", "region", mechanism="sps"),
    "anatomy": _ill(mechanism="anatomy", retain=None, settings={"l": 3}, persons="one row each"),
    "practical": {"public": ["sex", "region", "ill", "job"], "mechanism": "noisy_counts", "epsilon": 0.5, "settings": {"k": 3, "delta": 0.1}},
    "full": {
        "sensitive": ["sex", "region", "ill", "job"], "domains": {"sex": ["F", "M"], "region": REGIONS, "ill": ILLS, "job": ILLS},
        "mechanism": "noisy_counts", "epsilon": 0.5, "settings": {"matrix": "full"},
    },
    "tables": {**COLUMNS, "public": ["region", "ill", "job", "sex"], "settings": {**SCHEMA, "schema": [[*pair, "sex"] for pair in PAIRS]}},
    "columnized": {**COLUMNS, "settings": {**SCHEMA, "c_star": 2}},
    "k_dgs": {"public": ["sex", "region", "ill"], "mechanism": "k_dgs", "settings": {"k": 20}},
    "alpha_beta": {
        "sensitive": ["age", "region", "sex", "job"], "mechanism": "alpha_beta", "rho1": 0.1, "rho2": 0.5,
        "domains": {"age": {"low": 0, "high": 99}, "region": REGIONS, "sex": ["F", "M"], "job": ILLS},
    },
    "boxes": _ill("age", "sex", "region", mechanism="perturbed_generalization", retain=None, gamma=3, settings={"k": 3}),
    "persons": _ill("age", "sex", "region", "code", person="id", rows_per_person=1),
}  # fmt: skip
"""How each is published."""

MANY = {"sps": 40_000, "practical": 20_000, "mixture": 20_000, "tables": 20_000}
"""Rows of a table, where it takes more."""

FEW = 500
"""Rows of a batch, where there are several."""


def raw_of(subject: str, seed: int = 1) -> pa.Table:
    """The table of a subject."""
    rows = MANY.get(subject, ROWS)
    table = people(rows, seed)
    if subject == "persons":
        owners = np.random.default_rng(seed).integers(0, rows // 2, rows)
        return table.set_column(table.column_names.index("id"), "id", pa.array([f"person {n}" for n in owners]))
    if subject == "alpha_beta":
        names = ["age", "region", "sex", "job"]
        return table.select(names).group_by(names).aggregate([])
    return pa.Table.from_batches(table.to_batches(max_chunksize=FEW)) if subject == "batches" else table


def source_of(subject: str, raw: pa.Table, folder: Path) -> Any:
    """What is given to publishing: the table, or a file of it."""
    if subject != "csv":
        return raw
    pc.write_csv(raw, folder / "people.csv")
    return folder / "people.csv"


def arguments_of(subject: str, raw: pa.Table) -> dict[str, Any]:
    """The arguments of `publish`, with every column dropped that they do not name."""
    how = {name: value for name, value in SUBJECTS[subject].items() if value is not None}
    coarse = list(how.get("coarsen", ()))
    sensitive = [how["sensitive"]] if isinstance(how.get("sensitive"), str) else how.get("sensitive", [])
    named = {*how.get("public", ()), *coarse, *sensitive, how.get("id"), how.get("person")}
    rest = [name for name in raw.column_names if name not in named]
    dropped = [*rest, *([how["person"]] if "person" in how else [])]
    return {**how, "drop": dropped} if dropped else how
