"""The steps between roles and publication: how coarse, how private, and what comes of it."""

import json
import math
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scumble.core.errors import InputError, ParameterError
from scumble.evaluate.measured import percent
from scumble.evaluate.search import error_text
from scumble.spec.spec import Spec
from scumble.studio.coarser import ladder, lines_of, with_domains
from scumble.studio.commands import advising, editing, planning, taking
from scumble.studio.diagrams import frontier_picture, intervals_picture
from scumble.studio.editing import checked
from scumble.studio.frontier import Frontier, fingerprint, frontier, lines
from scumble.studio.project import Project
from scumble.studio.project_pages import PATIENCE, STEPS, ProjectPages
from scumble.studio.reading import TableScan
from scumble.studio.requests import Form, endpoint, go, nothing
from scumble.studio.work import Calculation, Work, command_line

MOST_SINGLE = 12
"""Public columns up to which the page says what each of them gives away."""


class Choosing(ProjectPages):
    """Domains, privacy, plan."""

    def routes(self) -> list[Route]:
        """Where they are."""
        at = "/p/{name}/"
        return [
            Route(at + "domains", endpoint(self.domains), methods=["GET", "POST"]),
            Route(at + "privacy", endpoint(self.privacy), methods=["GET", "POST"]),
            Route(at + "questions", endpoint(self.questions), methods=["POST"]),
            Route(at + "plan", endpoint(self.plan), methods=["GET", "POST"]),
        ]

    def domains(self, request: Request, form: Form) -> Response:
        """How coarse public columns are, and what sensitive ones can be."""
        return self.with_scan(request, form, "domains", self._domains)

    def _domains(self, project: Project, scan: TableScan, form: Form) -> Response:
        spec, sentence = project.spec(), ""
        if form:
            try:
                with self.studio.lock:
                    project.save(with_domains(project.spec(), form, scan))
                step = form.get("next", "")
                return go(f"/p/{project.name}/{step if step in STEPS else 'domains'}")
            except InputError as error:
                sentence = str(error)
        unique, rows = scan.unique(spec), scan.sample.num_rows
        facts = {
            "share": percent(unique / max(1, rows)),
            "per_mille": round(1000 * unique / max(1, rows)),
            "count": f"{unique:,}",
            "rows": f"{rows:,}",
            "said": scan.said,
            "public": _public(spec, scan),
            "sensitive_columns": _sensitive(spec, scan),
        }
        return self.page(project, "domains", "domains.html", facts, editing(project), sentence)

    def privacy(self, request: Request, form: Form) -> Response:
        """The frontier, and a point on it."""
        fields = form or dict(request.query_params)
        return self.with_scan(request, fields, "privacy", self._taking if form else self._privacy)

    def _privacy(self, project: Project, scan: TableScan, form: Form) -> Response:
        made = self._frontier(project, scan)
        if isinstance(made, Work):
            return self.waiting(project, "privacy", made, "frontier")
        level, name = _point(made, form)
        offer = made.offers[level].get(name or "") if made.levels else None
        facts = {
            "made": made,
            "said": scan.said,
            "level": level,
            "words": [f"{one:.0%}" for one in made.levels],
            "chosen": name,
            "chosen_place": made.names.index(name) if name else "",
            "offers": _offers(made, level) if made.levels else [],
            "picture": frontier_picture(made, level, name) if made.levels else "",
            "answers": [(answer.sql, intervals_picture(lines(answer))) for answer in (offer.foreseen if offer else ())],
            "questions": "\n".join(project.questions()),
        }
        shown = command_line(planning(project))
        if offer is not None and name is not None:
            line = command_line(advising(project, f"{made.levels[level]:.4g}", name))
            shown = f"{line}\n{taking(project)}"
        return self.page(project, "privacy", "privacy.html", facts, shown)

    def _taking(self, project: Project, scan: TableScan, form: Form) -> Response:
        """Writes the chosen point into the spec: what `scumble advise` writes."""
        if form.get("protect") == "all":
            return self._protecting(project)
        made = self._frontier(project, scan)
        if isinstance(made, Work):
            return go(f"/p/{project.name}/privacy")
        level, name = _point(made, form)
        offer = made.offers[level].get(name or "") if made.levels else None
        if offer is None:
            raise ParameterError("this mechanism does not apply at this privacy; choose another one")
        own = offer.setting.spec
        with self.studio.lock:
            spec = project.spec()
            plain = {n: column.model_copy(update={"privacy": None}) for n, column in spec.columns.items()}
            chosen = {"mechanism": own.mechanism, "settings": own.settings, "privacy": own.privacy, "columns": plain}
            project.save(spec.model_copy(update=chosen))
        return go(f"/p/{project.name}/plan")

    def _protecting(self, project: Project) -> Response:
        """The same factor without rho1: then no value is too common to be protected."""
        with self.studio.lock:
            spec = project.spec()
            factor = float(f"{spec.privacy.factor():.6g}")
            project.save(checked(spec, privacy={"gamma": factor}))
        return go(f"/p/{project.name}/privacy")

    def _frontier(self, project: Project, scan: TableScan) -> Frontier | Work:
        """The frontier of the spec as it is, or the work on it."""
        spec, asked = project.spec(), project.questions()
        read = self.studio.work(project.name, "reading")
        key = fingerprint(spec, asked) + (read.key if read is not None else "")
        work = self.studio.work(project.name, "frontier")
        if work is None or (work.key != key and not work.running) or work.state == "cancelled":
            made = Calculation("Foreseeing errors", lambda progress: frontier(scan, spec, asked, progress))
            made.key, made.shown = key, command_line(planning(project))
            work = self.studio.begin(project.name, "frontier", made)
        work.wait(PATIENCE)
        return work.result if isinstance(work.result, Frontier) and work.key == key else work

    def questions(self, request: Request, form: Form) -> Response:
        """The questions whose errors are foreseen."""
        project = self.project(request)
        if project is None or not project.spec_path.exists():
            return nothing()
        project.ask([line for line in form.get("questions", "").splitlines() if line.strip()])
        return go(f"/p/{project.name}/privacy")

    def plan(self, request: Request, form: Form) -> Response:
        """What publishing would promise, by the command."""
        project = self.project(request)
        if project is None or not project.spec_path.exists():
            return nothing()
        line = planning(project)
        if request.method == "POST":
            self.studio.command(project.name, "plan", "Planning", [*line, "--format", "json"], key=project.text())
            return go(f"/p/{project.name}/plan")
        current = self.studio.work(project.name, "plan")
        planned = _json(current.result) if current is not None and current.state == "done" else None
        stale = current is not None and current.key != project.text()
        return self.page(
            project, "plan", "plan.html", {"work": current, "planned": planned, "stale": stale}, command_line(line)
        )


def _point(made: Frontier, form: Form) -> tuple[int, str | None]:
    """The level and the mechanism that are looked at: those of the form, or the middle and the smallest error."""
    if not made.levels:
        return 0, None
    given = form.get("level", "")
    level = min(int(given), len(made.levels) - 1) if given.isdigit() else len(made.levels) // 2
    place = form.get("mechanism", "")
    name = made.names[int(place)] if place.isdigit() and int(place) < len(made.names) else None
    return level, name if name in made.offers[level] else made.best(level)


def _offers(made: Frontier, level: int) -> list[dict[str, Any]]:
    best = made.best(level)
    return [
        {
            "name": name,
            "place": made.names.index(name),
            "label": offer.setting.label,
            "posterior": percent(offer.beliefs.posterior),
            "factor": f"× {offer.beliefs.factor:.4g}" if offer.beliefs.factor < 1e4 else "none",
            "error": error_text(offer.error, False) if not math.isinf(offer.error) else "no answer",
            "best": name == best,
        }
        for name, offer in made.offers[level].items()
    ]


def _public(spec: Spec, scan: TableScan) -> list[dict[str, Any]]:
    names = [name for name, column in spec.columns.items() if column.role == "public"]
    few, rows = len(names) <= MOST_SINGLE, max(1, scan.sample.num_rows)
    listed = []
    for place, column in enumerate(scan.suggested):
        name = column.seen.name
        if name in names:
            rungs = ladder(column.seen, spec.columns[name].coarsen)
            at = next(i for i, rung in enumerate(rungs) if rung.rule == spec.columns[name].coarsen)
            without = percent(scan.unique(spec, without=name) / rows) if few and len(names) > 1 else None
            listed.append(
                {"place": place, "name": name, "rungs": [rung.words for rung in rungs], "at": at, "without": without}
            )
    return listed


def _sensitive(spec: Spec, scan: TableScan) -> list[dict[str, Any]]:
    listed = []
    for place, suggested in enumerate(scan.suggested):
        own = spec.columns.get(suggested.seen.name)
        if own is not None and own.role == "sensitive":
            text = lines_of(own)
            listed.append(
                {
                    "place": place,
                    "name": suggested.seen.name,
                    "grid": own.low is not None,
                    "low": own.low if own.low is not None else "",
                    "high": own.high if own.high is not None else "",
                    "step": own.step,
                    "lines": text,
                    "number": len(own.values or ()),
                    "height": min(12, max(3, len(own.values or ()) + 1)),
                    "from_data": own.from_data,
                    "missing": own.missing,
                }
            )
    return listed


def _json(text: str) -> dict[str, Any] | None:
    try:
        made: dict[str, Any] = json.loads(text)
    except ValueError:
        return None
    return made
