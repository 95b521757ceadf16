"""Labels that are as narrow as can be tell more than they say; labels that were fixed beforehand do not.

2,000 and 6,000 people, classes of 5 and more, seeds fixed; fixed labels are called broken with probability at most 1e-4 for each audit.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from scumble.auditing import Finding, audit
from scumble.mechanisms.perturbed_generalization.mondrian import grouped

WARDS = np.array(["north", "south", "west", "east"])


def people(rows: int, seed: int = 1) -> pa.Table:
    """Ages that heap at tens; old people live in some zip codes more."""
    draw = np.random.default_rng(seed)
    age = np.where(draw.random(rows) < 0.2, draw.integers(0, 10, rows) * 10, draw.integers(0, 100, rows))
    code = np.where(age > 60, draw.integers(0, 40, rows), draw.integers(20, 100, rows))
    return pa.table(
        {
            "age": age,
            "zip": [f"9{z:02d}{d}" for z, d in zip(code.tolist(), draw.integers(0, 10, rows).tolist(), strict=True)],
            "ward": WARDS[draw.integers(0, 4, rows)],
            "disease": draw.choice(["flu", "gout", "hiv"], rows),
        }
    )


def found(table: pa.Table, raw: pa.Table, quasi: list[str]) -> Finding:
    order = pa.array(np.random.default_rng(2).permutation(len(table)))
    findings = audit(table.take(order), raw, quasi=quasi, sensitive=["disease"])
    return next(each for each in findings if each.attack == "downcoding")


def fixed(raw: pa.Table) -> pa.Table:
    """Ages in twenties, zip codes by two digits, wards in two pairs."""
    pair = {"north": "{north, south}", "south": "{north, south}", "west": "{east, west}", "east": "{east, west}"}
    made = {
        "age": [f"{a // 20 * 20}-{a // 20 * 20 + 19}" for a in raw["age"].to_pylist()],
        "zip": [f"{z[:2]}**" for z in raw["zip"].to_pylist()],
        "ward": [pair[w] for w in raw["ward"].to_pylist()],
    }
    return pa.table({name: made.get(name, raw[name]) for name in raw.column_names})


def narrow(raw: pa.Table, box: npt.NDArray[np.int64]) -> pa.Table:
    """The narrowest labels that each box allows."""
    columns = {name: np.array(raw[name].to_pylist()) for name in ("age", "zip", "ward")}
    made = {name: np.array([""] * len(raw), dtype=object) for name in columns}
    for rows in (np.flatnonzero(box == number) for number in np.unique(box)):
        age, zips, ward = (columns[name][rows] for name in columns)
        made["age"][rows] = f"{age.min()}-{age.max()}"
        made["zip"][rows] = _prefix(zips.tolist())
        made["ward"][rows] = "{" + ", ".join(sorted(set(ward.tolist()))) + "}"
    return pa.table({name: made[name].tolist() if name in made else raw[name] for name in raw.column_names})


def boxes(raw: pa.Table, k: int) -> npt.NDArray[np.int64]:
    """As Mondrian makes them."""
    ranks = [np.unique(raw[name].to_pylist(), return_inverse=True)[1] for name in ("age", "zip", "ward")]
    rows, sizes = grouped(np.column_stack(ranks), k)
    found = np.zeros(len(raw), dtype=np.int64)
    found[rows] = np.repeat(np.arange(len(sizes)), sizes)
    return found


def _prefix(texts: list[str]) -> str:
    same = next(i for i in range(5) if len({text[: i + 1] for text in texts}) > 1 or i == 4)
    return texts[0][:same] + "*" * (4 - same)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rows", [400, 6000])
def test_labels_that_were_fixed_beforehand_hold(rows: int, seed: int) -> None:
    raw = people(rows, seed)
    assert found(fixed(raw), raw, ["age", "zip", "ward"]).verdict == "holds"


def test_the_boxes_of_mondrian_tell_more_than_they_say() -> None:
    raw = people(2000)
    finding = found(narrow(raw, boxes(raw, 5)), raw, ["age", "zip", "ward"])
    assert finding.verdict == "broken"
    assert finding.success == 1


@pytest.mark.slow
@pytest.mark.parametrize(("column", "size"), [("age", 8), ("zip", 2), ("ward", 8)])
def test_ranges_sets_and_beginnings(column: str, size: int) -> None:
    """People of one place are in one class; its label is the narrowest, or a fixed one. (Of eight zip codes not all begin alike anyway.)"""
    raw = people(2000)
    place = np.random.default_rng(3).permutation(2000) // size
    raw = raw.append_column("place", pa.array(place))
    told, kept = (found(table, raw, ["place", column]) for table in (narrow(raw, place), fixed_within(raw, column)))
    assert (told.verdict, kept.verdict) == ("broken", "holds")
    assert told.success == 1


def fixed_within(raw: pa.Table, column: str) -> pa.Table:
    """Labels of one column that stand for everything."""
    label = {"age": "0-99", "zip": "9***", "ward": "{east, north, south, west}"}[column]
    return raw.set_column(raw.column_names.index(column), column, pa.array([label] * len(raw)))


def test_labels_that_are_values_say_nothing_more() -> None:
    raw = people(400)
    findings = audit(raw, raw, quasi=["age", "zip", "ward"], sensitive=["disease"])
    assert not [each for each in findings if each.attack == "downcoding"]
