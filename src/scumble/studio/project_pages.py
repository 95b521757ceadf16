"""What all pages of a project share: its steps, its spec and its command beside them, and the wait for what they need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from scumble.core.errors import InputError
from scumble.spec.spec import UNDECIDED, Spec
from scumble.studio.pages import rendered
from scumble.studio.project import Project, find_project
from scumble.studio.reading import TableScan
from scumble.studio.requests import Form, nothing
from scumble.studio.state import Studio
from scumble.studio.work import Work

STEPS = {
    "roles": "Roles",
    "domains": "Domains",
    "privacy": "Privacy",
    "plan": "Plan",
    "publish": "Publish",
    "release": "Release",
}
"""The road, in its order: what a step is called in addresses, and on the page."""

PATIENCE = 0.5
"""Seconds that a page waits for what is over in a moment."""


@dataclass(frozen=True)
class RoadStep:
    """A step as the page lists it."""

    key: str
    title: str
    open: bool


class ProjectPages:
    """Pages of projects."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def project(self, request: Request) -> Project | None:
        """The project that an address names, also while its table is read for the first time."""
        name = request.path_params["name"]
        found = find_project(self.studio.folder, name)
        return found or (Project(self.studio.folder / name) if self.studio.work(name, "reading") else None)

    def with_scan(
        self, request: Request, form: Form, step: str, then: Callable[[Project, TableScan, Form], Response]
    ) -> Response:
        """A page that needs the table: the page itself once it was read, how far that is until then."""
        project = self.project(request)
        if project is None:
            return nothing()
        work = self.studio.work(project.name, "reading")
        if work is None or project.spec_path.exists():
            work = self.studio.reading(project)
        work.wait(PATIENCE)
        if isinstance(work.result, TableScan):
            return then(project, work.result, form)
        return self.waiting(project, step, work, "reading")

    def waiting(self, project: Project, step: str, work: Work, kind: str) -> Response:
        """How far something is that a page needs."""
        return self.page(project, step, "working.html", {"work": work, "kind": kind}, work.shown)

    def page(
        self, project: Project, step: str, template: str, facts: Mapping[str, Any], command: str, sentence: str = ""
    ) -> Response:
        """A page of a project, with its spec and its command beside it."""
        begun = project.spec_path.exists()
        if begun:
            project.history.notice()
        try:
            spec = project.spec() if begun else Spec()
        except InputError as error:
            spec, sentence = Spec(), str(error)
        work = facts.get("work")
        undecided = [name for name, column in spec.columns.items() if column.role == UNDECIDED]
        common = {
            "seed": self.studio.seed,
            "folder": self.studio.folder.name,
            "project": project,
            "step": step,
            "step_title": STEPS[step],
            "steps": [RoadStep(key, title, _is_open(key, project, undecided)) for key, title in STEPS.items()],
            "spec_text": project.text() if begun else "",
            "command": command,
            "version": project.history.at,
            "can_undo": project.history.can_undo,
            "can_redo": project.history.can_redo,
            "undecided": undecided,
            "sensitive": spec.sensitive,
            "sentence": sentence,
            "refresh": isinstance(work, Work) and work.running,
        }
        return rendered(template, {**common, **facts}, 422 if sentence else 200)


def _is_open(step: str, project: Project, undecided: list[str]) -> bool:
    """Roles at once, the release when there is one, and the steps between once every column is decided."""
    if step == "release":
        return project.published
    return project.spec_path.exists() and (step == "roles" or not undecided)
