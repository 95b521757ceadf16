"""What an audit holds in memory: text as places of words, perturbed columns as codes, and nothing of them twice."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from auditing.attacked import DISEASES, people, publish
from naming import publish_openly

from scumble.auditing import audit, case_of
from scumble.auditing.attacks.corruption import _left_over
from scumble.auditing.evidence.publication import together
from scumble.core.errors import SchemaError

ROWS = 20_000
LONG = [f"{name} with a long description of what it is" for name in DISEASES]


@pytest.mark.parametrize("kind", ["parquet", "csv", "frame"])
def test_text_is_held_in_few_bytes(kind: str, tmp_path: Path) -> None:
    """A disease of 50 letters and a ward of 30 take at most 4 bytes a row each in the release, and the true disease one byte."""
    draw = np.random.default_rng(1)
    ward = draw.choice([f"the ward in the house number {i:02d}" for i in range(40)], ROWS)
    raw = pa.table({"ward": ward, "disease": draw.choice(LONG, ROWS)})
    pq.write_table(raw, tmp_path / "raw.parquet")
    pa.csv.write_csv(raw, tmp_path / "raw.csv")
    release = publish_openly(raw, sensitive="disease", domains={"disease": LONG}, retain=0.4, seed=1)
    case = case_of(release, raw if kind == "frame" else tmp_path / f"raw.{kind}")
    assert case.publication.table.nbytes < 9 * ROWS
    assert case.raw is not None
    assert case.raw.column_names == ["ward"]
    assert case.raw.num_rows == ROWS
    assert case._read[1]["disease"].nbytes == ROWS
    assert [LONG[code] for code in case.truth("disease")[:50]] == raw["disease"].to_pylist()[:50]


def test_columns_of_words_are_numbered_as_text_is() -> None:
    """Coded alike or not, with words that no row has, words twice, and missing ones."""
    plain = pa.chunked_array([["b", "a"], ["c", "b"]])
    coded = pa.chunked_array([pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()])
    twice = pa.chunked_array(
        [pa.DictionaryArray.from_arrays(pa.array([2, 0, 3, 1]), pa.array(["a", "b", "b", "c", "z"]))]
    )
    missing = pa.chunked_array([pa.array(["b", None, "c", "b"]).dictionary_encode()])
    for column in (plain, coded, twice):
        (number, other), count = together(["x"], pa.table({"x": column}), pa.table({"x": coded}))
        assert (number.tolist(), other.tolist(), count) == ([1, 0, 2, 1], [1, 0, 2, 1], 3)
    (number,), count = together(["x"], pa.table({"x": missing}))
    assert (number.tolist(), count) == ([0, 2, 1, 0], 3)


@pytest.mark.slow
def test_people_who_are_alone_need_nobody_taken_away() -> None:
    """Their rows are counted at face value, and that is what taking away gives."""
    raw = people()
    case = case_of(publish(raw, "uniform", 1), raw)
    found = next(each for each in audit(publish(raw, "uniform", 1), raw) if each.attack == "corruption")
    groups = case.groups
    shares = []
    for name in case.publication.sensitive:
        size = case.publication.manifest.domains[name].size if case.publication.manifest else 0
        args = (groups.published, case.publication.codes(name), groups.raw, case.truth(name), size, groups.count)
        shares.append(_left_over(*args).sum() / len(raw))
    assert any(found.success == pytest.approx(share, abs=1 / len(raw)) for share in shares)


def test_a_raw_value_outside_the_domain_is_refused_by_name() -> None:
    raw = people()
    odd = raw.set_column(3, "disease", pa.array(["plague", *raw["disease"].to_pylist()[1:]]))
    with pytest.raises(SchemaError, match="plague"):
        audit(publish(raw, "uniform", 1), odd)


@pytest.mark.slow
def test_a_raw_table_of_polars_is_read() -> None:
    """Its text is of a kind that Arrow does not compute with, coded or not."""
    polars = pytest.importorskip("polars")
    raw = people()
    frame = polars.from_arrow(raw)
    release = publish(raw, "uniform", 1)
    for table in (frame, frame.with_columns(polars.col("sex", "disease").cast(polars.Categorical))):
        assert [each.attack for each in audit(release, table) if not each.passed] == []
