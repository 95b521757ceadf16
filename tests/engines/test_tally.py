"""Counts of cells straight from files are those of a statement over them."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naming import publish_openly
from sqlglot import exp

import scumble
from scumble.core.domain import Categories, Domain, Grid
from scumble.engines.duckdb.engine import DuckDB
from scumble.engines.duckdb.tally import MOST_CELLS, tally
from scumble.engines.engine import Axis
from scumble.query.normalize import Perturbed

Ask = Callable[..., Iterator[scumble.Estimates]]
ROWS = 2000
WORDS = [f"w{i}" for i in range(12)]
DOMAINS: dict[str, Domain] = {
    "tiny": Grid("-128", "127", "1", pa.int8()),
    "year": Grid("1900", "2030", "1", pa.int64()),
    "fives": Grid("-50", "50", "5", pa.int32()),
    "id": Grid("5000000000", "5000000099", "1", pa.int64()),
    "byte": Grid("0", "255", "1", pa.uint8()),
    "wide": Categories([3, 70, 9000], pa.uint64()),
    "holes": Categories([2, None, 11, -4], pa.int16()),
    "word": Categories(WORDS, pa.string()),
    "maybe": Categories([*WORDS, None], pa.large_string()),
    "tenth": Grid("-1.5", "20", "0.1", pa.float64()),
    "half": Grid("0", "40", "0.5", pa.float32()),
}


def axis(name: str, count: int, seed: int = 1) -> Perturbed:
    domain = DOMAINS[name]
    cells = np.random.default_rng(seed).integers(0, count, domain.size)
    cells[:count] = np.arange(count)
    return Perturbed(name, domain, cells, count)


@pytest.fixture(scope="module", params=[True, False], ids=["dictionaries", "plain"])
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files of several row groups, of which the last has an odd number of rows."""
    draw, folder = np.random.default_rng(4), tmp_path_factory.mktemp("files")
    columns = {name: d.values.take(pa.array(draw.integers(0, d.size, ROWS))) for name, d in DOMAINS.items()}
    table, paths = pa.table(columns), [folder / "a.parquet", folder / "b.parquet"]
    pq.write_table(table.slice(0, 1100), paths[0], row_group_size=300, use_dictionary=request.param)
    pq.write_table(table.slice(1100), paths[1], row_group_size=277, use_dictionary=request.param)
    return paths


def by_hand(files: list[Path], axes: list[Perturbed]) -> list[int]:
    table = pa.concat_tables([pq.read_table(path) for path in files])
    places = np.zeros(ROWS, dtype=np.int64)
    for each in axes:
        number = {value: int(cell) for value, cell in zip(each.domain.values.to_pylist(), each.cells, strict=True)}
        places = places * each.count + np.array([number[value] for value in table.column(each.name).to_pylist()])
    return list(np.bincount(places, minlength=int(np.prod([each.count for each in axes]))))


def ranges(name: str, count: int) -> Perturbed:
    """Cells that are ranges, up and down."""
    domain = DOMAINS[name]
    cells = np.array([*range(count), *reversed(range(count))])[np.arange(domain.size) * 2 * count // domain.size]
    return Perturbed(name, domain, cells, count)


@pytest.mark.parametrize("name", [name for name, domain in DOMAINS.items() if isinstance(domain, Grid)])
def test_ranges_of_a_grid_are_counted(name: str, files: list[Path]) -> None:
    axes = [axis("word", 4), ranges(name, 4), axis("maybe", 3)]
    counts = tally(files, axes)
    assert counts is not None
    assert counts.tolist() == by_hand(files, axes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "first", "step"), [(pa.float32(), 1 << 24, 2), (pa.float64(), 1 << 53, 2), (pa.int64(), 1 << 60, 256)]
)
def test_neighbouring_numbers_of_a_type_are_told_apart(
    kind: pa.DataType, first: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Halfway between two of them is one of the two: ranges of such a grid end at its points, whichever way they are counted."""
    points = [first + step * i for i in range(8)]
    table = pa.table({"x": pa.array(points * 50).cast(kind, safe=False), "word": ["a", "b"] * 200})
    grid = {"low": points[0], "high": points[-1], "step": step}
    release = publish_openly(
        table, sensitive=["x", "word"], domains={"x": grid, "word": ["a", "b"]}, retain=0.5, seed=1
    )
    x, word = (np.array(release.table().column(name).to_pylist()) for name in ("x", "word"))
    for i in range(1, 8):
        sql = f"SELECT COUNT(*) AS n FROM release WHERE x >= {points[i]} AND word = 'a'"
        by_hand = float((((x >= points[i]) - 0.5 * (8 - i) / 8) / 0.5) @ (((word == "a") - 0.25) / 0.5))
        assert release.query(sql)["n"].value == pytest.approx([by_hand])
        with monkeypatch.context() as patch:
            patch.setattr(DuckDB, "tally", lambda self, axes: None)
            assert release.query(sql)["n"].value == pytest.approx([by_hand])


@pytest.mark.parametrize("name", [name for name in DOMAINS if name not in ("tenth", "half")])
def test_columns_of_every_type_are_counted(name: str, files: list[Path]) -> None:
    axes = [axis(name, 3), axis("word" if name != "word" else "byte", 4)]
    counts = tally(files, axes)
    assert counts is not None
    assert counts.tolist() == by_hand(files, axes)


@pytest.mark.parametrize("counts", [(2, 2, 2, 2), (2, 1, 3, 2), (3, 9, 10, 2), (11, 12, 13, 2)])
def test_any_number_of_cells_is_counted(counts: tuple[int, ...], files: list[Path]) -> None:
    """Up to 256 places are bytes, which are counted in pairs, and more are not; a column of one cell tells nothing apart."""
    axes = [
        axis(n, count, i) for i, (n, count) in enumerate(zip(("year", "word", "maybe", "fives"), counts, strict=True))
    ]
    found = tally(files, axes)
    assert found is not None
    assert found.tolist() == by_hand(files, axes)


def test_a_single_column_or_very_many_cells_are_left_to_a_statement(files: list[Path]) -> None:
    assert tally(files, [axis("word", 3)]) is None
    assert tally(files, [axis("word", 3), axis("tenth", 2)]) is None  # a fraction is hardly ever looked up
    assert tally(files, [axis("word", 3), axis("maybe", 1)]) is None
    assert tally(files, [axis("year", 131), axis("id", 100), axis("word", 6)]) is None
    assert MOST_CELLS < 131 * 100 * 6


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("year", 2031),
        ("year", 1899),
        ("byte", None),
        ("fives", 7),
        ("wide", 71),
        ("word", "w99"),
        ("tenth", 20.1),
        ("tenth", np.nan),
    ],
)
def test_a_value_outside_the_domain_is_left_to_a_statement(
    name: str, value: object, files: list[Path], tmp_path: Path
) -> None:
    table = pq.read_table(files[0])
    place = table.schema.get_field_index(name)
    column = [value, *table.column(name).to_pylist()[1:]]
    changed = tmp_path / "changed.parquet"
    pq.write_table(
        table.set_column(place, table.schema.field(name), pa.array(column, table.schema.field(name).type)), changed
    )
    axes = [axis(name, 3) if name != "tenth" else ranges(name, 3), axis("byte", 4)]
    assert tally(files[:1], axes) is not None
    assert tally([changed], axes) is None


def test_what_is_wrong_with_a_file_is_left_to_a_statement(files: list[Path], tmp_path: Path) -> None:
    axes = [axis("year", 3), axis("byte", 4)]
    (tmp_path / "broken.parquet").write_bytes(files[0].read_bytes()[:-40])
    assert tally([files[0], tmp_path / "broken.parquet"], axes) is None
    assert tally([tmp_path / "absent.parquet"], axes) is None
    assert tally(files, [axes[0], Perturbed("absent", DOMAINS["byte"], np.arange(256) % 2, 2)]) is None


@pytest.fixture
def both_ways(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """The answer from counts, of which it is seen that it is, and the one from a statement."""

    def ask(release: scumble.Release, sql: str, method: str = "unbiased") -> Iterator[scumble.Estimates]:
        real, run, asked = DuckDB.tally, DuckDB.run, list[bool]()

        def without_rows(self: DuckDB, statement: exp.Query) -> pa.Table:
            """Truth values of conditions are asked of tables of values alone."""
            assert "release" not in {table.name for table in statement.find_all(exp.Table)}, "it ran over the rows"
            return run(self, statement)

        def counted(self: DuckDB, axes: Sequence[Axis]) -> Any:
            asked.append(True)
            return real(self, axes)

        with monkeypatch.context() as patch:
            patch.setattr(DuckDB, "tally", counted)
            patch.setattr(DuckDB, "run", without_rows)
            yield release.query(sql, method=method)
        assert asked
        with monkeypatch.context() as patch:
            patch.setattr(DuckDB, "tally", lambda self, axes: None)
            yield release.query(sql, method=method)

    return ask


QUESTIONS = [
    "SELECT COUNT(*) AS n FROM release WHERE disease = 'flu' AND visits BETWEEN 2 AND 7",
    "SELECT COUNT(*) AS n FROM release WHERE disease IN ('flu', 'hiv') OR NOT visits < 4",
    "SELECT COUNT(disease) AS n, COUNT(*) AS m FROM release WHERE visits > 9 AND disease <> 'hiv'",
    "SELECT disease, COUNT(*) AS n FROM release WHERE visits > 3 GROUP BY disease ORDER BY n DESC",
    "SELECT disease, visits, COUNT(*) AS n FROM release WHERE disease <> 'flu' GROUP BY disease, visits",
]


@pytest.mark.parametrize("method", ["unbiased", "likelihood"])
@pytest.mark.parametrize("sql", QUESTIONS)
def test_answers_are_the_same_either_way(sql: str, method: str, release: scumble.Release, both_ways: Ask) -> None:
    counted, stated = both_ways(release, sql, method)
    assert counted.groups.equals(stated.groups)
    assert counted.notes == stated.notes
    for mine, other in zip(counted.estimates, stated.estimates, strict=True):
        for part in ("value", "se", "low", "high"):
            assert np.allclose(getattr(mine, part), getattr(other, part), rtol=1e-9, atol=1e-9)


def test_sub_tables_are_told_apart(both_ways: Ask) -> None:
    diseases = list("abcdefghij")
    table = pa.table({"disease": np.repeat(diseases, np.array([12, 8, 6, 5, 4, 3, 1, 1, 1, 1]) * 100)})
    release = publish_openly(
        table,
        sensitive="disease",
        domains={"disease": diseases},
        mechanism="partitioned",
        rho1="1/3",
        rho2="2/3",
        seed=4,
    )
    assert len(release.strata) > 1
    counted, stated = both_ways(release, "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease")
    assert np.allclose(counted["n"].value, stated["n"].value)
    assert np.allclose(counted["n"].se, stated["n"].se)


@pytest.mark.slow
def test_rows_of_several_owners_are_counted_together(
    publish_simply: Callable[..., scumble.Release],
    patients: pa.Table,
    tmp_path: Path,
    both_ways: Ask,
) -> None:
    more = {
        "sensitive": ["disease", "smoker", "visits"],
        "domains": {
            "disease": ["flu", "cold", "asthma", "diabetes", "hiv"],
            "smoker": [False, True],
            "visits": {"low": 0, "high": 10},
        },
    }
    publish_simply(table=patients.slice(0, 1200), out=tmp_path / "a", seed=1, **more)
    publish_simply(table=patients.slice(1200), out=tmp_path / "b", seed=2, **more)
    counted, stated = both_ways(scumble.open(tmp_path / "a", tmp_path / "b"), QUESTIONS[0])
    assert np.allclose(counted["n"].value, stated["n"].value)
    assert np.allclose(counted["n"].se, stated["n"].se)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM release WHERE disease = 'flu' AND visits > 3 AND age > 30",
        "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' AND visits > 3 GROUP BY sex",
        "SELECT COUNT(*) AS n FROM release WHERE disease = 'flu' AND (visits > 3 OR age > 30)",
        "SELECT SUM(cost) AS n FROM release WHERE disease = 'flu'",
        "SELECT COUNT(cost) AS n FROM release WHERE disease = 'flu' AND visits > 3",
        "SELECT COUNT(*) AS n FROM release",
    ],
)
def test_public_columns_and_sums_are_left_to_a_statement(
    sql: str, release: scumble.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDB, "tally", lambda self, axes: pytest.fail("counts of cells are not enough"))
    assert len(release.query(sql)) > 0
