"""A project: a folder with a spec, its history, the questions that matter, and what was made by it."""

import re
from dataclasses import dataclass
from pathlib import Path

from scumble.core.errors import ParameterError
from scumble.sources.address import address, is_url
from scumble.spec.spec import Spec, read_spec
from scumble.spec.toml import spec_toml
from scumble.studio.history import History

SPEC, QUESTIONS, REPORT = "spec.toml", "questions.txt", "report.html"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}\Z")
COMMENTS = [
    "Written by scumble studio; edit it here or there, both read this file.",
    "Roles: identifier and dropped (left out), public (published as it is), sensitive (perturbed), ? (not decided).",
]


@dataclass(frozen=True)
class Project:
    """A folder of the studio."""

    folder: Path

    @property
    def name(self) -> str:
        """What it is called, in addresses too."""
        return self.folder.name

    @property
    def spec_path(self) -> Path:
        """Where its spec is."""
        return self.folder / SPEC

    @property
    def history(self) -> History:
        """The versions of its spec."""
        return History(self.spec_path)

    @property
    def release_name(self) -> str:
        """What its release is called."""
        return f"{self.name}.release"

    @property
    def release(self) -> Path:
        """Where its release is, or will be."""
        return self.folder / self.release_name

    @property
    def report(self) -> Path:
        """Where the report of its release is, or will be: the internal edition."""
        return self.folder / REPORT

    @property
    def published(self) -> bool:
        """Whether a release is there."""
        return (self.release / "manifest.json").is_file()

    def spec(self) -> Spec:
        """What was decided so far."""
        return read_spec(self.spec_path)

    def text(self) -> str:
        """The spec as it is written."""
        return self.spec_path.read_text(encoding="utf-8")

    def save(self, spec: Spec) -> None:
        """A new version of the spec."""
        self.history.keep(spec_toml(spec, self.folder, COMMENTS))

    def questions(self) -> list[str]:
        """The questions that matter, one a line of a file."""
        path = self.folder / QUESTIONS
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [line.strip() for line in lines if line.strip()]

    def ask(self, questions: list[str]) -> None:
        """Other questions."""
        text = "".join(f"{' '.join(question.split())}\n" for question in questions)
        (self.folder / QUESTIONS).write_text(text, encoding="utf-8")


def projects(folder: Path) -> list[Project]:
    """Those of a folder, by name."""
    inside = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    return [Project(path) for path in inside if NAME.match(path.name) and (path / SPEC).is_file()]


def find_project(folder: Path, name: str) -> Project | None:
    """The one of that name; a name is never a path."""
    if not NAME.match(name) or not (folder / name / SPEC).is_file():
        return None
    return Project(folder / name)


def new_name(folder: Path, table: str, wanted: str = "") -> str:
    """A name for a new project: the one that is wanted, or one like its table's that nothing has."""
    if wanted:
        if not NAME.match(wanted):
            raise ParameterError(
                f"a project is called by letters, digits, - and _, up to 60 of them, not {wanted!r}; it becomes a folder"
            )
        if (folder / wanted).exists():
            raise ParameterError(f"there is a file or folder {wanted!r} here already; choose another name")
        return wanted
    own = (address(table).table or "query") if is_url(table) else Path(table).name.split(".")[0]
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", own).strip("-_")[:50] or "table"
    return next(name for name in (plain, *(f"{plain}-{n}" for n in range(2, 10_000))) if not (folder / name).exists())
