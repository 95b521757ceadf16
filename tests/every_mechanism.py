"""How each mechanism publishes patients (sex, disease, smoker), in a line each: for tests of releases of all of them."""

from typing import Any

import pyarrow as pa
from naming import publish_openly
from tables import DISEASES, ILLS

import scumble

ONE: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": DISEASES}}
TWO: dict[str, Any] = {
    "sensitive": ["disease", "smoker"],
    "domains": {"disease": DISEASES, "smoker": [False, True]},
}
HOW: dict[str, dict[str, Any]] = {
    "uniform": {**ONE, "rho1": 0.1, "rho2": 0.5},
    "design": {**ONE, "gamma": 1.2},
    "mixture": {"sensitive": "visits", "domains": {"visits": {"low": 0, "high": 10}}, "gamma": 3},
    "shaped": {**ONE, "rho2": 0.6, "gamma": 9},
    "identity": {**ONE, "retain": 0.4},
    "swapped": {**ONE, "retain": 0.4},
    "fine_grain": {**ONE, "rho1": 0.4, "rho2": 0.7},
    "partitioned": {**ONE, "rho2": 0.6},
    "sps": {**ONE, "retain": 0.4},
    "k_dgs": {"settings": {"k": 5}},
    "noisy_counts": {"epsilon": 2, "settings": {"k": 5, "delta": 0.01}},
    "columnized": {
        "epsilon": 2,
        "settings": {"k": 5, "delta": 0.01, "schema": [["sex", "disease"], ["disease", "smoker"]]},
    },
    "marginals": {
        "sensitive": [*TWO["sensitive"], "sex"],
        "domains": {**TWO["domains"], "sex": ["F", "M"]},
        "epsilon": 2,
        "settings": {"marginals": [["sex", "disease"], ["disease", "smoker"]]},
    },
    "frapp": {**TWO, "gamma": 30},
    "anatomy": {**ONE, "settings": {"l": 2}},
    "alpha_beta": {
        "sensitive": [*TWO["sensitive"], "sex"],
        "domains": {**TWO["domains"], "sex": ["F", "M"]},
        "rho1": "1/10",
        "rho2": "1/2",
    },
    "perturbed_generalization": {**ONE, "settings": {"k": 5}, "gamma": 3},
}
FULL: dict[str, Any] = {
    "mechanism": "noisy_counts",
    "sensitive": ["sex", "disease", "smoker"],
    "domains": {"sex": ["F", "M"], "disease": DISEASES, "smoker": [False, True]},
    "epsilon": 1,
    "settings": {"matrix": "full"},
}
"""Every tuple of a declared domain, counted."""
EVERY = {name: {"mechanism": name, **how} for name, how in HOW.items()} | {"full": FULL}


def published(name: str, patients: pa.Table, out: Any = None, **more: Any) -> scumble.Release:
    """The patients, published as EVERY says, with a column of numbers where it names one; by a mechanism that is for sets, without the duplicates."""
    numbers = ["visits"] if "visits" in EVERY[name].get("domains", ()) else []
    table = patients.select(["sex", "disease", "smoker", *numbers])
    rows = table.group_by(table.column_names).aggregate([]) if name == "alpha_beta" else table
    how = {key: value for key, value in {**EVERY[name], **more}.items() if value is not None}
    return publish_openly(rows, out, **how)


def on_one_column(column: str) -> dict[str, dict[str, Any]]:
    """How each kind of mechanism publishes some hundred rows with one sensitive column of three values."""
    one: dict[str, Any] = {"sensitive": column, "domains": {column: ILLS}}
    return {
        "uniform": {**one, "retain": 0.5},
        "identity": {**one, "retain": 0.5},
        "sps": {**one, "retain": 0.5},
        "anatomy": {**one, "settings": {"l": 2}},
        "perturbed_generalization": {**one, "retain": 0.5, "settings": {"k": 2}},
        "k_dgs": {"settings": {"k": 2}},
        "noisy_counts": {"epsilon": 1, "settings": {"k": 2, "delta": 0.01}},
    }
