"""What lasts: it runs beside the pages, says how far it is, and can be cancelled."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from scumble.core.errors import InputError, ScumbleError
from scumble.core.progress import Progress
from scumble.studio.guard import BROKEN, tell

State = Literal["running", "done", "failed", "cancelled"]
PROGRESS = re.compile(r"progress (\d+) (\d+|\?)\Z")
LAST = 10.0
"""Seconds that a command has to clean up after itself when it is asked to end."""
INTERRUPTED = (128 + signal.SIGINT, 128 + signal.SIGTERM, -signal.SIGINT, -signal.SIGTERM, -signal.SIGKILL)


class Cancelled(InputError):  # noqa: N818  what happened to it
    """Somebody wants the end of it."""


class Work:
    """One piece of work, in a thread of its own."""

    def __init__(self, title: str, *, shown: str = "") -> None:
        self.title, self.shown = title, shown
        self.state: State = "running"
        self.done, self.of = 0, None  # type: int, int | None
        self.message = ""
        self.result: Any = None
        self.key = ""
        """What it was begun with, where a page asks whether that is still so."""
        self.began = time.monotonic()
        self._cancel = threading.Event()
        self._thread = threading.Thread(target=self._begin, daemon=True)

    def start(self) -> "Work":
        """From now on."""
        self._thread.start()
        return self

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.state == "running"

    @property
    def seconds(self) -> int:
        """How long it has run."""
        return int(time.monotonic() - self.began)

    def cancel(self) -> None:
        """Ends it soon."""
        self._cancel.set()

    def wait(self, seconds: float) -> None:
        """Until it is over, or so long."""
        self._thread.join(seconds)

    def progress(self, done: int, of: int | None) -> None:
        """How far it is; where it is to end, it ends here."""
        self.done, self.of = done, of
        if self._cancel.is_set():
            raise Cancelled("cancelled")

    def _begin(self) -> None:
        try:
            self.result = self._run()
            self.state = "done" if self.state == "running" else self.state
        except Cancelled:
            self.state = "cancelled"
        except ScumbleError as error:
            self.message, self.state = str(error), "failed"
        except MemoryError:
            self.message, self.state = "this needs more memory than there is; try a smaller table", "failed"
        except OSError as error:
            self.message, self.state = (
                f"the system refused it: {(error.strerror or type(error).__name__).lower()}",
                "failed",
            )
        except Exception as error:  # noqa: BLE001  a page says that it failed; the message may have a value in it, and stays unsaid
            tell(error)
            self.message, self.state = BROKEN.format(type(error).__name__), "failed"

    def _run(self) -> Any:
        raise NotImplementedError


class Calculation(Work):
    """A function that is told whom to tell its progress."""

    def __init__(self, title: str, function: Callable[[Progress], Any], *, shown: str = "") -> None:
        super().__init__(title, shown=shown)
        self._function = function

    def _run(self) -> Any:
        return self._function(self.progress)


def command_line(arguments: Sequence[str]) -> str:
    """A command as people type it."""
    return shlex.join(["scumble", *arguments])


class Command(Work):
    """A command of scumble, as it is shown, in a process of its own; its result is what it printed."""

    def __init__(self, title: str, arguments: Sequence[str], folder: Path, *, fails: bool = False) -> None:
        super().__init__(title, shown=command_line(arguments))
        self._arguments, self._folder, self._fails = list(arguments), folder, fails
        self.code: int | None = None

    def _run(self) -> str:
        # -P: nothing of the project's folder is taken for a module
        line = [sys.executable, "-P", "-m", "scumble", *self._arguments]
        own = {"SCUMBLE_PROGRESS": "lines", "PYTHONIOENCODING": "utf-8", "COLUMNS": "110"}
        with subprocess.Popen(
            line,
            cwd=self._folder,
            env=os.environ | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process:
            try:
                return self._followed(process)
            finally:
                _end(process)

    def _followed(self, process: "subprocess.Popen[str]") -> str:
        assert process.stdout is not None
        assert process.stderr is not None
        printed: list[str] = []
        said: list[str] = []
        readers = [
            threading.Thread(target=lambda: printed.append(process.stdout.read()), daemon=True),  # type: ignore[union-attr]
            threading.Thread(target=self._listen, args=(process.stderr, said), daemon=True),
        ]
        for reader in readers:
            reader.start()
        while process.poll() is None:
            if self._cancel.wait(0.05):
                _end(process)
        for reader in readers:
            reader.join(LAST)
        self.code = process.returncode
        if self._cancel.is_set() and self.code in INTERRUPTED:
            raise Cancelled("cancelled")
        self.message = "\n".join(line.removeprefix("scumble: ") for line in said)
        if self.code != 0 and not (self._fails and self.code == 1):
            self.state = "failed"
        return "".join(printed)

    def _listen(self, lines: Any, said: list[str]) -> None:
        for line in lines:
            told = PROGRESS.match(line.rstrip("\n"))
            if told:
                self.done, self.of = int(told[1]), None if told[2] == "?" else int(told[2])
            else:
                said.append(line.rstrip("\n"))


def _end(process: "subprocess.Popen[str]") -> None:
    """Asks a command to end, and after a while does not ask."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(LAST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(LAST)
