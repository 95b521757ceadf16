"""How often an audit finds each planted weakness, by the number of rows: the table of docs/audit.md.

PYTHONPATH=tests python -m benchmarks.power [SEEDS] [ROWS ...]        3 seeds of 1,000 and 20,000 rows, when absent

A weakness that is made for fewer rows alone is left out above. What is done is kept in build/power.jsonl, and not done again.
"""

import json
import sys
import warnings
from pathlib import Path

from auditing.planted import PLANTS

from scumble.auditing import audit
from scumble.auditing.finding import GRADES
from scumble.core.errors import ScumbleError

RECORD = Path("build/power.jsonl")
Key = tuple[str, int, int]


def found(name: str, rows: int, seed: int) -> bool | None:
    """Whether one of its attacks sees it; None where it cannot be made of so many rows."""
    plant = PLANTS[name]
    try:
        planted = plant.make(rows, seed)
    except ScumbleError:
        return None
    findings = audit(planted.release, planted.raw, others=planted.others, only=sorted(plant.seen_by))
    return any(not f.passed or GRADES.index(f.grade) >= GRADES.index("moderate") for f in findings)


def recorded() -> dict[Key, bool | None]:
    """What was done before."""
    if not RECORD.exists():
        return {}
    lines = [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]
    return {(line["name"], line["rows"], line["seed"]): line["found"] for line in lines}


def main(seeds: int = 3, *sizes: int) -> None:
    done, sizes = recorded(), sizes or (1000, 20_000)
    RECORD.parent.mkdir(exist_ok=True)
    for rows in sizes:
        for name, plant in PLANTS.items():
            for seed in range(1, seeds + 1):
                key = (name, rows, seed)
                if key not in done and rows <= plant.most:
                    done[key] = found(*key)
                    with RECORD.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"name": name, "rows": rows, "seed": seed, "found": done[key]}) + "\n")
                    print(*key, done[key], file=sys.stderr, flush=True)
    print(f"| weakness | {' | '.join(f'{rows:,}' for rows in sizes)} |\n|---{'|---' * len(sizes)}|")
    for name in PLANTS:
        print(f"| {name} | {' | '.join(_share(done, name, rows) for rows in sizes)} |")


def _share(done: dict[Key, bool | None], name: str, rows: int) -> str:
    outcomes = [value for (plant, count, _), value in done.items() if (plant, count) == (name, rows)]
    known = [value for value in outcomes if value is not None]
    return f"{sum(known)} of {len(known)}" if known else "-"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*map(int, sys.argv[1:]))
