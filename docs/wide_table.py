"""Runs the tutorial docs/wide_table.md, command by command, and stores what each prints: `python docs/wide_table.py [CENSUS]`.

CENSUS is the UCI table Census-Income (KDD) as Parquet; it is not in this repository. It has no persons with several rows, no dates and no free text,
so that a clinic is made of it: each of its rows is a patient, who comes one to nine times and gets a diagnosis, a blood sugar and a remark each time.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

HERE = Path(__file__).parent
TUTORIAL = HERE / "wide_table.md"
CENSUS = HERE.parents[1] / "shared" / "data" / "census_income_kdd.parquet"
TABLE, SPEC = "visits.csv", "visits.toml"
PATIENTS = 6000
MOST_VISITS = 9
WIDTH = "110"
"""Characters of a line of the terminal."""

DIAGNOSES = ["E11.9", "I10", "J45.0", "M54.5", "F32.1", "K21.9", "N39.0", "B20"]
REMARK = "patient was seen and sent home with the advice to rest for some days and to come back when the pain returns"


def visits(census: Path) -> pa.Table:
    """The table of the clinic: the same at every run."""
    draw = np.random.default_rng(130)
    every = pq.read_table(census)
    people = every.take(draw.choice(every.num_rows, PATIENTS, replace=False))
    times = np.minimum(draw.geometric(0.55, PATIENTS), MOST_VISITS)
    times[0] = MOST_VISITS
    who = np.repeat(np.arange(PATIENTS), times)
    rows = draw.permutation(len(who))
    who, n = who[rows], len(who)
    days = pa.array(draw.integers(9131, 9861, n), pa.int32()).cast(pa.date32())  # 1995 and 1996
    born = 9131 - 365 * np.asarray(people.column("age")) - draw.integers(0, 365, PATIENTS)
    sick = draw.choice(len(DIAGNOSES), PATIENTS, p=[0.24, 0.22, 0.16, 0.14, 0.1, 0.08, 0.05, 0.01])
    ill = np.where(draw.random(n) < 0.7, sick[who], draw.integers(0, len(DIAGNOSES), n))
    made: dict[str, Any] = {
        "patient_nr": 4_000_000 + 37 * draw.permutation(PATIENTS)[who],
        "visit_nr": 880_000 + 3 * draw.permutation(n),
        "visit_date": days,
        "birth_date": pa.array(born[who].astype(np.int32)).cast(pa.date32()),
        "post_code": draw.choice(draw.integers(10_000, 99_999, 900), PATIENTS)[who],
        "diagnosis": np.array(DIAGNOSES)[ill],
        "blood_sugar": np.round(np.where(ill == 0, draw.normal(160, 30, n), draw.normal(95, 12, n)), 1).clip(40, 300),
        "readmitted": draw.choice(["no", "yes"], n, p=[0.8, 0.2]),
        "remarks": [" ".join(draw.choice(REMARK.split(), 9)) for _ in range(n)],
    }
    return pa.table({**made, **{name: people.column(name).take(pa.array(who)) for name in people.column_names}})


@dataclass(frozen=True)
class Block:
    """A command of the tutorial, or a file that is written, with what stands below it."""

    start: int
    end: int
    """The lines of its text."""
    head: str
    body: str

    @property
    def command(self) -> list[str] | None:
        """The words of a command; None for a file."""
        if not self.head.startswith("$ "):
            return None
        return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', self.head[2:])]


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of the tutorial: `console` is run, `toml` is written as the spec."""
    lines = text.splitlines()
    starts = [place for place, line in enumerate(lines) if line in ("```console", "```toml")]
    for start in starts:
        end = next(place for place in range(start + 1, len(lines)) if lines[place] == "```")
        inner = lines[start + 1 : end]
        if lines[start] == "```toml":
            yield Block(start + 1, end, "", "\n".join(inner) + "\n")
        else:
            yield Block(start + 2, end, inner[0], "\n".join(inner[1:]))


def run(block: Block, folder: Path) -> str:
    """What the command prints, both streams, and its exit code where it is not 0; of long lists the beginning."""
    words = block.command
    assert words is not None
    environment = {**os.environ, "COLUMNS": WIDTH, "PYTHONWARNINGS": "default", "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-m", words[0], *words[1:]], cwd=folder, env=environment, capture_output=True, text=True
    )
    printed = [part for line in (done.stdout + done.stderr).splitlines() for part in _folded(line.rstrip())]
    code = [f"(exit code {done.returncode})"] if done.returncode else []
    return "\n".join([*_shortened(printed), *code])


MOST_LINES, LONGEST = 44, 116


def _folded(line: str) -> list[str]:
    """A sentence on lines that a page has room for; a line of a table is cut."""
    if len(line) <= LONGEST:
        return [line]
    if line.startswith(" ") or len(re.findall(r"\S  +", line)) > 1:
        return [f"{line[: LONGEST - 4]} ..."]
    return textwrap.wrap(line, LONGEST, subsequent_indent="    ", break_on_hyphens=False)


def _shortened(lines: list[str]) -> list[str]:
    """The lines, with those in the middle left out where there are many."""
    if len(lines) <= MOST_LINES:
        return lines
    half = MOST_LINES // 2
    return [*lines[:half], f"... ({len(lines) - 2 * half} lines more)", *lines[-half:]]


def told(text: str, census: Path, folder: Path) -> Iterator[tuple[Block, str]]:
    """Each block with what it prints now, in one folder from the first to the last."""
    pa.csv.write_csv(visits(census), folder / TABLE)
    for block in blocks(text):
        if block.command is None:
            (folder / SPEC).write_text(block.body, encoding="utf-8")
            yield block, block.body.rstrip("\n")
        else:
            yield block, run(block, folder)


def main(census: Path) -> None:
    """Stores what the commands print."""
    text = TUTORIAL.read_text(encoding="utf-8")
    lines = text.splitlines()
    with tempfile.TemporaryDirectory() as place:
        for block, printed in reversed(list(told(text, census, Path(place)))):
            lines[block.start : block.end] = printed.splitlines()
    TUTORIAL.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CENSUS)
