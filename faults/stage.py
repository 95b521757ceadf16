"""One publication that something happens to, and what must hold afterwards, looked at without scumble's help."""

import atexit
import hashlib
import json
import os
import random
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MARK = "RAW-ROW"
"""In a column that is dropped: wherever it is read again, raw rows were left."""

DISEASES = ["flu", "cold", "asthma", "hiv"]
OLD, NEW = "1", "2"
"""Seeds: so is known which release is which, by its digest."""


CODES = (0, 2, 130, 143, -signal.SIGINT, -signal.SIGTERM)
"""How a command may end that was not killed; the last two where a signal came before it listened."""


class Broken(Exception):  # noqa: N818  what is broken is the promise
    """A promise that did not hold."""


class Stage:
    """A folder with a table, and what a whole publication of it looks like."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out, self.scratch = folder, folder / "r", folder / ".r.scumble"
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        draw = random.Random(7)
        rows = [f"{MARK}-{i},{draw.randrange(90)},{draw.choice(DISEASES)}" for i in range(300)]
        (folder / "t.csv").write_text("\n".join(["name,age,disease", *rows]) + "\n")
        os.environ["TMPDIR"] = tempfile.tempdir = str(self.temporary)
        self.digests: dict[str, str | None] = {}
        self.seconds = 0.0
        """That a run takes."""
        self.calls = 0
        """That change files, in a run."""

    def know(self) -> None:
        """What the two releases are, and how long a run takes."""
        started = time.monotonic()
        for seed in (NEW, OLD):
            self.publish(seed)
            self.digests[seed] = self.digest()
        self.seconds = (time.monotonic() - started) / 2
        self.kept = {path.name: path.read_bytes() for path in self.out.iterdir()}

    def publish(self, seed: str, before: Callable[[], None] = lambda: None) -> int:
        """A whole run of the command, in a child; its exit code."""
        code = self.wait(self.begin(seed, before))
        if code != 0:
            raise Broken(f"a run that nothing happens to ends with {code}: {self.said()}")
        return code

    def begin(self, seed: str, before: Callable[[], None]) -> int:
        """The child's number. It is forked: what it needs is loaded, and no thread of ours is in it."""
        child = os.fork()
        if child:
            return child
        try:
            os.setpgid(0, 0)
            os.chdir(self.folder)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            log = os.open(self.temporary.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            arguments = [
                "publish",
                "t.csv",
                "--sensitive",
                "disease",
                "--public",
                "age",
                "--drop",
                "name",
                "--retain",
                "0.5",
            ]
            arguments += [
                "--domain",
                f"disease={','.join(DISEASES)}",
                "-o",
                "r",
                "--overwrite",
                "--insecure-seed",
                seed,
            ]
            sys.argv = ["scumble", *arguments]
            before()
            from scumble.__main__ import main

            main()
        except SystemExit as ended:
            self._end(int(ended.code or 0))  # type: ignore[arg-type]
        finally:
            os._exit(70)

    @staticmethod
    def _end(code: int) -> None:
        """As Python ends, but without what belongs to the first process."""
        with suppress(Exception):
            sys.stdout.flush()
            from multiprocessing.util import _exit_function

            _exit_function()
            atexit._run_exitfuncs()
        os._exit(code)

    @staticmethod
    def wait(child: int) -> int:
        """The exit code; that of a signal below zero."""
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def said(self) -> str:
        """What the child printed."""
        return self.temporary.with_suffix(".log").read_text(errors="replace")

    def reset(self, with_old: bool) -> None:
        """The old release lies there, or none. Where a run left something, the next run clears it: nothing happens to that one."""
        if self.scratch.exists():
            self.publish(OLD)
            if sorted(path.name for path in self.folder.iterdir()) != ["r", "t.csv", "tmp", "tmp.log"]:
                raise Broken(f"the next run left {sorted(path.name for path in self.folder.iterdir())}")
        shutil.rmtree(self.out, ignore_errors=True)
        if with_old:
            self.out.mkdir()
            for name, content in self.kept.items():
                (self.out / name).write_bytes(content)

    def digest(self) -> str | None:
        """Of the release under the name, None where there is none; refused where it is not whole."""
        if not self.out.exists():
            return None
        manifest = json.loads((self.out / "manifest.json").read_text(encoding="utf-8"))
        for file in manifest["files"]:
            if hashlib.sha256((self.out / file["path"]).read_bytes()).hexdigest() != file["sha256"]:
                raise Broken(f"{file['path']} is not whole")
        names = {path.name for path in self.out.iterdir()}
        if names != {"manifest.json", *(file["path"] for file in manifest["files"])}:
            raise Broken(f"the release holds {names}")
        return str(manifest["digest"])

    def check(self, code: int, with_old: bool, killed: bool) -> None:
        """The old or the new one, whole; an exit code that says which; and nothing raw anywhere."""
        before = self.digests[OLD] if with_old else None
        now = self.digest()
        if now not in (before, self.digests[NEW]):
            raise Broken("under the name is neither the old release nor the new one")
        if not killed and (code == 0) != (now == self.digests[NEW]):
            raise Broken(
                f"exit code {code} with the {'new' if now == self.digests[NEW] else 'old'} release: {self.said()}"
            )
        if not killed and code not in CODES:
            raise Broken(f"exit code {code}: {self.said()}")
        if "Traceback" in self.said() or "mistake of scumble" in self.said():
            raise Broken(self.said())
        self._nothing_raw()

    def _nothing_raw(self) -> None:
        for path in [self.out, *self.folder.rglob("*")]:
            private = self.scratch in (path, *path.parents)
            if path in (self.scratch,) and stat.S_IMODE(path.stat().st_mode) != 0o700:
                raise Broken("the folder aside is open to others")
            if path.is_file() and not private and path.name != "t.csv" and MARK.encode() in path.read_bytes():
                raise Broken(f"{path} holds raw rows")
            if path.parent == self.temporary and stat.S_IMODE(path.stat().st_mode) != 0o700:
                raise Broken(f"{path} is open to others")


def end(child: int, number: signal.Signals) -> None:
    """A signal for the child, if it still lives."""
    with suppress(ProcessLookupError):
        os.kill(child, number)
