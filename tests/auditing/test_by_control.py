"""Synthetic tables beside a control table: what remembers people is found, and what has only learnt of them is not."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from auditing import attacked
from shell import scumble_command

from scumble.auditing import audit
from scumble.auditing.findings import Findings

ROWS = 2000
KNOWN, SECRET = ["age", "income", "zip", "height", "sex", "job"], ["disease"]
ATTACKS = {"singled out", "linked parts", "inferred"}


def people(seed: int) -> pa.Table:
    """People of whom either half of what is known tells them apart."""
    draw = np.random.default_rng(seed)
    income, height = draw.gamma(2, 20_000, ROWS).round(-1), draw.normal(170, 10, ROWS).round(1)
    return (
        attacked.people(ROWS, seed).append_column("income", pa.array(income)).append_column("height", pa.array(height))
    )


def remembering(raw: pa.Table, share: float) -> pa.Table:
    """A synthetic table: so many of its rows are people's own, the others are put together column by column."""
    draw = np.random.default_rng(4)
    own = int(share * len(raw))
    mixed = [column.take(pa.array(draw.permutation(len(raw))[own:])) for column in raw.columns]
    rows = pa.concat_tables([raw.slice(0, own), pa.table(mixed, names=raw.column_names)])
    return rows.take(pa.array(draw.permutation(len(raw))))


def audited(published: pa.Table, raw: pa.Table, control: pa.Table | None) -> Findings:
    return audit(published, raw, quasi=KNOWN, sensitive=SECRET, control=control, only=sorted(ATTACKS))


@pytest.mark.slow
def test_a_table_that_remembers_people_is_found() -> None:
    raw = people(1)
    found = audited(remembering(raw, 0.6), raw, people(2))
    assert {each.attack for each in found} == ATTACKS
    assert {each.attack for each in found if each.verdict == "broken"} == ATTACKS
    for each in found:
        assert each.measures["risk_low"] <= each.measures["risk"] <= each.measures["risk_high"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4])
def test_a_table_of_other_people_holds(seed: int) -> None:
    """What is true of everybody is no news: two tables, each attack at the level of a finding."""
    found = audited(people(seed), people(1), people(2))
    assert {each.attack for each in found} == ATTACKS
    assert {each.verdict for each in found} == {"holds"}


@pytest.mark.slow
def test_the_command_takes_a_control_table(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("control")
    raw = people(1)
    for name, table in {"raw": raw, "new": remembering(raw, 0.6), "other": people(2)}.items():
        pa.csv.write_csv(table, folder / f"{name}.csv")
    words = ["new.csv", "--raw", "raw.csv", "--quasi", ",".join(KNOWN), "--sensitive", SECRET[0], "--control"]
    done = scumble_command("audit", *words, "other.csv", "--only", "inferred", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "who are not in the table; the risk that is left" in done.stdout
    missing = scumble_command("audit", *words, "none.csv", cwd=folder)
    assert missing.returncode == 2
    assert "none.csv" in missing.stderr
