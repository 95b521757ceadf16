"""How to ask the release: commands, Python, and SQL by hand, ready to copy."""

import re
from collections.abc import Container

from sqlglot import exp
from sqlglot.dialects import Dialect

from scumble.engines.engine import TABLE
from scumble.query.model import LANGUAGE, sql_of
from scumble.release.readme import readme
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

MOST_COLUMNS, MOST_VALUES = 20, 40
MOST_CHARACTERS = 1500
"""Of a statement by hand; a longer one is in the README of the release."""


def asking(subject: Subject) -> Section:
    """The section."""
    manifest, names = subject.manifest, [part.path.name for part in subject.parts]
    match = re.search(r"^(`{3,})sql\n(.*?)\n\1$", readme(manifest), re.DOTALL | re.MULTILINE)
    by_hand = match[2] if match and len(match[2]) <= MOST_CHARACTERS and len(names) == 1 else None
    on = subject.release.on
    sql = _question(subject)
    return Section(
        "asking",
        "How to ask it",
        {
            "folders": names,
            "name": " ".join([*names, *([] if on is None else ["--on", on])]),
            "shell": _shell(sql),
            "python_name": ", ".join([*map(repr, names), *([] if on is None else [f"on={on!r}"])]),
            "python_sql": repr(sql),
            "by_hand": by_hand,
            "likelihood": manifest.view.row_by_row and not manifest.view.joint,
        },
    )


def _question(subject: Subject) -> str:
    """The distribution of the first protected column, within the values of the public one that has fewest."""
    names = [*_fewest(subject), *subject.protected[:1]]
    columns = [exp.column(name, quoted=not _plain(name)) for name in names]
    query = exp.select(*columns, exp.Count(this=exp.Star()).as_("n")).from_(TABLE)
    return sql_of(query.group_by(*columns) if columns else query)


def _fewest(subject: Subject) -> list[str]:
    """The public column with the fewest values, where one has few; tables apart cannot be asked together."""
    sizes = {
        name: len(counts)
        for name in subject.manifest.public[:MOST_COLUMNS]
        if (counts := subject.published([exp.column(name, quoted=True)], MOST_VALUES)) is not None and len(counts) > 1
    }
    return [min(sizes, key=lambda name: sizes[name])] if sizes else []


def _plain(name: str) -> bool:
    """Whether a name needs no quotes in SQL."""
    return bool(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)) and name.upper() not in _keywords()


def _keywords() -> Container[str]:
    words: Container[str] = Dialect.get_or_raise(LANGUAGE).tokenizer_class.KEYWORDS
    return words


def _shell(sql: str) -> str:
    """The question in quotes of a shell."""
    return "'" + sql.replace("'", "'\\''") + "'" if any(mark in sql for mark in '"$`\\!') else f'"{sql}"'
