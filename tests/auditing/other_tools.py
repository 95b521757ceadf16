"""Tables on which our attacks are compared with those of Anonymeter, and what Anonymeter found there.

    python tests/auditing/other_tools.py            in an environment of its own: pip install anonymeter (1.1.0 needs an older numpy than ours)

prints RECORDED anew. It imports nothing of scumble. A table that remembers: three in ten of its rows are those of people, the others are put together column by column.
"""

from pathlib import Path

import numpy as np
import pandas as pd

ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult.csv.gz"
KNOWN = ["age", "sex", "zip", "job", "height", "school"]
SECRETS = ["disease", "income"]
ADULT_SECRETS = ["income", "marital_status", "education_num", "race"]
ADULT_KNOWN = [
    "workclass",
    "hours_per_week",
    "capital_gain",
    "sex",
    "age",
    "native_country",
    "education",
    "occupation",
    "fnlwgt",
]
REMEMBERED = 0.3

RECORDED: dict[str, dict[str, tuple[float, float, float]]] = {}
"""Of each table and attack the share of successes on people, on the control table, and the risk."""


def people(rows: int, seed: int) -> pd.DataFrame:
    """Nobody."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, rows)
    old = draw.random(rows) < (age - 18) / 90
    return pd.DataFrame(
        {
            "age": age,
            "sex": np.where(draw.random(rows) < 0.5, "F", "M"),
            "zip": draw.integers(1000, 1400, rows),
            "job": np.array(list("abcdefghij"))[draw.integers(0, 10, rows)],
            "height": 150 + draw.integers(0, 500, rows) / 10,
            "school": draw.integers(6, 20, rows),
            "disease": np.where(old, "gout", np.array(["flu", "cold", "hiv", "ulcer"])[draw.integers(0, 4, rows)]),
            "income": 1000 + 37 * draw.integers(0, 1000, rows),
        }
    )


def remembering(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """As many rows, some of them somebody's."""
    draw = np.random.default_rng(seed)
    mixed = {name: table[name].to_numpy()[draw.integers(0, len(table), len(table))] for name in table.columns}
    whole = draw.random(len(table)) < REMEMBERED
    return pd.DataFrame({name: np.where(whole, table[name].to_numpy(), mixed[name]) for name in table.columns}).astype(
        table.dtypes.to_dict()
    )


def made_up() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The published table, people, and people who are not in it."""
    table = people(3000, 1)
    return remembering(table, 2), table, people(3000, 3)


def adult() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The same of census data."""
    whole = pd.read_csv(ADULT).drop(columns="split")
    table, control = whole.iloc[:6000].reset_index(drop=True), whole.iloc[20000:26000].reset_index(drop=True)
    return remembering(table, 2), table, control


def recorded() -> dict[str, dict[str, tuple[float, float, float]]]:
    """What Anonymeter finds, with as many attacks as ours and the same columns."""
    from anonymeter.evaluators import (  # type: ignore[import-not-found]
        InferenceEvaluator,
        LinkabilityEvaluator,
        SinglingOutEvaluator,
    )

    found = {}
    for name, (syn, ori, control), known, secrets in (
        ("made up", made_up(), KNOWN, SECRETS),
        ("adult", adult(), ADULT_KNOWN, ADULT_SECRETS),
    ):
        given = {"ori": ori, "syn": syn, "control": control}
        ways = {
            "one column": SinglingOutEvaluator(**given, n_attacks=1000).evaluate(mode="univariate"),
            "several columns": SinglingOutEvaluator(**given, n_attacks=1000, n_cols=4).evaluate(mode="multivariate"),
            "linked parts": LinkabilityEvaluator(
                **given, n_attacks=1000, aux_cols=(known[::2], known[1::2]), n_neighbors=10
            ).evaluate(n_jobs=1),
        }
        for secret in secrets:
            aux = [column for column in known if column != secret]
            ways[secret] = InferenceEvaluator(**given, aux_cols=aux, secret=secret, n_attacks=1000).evaluate(n_jobs=1)
        found[name] = {way: _rates(evaluator) for way, evaluator in ways.items()}
    return found


def _rates(evaluator) -> tuple[float, float, float]:  # type: ignore[no-untyped-def]
    results = evaluator.results()
    return (
        round(results.n_success / results.n_attacks_ori, 3),
        round(results.n_control / results.n_attacks_control, 3),
        round(evaluator.risk().value, 3),
    )


if __name__ == "__main__":
    import pprint

    pprint.pprint(recorded(), width=100)
