"""Questions to published rows, of which some columns were perturbed: by themselves, or several of them as one."""

from typing import Any

from scumble.forms.form import Opened
from scumble.query.answer import answer_rows
from scumble.query.form_answer import Answer
from scumble.query.model import Query


def columns(release: Opened) -> list[str]:
    """All that were published."""
    return [column.name for column in release.manifest.columns]


def answer(release: Opened, query: Query, level: Any, method: str) -> Answer:
    """The answer to a question."""
    return answer_rows(query, release.published, release.engine, level, method)
