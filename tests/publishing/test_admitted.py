"""Where a promise is about every output, a row without a place in what was declared is left out: no value, line or missing part of one refuses the table."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import scumble
from scumble.core.domain import Categories, Domain, Grid
from scumble.core.errors import SchemaError

ONE_EACH: dict[str, Any] = {"persons": "one row each"}
DOMAINS: dict[str, Any] = {"a": ["x", "y"], "n": {"low": 0, "high": 10, "step": 2}}
BY: dict[str, dict[str, Any]] = {
    "practical": {"mechanism": "noisy_counts", "epsilon": 2, "settings": {"k": 2, "delta": 0.1}},
    "full": {"mechanism": "noisy_counts", "epsilon": 2, "settings": {"matrix": "full"}},
    "columnized": {
        "mechanism": "columnized",
        "epsilon": 2,
        "settings": {"k": 2, "delta": 0.1, "schema": [["a"], ["n"]], "c_star": 2},
    },
    "k_dgs": {"mechanism": "k_dgs", "settings": {"k": 2}},
    "midpoints": {"mechanism": "k_dgs", "settings": {"k": 2, "method": "midpoints"}},
}
OUTSIDE: dict[str, dict[str, Any]] = {
    "a new value": {"a": "z", "n": 2.0},
    "an empty text": {"a": "", "n": 2.0},
    "a missing one": {"a": None, "n": 2.0},
    "beyond the grid": {"a": "x", "n": 12.0},
    "not a number": {"a": "x", "n": float("nan")},
    "infinite": {"a": "x", "n": float("inf")},
    "no number": {"a": "x", "n": None},
}


def rows(**last: Any) -> pa.Table:
    """Twelve rows, and one more."""
    more = {name: [value] for name, value in last.items()} or {"a": [], "n": []}
    columns = {"a": ["x"] * 6 + ["y"] * 6 + more["a"], "n": [0.0, 2.0] * 6 + more["n"]}
    return pa.table(columns, schema=pa.schema([("a", pa.string()), ("n", pa.float64())]))


def files(release: scumble.Release) -> dict[str, bytes]:
    """Every file of a release."""
    return {
        str(path.relative_to(release.path)): path.read_bytes() for path in release.path.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("outside", OUTSIDE)
@pytest.mark.parametrize("by", BY)
def test_a_row_without_a_place_is_left_out_and_nothing_tells_it(by: str, outside: str) -> None:
    """With the same coins the release is the same with the row and without it, byte by byte."""
    how = {"sensitive": ["a", "n"], "domains": DOMAINS, **BY[by], **ONE_EACH}
    one, other = (scumble.publish(table, seed=7, **how) for table in (rows(), rows(**OUTSIDE[outside])))
    assert files(one) == files(other)


@pytest.mark.parametrize("by", ["practical", "k_dgs"])
def test_a_value_without_a_group_is_left_out(by: str) -> None:
    coarsen = {"a": {"groups": {"low": ["x"], "high": ["y"]}}}
    how = {"public": "n", "coarsen": coarsen, **BY[by], **ONE_EACH}
    one, other = (scumble.publish(table, seed=7, **how) for table in (rows(), rows(a="z", n=2.0)))
    assert files(one) == files(other)
    assert scumble.publish(rows(a=None, n=2.0), seed=7, **how).manifest.rows  # a missing value stays missing


def test_whole_numbers_that_no_double_holds_have_no_bin() -> None:
    how: dict[str, Any] = {"coarsen": {"n": {"bins": 10}}, **BY["k_dgs"], **ONE_EACH}
    plain = pa.table({"n": pa.array([1, 2, 3, 4], pa.int64())})
    for odd in (2**63 - 1, -(2**63), 2**53 + 1):
        more = pa.table({"n": pa.array([1, 2, 3, 4, odd], pa.int64())})
        assert files(scumble.publish(plain, seed=7, **how)) == files(scumble.publish(more, seed=7, **how))


@pytest.mark.parametrize("by", BY)
def test_that_rows_may_be_left_out_is_said_everywhere(by: str, tmp_path: Path) -> None:
    release = scumble.publish(
        rows(), tmp_path / "r", seed=7, sensitive=["a", "n"], domains=DOMAINS, **BY[by], **ONE_EACH
    )
    said = "rows whose values all have a place in what was declared"
    assert said in str(release)
    assert said in (release.path / "README.md").read_text(encoding="utf-8")
    assert any(said in note for note in release.query("SELECT COUNT(*) AS n FROM release").notes)


def test_where_nothing_was_declared_nothing_can_be_left_out() -> None:
    release = scumble.publish(rows(), seed=7, public=["a", "n"], **BY["k_dgs"], **ONE_EACH)
    assert release.manifest.answers_for == []


def test_other_mechanisms_refuse_the_table() -> None:
    with pytest.raises(SchemaError, match="outside its domain: 'z'"):
        scumble.publish(rows(a="z", n=2.0), seed=7, sensitive="a", domains={"a": ["x", "y"]}, drop="n", epsilon=1)


@pytest.mark.parametrize("by", ["practical", "full", "columnized", "k_dgs", "midpoints"])
def test_an_empty_table_is_published(by: str) -> None:
    how = {"sensitive": ["a", "n"], "domains": DOMAINS, **BY[by], **ONE_EACH}
    release = scumble.publish(rows().slice(0, 0), seed=7, **how)
    assert by == "full" or release.manifest.rows == 0


RATED: dict[str, Any] = {
    "mechanism": "columnized",
    "epsilon": 4,
    "settings": {
        "user": "who",
        "item": "what",
        "value": "stars",
        "schema": [["tea", "rum"]],
        "c_star": 1,
        "k": 2,
        "delta": 0.2,
    },
}


def ratings(*more: tuple[Any, Any, Any]) -> pa.Table:
    """Twelve users with two items each, and further transactions."""
    given = [(i, what, 3.0) for i in range(12) for what in ("tea", "rum")] + list(more)
    who, what, stars = zip(*given, strict=True)
    schema = pa.schema([("who", pa.int64()), ("what", pa.string()), ("stars", pa.float64())])
    return pa.table([list(who), list(what), list(stars)], schema=schema)


@pytest.mark.parametrize(
    "more", [(None, "tea", 1.0), (3, None, 1.0), (3, "tea", None), (3, "tea", 3.0), (3, "tea", 5.0)]
)
def test_a_transaction_that_is_none_or_is_there_twice_is_left_out(more: tuple[Any, Any, Any]) -> None:
    """Of two values of one item the least is taken, wherever it stands."""
    assert files(scumble.publish(ratings(), seed=7, **RATED)) == files(scumble.publish(ratings(more), seed=7, **RATED))


def test_transactions_do_not_depend_on_their_order_and_there_may_be_none() -> None:
    table = ratings((3, "tea", 1.0), (3, "tea", 5.0))
    mixed = table.take(np.random.default_rng(1).permutation(len(table)))
    assert files(scumble.publish(table, seed=7, **RATED)) == files(scumble.publish(mixed, seed=7, **RATED))
    assert scumble.publish(table.slice(0, 0), seed=7, **RATED).manifest.rows == 0


def test_zeros_and_nans_of_transactions_have_no_bits_of_their_own() -> None:
    payload = float(np.array([0x7FF8000000000123], np.uint64).view(np.float64)[0])
    plain = ratings(*((i, "tea", value) for i, value in ((20, 0.0), (21, float("nan")))))
    odd = ratings(*((i, "tea", value) for i, value in ((20, -0.0), (21, payload))))
    assert files(scumble.publish(plain, seed=7, **RATED)) == files(scumble.publish(odd, seed=7, **RATED))


LINES: dict[str, str | bytes] = {
    "too few": "x",
    "too many": "q,2,3",
    "no UTF-8": b"\xff\xfe,2",
    "a nul": "\0,2",
    "an open quote": '"x,2',
    "another end": "q,2\r",
    "very long": "x" * 3_000_000 + ",2",
    "words": "word,word",
    "an empty one": "",
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("by", ["practical", "columnized", "k_dgs"])
def test_no_line_of_a_file_refuses_it_or_changes_a_type(by: str, line: str, tmp_path: Path) -> None:
    """A line that cannot be read is left out, a value that does not fit its type is missing, fields beyond the last name are not read. What is left
    of these lines is too rare to be published."""
    text = LINES[line]
    data = text if isinstance(text, bytes) else text.encode()
    plain, odd = tmp_path / "plain.csv", tmp_path / "odd.csv"
    plain.write_bytes(b"a,n\n" + b"x,2\n" * 20)
    odd.write_bytes(plain.read_bytes() + data + b"\n")
    how = {"public": ["a", "n"], "types": {"n": "integer"}, **BY[by], **ONE_EACH}
    if by == "columnized":
        how["settings"] = {**how["settings"], "c_star": 1, "schema": [["a", "n"]]}
    one, other = (scumble.publish(path, seed=7, **how) for path in (plain, odd))
    assert [(c.name, c.type) for c in other.manifest.columns] == [("a", "string"), ("n", "int64")]
    assert files(one) == files(other)


def test_what_a_domain_holds_is_what_it_encodes() -> None:
    """Value by value: `holds` says of each whether `encode` takes it."""
    numbers = [0.0, -0.0, 1.0, 2.0, 10.9, 11.0, 11.1, -1.0, -1.1, float("nan"), float("inf"), None]
    cases: list[tuple[Domain, pa.Array]] = [
        (Grid("0", "10", "2", pa.float64()), pa.array(numbers)),
        (Grid("0", "10", "2", pa.float64(), exact=True), pa.array(numbers)),
        (Categories([0.0, 2.0], pa.float64()), pa.array(numbers)),
        (Categories([0.0, 2.0, None], pa.float64()), pa.array(numbers)),
        (Categories(["a", "b"], pa.string()), pa.array(["a", "", None, "b", "c"]).dictionary_encode()),
    ]
    for domain, column in cases:
        for place, held in enumerate(domain.holds(column).to_pylist()):
            one = column.slice(place, 1)
            if held:
                domain.encode(one, "c")
            else:
                with pytest.raises(SchemaError):
                    domain.encode(one, "c")


@pytest.mark.slow
@pytest.mark.parametrize("by", ["practical", "k_dgs", "midpoints"])
def test_an_audit_lays_the_table_beside_it_all_the_same(by: str, tmp_path: Path) -> None:
    """Numbers between points and values outside of the domain: no attack takes what was rounded or left out for something added."""
    import pyarrow.parquet as pq

    draw = np.random.default_rng(1)
    table = pa.table({"a": draw.choice(["x", "y", "z"], 600), "n": draw.integers(0, 14, 600).astype(float)})
    pq.write_table(table, tmp_path / "t.parquet")
    how = {"sensitive": ["a", "n"], "domains": DOMAINS, **BY[by], **ONE_EACH}
    release = scumble.publish(tmp_path / "t.parquet", tmp_path / "r", **how)
    assert {finding.verdict for finding in scumble.audit(release, tmp_path / "t.parquet")} == {"holds"}
