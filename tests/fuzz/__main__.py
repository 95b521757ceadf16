"""python -m fuzz [COUNT]: so many random cases over all kinds; python -m fuzz KIND NUMBER: one of them again."""

import sys
import time
import warnings

from fuzz.kinds import KINDS, FailedCase, run

CHUNK = 50
"""Cases between two looks at the clock."""


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore")
    if len(arguments) == 2:
        print(dict(run(arguments[0], [int(arguments[1])])))
        return 0
    count = int(arguments[0]) if arguments else 10_000
    share, failed = -(-count // len(KINDS)), list[str]()
    for kind in KINDS:
        began, outcomes = time.monotonic(), dict[str, int]()
        for start in range(0, share, CHUNK):
            try:
                for outcome, n in run(kind, range(start, min(start + CHUNK, share))).items():
                    outcomes[outcome] = outcomes.get(outcome, 0) + n
            except FailedCase as error:
                failed.append(str(error))
                print(error, flush=True)
        told = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(outcomes.items()))
        print(f"{kind}: {told} in {time.monotonic() - began:.0f} s", flush=True)
    return min(len(failed), 1)


sys.exit(main(sys.argv[1:]))
