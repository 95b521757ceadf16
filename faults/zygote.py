"""python -m faults.zygote: servers that start at once, because all that they load is loaded here. Each is a process of its own, and can be killed.

One line of JSON in, one out: {"start": [arguments of scumble], "log": FILE} gives the number of a process; {"kill": NUMBER, "signal": ...} ends it, and waits.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds that a process may take to load, to start another, or to end; then it is killed."""


class Zygote:
    """The process from which servers are forked, as another process sees it."""

    def __init__(self, survey: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "faults.zygote", str(survey)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(self, arguments: list[str], log: Path) -> int:
        """A new process that runs a command of scumble."""
        return int(self._asked({"start": arguments, "log": str(log)}))

    def kill(self, number: int, signal_number: int = signal.SIGKILL) -> int:
        """Ends it, at once or as it is asked to; the code with which it ended."""
        return int(self._asked({"kill": number, "signal": signal_number}))

    @staticmethod
    def alive(number: int) -> bool:
        """Whether a process runs: it is there, and no zombie."""
        try:
            return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def stop(self) -> None:
        """Ends the zygote, and with it all that it started."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(PATIENCE)

    def _asked(self, what: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], 2 * PATIENCE)
        answer = self._process.stdout.readline() if ready else ""
        if not answer:
            raise TimeoutError("the process that starts servers does not answer")
        return json.loads(answer)


def load(survey: str) -> None:
    """All that a server loads, by doing what it does first."""
    from scumble.collect.reading import open_survey

    open_survey(survey)
    with suppress(ImportError):
        import psycopg  # noqa: F401


def begin(arguments: list[str], log: str) -> int:
    """The number of a child that runs the command."""
    child = os.fork()
    if child:
        return child
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.dup2(handle, 2)
        sys.argv = ["scumble", *arguments]
        from scumble.__main__ import main

        main()
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else 1)
    finally:
        os._exit(1)


def main() -> None:
    """Until nobody asks any more."""
    load(sys.argv[1])
    children: set[int] = set()
    for line in sys.stdin:
        asked = json.loads(line)
        if "start" in asked:
            number = begin(asked["start"], asked["log"])
            children.add(number)
            print(number, flush=True)
        else:
            children.discard(asked["kill"])
            print(end(asked["kill"], asked["signal"]), flush=True)
    for number in children:
        end(number, signal.SIGKILL)


def end(number: int, signal_number: int) -> int:
    """A child of ours; the code with which it ended. One that does not end is killed."""
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(number, signal_number)
        last = time.monotonic() + PATIENCE
        while time.monotonic() < last:
            ended, status = os.waitpid(number, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.005)
        os.kill(number, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    return 0


if __name__ == "__main__":
    main()
