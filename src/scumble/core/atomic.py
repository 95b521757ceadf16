"""Files and folders that are whole or not there: they are written aside, and take their name when all went well.

What may not be done by halves waits for no one: an interruption that comes in the middle of it is obeyed when it is over.
"""

import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scumble.core.errors import InputError


@contextmanager
def undisturbed() -> Iterator[None]:
    """An interruption waits until this is done. Python interrupts its main thread only, so that others need no care."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for name in before:
        signal.signal(name, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, signal.SIG_DFL if handler is None else handler)
        if waiting:
            signal.raise_signal(waiting[0])


@contextmanager
def whole_folder(path: Path, former: Callable[[Path], Iterable[str]] | None = None) -> Iterator[Path]:
    """A folder to write into. It takes the name when all went well, and is gone when not.

    former  names all files of a folder that may be overwritten, or refuses: these are removed, and nothing else ever is
    """
    with _aside(path) as folder:
        yield folder
        folder.chmod(0o755)
        # asked when all is written: meanwhile somebody may have put a file there
        names = former(path) if former is not None and path.exists() else None
        with undisturbed():
            _take_place(folder, path, names)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """The same for a file: a path to write to."""
    with _aside(path) as folder:
        yield folder / path.name
        with undisturbed():
            (folder / path.name).replace(path)


@contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A folder beside the path, hidden, that is gone in the end."""
    folder: Path | None = None
    try:
        with undisturbed():
            folder = _made(path)
        yield folder
    finally:
        if folder is not None:
            with undisturbed():
                shutil.rmtree(folder, ignore_errors=True)


def _made(path: Path) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.absolute().parent))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {(error.strerror or str(error)).lower()}") from None


def _take_place(folder: Path, path: Path, names: Iterable[str] | None) -> None:
    if not path.exists():
        folder.rename(path)
        return
    if names is None:
        raise InputError(f"{str(path)!r} was made by somebody else meanwhile, and is kept; choose another name")
    aside = folder.with_name(f"{folder.name}.former")
    path.rename(aside)
    folder.rename(path)
    _remove(aside, names)


def _remove(folder: Path, names: Iterable[str]) -> None:
    """The named files, and the folders that are empty then."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
    within = sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True)
    try:
        for path in [*within, folder]:
            path.rmdir()
    except OSError:
        raise InputError(
            f"the new folder is in place; what somebody put into the former one is in {str(folder)!r}"
        ) from None
