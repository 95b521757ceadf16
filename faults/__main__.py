"""python -m faults: what a publication survives, as a table of figures.

every call     (or a sample of them) the n-th call that writes, syncs, renames, makes or removes, for every n: KILL, TERM, INT, no space, an error of the disk
two renames    the same with KILL, where the file system cannot exchange folders
random         KILL, TERM, INT at a random moment of the run
"""

import argparse
import atexit
import errno
import math
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from faults.shim import layer, preloaded
from faults.stage import NEW, OLD, Broken, Stage, end

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
Injection = tuple[str, int, bool]
"""What happens, at which call, and whether folders have to be exchanged by two renames."""

ACTIONS = {"KILL": 9, "TERM": 15, "INT": 2, "no space": 1000 + errno.ENOSPC, "disk error": 1000 + errno.EIO}


def load(stage: Stage) -> None:
    """All that a run loads, loaded here once, so that a child has not to do it a thousand times."""
    note = stage.folder.with_suffix(".modules")
    stage.publish(OLD, lambda: atexit.register(lambda: note.write_text("\n".join(sys.modules))) and None)
    for name in note.read_text().split():
        if name not in sys.modules and name != "__main__":
            with suppress(ImportError):
                import_module(name)


def spilling() -> None:
    """Rows wait in files, as those of a large table do."""
    import scumble.publishing.shuffle

    scumble.publishing.shuffle.of_buffers = lambda: 0


def without_exchange() -> None:
    """As on a file system that cannot exchange two folders."""
    import scumble.core.exchange

    scumble.core.exchange._system_call = lambda: None


class Tally:
    """What happened, by kind."""

    def __init__(self) -> None:
        self.lines: dict[str, list[int]] = {}
        self.broken: list[str] = []

    def note(self, kind: str, stage: Stage) -> None:
        """Old or new, and whether something was left to clear."""
        line = self.lines.setdefault(kind, [0, 0, 0, 0])
        line[0] += 1
        line[1 if stage.digest() != stage.digests[NEW] else 2] += 1
        line[3] += stage.scratch.exists()

    def table(self) -> str:
        """In Markdown."""
        heads = "| fault | runs | old release, or none, as before | new release | private folder left to the next run |\n|---|---|---|---|---|"
        rows = [
            f"| {kind} | {runs:,} | {old:,} | {new:,} | {left:,} |"
            for kind, (runs, old, new, left) in self.lines.items()
        ]
        return "\n".join([heads, *rows])


def case(stage: Stage, tally: Tally, kind: str, run: Callable[[], int], with_old: bool, killed: bool) -> None:
    """One fault; what does not hold is told, and the others go on."""
    try:
        stage.reset(with_old)
        code = run()
        if stage.digest() is None and with_old:
            reopened(stage)
        stage.check(code, with_old, killed)
        tally.note(kind, stage)
    except (Broken, OSError, ValueError) as error:
        tally.broken.append(f"{kind}: {error}")
        print(f"BROKEN {tally.broken[-1]}", flush=True)


def reopened(stage: Stage) -> None:
    """Between two renames: the next reader gives the name back."""
    child = os.fork()
    if not child:
        import scumble

        try:
            scumble.open(stage.out)
            os._exit(0)
        finally:
            os._exit(1)
    if Stage.wait(child) != 0:
        raise Broken("the release cannot be opened")


LAST = 60
"""Calls that sync, exchange and clear: a sample has as many of these as of all that came before."""


def injections(calls: int, most: int | None, draw: random.Random) -> list[Injection]:
    """Every call with every action; or a sample."""
    each_call = range(1, calls + 1)
    cases = [(name, n, False) for name in ACTIONS for n in each_call] + [("KILL", n, True) for n in each_call]
    if most is None:
        return cases
    late = [case for case in cases if case[1] > calls - LAST]
    sample = [*draw.sample(late, most // 2), *draw.sample(cases, most - most // 2)]
    draw.shuffle(sample)
    return sample


def inject(stage: Stage, tally: Tally, injection: Injection) -> None:
    """One run, whose n-th call is its last, or fails."""
    name, n, two_renames = injection

    def before() -> None:
        spilling()
        if two_renames:
            without_exchange()
        layer().faults_arm(n, ACTIONS[name])

    kind = f"{name} at a call{', two renames' * two_renames}"
    with_old = n % 5 != 0 or two_renames
    case(stage, tally, kind, lambda: stage.wait(stage.begin(NEW, before)), with_old, name == "KILL")


def calls_of(stage: Stage) -> int:
    """How many calls a run makes, by a run whose fault never comes."""
    note = stage.temporary.with_suffix(".calls")
    functions = layer()

    def before() -> None:
        spilling()
        functions.faults_arm(1 << 30, 9)
        atexit.register(lambda: note.write_text(str(functions.faults_calls())))

    stage.reset(True)
    stage.publish(NEW, before)
    count = int(note.read_text())
    note.unlink()
    return count


def at_random(stage: Stage, tally: Tally, moments: int, draw: random.Random, end_of_time: float) -> None:
    """At moments that nobody chose."""
    for i in range(moments):
        if time.monotonic() > end_of_time:
            return
        number = SIGNALS[i % 3]

        def run(number: signal.Signals = number, spill: bool = i % 2 == 0) -> int:
            child = stage.begin(NEW, spilling if spill else lambda: None)
            time.sleep(draw.random() * stage.seconds * 1.2)
            end(child, number)
            return stage.wait(child)

        kind = f"{number.name.removeprefix('SIG')} at a random moment"
        case(stage, tally, kind, run, i % 5 != 0, number is signal.SIGKILL)


def every_fault(stage: Stage, tally: Tally, injecting: bool, given: argparse.Namespace) -> None:
    """All kinds, one after the other."""
    draw, end_of_time = random.Random(given.seed), time.monotonic() + given.seconds
    load(stage)
    stage.know()
    if injecting:
        stage.calls = calls_of(stage)
        print(f"a run makes {stage.calls} calls that change files, in {stage.seconds:.2f} s", flush=True)
        for injection in injections(stage.calls, given.injections, draw):
            if time.monotonic() < end_of_time:
                inject(stage, tally, injection)
    else:
        print("no C compiler, or not Linux: signals at random moments only")
    at_random(stage, tally, given.moments, draw, end_of_time)
    stage.reset(True)


def main() -> int:
    """0 where every promise held."""
    arguments = argparse.ArgumentParser(prog="python -m faults")
    arguments.add_argument("--moments", type=int, default=1000, help="signals at random moments")
    arguments.add_argument("--injections", type=int, help="a sample of so many faults at calls, instead of all")
    arguments.add_argument("--seconds", type=float, default=math.inf, help="no fault is begun later than that")
    arguments.add_argument("--seed", type=int, default=14)
    given = arguments.parse_args()
    injecting = preloaded()
    folder = Path(tempfile.mkdtemp(prefix="faults-"))  # removed by us alone: a child that ends must not take it away
    started, tally = time.monotonic(), Tally()
    try:
        every_fault(Stage(folder / "stage"), tally, injecting, given)
    finally:
        shutil.rmtree(folder)
    runs = sum(line[0] for line in tally.lines.values())
    print(tally.table())
    print(f"{runs:,} faults, {len(tally.broken)} broken promises, {time.monotonic() - started:.0f} s")
    return 1 if tally.broken or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
