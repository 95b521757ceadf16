"""The commands that do what the steps do, as they are shown and run, in the folder of the studio."""

import os

from scumble.sources.address import is_url
from scumble.studio.paths import typed
from scumble.studio.project import QUESTIONS, SPEC, Project
from scumble.studio.state import Studio

ADVISED = "advised.toml"
EDITIONS = {
    "internal": ("report.html", "With the truth beside the estimates: not for publication."),
    "external": ("report-external.html", "From the release alone: it can be published beside it."),
}
"""Of the report: its file, and what it is."""


def table_of(studio: Studio, project: Project) -> str:
    """The table of a project, as it is typed in the studio's folder."""
    table = str(project.spec().table)
    return table if is_url(table) else typed(os.path.relpath(table, studio.folder))


def starting(studio: Studio, project: Project) -> list[str]:
    """Writes the first spec."""
    return ["init", table_of(studio, project), "-o", f"{project.name}/{SPEC}", "--no-questions"]


def editing(project: Project) -> str:
    """What a form does, by hand."""
    return f"$EDITOR {project.name}/{SPEC}"


def advising(project: Project, level: str, mechanism: str) -> list[str]:
    """Writes a spec with this privacy beside the one that is read."""
    spec, advised = f"{project.name}/{SPEC}", f"{project.name}/{ADVISED}"
    asked = [part for sql in project.questions() for part in ("--question", sql)]
    return ["advise", spec, "--posterior", level, "--mechanism", mechanism, *asked, "--repetitions", "0", "-o", advised]


def taking(project: Project) -> str:
    """Makes it the spec."""
    return f"mv {project.name}/{ADVISED} {project.name}/{SPEC}"


def planning(project: Project) -> list[str]:
    """Says what publishing would promise."""
    asked = ["--file", f"{project.name}/{QUESTIONS}"] if project.questions() else []
    return ["plan", f"{project.name}/{SPEC}", *asked]


def publishing(studio: Studio, project: Project) -> list[str]:
    """Publishes."""
    line = ["publish", f"{project.name}/{SPEC}", "-o", f"{project.name}/{project.release_name}"]
    line += [] if studio.seed is None else ["--insecure-seed", str(studio.seed)]
    return [*line, *(["--overwrite"] if project.published else [])]


def reporting(studio: Studio, project: Project, edition: str) -> list[str]:
    """Writes the report."""
    line = ["report", f"{project.name}/{project.release_name}", "-o", f"{project.name}/{EDITIONS[edition][0]}"]
    return [*line, "--external"] if edition == "external" else [*line, "--raw", table_of(studio, project)]
