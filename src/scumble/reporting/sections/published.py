"""What was published, and for whom: the columns with their roles, and what was done to the table."""

from dataclasses import dataclass

from scumble.release.describe import published as how
from scumble.reporting.figure import text
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

ROLES = {
    "public": "public",
    "sensitive": "sensitive",
    "apart": "sensitive",
    "tuple": "sensitive",
    "counted": "counted with the others",
    "stratum": "added: sub-table",
    "weight": "added: weight",
    "copies": "added: copies",
    "bucket": "added: bucket",
    "count": "added: count",
    "low": "public, low end",
    "high": "public, high end",
    "set": "public, set",
    "size": "added: size",
}
MOST_COLUMNS = 60
MOST_GROUPS = 30
"""Lines of a table on the page, at most; what is left out is said."""


@dataclass(frozen=True)
class ColumnLine:
    """A line of the table of columns."""

    name: str
    role: str
    type: str
    how: str


def published(subject: Subject) -> Section:
    """The section."""
    manifest = subject.manifest
    columns = [
        ColumnLine(text(c.name), ROLES.get(c.role, c.role), c.type, how(c, manifest.form))
        for c in manifest.columns[:MOST_COLUMNS]
    ]
    tables = manifest.form.tables
    merged = {
        text(c.name): [(text(m.published), [text(v) for v in m.values]) for m in c.merged if len(m.values) > 1]
        for c in manifest.columns
        if c.merged
    }
    return Section(
        "published",
        "What was published, and for whom",
        {
            "columns": columns,
            "more_columns": len(manifest.columns) - len(columns),
            "plain": " ".join(words.plain for words in subject.words),
            "tables": [(t.name, t.rows, _listed([text(a) for a in t.attributes])) for t in tables[:MOST_GROUPS]],
            "more_tables": max(0, len(tables) - MOST_GROUPS),
            "merged": {name: groups[:MOST_GROUPS] for name, groups in merged.items() if groups},
            "order": manifest.order,
        },
    )


def _listed(names: list[str], most: int = 20) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
