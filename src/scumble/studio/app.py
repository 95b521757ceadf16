"""The studio's pages under one roof, behind its guard."""

from collections.abc import Iterable
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scumble.core.errors import InputError
from scumble.studio.choosing import Choosing
from scumble.studio.guard import BROKEN, Guard
from scumble.studio.officer import Officer
from scumble.studio.pages import file, rendered
from scumble.studio.project import Project, projects
from scumble.studio.publisher import Publisher
from scumble.studio.requests import Form, endpoint, go
from scumble.studio.state import Studio


class FirstPage:
    """The first page: projects, tables to open, releases to check."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def routes(self) -> list[Route]:
        """Where it is."""
        return [
            Route("/", endpoint(self.home), methods=["GET"]),
            Route("/projects", endpoint(self.create), methods=["POST"]),
            Route("/file/{name}", endpoint(self.file), methods=["GET"]),
        ]

    def home(self, request: Request, form: Form, sentence: str = "") -> Response:
        """What is here, and what can be begun."""
        facts = {
            "seed": self.studio.seed,
            "folder": str(self.studio.folder),
            "projects": [{"project": one, "words": _words(one)} for one in projects(self.studio.folder)],
            "tables": self.studio.tables(),
            "releases": [str(path.relative_to(self.studio.folder)) for path in self.studio.found()],
            "sentence": sentence,
        }
        return rendered("home.html", facts, 422 if sentence else 200)

    def create(self, request: Request, form: Form) -> Response:
        """A new project."""
        try:
            return go(f"/p/{self.studio.create(self._table(form), form.get('name', '')).name}/")
        except InputError as error:
            return self.home(request, form, str(error))

    def _table(self, form: Form) -> str:
        """A table of the folder is named by its place in the list."""
        listed, place = self.studio.tables(), form.get("table", "")
        return listed[int(place)] if place.isdigit() and int(place) < len(listed) else form.get("path", "")

    def file(self, request: Request, form: Form) -> Response:
        """What pages load."""
        return file(request.path_params["name"])


def _words(project: Project) -> str:
    try:
        open_ = [name for name, column in project.spec().columns.items() if column.role == "?"]
    except InputError:
        return "its spec cannot be read"
    if open_:
        return f"{len(open_)} column{'s' * (len(open_) > 1)} to be decided"
    return "published" if project.published else "decided, not published"


def studio_app(folder: Path, tokens: Iterable[str], port: int, seed: int | None = None) -> tuple[Guard, Studio]:
    """The application of a folder, and what it holds; each token lets in one browser."""
    studio = Studio(folder.resolve(), seed)
    routes = [
        *FirstPage(studio).routes(),
        *Publisher(studio).routes(),
        *Choosing(studio).routes(),
        *Officer(studio).routes(),
    ]

    def refused(request: Request, error: Exception) -> Response:
        return rendered("refused.html", {"seed": seed, "sentence": str(error)}, 422)

    app = Starlette(routes=routes, exception_handlers={InputError: refused, Exception: _broken})
    return Guard(app, tokens, port), studio


def _broken(request: Request, error: Exception) -> Response:
    """An error of our own, by its kind: its message may have a value in it."""
    return Response(f"scumble studio: {BROKEN.format(type(error).__name__)}\n", 500, media_type="text/plain")
