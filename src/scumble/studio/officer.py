"""The officer's road: a release that somebody made, verified, attacked, read, and signed.

A folder can be replaced at any time. So whatever a command found belongs to the manifest that was there when it began: it is shown beside that one alone, and
nothing else is signed.
"""

import getpass
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scumble.auditing.finding import GRADES
from scumble.core.errors import InputError, ReleaseError
from scumble.release import describe
from scumble.release.release import open_release
from scumble.sources.address import is_url
from scumble.studio.pages import explored, printed, rendered
from scumble.studio.paths import place_of, typed
from scumble.studio.pictures import gauge
from scumble.studio.project import SPEC, Project, find_project
from scumble.studio.requests import Form, endpoint, go, nothing
from scumble.studio.state import Studio
from scumble.studio.work import Work, command_line

KEY = "officer.key"
TITLES = {
    "verify": "Verifying",
    "audit": "Attacking",
    "report": "Writing the report",
    "sign": "Signing",
    "key": "Making a key",
}


class Officer:
    """The pages of releases."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def routes(self) -> list[Route]:
        """Where they are."""
        at = "/r/{place:int}/"
        return [
            Route("/releases", endpoint(self.open), methods=["POST"]),
            Route(at, endpoint(self.release), methods=["GET"]),
            Route(at + "run/{kind}", endpoint(self.run), methods=["POST"]),
            Route(at + "cancel/{kind}", endpoint(self.cancel), methods=["POST"]),
            Route(at + "report", endpoint(self.report), methods=["GET"]),
            Route(at + "explore", endpoint(self.explore), methods=["GET"]),
        ]

    def open(self, request: Request, form: Form) -> Response:
        """A release by its place in the list of the first page, by its project, or by its path; it is verified at once."""
        path = self._chosen(form)
        if not (path / "manifest.json").is_file():
            return rendered(
                "refused.html",
                {
                    "seed": self.studio.seed,
                    "sentence": f"there is no release in {str(path)!r}; it is a folder with a manifest.json",
                },
                422,
            )
        with self.studio.lock:
            if path not in self.studio.releases:
                self.studio.releases.append(path)
            place = self.studio.releases.index(path)
        before = self.studio.work(_owner(place), "verify")
        if before is None or not before.running:
            self._begin(place, "verify", {})
        return go(f"/r/{place}/")

    def _chosen(self, form: Form) -> Path:
        listed, place = self.studio.found(), form.get("release", "")
        if place.isdigit() and int(place) < len(listed):
            return listed[int(place)]
        project = find_project(self.studio.folder, form.get("project", ""))
        if project is not None:
            return project.release
        return place_of(self.studio.folder, form.get("path", ""))

    def release(self, request: Request, form: Form) -> Response:
        """What it promises, what was checked, what attacks got, and the signature."""
        place = request.path_params["place"]
        path = self._path(place)
        if path is None:
            return nothing()
        facts: dict[str, Any] = {"summary": None, "sentence": "", "digest": _digest(path)}
        try:
            opened = open_release(path)
            facts["summary"] = describe.summary(opened.title, opened.manifest, opened.terms, opened.doubts)
        except InputError as error:
            facts["sentence"] = str(error)
        self._verify_anew(place, facts["digest"])
        works = {kind: self._work(place, kind, facts["digest"]) for kind in TITLES}
        verified, audited = _results(works["verify"]), _results(works["audit"])
        for finding in audited or ():
            finding["gauge"] = gauge(finding["success"], finding["low"], finding["high"], finding["baseline"])
        facts |= {
            "seed": self.studio.seed,
            "folder": self.studio.folder.name,
            "place": place,
            "name": path.name,
            "path": self._shown(path),
            "works": works,
            "running": [kind for kind, work in works.items() if work is not None and work.running],
            "checks": verified,
            "sound": bool(verified) and all(check["passed"] for check in verified or ()),
            "findings": audited,
            "worst": max((f["grade"] for f in audited or ()), key=GRADES.index, default="none"),
            "commands": {kind: command_line(self.line(place, kind, {})) for kind in TITLES},
            "raw": self._raw(path),
            "reported": _done(works["report"]),
            "key": KEY,
            "has_key": (self.studio.folder / KEY).is_file(),
            "signer": _user(),
            "refresh": any(work is not None and work.running for work in works.values()),
        }
        return rendered("officer.html", facts, 422 if facts["sentence"] else 200)

    def run(self, request: Request, form: Form) -> Response:
        """Begins one of the commands."""
        place, kind = request.path_params["place"], request.path_params["kind"]
        if self._path(place) is None or kind not in TITLES:
            return nothing()
        if kind == "sign":
            self._demand_verified(place, form.get("digest", ""))
        self._begin(place, kind, form).wait(0.5)
        return go(f"/r/{place}/#{kind}")

    def _demand_verified(self, place: int, shown: str) -> None:
        """Refuses to sign another release than the one on the page, and one that was not verified here."""
        path = self._path(place)
        digest = "" if path is None else _digest(path)
        if not digest or shown != digest:
            raise ReleaseError("the release is not the one that the page showed; open it again, and look at it anew")
        verified = self._work(place, "verify", digest)
        if not _done(verified):
            raise ReleaseError("this release has not been verified as it is now; verify it, then sign it")

    def _work(self, place: int, kind: str, digest: str) -> Work | None:
        """What was begun last, where it is about the release as it is; what goes on can be cancelled in any case."""
        work = self.studio.work(_owner(place), kind)
        if work is None or kind == "key" or work.running or work.key == digest:
            return work
        return None

    def _verify_anew(self, place: int, digest: str) -> None:
        """After a signature the release is verified once more, which names who signed."""
        signed, verified = (self._work(place, kind, digest) for kind in ("sign", "verify"))
        after = verified is None or (not verified.running and signed is not None and verified.began < signed.began)
        if _done(signed) and after:
            self._begin(place, "verify", {})

    def cancel(self, request: Request, form: Form) -> Response:
        """Ends what goes on."""
        place = request.path_params["place"]
        work = self.studio.work(_owner(place), request.path_params["kind"])
        if work is None:
            return nothing()
        work.cancel()
        work.wait(5)
        return go(f"/r/{place}/")

    def report(self, request: Request, form: Form) -> Response:
        """The report as it was written here, of the release as it is; another file of that name is nobody's."""
        place = request.path_params["place"]
        path = self._path(place)
        if path is None or not _done(self._work(place, "report", _digest(path))) or not self._report(path).is_file():
            return nothing()
        return printed(self._report(path).read_text(encoding="utf-8"))

    def explore(self, request: Request, form: Form) -> Response:
        """The page on which the release is asked by clicking."""
        path = self._path(request.path_params["place"])
        return nothing() if path is None else explored(open_release(path))

    def line(self, place: int, kind: str, form: Form) -> list[str]:
        """The command of each part of the road."""
        path = self._path(place)
        if path is None:
            raise ReleaseError("there is no such release in this studio; open it on the first page")
        release, key = self._shown(path), form.get("key", "").strip() or KEY
        raw = self._raw(path) if form.get("raw") == "project" else form.get("raw", "").strip()
        lines = {
            "verify": ["verify", release, "--format", "json"],
            "audit": ["audit", release, *(["--raw", raw] if raw else []), "--format", "json"],
            "report": ["report", release, "--external", "-o", self._shown(self._report(path))],
            "sign": ["sign", release, "--key", key, "--name", form.get("name", "").strip() or _user()],
            "key": ["sign", "--new-key", key],
        }
        return lines[kind]

    def _begin(self, place: int, kind: str, form: Form) -> Work:
        line, path = self.line(place, kind, form), self._path(place)
        digest = "" if path is None or kind == "key" else _digest(path)
        fails = kind in ("verify", "audit")
        return self.studio.command(_owner(place), kind, TITLES[kind], line, fails=fails, key=digest)

    def _path(self, place: int) -> Path | None:
        return self.studio.releases[place] if 0 <= place < len(self.studio.releases) else None

    def _shown(self, path: Path) -> str:
        """A path as it is typed in the studio's folder."""
        inside = path.is_relative_to(self.studio.folder)
        return typed(str(path.relative_to(self.studio.folder))) if inside else str(path)

    def _report(self, path: Path) -> Path:
        """Beside a release of this folder; in this folder for one from elsewhere."""
        folder = path.parent if path.is_relative_to(self.studio.folder) else self.studio.folder
        return folder / f"{path.name.removesuffix('.release')}.report.html"

    def _raw(self, path: Path) -> str:
        """The raw table, where the release is that of a project here; nothing else."""
        if not (path.parent / SPEC).is_file():
            return ""
        try:
            table = str(Project(path.parent).spec().table)
        except InputError:
            return ""
        return table if is_url(table) else typed(os.path.relpath(table, self.studio.folder))


def _owner(place: int) -> str:
    return f"release {place}"


def _digest(path: Path) -> str:
    """Of the manifest as it is written, which has the hashes of all files; signatures are not among them."""
    try:
        with (path / "manifest.json").open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _done(work: Work | None) -> bool:
    return work is not None and work.state == "done"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "officer"


def _results(work: Work | None) -> list[dict[str, Any]] | None:
    """What a command printed as JSON."""
    if work is None or work.state != "done":
        return None
    try:
        made: list[dict[str, Any]] = json.loads(work.result)
    except ValueError:
        return None
    return made
