"""What the explore page is given beside the manifest: how columns are stored, and sentences that questions to them need.

All of it follows from the manifest, so that `verify` makes it anew. The page itself, and what reads and estimates in it, is in web/.
"""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from scumble.engines.sql import named
from scumble.forms import find_form
from scumble.forms.page_facts import domain_facts, kind_of
from scumble.forms.records import FormRecord
from scumble.mechanisms import find_mechanism
from scumble.query.aggregates.aggregation import Aggregation
from scumble.query.aggregates.avg import AVG
from scumble.query.aggregates.sum import SUM
from scumble.query.coarse import notes_of
from scumble.query.merged import notes_of_sums
from scumble.query.model import Aggregate, Query
from scumble.query.rewrites import Recoding
from scumble.release.describe import published
from scumble.release.manifest import Manifest
from scumble.release.recoding import recoding_of
from scumble.release.records import ColumnRecord
from scumble.spec.steps import shown
from scumble.web.explore import DataFile, page

SUMS: dict[str, Aggregation] = {"sum": SUM, "avg": AVG}


def data_files(manifest: Manifest) -> list[DataFile]:
    """The data files, as the page knows them again."""
    return [DataFile(f.path, f.sha256, f.bytes, f.rows) for f in manifest.files if f.rows is not None]


def explore_page(manifest: Manifest, read: Callable[[str], bytes]) -> str:
    """The page of a release, whose manifest need not list it; `read` gives the bytes of a data file."""
    return page(document_of(manifest), facts_of(manifest), data_files(manifest), read)


def facts_of(manifest: Manifest) -> dict[str, Any]:
    """What the page is given, as JSON has it."""
    recoding, drawn = recoding_of(manifest), manifest.persons is not None and manifest.persons.answers is not None
    explored = None if drawn else find_form(manifest.form.kind).explored  # the page knows of no draw of rows
    return {
        "columns": [_column(column, recoding, manifest.form) for column in manifest.columns],
        "words": find_mechanism(manifest.mechanism).words.plain,
        "notes": _notes(manifest),
        "asked": explored is not None,
        **(explored(manifest) if explored is not None else {}),
    }


def document_of(manifest: Manifest) -> dict[str, Any]:
    """The manifest as the page has it: without the list of files, which the page is in, and the digest, which follows from that."""
    document = manifest.model_dump(mode="json", exclude_none=True, by_alias=True)
    return {key: value for key, value in document.items() if key != "files"}


def _notes(manifest: Manifest) -> list[str]:
    """What belongs to every answer."""
    return [f"this is the answer for {rows}" for rows in manifest.answers_for]


def _column(column: ColumnRecord, recoding: Recoding, form: FormRecord) -> dict[str, Any]:
    name = column.name
    facts: dict[str, Any] = {"sql": named(name), "became": published(column, form), **kind_of(column.type)}
    if column.domain is not None and column.records:
        facts |= domain_facts(column.values)
        if column.records[0].coded is not None:
            facts["value_kind"] = kind_of(str(column.values.type))
    if (reach := recoding.reaches.get(name, 0.0)) > 0:
        facts |= {"reach": reach, "reach_text": shown(reach)}
    if (spread := recoding.spreads.get(name)) is not None:
        facts["spread"] = {"reach": spread.reach, "further": [list(pair) for pair in spread.further]}
    return facts | _sentences(name, recoding)


def _sentences(name: str, recoding: Recoding) -> dict[str, Any]:
    """What to know of a column that was coarsened or merged, when it is asked about, added up or averaged."""
    said: dict[str, Any] = {}
    own = recoding.coarse.get(name)
    if own is not None and own.steps is not None:
        said["steps"] = own.sentence
        if not own.steps.dated:
            said["coarse"] = {kind: notes_of(_summing(name, how), {name: own})[0] for kind, how in SUMS.items()}
    if name in recoding.ends:
        said["merged_sums"] = {kind: notes_of_sums(_summing(name, how), recoding.ends)[0] for kind, how in SUMS.items()}
    return said


def _summing(name: str, how: Aggregation) -> Query:
    """The question for the sum, or the average, of a column."""
    return Query([Aggregate("a", how, exp.column(name, quoted=True))], [], None, [], None, 0)
