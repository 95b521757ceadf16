"""How often an audit calls a sound release broken: every mechanism, tables of 300 to 5,000 rows (plain, skewed, sorted), with the raw table and without.

python -m benchmarks.false_alarms [MINUTES] [FIRST SEED]        10 minutes from seed 1, or from where the last run ended, when absent

Every audit is a line in build/false_alarms.jsonl, so that a run goes on where the one before ended, several can run side by side from other seeds, and the table at the end is of all of them.

An audit has an error of 1e-5 by construction, so that none is expected to accuse; what accuses is printed, and is to be understood. Whether the construction holds is seen long before that: of every attack that gives a p-value, at most
a tenth of the findings may have one below 0.1, a hundredth below 0.01, and so on. The last table has both.
"""

import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import scumble
from scumble.auditing import Findings, audit
from scumble.core.errors import ScumbleError
from scumble.release import soundness

RECORD = Path("build/false_alarms.jsonl")
STEPS = (0.1, 0.01, 0.001, 1e-4)
"""Below which p-values are counted."""

DISEASES = ["flu", "cold", "asthma", "gout", "hiv", "angina", "ulcer", "croup"]
PLAIN = [0.3, 0.2, 0.14, 0.12, 0.1, 0.07, 0.05, 0.02]
SKEWED = [0.9, 0.05, 0.02, 0.01, 0.01, 0.005, 0.004, 0.001]
JOBS = 24

ONE: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": DISEASES}, "public": ["age", "sex", "zip"]}
ONE["drop"] = ["visits", "job", "cost"]
TWO = {
    "sensitive": ["disease", "visits"],
    "domains": {"disease": DISEASES, "visits": {"low": 0, "high": 10}},
    "public": ["age", "sex", "zip"],
    "drop": ["job", "cost"],
}
THREE = {
    "sensitive": ["disease", "visits", "cost"],
    "domains": {"disease": DISEASES, "visits": {"low": 0, "high": 10}, "cost": {"low": 0, "high": 50, "step": 0.5}},
    "public": ["age", "sex", "zip"],
    "drop": "job",
}
JOB = {**ONE, "sensitive": "job", "domains": {"job": list(range(JOBS))}, "drop": ["visits", "disease", "cost"]}
COARSE = {"coarsen": {"age": {"bins": 20}, "zip": {"bins": 10}}}
COUNTED = {"public": ["sex", "disease"], "drop": ["visits", "job", "cost"], **COARSE}
BOXES = {**ONE, "mechanism": "perturbed_generalization", "settings": {"k": 5}}

HOW: dict[str, dict[str, Any]] = {
    "uniform": {**ONE, "retain": 0.4},
    "uniform of two columns": {**TWO, "retain": 0.4},
    "uniform of three columns": {**THREE, "gamma": 20},
    "design": {**JOB, "mechanism": "design", "gamma": 3},
    "uniform that keeps little": {**ONE, "retain": 0.05},
    "uniform that keeps much": {**ONE, "retain": 0.9},
    "uniform, coarse": {**ONE, **COARSE, "retain": 0.3},
    "keyed": {**TWO, "retain": 0.4, "key": bytes(range(32)), "id": "id"},
    "identity": {**ONE, "mechanism": "identity", "retain": 0.4},
    "identity, coarse": {**ONE, **COARSE, "mechanism": "identity", "retain": 0.3},
    "swapped": {**ONE, "mechanism": "swapped", "retain": 0.4},
    "swapped, coarse": {**ONE, **COARSE, "mechanism": "swapped", "retain": 0.4},
    "fine_grain": {**ONE, "mechanism": "fine_grain", "gamma": 4, "settings": {"scores": {"hiv": 2}}},
    "fine_grain of two columns": {**TWO, "mechanism": "fine_grain", "gamma": 9},
    "partitioned": {**JOB, "mechanism": "partitioned", "rho2": 0.4},
    "partitioned and fine_grain": {
        **JOB,
        "mechanism": "partitioned",
        "rho2": 0.4,
        "settings": {"inside": "fine_grain"},
    },
    "partitioned, coarse": {**JOB, **COARSE, "mechanism": "partitioned", "rho2": 0.5},
    "sps": {**ONE, **COARSE, "mechanism": "sps", "retain": 0.4},
    "sps with duplicates": {**ONE, **COARSE, "mechanism": "sps", "retain": 0.4, "settings": {"duplicates": True}},
    "sps by a ladder": {**ONE, **COARSE, "mechanism": "sps", "retain": 0.4, "settings": {"sizes": "ladder"}},
    "k_dgs": {**COUNTED, "mechanism": "k_dgs", "settings": {"k": 5}},
    "noisy_counts": {**COUNTED, "mechanism": "noisy_counts", "epsilon": 2, "settings": {"k": 5, "delta": 0.01}},
    "columnized": {
        **COUNTED,
        "mechanism": "columnized",
        "epsilon": 2,
        "settings": {"k": 5, "delta": 0.01, "schema": [["age", "sex"], ["zip", "disease"]]},
    },
    "every tuple of a domain": {
        "sensitive": ["sex", "disease"],
        "domains": {"sex": ["F", "M"], "disease": DISEASES},
        "coarsen": {},
        "drop": ["age", "zip", "visits", "job", "cost"],
        "mechanism": "noisy_counts",
        "epsilon": 1,
        "settings": {"matrix": "full"},
    },
    "frapp": {**TWO, "mechanism": "frapp", "gamma": 30},
    "anatomy": {**ONE, "mechanism": "anatomy", "settings": {"l": 3}},
    "perturbed_generalization": {**BOXES, "gamma": 3},
    "perturbed_generalization that keeps much": {**BOXES, "gamma": 9},
    "alpha_beta": {
        "sensitive": ["age", "zip"],
        "domains": {"age": {"low": 0, "high": 99}, "zip": {"low": 0, "high": 30}},
        "mechanism": "alpha_beta",
        "rho1": 0.1,
        "rho2": 0.5,
    },
}


def table(draw: np.random.Generator, how: str) -> pa.Table:
    """People of some kind, as many as it comes."""
    rows = int(draw.choice([300, 500, 1000, 2000, 5000], p=[0.3, 0.25, 0.2, 0.15, 0.1]))
    age, sex, code = draw.integers(0, 100, rows), draw.choice(["F", "M"], rows), draw.integers(0, 30, rows)
    disease = np.where((age > 60) & (draw.random(rows) < 0.4), "gout", draw.choice(DISEASES, rows, p=PLAIN))
    kind = draw.choice(["plain", "skewed", "sorted"])
    if kind == "skewed":
        disease, sex = draw.choice(DISEASES, rows, p=SKEWED), draw.choice(["F", "M"], rows, p=[0.97, 0.03])
        age, code = np.minimum(draw.geometric(0.1, rows), 99), np.minimum(draw.geometric(0.4, rows), 12)
    elif kind == "sorted":
        disease, code = np.sort(disease), np.sort(code)
    weights = 1 / np.arange(2, JOBS + 2)
    columns = {
        "age": age,
        "sex": sex,
        "zip": code,
        "disease": disease,
        "visits": draw.integers(0, 11, rows),
        "job": draw.choice(JOBS, rows, p=weights / weights.sum()),
        "cost": draw.integers(0, 101, rows) / 2,
    }
    made = pa.table(columns | ({"id": draw.permutation(10 * rows)[:rows]} if how == "keyed" else {}))
    return made.group_by(["age", "zip"]).aggregate([]) if how == "alpha_beta" else made


def audits(how: str, seed: int) -> list[Findings]:
    """Both audits of one release: without the raw table, and with it."""
    draw = np.random.default_rng([seed, list(HOW).index(how)])
    raw = table(draw, how)
    with tempfile.TemporaryDirectory() as folder:
        release = scumble.publish(raw, Path(folder) / "a.release", seed=seed, **HOW[how])
        others = [scumble.publish(raw, Path(folder) / "b.release", seed=-seed, **HOW[how])] if how == "keyed" else []
        return [audit(release, given, others=others) for given in (None, raw)]


def recorded() -> list[dict[str, Any]]:
    """The audits of all runs."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    return [json.loads(line) for line in lines]


def main(minutes: int = 10, first: int = 0) -> None:
    soundness.coins_problem = lambda manifest: ""  # that they are seeded is no news here
    RECORD.parent.mkdir(exist_ok=True)
    end, seed = time.monotonic() + 60 * minutes, first or 1 + max((line["seed"] for line in recorded()), default=0)
    while time.monotonic() < end:
        for how in HOW:
            if time.monotonic() < end:
                _run(how, seed)
        seed += 1
    _summary(recorded())


def _run(how: str, seed: int) -> None:
    """Both audits of one release, noted; none where the table is too small for the mechanism, or nothing is left of it."""
    try:
        made = audits(how, seed)
    except ScumbleError:
        return
    with RECORD.open("a", encoding="utf-8") as file:
        for findings in made:
            for each in findings.broken:
                print(f"seed {seed}, {how}: {each.attack}: {each.detail}", flush=True)
            values = [[each.attack, each.p] for each in findings if each.p is not None]
            line = {"seed": seed, "how": how, "broken": [each.attack for each in findings.broken], "p": values}
            file.write(json.dumps(line) + "\n")


def _summary(lines: list[dict[str, Any]]) -> None:
    """How many accuse, and how p-values are distributed."""
    runs: Counter[str] = Counter()
    below: Counter[tuple[str, float]] = Counter()
    for line in lines:
        for attack, p in line["p"]:
            runs[attack] += 1
            below.update((attack, step) for step in STEPS if p <= step)
    alarms, seeds = sum(bool(line["broken"]) for line in lines), len({line["seed"] for line in lines})
    print(
        f"{seeds} seeds: {alarms} of {len(lines):,} audits accuse. Findings with a p-value, and the share of them at most"
    )
    print(f"  {'':22} {'findings':>9} " + " ".join(f"{step:>9g}" for step in STEPS))
    for attack, count in runs.items():
        print(f"  {attack:22} {count:9,} " + " ".join(f"{below[attack, step] / count:9.5f}" for step in STEPS))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = dict(zip(("minutes", "first"), map(int, sys.argv[1:]), strict=False))
    main(**given)
