"""The publisher's road: a table, its roles, what is published of it, the release and its report."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scumble.core.errors import InputError
from scumble.release import describe
from scumble.release.release import open_release
from scumble.studio.cards import role_cards
from scumble.studio.commands import EDITIONS, editing, publishing, reporting, starting
from scumble.studio.editing import with_persons, with_roles
from scumble.studio.pages import explored, printed
from scumble.studio.project import Project
from scumble.studio.project_pages import STEPS, ProjectPages
from scumble.studio.reading import TableScan
from scumble.studio.requests import Form, endpoint, go, nothing
from scumble.studio.state import Studio
from scumble.studio.work import command_line


class Publisher(ProjectPages):
    """Roles, publication, release."""

    def __init__(self, studio: Studio) -> None:
        super().__init__(studio)
        self._drawn: dict[str, tuple[TableScan, dict[str, str]]] = {}

    def routes(self) -> list[Route]:
        """Where they are."""
        at = "/p/{name}/"
        return [
            Route(at, endpoint(self.begin), methods=["GET"]),
            Route(at + "roles", endpoint(self.roles), methods=["GET", "POST"]),
            Route(at + "publish", endpoint(self.publish), methods=["GET", "POST"]),
            Route(at + "release", endpoint(self.release), methods=["GET"]),
            Route(at + "report", endpoint(self.write_report), methods=["POST"]),
            Route(at + "report/{edition}", endpoint(self.report), methods=["GET"]),
            Route(at + "explore", endpoint(self.explore), methods=["GET"]),
            Route(at + "undo", endpoint(self.undo), methods=["POST"]),
            Route(at + "redo", endpoint(self.redo), methods=["POST"]),
            Route(at + "cancel/{kind}", endpoint(self.cancel), methods=["POST"]),
        ]

    def begin(self, request: Request, form: Form) -> Response:
        """A project begins, or goes on, with its roles."""
        return go(f"/p/{request.path_params['name']}/roles")

    def roles(self, request: Request, form: Form) -> Response:
        """One card a column."""
        return self.with_scan(request, form, "roles", self._roles)

    def _roles(self, project: Project, reading: TableScan, form: Form) -> Response:
        spec, sentence = project.spec(), ""
        if form:
            try:
                with self.studio.lock:
                    spec = with_persons(with_roles(project.spec(), form, reading), form, reading)
                    project.save(spec)
                if form.get("next") in STEPS and not spec.undecided(reading.sample.column_names):
                    return go(f"/p/{project.name}/{form['next']}")
                return go(f"/p/{project.name}/roles")
            except InputError as error:
                sentence = str(error)
        if project.name not in self._drawn or self._drawn[project.name][0] is not reading:
            self._drawn[project.name] = (reading, {})
        cards = role_cards(spec, reading, self._drawn[project.name][1])
        left_out = [c for c in cards if c.role in ("identifier", "dropped")]
        facts = {
            "cards": cards,
            "said": reading.said,
            "identifiers": [(c.place, c.name, c.name == spec.person) for c in sorted(left_out, key=lambda c: c.place)],
            "person": spec.person,
            "one_row": spec.persons is not None,
            "rows_per_person": spec.rows_per_person,
        }
        return self.page(
            project,
            "roles",
            "roles.html",
            facts,
            f"{command_line(starting(self.studio, project))}\n{editing(project)}",
            sentence,
        )

    def publish(self, request: Request, form: Form) -> Response:
        """What will become of the columns, and the publication."""
        project = self.project(request)
        if project is None or not project.spec_path.exists():
            return nothing()
        if request.method == "POST":
            self.studio.command(
                project.name, "publish", "Publishing", publishing(self.studio, project), key=project.text()
            )
            return go(f"/p/{project.name}/publish")
        spec = project.spec()
        roles = {
            "public": "published as they are",
            "sensitive": "perturbed",
            "identifier": "left out",
            "dropped": "left out",
        }
        becomes: dict[str, list[str]] = {"perturbed": [], "published as they are": [], "left out": []}
        for name, column in spec.columns.items():
            if column.role in roles:
                becomes[roles[column.role]].append(name)
        facts = {"work": self.studio.work(project.name, "publish"), "becomes": list(becomes.items())}
        return self.page(project, "publish", "publish.html", facts, command_line(publishing(self.studio, project)))

    def release(self, request: Request, form: Form) -> Response:
        """What was published, and where to go with it."""
        project = self.project(request)
        if project is None or not project.spec_path.exists():
            return nothing()
        facts: dict[str, Any] = {"work": self.studio.work(project.name, "report"), "summary": None}
        facts["reports"] = [(name, words, (project.folder / file).exists()) for name, (file, words) in EDITIONS.items()]
        sentence = ""
        if project.published:
            try:
                opened = open_release(project.release)
                facts["summary"] = describe.summary(opened.title, opened.manifest, opened.terms, opened.doubts)
            except InputError as error:
                sentence = str(error)
        shown = command_line(reporting(self.studio, project, "internal"))
        return self.page(project, "release", "release.html", facts, shown, sentence)

    def write_report(self, request: Request, form: Form) -> Response:
        """The report of the release, in one of its editions."""
        project, edition = self.project(request), form.get("edition", "internal")
        if project is None or not project.published or edition not in EDITIONS:
            return nothing()
        self.studio.command(project.name, "report", "Writing the report", reporting(self.studio, project, edition))
        return go(f"/p/{project.name}/release")

    def report(self, request: Request, form: Form) -> Response:
        """The report as it was written."""
        project, edition = self.project(request), request.path_params["edition"]
        path = project.folder / EDITIONS[edition][0] if project is not None and edition in EDITIONS else None
        return printed(path.read_text(encoding="utf-8")) if path is not None and path.is_file() else nothing()

    def explore(self, request: Request, form: Form) -> Response:
        """The page on which the release is asked by clicking."""
        project = self.project(request)
        if project is None or not project.published:
            return nothing()
        return explored(open_release(project.release))

    def undo(self, request: Request, form: Form) -> Response:
        """The version before."""
        return self._step(request, form, -1)

    def redo(self, request: Request, form: Form) -> Response:
        """The version after."""
        return self._step(request, form, 1)

    def _step(self, request: Request, form: Form, by: int) -> Response:
        project = self.project(request)
        if project is None:
            return nothing()
        with self.studio.lock:
            project.history.step(by)
        step = form.get("step", "")
        return go(f"/p/{project.name}/{step if step in STEPS else 'roles'}")

    def cancel(self, request: Request, form: Form) -> Response:
        """Ends what goes on."""
        project, kind = self.project(request), request.path_params["kind"]
        work = self.studio.work(project.name, kind) if project is not None else None
        if project is None or work is None:
            return nothing()
        work.cancel()
        work.wait(5)
        step = {"report": "release", "reading": "roles", "frontier": "privacy"}.get(kind, kind)
        return go(f"/p/{project.name}/{step}")
