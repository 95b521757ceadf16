"""What the studio holds while it runs: tables that were read, work that goes on, releases that were opened."""

import threading
from dataclasses import dataclass, field
from pathlib import Path

from scumble.core.errors import ParameterError
from scumble.core.progress import Progress
from scumble.mechanisms.declared_table import spec_table
from scumble.sources import csv, parquet
from scumble.sources.address import behind, is_url
from scumble.sources.source import opens, read
from scumble.spec.first_spec import FirstSpec
from scumble.studio.paths import place_of, typed
from scumble.studio.project import SPEC, Project, new_name
from scumble.studio.reading import TableScan, read_through
from scumble.studio.work import Calculation, Command, Work, command_line

FOLDERS = (*parquet.ENDINGS, *csv.ENDINGS)
"""How files end of which a folder is one table."""
MOST_LISTED = 200
"""Tables of the folder that are offered."""


@dataclass
class Studio:
    """One folder, one user."""

    folder: Path
    seed: int | None = None
    """INSECURE: repeatable coins for all releases, for tests."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    works: dict[tuple[str, str], Work] = field(default_factory=dict)
    """What was begun last, by project or release, and by what it is."""
    releases: list[Path] = field(default_factory=list)
    """Releases that an officer opened; addresses name them by their place."""

    def tables(self) -> list[str]:
        """What can be opened in the folder."""
        inside = sorted(self.folder.iterdir(), key=lambda path: path.name.lower())
        return [path.name for path in inside if _is_table(path)][:MOST_LISTED]

    def found(self) -> list[Path]:
        """The releases in the folder and in its projects."""
        inside = [path for path in self.folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
        deeper = [path for folder in inside if (folder / SPEC).is_file() for path in folder.iterdir() if path.is_dir()]
        return sorted(path for path in (*inside, *deeper) if (path / "manifest.json").is_file())[:MOST_LISTED]

    def create(self, table: str, wanted: str = "") -> Project:
        """A new project: its table is read, and the first spec is written when that is done."""
        table = table.strip()
        if not table:
            raise ParameterError(
                "say which table: choose one of the folder, or give a path or the address of a database"
            )
        place = table if is_url(table) else str(place_of(self.folder, table))
        if not opens(place):
            read(place)  # which says why not
        with self.lock:
            project = Project(self.folder / new_name(self.folder, table, wanted.strip()))
            project.folder.mkdir()
        arguments = ["init", typed(table), "-o", f"{project.name}/{SPEC}", "--no-questions"]

        def first(progress: Progress) -> TableScan:
            try:
                reading = read_through(read(place), progress)
                FirstSpec(place, project.spec_path, [], False, reading.suggested).write(reading.suggested)
                project.history.notice()
            except BaseException:
                if not project.spec_path.exists():
                    project.folder.rmdir()
                raise
            return reading

        work = Calculation("Reading the table", first, shown=command_line(arguments))
        work.key = _version(place)
        self.begin(project.name, "reading", work)
        return project

    def reading(self, project: Project) -> Work:
        """The table of a project, read now where it was not yet, where another one is named, or where it has changed."""
        work = self.works.get((project.name, "reading"))
        spec = project.spec()
        key = _version(str(spec.table))
        if work is None or (not work.running and (work.state != "done" or work.key != key)):
            anew = Calculation("Reading the table", lambda p: read_through(spec_table(spec), p))
            anew.key = key
            work = self.begin(project.name, "reading", anew)
        return work

    def begin(self, owner: str, kind: str, work: Work) -> Work:
        """Starts work; what of its kind goes on for its owner is left to end first, and is this work where it began with the same."""
        with self.lock:
            before = self.works.get((owner, kind))
            if before is not None and before.running:
                if (before.shown, before.key) != (work.shown, work.key):
                    raise ParameterError(
                        f"{before.title.lower()} goes on, begun with something else; wait for its end, or cancel it"
                    )
                return before
            self.works[owner, kind] = work
        return work.start()

    def work(self, owner: str, kind: str) -> Work | None:
        """What was begun last."""
        return self.works.get((owner, kind))

    def command(
        self, owner: str, kind: str, title: str, arguments: list[str], *, fails: bool = False, key: str = ""
    ) -> Work:
        """Runs a command in the folder of the studio.

        key   what it reads, as that is now
        """
        if any("\0" in argument for argument in arguments):
            raise ParameterError("a command takes no NUL; give the fields without it")
        work = Command(title, arguments, self.folder, fails=fails)
        work.key = key
        return self.begin(owner, kind, work)

    def close(self) -> None:
        """Ends all that goes on."""
        running = [work for work in self.works.values() if work.running]
        for work in running:
            work.cancel()
        for work in running:
            work.wait(15)


def _is_table(path: Path) -> bool:
    if path.name.startswith("."):
        return False
    if path.is_dir():
        ours = (path / "manifest.json").exists() or (path / SPEC).exists()
        return not ours and any(one.name.lower().endswith(FOLDERS) and one.is_file() for one in path.iterdir())
    return opens(path)


def _version(table: str) -> str:
    """Which table it is, and when it was written; of a database its address alone."""
    if is_url(table):
        return table
    path, asked = behind(table)
    path = path.resolve()
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    return repr((str(path), asked, [(str(one), one.stat().st_mtime_ns) for one in files if one.exists()]))
