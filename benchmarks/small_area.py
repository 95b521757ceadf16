"""How often intervals of groups that borrow strength hold, and how long they are.

python -m benchmarks.small_area model             families that are as the model says: 2,000 tables for each number of groups and each psi / V
python -m benchmarks.small_area [PUBLICATIONS]    one table, published again and again, 20 times when absent: every method, several questions
"""

import sys
import warnings
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import scumble
from scumble.query.areas import Areas

TOWNS = 30
QUESTIONS = {
    "counts of one value": "SELECT town, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY town",
    "counts of all values": "SELECT town, disease, COUNT(*) AS n FROM release GROUP BY town, disease",
    "shares by two columns": "SELECT town, sex, 100.0 * COUNT(*) FILTER (WHERE disease = 'flu') / COUNT(*) AS n FROM release GROUP BY town, sex",
    "averages": "SELECT town, AVG(cost) AS n FROM release WHERE disease = 'flu' GROUP BY town",
}
METHODS = ("unbiased", "small_area", "fab")


def people(rows: int = 4000) -> pa.Table:
    """Towns of different sizes, in which more or fewer have flu."""
    rng = np.random.default_rng(3)
    town, sex = rng.choice(TOWNS, rows, p=rng.dirichlet(np.full(TOWNS, 3.0))), rng.choice(["f", "m"], rows)
    flu = rng.random(rows) < 0.25 + rng.normal(0, 0.06, TOWNS)[town] + 0.05 * (sex == "f")
    disease = np.where(flu, "flu", rng.choice(["cold", "gout", "hiv"], rows, p=[0.6, 0.3, 0.1]))
    names = np.array([f"t{i:02}" for i in range(TOWNS)])
    return pa.table({"town": names[town], "sex": sex, "disease": disease, "cost": rng.integers(1, 100, rows)})


def published(table: pa.Table, seed: int) -> scumble.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scumble.publish(
            table,
            sensitive="disease",
            public=["town", "sex", "cost"],
            domains={"disease": ["flu", "cold", "gout", "hiv"]},
            retain=0.4,
            seed=seed,
        )


def truth_of(table: pa.Table, sql: str) -> dict[tuple[Any, ...], float]:
    connection = duckdb.connect()
    connection.register("release", table)
    return {tuple(row[:-1]): row[-1] for row in connection.sql(sql).fetchall()}


def repeated(times: int) -> None:
    """One line for each question and method."""
    table = people()
    found: dict[tuple[str, str], list[Any]] = {}
    for seed in range(times):
        release = published(table, seed)
        for name, sql in QUESTIONS.items():
            known = truth_of(table, sql)
            for method in METHODS:
                answer = release.query(sql, method=method)
                truth = np.array([known.get(tuple(row[c] for c in answer.columns[:-1]), 0) for row in answer])
                e = answer["n"]
                found.setdefault((name, method), []).append(
                    ((e.low <= truth) & (truth <= e.high), e.high - e.low, (e.value - truth) ** 2)
                )
    for (name, method), runs in found.items():
        held, width, square = (np.array([run[i] for run in runs]) for i in range(3))
        worst = np.quantile(held.mean(axis=0), 0.05)
        print(
            f"{name:24} {method:11} held {100 * held.mean():5.1f}%, worst 5% of lines {100 * worst:3.0f}%, width {width.mean():6.1f}, error {np.sqrt(square.mean()):6.2f}"
        )


def of_the_model(tables: int = 2000) -> None:
    """One line for each number of groups and psi / V."""
    rng = np.random.default_rng(1)
    for groups in (6, 8, 12, 25, 60):
        for ratio in (0.05, 0.3, 1.0, 4.0):
            variance = np.exp(rng.normal(0, 0.7, groups))
            variance /= variance.mean()
            truth = rng.normal(0, np.sqrt(ratio), (tables, groups))
            direct = rng.normal(truth, np.sqrt(variance))
            shape, design = direct.shape, np.full((groups, 1), groups**-0.5)
            found = Areas(direct, np.broadcast_to(variance, shape), np.zeros(shape), np.ones(shape), design).borrowed()
            held = [
                np.mean(np.abs(found.estimate - truth) <= 1.96 * np.sqrt(found.g1 + found.g2 + times * found.g3))
                for times in (0, 1, 2)
            ]
            gain = np.sqrt(np.mean((found.estimate - truth) ** 2) / np.mean((direct - truth) ** 2))
            print(
                f"{groups:3} groups, psi / V = {ratio:4}: held "
                + ", ".join(f"{100 * h:.1f}%" for h in held)
                + f" with 0, 1, 2 times g3; error {gain:.2f} of the direct"
            )


if __name__ == "__main__":
    if sys.argv[1:] == ["model"]:
        of_the_model()
    else:
        repeated(int((sys.argv[1:] or ["20"])[0]))
