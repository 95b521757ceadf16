"""Answers as the rows of a release: codes become values, and the order becomes one that tells nothing."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa

from scumble.collect.survey import Survey
from scumble.collect.survey_question import SurveyQuestion
from scumble.core.entropy import Entropy
from scumble.publishing.encode import Column, PublicColumn, SensitiveColumn
from scumble.publishing.row_pipeline import WORKERS
from scumble.publishing.shuffle import Buckets, bucket_count, scatter
from scumble.publishing.write import ShuffledFiles, writer_name
from scumble.release.manifest import Manifest
from scumble.release.records import FileRecord
from scumble.release.terms import records_of
from scumble.spec.spec import ColumnSpec


def write_answers(survey: Survey, rows: int, parts: Iterable[bytes], folder: Path, scratch: Path) -> list[FileRecord]:
    """The files of answers that come as a store keeps them, shuffled.

    rows     how many there are, about
    scratch  where rows wait that do not fit into memory
    """
    columns = {name: _column(question) for name, question in survey.questions.items()}
    entropy, buckets = Entropy.system(), None
    for index, part in enumerate(parts):
        batch = _batch(survey, columns, part)
        scattered = scatter(batch, bucket_count(rows), entropy.stream("bucket", index))
        buckets = buckets or Buckets(batch.schema, len(scattered), scratch)
        buckets.add(scattered)
    assert buckets is not None, "there are no answers"
    with ThreadPoolExecutor(WORKERS) as pool:
        return ShuffledFiles(list(columns.values()), buckets, entropy, folder).write(pool, lambda done, of: None)


def manifest_of(survey: Survey, files: list[FileRecord]) -> Manifest:
    """The manifest of such files, with what follows from the survey's channels."""
    manifest = survey.manifest(sum(file.rows or 0 for file in files), files)
    return manifest.model_copy(update={**records_of(survey.terms), "writer": writer_name()})


def codes_type(survey: Survey) -> np.dtype[np.void]:
    """An answer as a store keeps it: codes one after the other, the lowest byte first."""
    names = [(f"q{i}", question.code_type.newbyteorder("<")) for i, question in enumerate(survey.questions.values())]
    return np.dtype(names)


def _batch(survey: Survey, columns: dict[str, Column], part: bytes) -> pa.RecordBatch:
    rows = np.frombuffer(part, codes_type(survey))
    arrays = []
    for i, (name, question) in enumerate(survey.questions.items()):
        codes = pa.array(np.ascontiguousarray(rows[f"q{i}"]))
        column = columns[name]
        arrays.append(column.encode(question.domain.values.take(codes)) if isinstance(column, PublicColumn) else codes)
    return pa.record_batch(arrays, names=list(columns))


def _column(question: SurveyQuestion) -> Column:
    if not question.sensitive:
        return PublicColumn(question.name, ColumnSpec.model_validate({"role": "public"}))
    return SensitiveColumn(question.name, question.domain, question.coded)
