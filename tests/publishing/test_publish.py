"""Publishing: any table in, the same types out, nothing half-written, nothing told that should not be."""

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from forged import restated
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.core.channel import replacement_of
from scumble.core.errors import ParameterError, ReleaseError, SchemaError, TableError, UndecidedColumns
from scumble.privacy.breach import product_limit

Publish = Callable[..., scumble.Release]


def public_rows(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(zip(*(table.column(n).to_pylist() for n in ("age", "sex", "cost")), strict=True))


def test_public_columns_are_published_as_they_are_and_others_are_gone(
    publish_simply: Publish, patients: pa.Table
) -> None:
    table = publish_simply().table()
    assert table.column_names == ["age", "sex", "disease", "smoker", "visits", "cost"]
    assert public_rows(table) == public_rows(patients)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet", "folder", "pandas", "polars", "arrow", "duckdb", "reader"])
def test_every_kind_of_table_is_read(form: str, patients: pa.Table, publish_simply: Publish, tmp_path: Path) -> None:
    patients = patients.drop_columns(["name"])
    source: object = patients
    if form == "csv":
        source = tmp_path / "t.csv"
        pa.csv.write_csv(patients, source)
    elif form == "parquet":
        source = tmp_path / "t.parquet"
        pq.write_table(patients, source)
    elif form == "folder":
        source = tmp_path / "parts"
        source.mkdir()
        pq.write_table(patients.slice(0, 1000), source / "a.parquet")
        pq.write_table(patients.slice(1000), source / "b.parquet")
    elif form == "pandas":
        source = patients.to_pandas()
    elif form == "polars":
        source = pl.from_arrow(patients)
    elif form == "duckdb":
        source = duckdb.sql("SELECT * FROM patients")
    elif form == "reader":
        source = patients.to_reader()
    release = publish_simply(table=source, drop=())
    assert public_rows(release.table()) == public_rows(patients)
    assert release.query("SELECT COUNT(*) AS n FROM release WHERE disease IS NOT NULL")["n"].value[0] == 3000


def test_types_that_came_in_go_out(tmp_path: Path) -> None:
    table = pa.table(
        {
            "small": pa.array([1, 2, None, 4], pa.int8()),
            "real": pa.array([1.5, None, 2.5, 3.5], pa.float32()),
            "flag": [True, None, False, True],
            "day": pa.array([dt.date(2024, 1, 1), None, dt.date(2024, 5, 9), dt.date(2025, 1, 1)]),
            "moment": pa.array([0, 1, None, 3], pa.timestamp("us", "UTC")),
            "money": pa.array([Decimal("1.50"), Decimal(2), Decimal(3), None], pa.decimal128(10, 2)),
            "word": pa.array(["a", None, "b", "a"], pa.large_string()),
            "kind": pa.array([1, 2, 3, 3], pa.int16()),
            "status": pa.array(["x", "y", "x", "y"]).dictionary_encode(),
            "born": pa.array([dt.date(1990, 1, 1)] * 4),
        }
    )
    domains = {"kind": [1, 2, 3], "status": ["x", "y"], "born": [dt.date(1990, 1, 1), dt.date(1991, 1, 1)]}
    release = publish_openly(table, tmp_path / "r", sensitive=list(domains), domains=domains, retain=0.5)
    published = scumble.open(tmp_path / "r").table()
    for field in table.schema:
        expected = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        assert published.schema.field(field.name).type == expected, field.name
    assert sorted(map(str, published.column("money").to_pylist())) == sorted(
        map(str, table.column("money").to_pylist())
    )
    assert release.manifest.domains["born"].values.to_pylist() == domains["born"]


@pytest.mark.slow
def test_csv_with_quotes_newlines_umlauts_and_empty_fields(tmp_path: Path) -> None:
    lines = ['"na""me";age;ort;note', '"O\'Hara, ""Pat""";31;Zürich;"two\nlines"', "Åsa;;Genève;", "Li;45;Zürich;x"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    release = publish_openly(tmp_path / "t.csv", sensitive="ort", domains={"ort": ["Zürich", "Genève"]}, retain=0.5)
    rows = sorted(release.table().to_pylist(), key=lambda r: str(r['na"me']))
    assert [r['na"me'] for r in rows] == ["Li", 'O\'Hara, "Pat"', "Åsa"]
    assert [r["age"] for r in rows] == [45, 31, None]
    assert [r["note"] for r in rows] == ["x", "two\nlines", None]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("rows", [3, 50_000])
def test_a_table_is_read_whole_whatever_ends_its_lines(tmp_path: Path, end: str, rows: int) -> None:
    """Spreadsheets write two characters at the end of a line; the last line may have none."""
    lines = ["age,disease", *[f"{i % 90},{DISEASES[i % 5]}" for i in range(rows)]]
    (tmp_path / "t.csv").write_bytes(end.join(lines).encode())
    release = publish_openly(tmp_path / "t.csv", sensitive="disease", domains={"disease": DISEASES}, retain=0.5)
    assert release.manifest.rows == rows
    assert sorted(release.table().column("age").to_pylist()) == sorted(i % 90 for i in range(rows))


def test_among_rows_of_like_values_neither_source_order_nor_replacement_shows(
    publish_simply: Publish, patients: pa.Table
) -> None:
    """A source sorted by disease is published sorted by published values. Among neighbours that are alike in these, the earlier of the source
    is first in half of the pairs, and so is the replaced of a replaced and a kept one: n above 2,900 and 1,100 pairs, false alarm 1e-6."""
    ordered = patients.sort_by("disease").append_column("place", pa.array(np.arange(3000) + 0.5))
    published = publish_simply(table=ordered).table()
    place = published.column("place").to_numpy()
    truth = np.array(ordered.column("disease").to_pylist())[place.astype(int)]
    values = {name: np.array(published.column(name).to_pylist()) for name in ("sex", "disease", "visits")}
    same = np.logical_and.reduce([v[1:] == v[:-1] for v in values.values()])
    assert same.sum() > 2_800  # like values stand together
    rises = np.diff(place)[same] > 0
    replaced = truth != values["disease"]
    mixed = same & (replaced[1:] != replaced[:-1])
    assert mixed.sum() > 1_000
    for shares in (rises, replaced[1:][mixed]):
        assert abs(shares.mean() - 0.5) < 4.9 * 0.5 / np.sqrt(len(shares))
    assert sorted(place.tolist()) == (np.arange(3000) + 0.5).tolist()


def test_words_that_came_first_are_not_published_first(publish_simply: Publish) -> None:
    """Rows are sorted by the words of a public column, not by numbers that were given to them in the order of the source."""
    table = pa.table({"ward": ["z"] * 500 + ["a"] * 500, "disease": ["flu"] * 1000})
    ward = publish_simply(table=table, drop=()).table().column("ward").to_pylist()
    assert ward == ["a"] * 500 + ["z"] * 500


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("int8", -128, 127), ("uint8", 0, 255), ("int16", -30000, 30000), ("uint64", 2**64 - 200, 2**64 - 1)],
)
def test_whole_numbers_of_every_width_are_published_as_they_are(
    publish_simply: Publish, kind: str, low: int, high: int
) -> None:
    """A range that does not fit into its own type once made the order of rows ask for all memory."""
    numbers = [low + i * (high - low) // 199 for i in range(200)] * 700
    table = pa.table({"number": pa.array(numbers, kind), "disease": ["flu"] * len(numbers)})
    published = publish_simply(table=table, drop=()).table().column("number")
    assert str(published.type) == kind
    assert sorted(published.to_pylist()) == sorted(numbers)


def test_columns_without_missing_values_are_written_as_such(publish_simply: Publish, tmp_path: Path) -> None:
    """Readers are faster then; a column with missing values, and a domain with one, keep them."""
    table = pa.table({"ward": ["z", None] * 500, "sex": ["F", "M"] * 500, "disease": ["flu", None] * 500})
    domains = {"disease": [*DISEASES, None]}
    release = publish_simply(table=table, drop=(), domains=domains, out=tmp_path / "r")
    schema = pq.read_schema(tmp_path / "r" / "data.parquet")
    assert [schema.field(name).nullable for name in ("ward", "sex", "disease")] == [True, False, True]
    assert release.table().column("ward").null_count == 500


@pytest.mark.slow
def test_large_tables_are_shuffled_across_buckets_and_spilled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With tiny buckets and memory the rows go through files, come out whole, and no neighbour pairs survive beyond chance."""
    monkeypatch.setattr("scumble.publishing.shuffle.BUCKET_ROWS", 1000)
    monkeypatch.setattr("scumble.publishing.shuffle.of_buffers", lambda: 50_000)
    monkeypatch.setattr("scumble.publishing.write.PART_ROWS", 10_000)
    monkeypatch.setattr("scumble.sources.source.BATCH", 3000)
    n = 40_000
    table = pa.table({"place": np.arange(n), "word": [f"w{i % 7}" for i in range(n)], "kind": ["a", "b"] * (n // 2)})
    how = {"sensitive": "kind", "public": ["place", "word"], "domains": {"kind": ["a", "b"]}, "retain": 0.5}
    release = publish_openly(table, tmp_path / "r", **how)
    assert len(release.manifest.data) > 1
    place = release.table().column("place").to_numpy()
    assert sorted(place.tolist()) == list(range(n))
    assert all(r["word"] == f"w{r['place'] % 7}" for r in release.table().to_pylist()[:500])
    assert (np.diff(place) == 1).sum() < 12  # about 1 by chance
    assert sorted(p.name for p in (tmp_path / "r").iterdir()) == ["README.md", "data", "explore.html", "manifest.json"]


def test_a_seed_repeats_the_release_and_is_called_insecure(publish_simply: Publish) -> None:
    one, two, three = publish_simply(seed=5), publish_simply(seed=5), publish_simply(seed=6)
    assert one.manifest == two.manifest
    assert one.manifest.digest != three.manifest.digest
    assert not one.manifest.randomness.secure
    assert "INSECURE" in (one.path / "README.md").read_text()
    assert publish_simply(seed=None).manifest.randomness.secure


def test_nothing_of_the_source_is_in_the_files(patients: pa.Table, tmp_path: Path) -> None:
    """No path, no user, no pandas index, no dropped column, no statistics in any byte of the release."""
    frame = patients.to_pandas().sample(frac=1, random_state=1)
    source = tmp_path / "secret-source.parquet"
    frame.to_parquet(source)
    release = publish_openly(
        source, tmp_path / "r", sensitive="disease", drop="name", domains={"disease": DISEASES}, retain=0.5
    )
    assert "__index_level_0__" not in release.table().column_names
    for file in release.path.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            for leak in (b"secret-source", b"person 17", b"pandas", b"index_level", str(tmp_path).encode()):
                assert leak not in content, (file, leak)
    metadata = pq.read_metadata(release.path / "data.parquet")
    assert not metadata.row_group(0).column(0).is_stats_set


def test_words_of_public_text_are_stored_in_sorted_order(tmp_path: Path) -> None:
    """A dictionary in order of first appearance would tell something of the source's order."""
    table = pa.table({"town": ["Ypres", "Aalst", "Mons"] * 100, "kind": ["a", "b", "a"] * 100})
    release = publish_openly(table, sensitive="kind", domains={"kind": ["b", "a"]}, retain=0.5)
    column = pq.ParquetFile(release.path / "data.parquet", read_dictionary=["town", "kind"]).read()
    assert column.column("town").chunk(0).dictionary.to_pylist() == ["Aalst", "Mons", "Ypres"]
    assert column.column("kind").chunk(0).dictionary.to_pylist() == ["b", "a"]


@pytest.mark.slow
@pytest.mark.parametrize("different", [1 << 15, 1 << 17])
def test_how_text_is_written_does_not_tell_what_came_first(different: int, tmp_path: Path) -> None:
    """Words of their own, and one that repeats itself: batches of 131,072 rows see the one kind first or the other."""
    words, same = [f"u{i}" for i in range(different)], ["again"] * (1 << 18)
    made = []
    for name, town in (("a", words + same), ("b", same + words)):
        table = pa.table({"town": town, "kind": ["a", "b"] * (len(town) // 2)})
        release = scumble.publish(
            table,
            tmp_path / name,
            public=["town"],
            sensitive=["kind"],
            domains={"kind": ["a", "b"]},
            retain=0.5,
            seed=1,
            persons="one row each",
        )
        file = pq.ParquetFile(release.path / "data.parquet", read_dictionary=["town"])
        group, read = file.metadata.row_group(0).column(0), file.read().column("town")
        made.append((group.encodings, {v for chunk in read.chunks for v in chunk.dictionary.to_pylist()}))
        assert sorted(read.cast(pa.string()).to_pylist()) == sorted(town)
    assert made[0] == made[1]
    assert ("RLE_DICTIONARY" in made[0][0]) == (different == 1 << 15)


def test_coarsening_on_the_way(patients: pa.Table) -> None:
    release = publish_openly(
        patients, sensitive="disease", drop="name", domains={"disease": DISEASES}, retain=0.5,
        coarsen={"age": {"bins": 20}, "cost": {"edges": [100, 1000]}, "sex": {"prefix": 1}},
    )  # fmt: skip
    table = release.table()
    assert set(table.column("age").to_pylist()) == {0, 20, 40, 60, 80}
    assert set(table.column("cost").to_pylist()) == {"<100", "[100, 1000)", ">=1000"}
    assert release.manifest.column("age").coarsened.bins == 20
    assert release.unique_rows() < 200


def test_a_hierarchy_is_published_as_its_groups_and_not_as_a_path(patients: pa.Table, tmp_path: Path) -> None:
    (tmp_path / "private-folder").mkdir()
    (tmp_path / "private-folder" / "sex.csv").write_text("F;person\nM;person\n")
    release = publish_openly(
        patients, tmp_path / "r", sensitive="disease", drop="name", domains={"disease": DISEASES}, retain=0.5,
        coarsen={"sex": {"hierarchy": str(tmp_path / "private-folder" / "sex.csv")}},
    )  # fmt: skip
    assert release.manifest.column("sex").coarsened.groups == {"person": ["F", "M"]}
    assert not any(b"private-folder" in file.read_bytes() for file in (tmp_path / "r").iterdir())


def test_a_column_with_its_own_target_is_promised_alone(publish_simply: Publish) -> None:
    """Where two columns say the same, seeing both tells more than seeing one: the statement must not claim the row.

    Two equal columns, each at (0.1, 0.3): after seeing (a, a) the posterior is above 0.6.
    """
    own = {"disease": "1/10", "smoker": "1/10"}, {"disease": "3/10", "smoker": "3/10"}
    domains = {"disease": DISEASES, "smoker": [False, True]}
    release = publish_simply(sensitive=["disease", "smoker"], domains=domains, retain=None, rho1=own[0], rho2=own[1])
    for guarantee in (g for g in release.manifest.guarantees if g.kind == "rho"):
        assert "alone" in guarantee.statement
        assert "not used" in guarantee.conditions[-1]
    assert not any(g.kind == "breach" for g in release.manifest.guarantees)
    (product,) = (g for g in release.manifest.guarantees if g.kind == "product_breach")
    assert "a set of values of each of them" in product.statement


def test_a_breach_of_several_columns_is_stated_by_the_limit_of_all_sets(publish_simply: Publish) -> None:
    """Each with its own retention; where rows are hardly perturbed nothing can be said, and nothing is."""
    domains = {"disease": DISEASES, "smoker": [False, True]}
    retain = {"disease": 0.5, "smoker": 0.25}
    release = publish_simply(sensitive=["disease", "smoker"], domains=domains, retain=retain)
    (stated,) = (g for g in release.manifest.guarantees if g.kind == "product_breach")
    assert stated.parameters["s"] == pytest.approx(product_limit([0.5, 0.25], 0.1, 0.95), rel=1e-6)
    assert not release.doubts
    place = release.manifest.guarantees.index(stated)
    assert "s = " in restated(release, place, s=1.01 * stated.parameters["s"]).doubts[0]
    release = publish_simply(sensitive=["disease", "smoker"], domains=domains, retain=0.99)
    assert [g.kind for g in release.manifest.guarantees] == ["amplification"]


def test_words_that_no_row_has_are_not_in_the_bytes(tmp_path: Path) -> None:
    """A filtered data frame keeps the categories of those who were filtered out; a release must not."""
    frame = pd.DataFrame(
        {
            "town": pd.Categorical(["A", "B", "Mr Secret of C"] * 50),
            "kind": pd.Categorical(["x", "y", "zz-hidden"] * 50),
        }
    )
    frame = frame[frame.kind != "zz-hidden"]
    release = publish_openly(frame, tmp_path / "r", sensitive="kind", retain=0.5, domain_from_data=True)
    assert release.manifest.domains["kind"].values.to_pylist() == ["x", "y"]
    for file in (tmp_path / "r").iterdir():
        assert b"Secret" not in file.read_bytes()
        assert b"zz-hidden" not in file.read_bytes()


@pytest.mark.parametrize(
    ("retain", "message"), [(0, "no question about it"), (1, "will be perturbed: its retention is 1")]
)
def test_retentions_that_make_no_sense_are_warned_of(retain: float, message: str, publish_simply: Publish) -> None:
    with pytest.warns(UserWarning, match=message):
        publish_simply(retain=retain)


def test_domain_from_data_is_said_in_the_manifest(publish_simply: Publish) -> None:
    release = publish_simply(domains={}, domain_from_data=True)
    assert release.manifest.column("disease").domain.from_data
    assert "taken from the data" in release.manifest.depends_on_data[0]
    assert release.manifest.domains["disease"].values.to_pylist() == sorted(DISEASES)
    assert not publish_simply().manifest.depends_on_data


def test_several_sensitive_columns_share_the_target(publish_simply: Publish) -> None:
    """The row as a whole keeps within gamma, each of two columns within its root; a mapping gives each its own."""
    domains = {"disease": DISEASES, "smoker": [False, True]}
    shared = publish_simply(sensitive=["disease", "smoker"], domains=domains, retain=None, rho1="1/10", rho2="1/2")
    channels = shared.manifest.channels
    assert channels["disease"].amplification == pytest.approx(3, rel=1e-6)
    assert channels["disease"].amplification * channels["smoker"].amplification <= 9
    assert {g.kind for g in shared.manifest.guarantees} == {"rho", "amplification", "product_breach"}
    own = publish_simply(
        sensitive=["disease", "smoker"], domains=domains, retain=None, epsilon={"disease": 1, "smoker": 2}
    )
    assert own.manifest.channels["disease"].epsilon == pytest.approx(1, rel=1e-6)
    assert own.manifest.channels["smoker"].epsilon == pytest.approx(2, rel=1e-6)
    assert next(g for g in own.manifest.guarantees if g.kind == "amplification").parameters["epsilon"] == pytest.approx(
        3, rel=1e-6
    )


BAD: dict[str, tuple[dict[str, object], type[Exception], str]] = {
    "unknown sensitive column": ({"sensitive": ["diseas"]}, SchemaError, "did you mean 'disease'"),
    "unknown dropped column": ({"drop": ["nam"]}, SchemaError, "did you mean 'name'"),
    "value outside the domain": ({"domains": {"disease": ["flu", "cold"]}}, SchemaError, "outside its domain: .*asthma"),
    "no domain": ({"domains": {}}, SchemaError, "--domain-from-data"),
    "a domain of one value": ({"domains": {"disease": ["flu"]}}, SchemaError, "at least 2"),
    "a domain with a value twice": ({"domains": {"disease": [*DISEASES, "flu"]}}, SchemaError, "twice"),
    "a domain of another type": ({"domains": {"disease": [1, 2]}}, SchemaError, "do not fit"),
    "retention above 1": ({"retain": 1.2}, ParameterError, r"\[0, 1\]"),
    "retention below 0": ({"retain": "-1/2"}, ParameterError, r"\[0, 1\]"),
    "rho1 above rho2": ({"retain": None, "rho1": 0.5, "rho2": 0.2}, ParameterError, "rho1 < rho2"),
    "rho1 alone": ({"retain": None, "rho1": 0.5}, ParameterError, "go together"),
    "nothing about privacy": ({"retain": None}, ParameterError, "say how private"),
    "two targets": ({"epsilon": 1}, ParameterError, "as well as"),
    "gamma of 1": ({"retain": None, "gamma": 1}, ParameterError, "above 1"),
    "not a number": ({"retain": "half"}, ParameterError, "fraction"),
    "no sensitive column": ({"sensitive": [], "domains": {}}, SchemaError, "no column is sensitive"),
    "a column with two roles": ({"public": ["disease"]}, SchemaError, "one role"),
    "a column without a role": ({"public": ["age"]}, SchemaError, "'sex' looks like an ordinary attribute"),
    "a name that nobody decided": ({"drop": [], "public": ["age"]}, SchemaError, "'name' looks like something that names a person; 3,000 different texts"),
    "an unknown mechanism": ({"mechanism": "unifrom"}, ParameterError, "did you mean 'uniform'"),
    "a domain for a public column": ({"domains": {"disease": DISEASES, "sex": ["F", "M"]}}, SchemaError, "domains are for sensitive"),
    "coarsening a sensitive column": ({"coarsen": {"disease": {"prefix": 1}}}, SchemaError, "public"),
    "coarsening that makes no sense": ({"coarsen": {"sex": {"bins": 3}}}, SchemaError, "cannot be coarsened"),
    "a grid that misses": ({"sensitive": ["age"], "domains": {"age": {"low": 0, "high": 50}}}, SchemaError, "outside its grid"),
    "a grid with a remainder": ({"sensitive": ["age"], "domains": {"age": {"low": 0, "high": 99, "step": 2}}}, SchemaError, "whole number of steps"),
    "NaN in a domain": ({"sensitive": ["cost"], "domains": {"cost": [1.0, float("nan")]}}, SchemaError, "cannot hold NaN"),
    "not a table": ({"table": 7}, TableError, "data frame"),
    "no such file": ({"table": "nowhere.csv"}, TableError, "no table"),
    "an unknown kind of file": ({"table": __file__}, TableError, "none of"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_and_leaves_nothing(case: str, publish_simply: Publish, tmp_path: Path) -> None:
    changes, kind, message = BAD[case]
    with pytest.raises(kind, match=message) as caught:
        publish_simply(out=tmp_path / "r", **changes)
    assert "\n" not in str(caught.value) or isinstance(caught.value, UndecidedColumns)
    assert list(tmp_path.iterdir()) == []


def test_missing_values_are_a_value_of_the_domain_or_an_error(publish_simply: Publish) -> None:
    table = pa.table({"kind": ["a", None, "b"] * 40})
    with pytest.raises(SchemaError, match="missing values"):
        publish_simply(table=table, sensitive=["kind"], drop=(), domains={"kind": ["a", "b"]})
    release = publish_simply(table=table, sensitive=["kind"], drop=(), domains={"kind": ["a", "b", None]})
    assert set(release.table().column("kind").to_pylist()) == {"a", "b", None}


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_none_are_refused(bad: float) -> None:
    table = pa.table({"x": [1.0, bad, 2.0]})
    with pytest.raises(SchemaError, match="'x' has 1 values that are NaN or infinite"):
        publish_openly(table, sensitive="x", domains={"x": {"low": 0, "high": 5, "step": "0.5"}}, retain=0.5)


def test_numbers_off_the_grid_are_rounded_so_that_none_looks_different() -> None:
    table = pa.table({"x": np.random.default_rng(1).uniform(0, 10, 5000)})
    release = publish_openly(table, sensitive="x", domains={"x": {"low": 0, "high": 10, "step": "0.1"}}, retain=0.5)
    published = {str(v) for v in release.table().column("x").to_pylist()}
    assert published <= {str(i / 10) for i in range(101)}


def test_an_empty_table_and_a_broken_file(tmp_path: Path, publish_simply: Publish, patients: pa.Table) -> None:
    with pytest.raises(TableError, match="no rows"):
        publish_simply(table=patients.slice(0, 0), out=tmp_path / "r")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 is not enough")
    with pytest.raises(TableError, match=r"t\.parquet cannot be read"):
        publish_simply(table=tmp_path / "t.parquet", out=tmp_path / "r")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(TableError, match="line 3"):
        publish_simply(table=tmp_path / "t.csv", out=tmp_path / "r")
    assert not (tmp_path / "r").exists()


@pytest.mark.slow
def test_a_csv_that_changes_its_mind_names_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,x\n" * 30_000 + "oops,y\n")
    settings = {"sensitive": "b", "domains": {"b": ["x", "y"]}, "retain": 0.5}
    with pytest.raises(TableError, match=r"line 30002.*column .a.*--text a"):
        publish_openly(tmp_path / "t.csv", tmp_path / "r", **settings)
    assert not (tmp_path / "r").exists()
    assert publish_openly(tmp_path / "t.csv", text=["a"], **settings).manifest.column("a").type == "string"


def test_an_existing_folder_is_kept_unless_told_otherwise(publish_simply: Publish, tmp_path: Path) -> None:
    publish_simply(out=tmp_path / "r", seed=1)
    before = (tmp_path / "r" / "manifest.json").read_bytes()
    with pytest.raises(ReleaseError, match="exists and is kept"):
        publish_simply(out=tmp_path / "r", seed=2)
    assert (tmp_path / "r" / "manifest.json").read_bytes() == before
    publish_simply(out=tmp_path / "r", seed=2, overwrite=True)
    assert (tmp_path / "r" / "manifest.json").read_bytes() != before
    (tmp_path / "mine").mkdir()
    with pytest.raises(ReleaseError, match="not a release"):
        publish_simply(out=tmp_path / "mine", overwrite=True)


def test_a_crash_in_mid_publication_leaves_nothing(
    publish_simply: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("scumble.publishing.sealing.readme", interrupt)
    with pytest.raises(KeyboardInterrupt):
        publish_simply(out=tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_a_spec_file_says_the_same_as_arguments(patients: pa.Table, tmp_path: Path) -> None:
    pq.write_table(patients, tmp_path / "patients.parquet")
    (tmp_path / "p.toml").write_text(
        'table = "patients.parquet"\n[privacy]\nretain = "1/2"\n[columns.name]\nrole = "identifier"\n'
        '[columns.age]\nrole = "public"\ncoarsen = { bins = 10 }\n'
        + "".join(f'[columns.{c}]\nrole = "public"\n' for c in ("sex", "smoker", "cost"))
        + f'[columns.disease]\nrole = "sensitive"\nvalues = {json.dumps(DISEASES)}\n'
        + '[columns.visits]\nrole = "sensitive"\nlow = 0\nhigh = 10\nprivacy = { epsilon = 2 }\n'
    )
    release = scumble.publish(tmp_path / "p.toml", tmp_path / "r")
    assert replacement_of(release.manifest.channels["disease"]).retain == pytest.approx(0.5, abs=1e-6)
    assert release.manifest.channels["visits"].epsilon == pytest.approx(2, rel=1e-6)
    with pytest.raises(ParameterError, match="in the spec"):
        scumble.publish(tmp_path / "p.toml", sensitive="age")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("table = 'x.csv'\n[columns.a]\nrole = 'secret'", "role"),
        ("table = 'x.csv'\n[columns.a]\nrole = 'public'\nvalue = [1]", "not a known setting"),
        ("table = 'x.csv'\n[columns.a]\nrole = 'public'\nvalues = [1, 2]", "sensitive columns"),
        ("table = 'x.csv'\n[columns.a]\nrole = 'public'\ncoarsen = { bins = 1, prefix = 2 }", "one of bins"),
        ("[columns.a]\nrole = 'public'", "which table"),
        ("table = ", "not valid TOML"),
    ],
)
def test_a_wrong_spec_names_the_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(SchemaError, match=message):
        scumble.publish(tmp_path / "s.toml")


def test_pandas_index_is_not_published(publish_simply: Publish, patients: pa.Table) -> None:
    frame: pd.DataFrame = patients.to_pandas().set_index(pd.Index(np.arange(3000) * 2))
    assert "__index_level_0__" not in publish_simply(table=frame).table().column_names
