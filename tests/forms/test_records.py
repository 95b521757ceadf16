"""The records of forms: each is read as it was written, and what is not known or not there is refused by its name."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scumble
from scumble.core.errors import ReleaseError
from scumble.forms import FORMS, find_form
from scumble.forms.boxes.record import BoxesRecord
from scumble.forms.buckets.record import BucketsRecord
from scumble.forms.files import dictionaries
from scumble.forms.records import DomainRecord, FormRecord, TableRecord
from scumble.forms.rows.record import RowsRecord, SamplingRecord
from scumble.forms.tuple_set.record import TupleSetRecord
from scumble.forms.tuples.record import Exact, Full, Midpoints, Practical, SchemaRecord, TuplesRecord
from scumble.mechanisms import find_mechanism, names
from scumble.release.manifest import read_manifest

KEPT = Path(__file__).parents[1] / "fixtures" / "v1"

TABLE = TableRecord(name="rows", attributes=["a", 1], rows=3, files=["rows.parquet"])
DOMAINS = {"a": DomainRecord(kind="categories", values=["x", None])}
SCHEMA = SchemaRecord(tables=[TABLE], schema_from="given", c_star=1, transactions={"user": "u", "item": "a"})

RECORDS: list[FormRecord] = [
    RowsRecord(),
    RowsRecord(joint=["a", "b"]),
    RowsRecord(sampling=SamplingRecord(sizes="one", lam=0.3, delta=0.3, tail="exact", least=7)),
    TuplesRecord(counting=Exact(k=3), total=9, declared=DOMAINS),
    TuplesRecord(counting=Practical(k=3, epsilon=1.0, delta=1e-6), schema=SCHEMA),
    TuplesRecord(counting=Full(epsilon=0.5, domains=DOMAINS)),
    TuplesRecord(counting=Midpoints(k=4)),
    BucketsRecord(diversity=2, rows=TABLE, values=TABLE),
    BoxesRecord(k=5),
    TupleSetRecord(alpha=0.4, beta=0.1, domains=DOMAINS),
]

REQUIRED = {
    "tuples": ["counting"],
    "buckets": ["diversity", "rows", "values"],
    "boxes": ["k"],
    "tuple_set": ["alpha", "beta", "domains"],
}
"""The fields that a form cannot be without; rows need none."""

RELEASES = {
    "rows": "uniform",
    "tuples": "columnized",
    "buckets": "anatomy",
    "boxes": "perturbed_generalization",
    "tuple_set": "alpha_beta",
}
"""A kept release of each form."""


def rewritten(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A manifest of version 2 with a change that its digest agrees with."""
    document = json.loads(read_manifest(folder).text())
    document.pop("digest")
    change(document)
    digest = hashlib.sha256(json.dumps(document, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    text = json.dumps({**document, "digest": digest}, indent=1, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the kept release of a form, that of rows where none is named."""
    return shutil.copytree(KEPT / RELEASES[getattr(request, "param", "rows")], tmp_path / "copy")


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_is_read_as_it_was_written(record: FormRecord) -> None:
    text = json.dumps(record.model_dump(mode="json", exclude_none=True, by_alias=True))
    form = find_form(json.loads(text)["kind"])
    assert form.record.model_validate_json(text) == record
    assert form.name == record.kind


def test_every_form_is_registered_and_every_mechanism_has_one() -> None:
    assert {record.kind for record in RECORDS} == set(FORMS) == set(RELEASES)
    assert {find_mechanism(name).form for name in names()} <= set(FORMS)


@pytest.mark.slow
@pytest.mark.parametrize("folder", RELEASES, indirect=True)
def test_a_kept_release_is_written_anew_as_version_2(folder: Path) -> None:
    """The same form, and the same promise from it; now the digest is of the new text."""
    old = scumble.open(folder)
    new = scumble.open(rewritten(folder, lambda document: None))
    assert (old.manifest.written.version, new.manifest.written.version) == (1, 2)
    assert old.manifest.form == new.manifest.form
    assert old.terms == new.terms
    assert old.manifest.digest != new.manifest.digest
    assert new.manifest.digest in (folder / "manifest.json").read_text()


@pytest.mark.parametrize(
    ("folder", "field"), [(kind, field) for kind, fields in REQUIRED.items() for field in fields], indirect=["folder"]
)
def test_a_missing_field_is_named(folder: Path, field: str) -> None:
    rewritten(folder, lambda document: document["form"].pop(field))
    with pytest.raises(ReleaseError, match=rf"'form\.{field}' is missing; get the release again"):
        scumble.open(folder)


def _unknown(place: str) -> Callable[[dict[str, Any]], None]:
    """A change that names something that nobody knows yet."""
    changes: dict[str, Callable[[dict[str, Any]], Any]] = {
        "form": lambda d: d["form"].update(kind="mist"),
        "mechanism": lambda d: d.update(mechanism="mist"),
        "guarantee": lambda d: d["guarantees"][0].update(kind="mist"),
        "condition": lambda d: d.update(not_covered_codes=[{"code": "mist", "parameters": {}}]),
        "role": lambda d: d["columns"][0].update(role="mist"),
        "field": lambda d: d["form"].update(mist=1),
    }
    return changes[place]


@pytest.mark.parametrize("place", ["form", "mechanism", "guarantee", "condition", "role", "field"])
def test_what_is_not_known_is_refused_by_name(folder: Path, place: str) -> None:
    rewritten(folder, _unknown(place))
    with pytest.raises(ReleaseError, match=r"mist.*does not know; get a newer scumble") as refused:
        scumble.open(folder)
    assert "pydantic" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("folder", ["tuples"], indirect=True)
def test_another_way_to_count_is_refused_by_name(folder: Path) -> None:
    rewritten(folder, lambda document: document["form"]["counting"].update(kind="mist"))
    with pytest.raises(ReleaseError, match=r"'form\.counting' is of the kind 'mist'.*get a newer scumble"):
        scumble.open(folder)


@pytest.mark.parametrize("form", [None, 1, [], {}])
def test_a_form_that_is_none_is_refused(folder: Path, form: Any) -> None:
    rewritten(folder, lambda document: document.update(form=form))
    with pytest.raises(ReleaseError):
        scumble.open(folder)


@pytest.mark.parametrize("folder", ["boxes"], indirect=True)
def test_a_form_of_another_mechanism_is_refused(folder: Path) -> None:
    """Its columns have roles that the other form has no place for."""
    rewritten(folder, lambda document: document.update(form={"kind": "rows"}))
    with pytest.raises(ReleaseError, match="which rows do not have"):
        scumble.open(folder)


def test_a_row_group_without_rows_lists_no_words(tmp_path: Path) -> None:
    """Rows are dealt to row groups by coins, and a small table leaves some of them empty."""
    words = pa.table({"ill": pa.array(["flu", "cold"]).dictionary_encode()})
    with pq.ParquetWriter(tmp_path / "t.parquet", words.schema) as writer:
        for part in (words, words.slice(0, 0), words):
            writer.write_table(part)
    assert list(dictionaries(tmp_path / "t.parquet", "ill")) == [["flu", "cold"], ["flu", "cold"]]
