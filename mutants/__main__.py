"""python -m mutants: every mutant, with progress, and a table of what catches it. Exit code 1 where one survives that should not, or the other way around."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

from mutants.catalogue import MUTANTS
from mutants.mutant import Mutant, Outcome
from mutants.outcome import outcome
from mutants.subjects import SUBJECTS

AT_ONCE = 2
"""Publications that run ahead, side by side."""


def chosen(words: list[str]) -> list[Mutant]:
    """The mutants whose names contain one of the words; all without any."""
    return [m for m in MUTANTS.values() if not words or any(word in m.name for word in words)]


def main(words: list[str]) -> int:
    """How many came out otherwise than expected."""
    mutants, wrong, began = chosen(words), 0, time.monotonic()
    wrong += 0 if words else sum(not _sound(subject) for subject in SUBJECTS)
    print("| mutant | published | caught by |\n|---|---|---|", flush=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done, (mutant, made) in enumerate(zip(mutants, pool.map(_outcome, mutants), strict=True), 1):
            expected = made.caught != bool(mutant.survives)
            wrong += not expected
            print(
                f"| {mutant.name} | {mutant.subject} | {made.by or 'nothing'}{'' if expected else ' UNEXPECTED'} |",
                flush=True,
            )
            print(f"{done} of {len(mutants)}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    caught = sum(not mutant.survives for mutant in mutants)
    print(
        f"\n{len(mutants)} mutants: {caught} to be caught, {len(mutants) - caught} survivors; {wrong} otherwise than expected"
    )
    return wrong


def _outcome(mutant: Mutant) -> Outcome:
    return outcome(mutant, mutant.subject)


def _sound(subject: str) -> bool:
    """Whether the code as it is passes: else nothing that it catches means anything."""
    made = outcome(None, subject)
    if made.caught:
        print(f"the code as it is, published as {subject}: {made.refused or made.by}", file=sys.stderr)
    return not made.caught


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
