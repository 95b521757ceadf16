"""Random edits of sound specs in TOML: each publishes a release that opens and is asked, or is refused in a sentence."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.kinds import refusal
from fuzz.places import edited, place

import scumble
from scumble.core.errors import ScumbleError

TOKENS = [
    "=",
    '"',
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "#",
    "'",
    "true",
    "false",
    "nan",
    "inf",
    "-inf",
    "0",
    "-1",
    "1e400",
    "1/13",
    "1/0",
    "0x1",
    "1_000",
    "99999999999999999999",
    "2024-01-01",
    "?",
    "drop",
    "public",
    "sensitive",
    "identifier",
    "values",
    "low",
    "high",
    "step",
    "retain",
    "rho1",
    "rho2",
    "gamma",
    "epsilon",
    "mechanism",
    "settings",
    "k",
    "l",
    "delta",
    "columns",
    "privacy",
    "table",
    "missing",
    "coarsen",
    "bins",
    "edges",
    "prefix",
    "date",
    "role",
    "uniform",
    "fine_grain",
    "partitioned",
    "sps",
    "frapp",
    "anatomy",
    "k_dgs",
    "noisy_counts",
    "columnized",
    "alpha_beta",
    "perturbed_generalization",
    "swapped",
    "identity",
    "mixture",
    "design",
    "[]",
    "{}",
    "[[columns]]",
    '""',
    '"\\u0000"',
    '"../x"',
    '"/etc/passwd"',
    "null",
    "NaN",
    "persons",
    "person",
    "rows_per_person",
]

BOUNDS = ['rho1 = "1/10"\nrho2 = "1/2"', "gamma = 9", "epsilon = 2.0"]
MECHANISMS: dict[str, tuple[list[str], str]] = {
    "uniform": ([*BOUNDS, "retain = 0.5"], ""),
    "fine_grain": (BOUNDS[:1], ""),
    "partitioned": (['rho2 = "9/10"'], ""),
    "anatomy": ([""], "l = 2"),
    "k_dgs": ([""], "k = 3"),
    "noisy_counts": (["epsilon = 2.0"], "k = 3\ndelta = 1e-5"),
}
"""How each may be told what to promise, and what it asks for beyond."""


def case(draw: Random) -> str:
    """A spec, edited or not, published."""
    with place() as folder:
        _table(draw, folder)
        text = _spec(draw)
        if draw.random() < 0.75:
            text = edited(draw, text, TOKENS)
        (folder / "spec.toml").write_text(text, encoding="utf-8")
        try:
            made = scumble.publish(folder / "spec.toml", folder / "r", seed=1)
            scumble.open(folder / "r").query("SELECT COUNT(*) AS n FROM release")
        except ScumbleError as error:
            refusal(error)
            return "refused"
        assert made.manifest.rows >= 0
        return "published"


def _table(draw: Random, folder: Path) -> None:
    rows = draw.choice([1, 20, 60])
    columns = {
        "age": [draw.randint(0, 20) for _ in range(rows)],
        "town": [draw.choice(["Ulm", "Bonn"]) for _ in range(rows)],
        "ill": [draw.choice(["flu", "cold", "hiv"]) for _ in range(rows)],
    }
    pq.write_table(pa.table(columns), folder / "t.parquet")


def _spec(draw: Random) -> str:
    name = draw.choice(list(MECHANISMS))
    bounds, settings = MECHANISMS[name]
    parts = [
        f'table = "t.parquet"\nmechanism = "{name}"\n',
        f"[privacy]\n{draw.choice(bounds)}\n",
        f"[settings]\n{settings}\n" if settings else "",
        '[columns.ill]\nrole = "sensitive"\nvalues = ["flu", "cold", "hiv"]\n',
        f'[columns.age]\nrole = "{draw.choice(["public", "dropped"])}"\n',
        '[columns.town]\nrole = "public"\n',
    ]
    return "\n".join(parts)
