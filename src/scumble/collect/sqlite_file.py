"""SQLite files that are whole under their name or not there, for nobody else to read, and known by a number in their head."""

import os
import sqlite3
from pathlib import Path
from typing import Any

from scumble.core.durable import sync_folder
from scumble.core.entropy import fresh_bytes


def make_file(path: Path, script: str, statement: str, value: Any) -> None:
    """A new file by a script, with a first row; of two processes that make it at once one wins.

    OSError and sqlite3.Error where it cannot be made.
    """
    aside = path.with_name(f".{path.name}.{fresh_bytes(6).hex()}")
    try:
        os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        database = sqlite3.connect(aside)
        with database:
            database.executescript(script)
            database.execute(statement, (value,))
        database.close()
        os.link(aside, path)
        sync_folder(path.absolute().parent)
    except FileExistsError:
        pass
    finally:
        for left in ("", "-wal", "-shm", "-journal"):
            aside.with_name(aside.name + left).unlink(missing_ok=True)
