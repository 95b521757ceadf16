"""A survey from end to end on this machine: a server of its own, made-up people who answer it, estimates that move, and a release."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from scumble.collect.answers import perturb
from scumble.collect.closing import Closed, close_survey
from scumble.collect.making import make_survey
from scumble.collect.survey import Survey
from scumble.core.entropy import Entropy
from scumble.core.errors import SurveyError

ILLNESSES = {"none": 0.5, "flu": 0.25, "asthma": 0.05, "back pain": 0.12, "depression": 0.08}
BATCH = 50
SPEC = """\
title = "Health at work"
purpose = "How common these illnesses are. A rehearsal: the people who answer are made up."
collector = "Nobody: this is a rehearsal on your own machine"
until = 2999-12-31
live = {{ batch = {batch}, readers = "public" }}

[privacy]
epsilon = 2

[columns.sex]
role = "public"
ask = "Your sex"
values = ["F", "M"]
labels = {{ F = "female", M = "male" }}

[columns.illness]
role = "sensitive"
ask = "Which of these kept you from work in the last year?"
values = ["none", "flu", "asthma", "back pain", "depression"]
"""
QUESTION = "SELECT illness, COUNT(*) AS n FROM release GROUP BY illness"
PATIENCE = 120.0
"""Seconds that the server may take to start, to answer, and to end."""
SEED = 18

Say = Callable[[str], None]


def rehearse(out: Path, people: int, pause: float, say: Say) -> Closed:
    """The whole way in a folder that is made; what happens is said line by line.

    pause   seconds between two shares of the people, for who wants to look at the pages meanwhile
    """
    if out.exists():
        raise SurveyError(f"{str(out)!r} exists; name another folder (--out), or remove it")
    out.mkdir(parents=True)
    (out / "survey.toml").write_text(SPEC.format(batch=BATCH), encoding="utf-8")
    survey = make_survey(out / "survey.toml", out / "survey.json", None, None).survey
    say(f"wrote {out / 'survey.json'}: {survey.promise}")
    crowd = made_up(people)
    with serving(out) as url:
        say(f"the server is at {url}: answer it yourself there, and look at {url}/live")
        for end in _ends(people):
            _send(survey, url, crowd[end[0] : end[1]])
            say(_estimated(_shown(url, end[1]), crowd))
            time.sleep(pause)
    closed = close_survey(str(out / "answers.db"), out / "health.release")
    say(
        f"closed into {out / 'health.release'}: {closed.release.manifest.rows:,} answers, {'verified' if closed.sound else 'NOT VERIFIED'}"
    )
    return closed


def _ends(people: int) -> list[tuple[int, int]]:
    """Shares of the people, each twice as large as the one before: intervals shrink by a third."""
    ends = [0, *(people >> shift for shift in (5, 4, 3, 2, 1, 0))]
    return list(pairwise(ends))


@contextmanager
def serving(out: Path) -> Iterator[str]:
    """A server in a process of its own; its address."""
    command = [sys.executable, "-m", "scumble", "collect", "serve", str(out / "survey.json")]
    command += ["--store", str(out / "answers.db"), "--port", "0"]
    with (out / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stderr=log, stdout=subprocess.DEVNULL)
    try:
        yield _address(process, out / "server.log")
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE)


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        if lines and lines[0].startswith("{") and lines[0].endswith("\n"):
            return str(json.loads(lines[0])["address"])
        time.sleep(0.05)
    raise SurveyError(f"the server did not start: {log.read_text(encoding='utf-8').strip()[-300:]}")


def made_up(people: int) -> list[dict[str, str]]:
    """People who are the same in every rehearsal; their coins are not."""
    names, drawn = list(ILLNESSES), Entropy.seeded(SEED)
    shares = drawn.stream("illnesses").integers(people, 32) / 2**32
    illnesses = np.searchsorted(np.cumsum(list(ILLNESSES.values()))[:-1], shares, side="right")
    sexes = drawn.stream("sexes").integers(people, 32) & 1
    return [{"sex": "FM"[sex], "illness": names[illness]} for sex, illness in zip(sexes, illnesses, strict=True)]


def _send(survey: Survey, url: str, crowd: list[dict[str, str]]) -> None:
    """One message for each person, as each would send it; a hundred in a request."""
    messages = [perturb(record, survey) for record in crowd]
    for start in range(0, len(messages), 100):
        body = b"\n".join(messages[start : start + 100])
        _called(urllib.request.Request(f"{url}/answers", body, {"Content-Type": "application/json"}))


def _shown(url: str, sent: int) -> dict[str, Any]:
    """The estimates, when all full batches are in them: a snapshot is not made anew at once."""
    end = time.monotonic() + PATIENCE
    while True:
        answer = _called(urllib.request.Request(f"{url}/query?{urllib.parse.urlencode({'sql': QUESTION})}"))
        if answer["answers"] > sent - BATCH or time.monotonic() > end:
            return answer
        time.sleep(0.2)


def _estimated(answer: dict[str, Any], crowd: list[dict[str, str]]) -> str:
    """A line: how many answers show, and two illnesses with their intervals beside the truth of these."""
    rows, shown = {row["illness"]: row for row in answer["rows"]}, answer["answers"]
    truth = Counter(record["illness"] for record in crowd[:shown])
    told = [
        f"{name} {rows[name]['n'] / shown:.1%} ({rows[name]['n_low'] / shown:.1%} to {rows[name]['n_high'] / shown:.1%}; true {truth[name] / shown:.1%})"
        for name in ("flu", "depression")
    ]
    return f"{shown:>6,} answers   {'   '.join(told)}"


def _called(request: urllib.request.Request) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return dict(json.loads(answer.read()))
    except urllib.error.HTTPError as error:
        with error:
            raise SurveyError(f"the server did not take it: {error.read(300).decode('utf-8', 'replace')}") from None
    except OSError as error:
        raise SurveyError(f"the server cannot be reached: {error}") from None
