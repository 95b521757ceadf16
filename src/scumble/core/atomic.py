"""Files and folders that are whole or not there: they are written aside, and take their name when all went well.

    written in .NAME.scumble  ->  on the disk (fsync)  ->  exchanged with NAME in one step  ->  the former one removed

A process may be killed, or the power fail, at any moment: NAME is the old folder or the new one, and whole. Where a file system cannot exchange
two folders, the old one steps aside before the new one takes its name. Who is killed between these two renames leaves a note of what was to be
done, and the next one who opens or writes NAME does it; until then NAME is missing, and nothing is lost.
"""

import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from scumble.core.durable import sync_file, sync_folder, sync_tree
from scumble.core.errors import InputError
from scumble.core.exchange import exchange, rename_anew
from scumble.core.scratch import held, scratch_of
from scumble.core.undisturbed import undisturbed

NEW, FORMER, NOTE = "new", "former", "exchange.json"
"""In the folder aside: what is written, what stepped aside, and the names of the files that may be removed then."""

PATIENCE = 2.0
"""Seconds to wait for a living run that is between its two renames."""

_placed: set[Path] = set()


def in_place(path: Path) -> bool:
    """Whether this process has put something new under a name: then what was asked for is done, whatever happens now."""
    return path.absolute() in _placed


def placed(path: Path) -> None:
    """Notes that something new has a name now, wherever that is."""
    _placed.add(path.absolute())


@contextmanager
def whole_folder(
    path: Path, former: Callable[[Path], Iterable[str]] | None = None, *, durable: bool = True
) -> Iterator[Path]:
    """A folder to write into, alone in its own. It takes the name when all went well, and is gone when not.

    former   names all files of a folder that may be overwritten, or refuses: these are removed, and nothing else ever is
    durable  whether it is to outlive the machine's next fall; a folder that is gone in a moment need not
    """
    with held(scratch_of(path), repr(str(path)), partial(_finish, path)) as aside:
        folder = aside / NEW
        folder.mkdir()
        yield folder
        folder.chmod(0o755)
        # asked when all is written: meanwhile somebody may have put a file there
        names = list(former(path)) if former is not None and os.path.lexists(path) else None
        if durable:
            sync_tree(folder)
        with undisturbed():
            if names is None or not _exchanged(folder, path, names):
                _take_name(folder, path)
            _settle(path, durable)


@contextmanager
def whole_file(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """The same for a file: a path to write to. One that exists is kept, but where it may be overwritten; a link always is."""
    if path.is_symlink():
        raise InputError(f"{str(path)!r} is a link, and is kept; name the file itself")
    with held(scratch_of(path), repr(str(path)), partial(_finish, path)) as aside:
        file = aside / f"{NEW}{path.suffix}"
        yield file
        sync_file(file)
        with undisturbed():
            if overwrite:
                file.replace(path)
            else:
                _take_name(file, path)
            _settle(path, True)


def demand_file(path: Path, overwrite: bool, read: Iterable[Path] = ()) -> None:
    """Refuses a file to write that would cost somebody something, before any work is done for it.

    read  files that the work is made from, which are never written over
    """
    if path.is_dir() or path.is_symlink():
        raise InputError(f"{str(path)!r} is a {'link' if path.is_symlink() else 'folder'}, and is kept; name a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {str(path.absolute().parent)!r} to write {path.name!r} into")
    if path.resolve() in [file.resolve() for file in read]:
        raise InputError(f"{str(path)!r} is what is read, and is kept; choose another name")
    if path.exists() and not overwrite:
        raise InputError(f"{str(path)!r} exists and is kept; choose another name, or say --overwrite")


def complete(path: Path) -> None:
    """Gives a name back that was left missing between two renames: the only thing that a reader may have to mend."""
    with suppress(OSError, InputError):
        end = time.monotonic() + PATIENCE
        while not os.path.lexists(path) and (scratch_of(path) / NOTE).exists() and time.monotonic() < end:
            with suppress(InputError), held(scratch_of(path), repr(str(path)), partial(_finish, path)):
                return
            time.sleep(PATIENCE / 100)


def _take_name(source: Path, path: Path) -> None:
    """A name that nobody has."""
    try:
        if rename_anew(source, path):
            return
        if os.path.lexists(path):
            raise FileExistsError
    except FileExistsError:
        raise InputError(
            f"{str(path)!r} was made by somebody else meanwhile, and is kept; choose another name"
        ) from None
    source.rename(path)


def _exchanged(folder: Path, path: Path, names: list[str]) -> bool:
    """Puts the folder in the place of another; False where there is none any more."""
    written = [str(file.relative_to(folder)) for file in folder.rglob("*") if not file.is_dir()]
    note = folder.with_name(NOTE)
    note.write_text(json.dumps(sorted({*names, *written})), encoding="utf-8")
    sync_file(note)
    sync_folder(note.parent)
    try:
        if not exchange(folder, path):
            _exchange_in_two(folder, path)
    except FileNotFoundError:
        return False
    return True


def _exchange_in_two(folder: Path, path: Path) -> None:
    """The longer way; the note says what is to be done by the next one, where this one dies in between."""
    former = folder.with_name(FORMER)
    path.rename(former)
    try:
        folder.rename(path)
    except OSError:
        former.rename(path)
        raise


def _settle(path: Path, durable: bool) -> None:
    """The new name, on the disk. Who cannot have that written has the new one in place nevertheless."""
    _placed.add(path.absolute())
    if durable:
        try:
            sync_folder(path.absolute().parent)
        except OSError as error:
            warnings.warn(f"{str(path)!r} is in place, but its folder cannot be synced: {error}", stacklevel=2)


def _finish(path: Path, aside: Path) -> None:
    """What an exchange leaves to be done, by whoever began it or by the next one: the name, then the files of the former."""
    try:
        names = json.loads((aside / NOTE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # no exchange was begun, so that all of it is ours
        return
    if (aside / FORMER).exists() and (aside / NEW).exists() and not os.path.lexists(path):
        (aside / NEW).rename(path)
        sync_folder(path.absolute().parent)
    for part in (aside / NEW, aside / FORMER):
        if part.exists():
            _remove(part, names)
            if any(inner.is_symlink() or not inner.is_dir() for inner in part.rglob("*")):
                _keep(part, path)


def _remove(folder: Path, names: Iterable[str]) -> None:
    """The named files, and the folders that are empty then."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
    within = sorted((part for part in folder.rglob("*") if part.is_dir() and not part.is_symlink()), reverse=True)
    for part in [*within, folder]:
        with suppress(OSError):  # somebody put something there: it is kept
            part.rmdir()


def _keep(folder: Path, path: Path) -> None:
    """What somebody put into the former folder, in the last moment, gets a name that is seen."""
    for number in range(1, 1000):
        kept = path.with_name(f"{path.name}.former{number if number > 1 else ''}")
        if not os.path.lexists(kept):
            folder.rename(kept)
            warnings.warn(f"what somebody put into the former {str(path)!r} is kept in {str(kept)!r}", stacklevel=2)
            return
    raise InputError(f"{str(folder)!r} holds what somebody put into the former {str(path)!r}; move it away")
