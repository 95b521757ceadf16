"""How far numbers were rounded is derived from the type and the step: a manifest that drops it, or says less, does not verify."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import forged, rewritten, with_care
from naming import publish_openly

import scumble
from scumble.core.errors import ReleaseError
from scumble.release.check import Check
from scumble.release.manifest import FileVersion
from scumble.release.verify import verify

GRID = {"low": 0, "high": 100_000, "step": 2000}
HOW: dict[str, dict[str, Any]] = {
    "uniform": {"retain": 0.5},
    "design": {"gamma": 3},
    "k_dgs": {"settings": {"k": 3}},
}
"""Perturbed in place, as codes, and counted under a declared domain."""


def salaries(points: bool = False) -> pa.Table:
    rng = np.random.default_rng(11)
    salary = np.round(rng.gamma(4, 9000, 2000)).clip(0, 99_000)
    return pa.table({"sex": rng.choice(["m", "f"], 2000), "salary": salary // 2000 * 2000 if points else salary})


def published(out: Path | None, mechanism: str, **more: Any) -> scumble.Release:
    table = salaries(points=bool(more))
    how = {"mechanism": mechanism, "sensitive": "salary", "domains": {"salary": {**GRID, **more}}, "seed": 3}
    return publish_openly(table, out, **how, **HOW[mechanism])


def rounding(release: scumble.Release | Path) -> Check:
    return next(check for check in verify(release) if check.name == "rounding of salary")


def said(**fields: Any) -> Callable[[dict[str, Any]], object]:
    """Fields of the column, of which those without a value are taken out."""

    def change(document: dict[str, Any]) -> None:
        column = next(column for column in document["columns"] if column["name"] == "salary")
        column.update(fields)
        for name in [name for name, value in fields.items() if value is None]:
            del column[name]

    return change


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", HOW)
def test_a_dropped_rounding_is_found(tmp_path: Path, mechanism: str) -> None:
    """With digest, hashes and README in order. The sound release says how far numbers were moved."""
    release = published(tmp_path / "r", mechanism)
    sound = rounding(release)
    assert (sound.passed, sound.standing) == (True, "derived")
    assert "up to 1000 either way" in sound.detail
    with_care(tmp_path / "r", said(rounded=None))
    changed = rounding(tmp_path / "r")
    assert not changed.passed
    assert "no numbers were moved" in changed.detail
    assert "by its grid numbers were moved by up to 1000 either way" in changed.detail
    opened = scumble.open(tmp_path / "r")
    answer = opened.query("SELECT COUNT(*) AS n FROM release WHERE salary > 20500")
    assert any("moved by up to 1000" in note for note in answer.notes)


def test_a_smaller_rounding_of_counted_numbers_is_found(tmp_path: Path) -> None:
    published(tmp_path / "r", "k_dgs")
    with_care(tmp_path / "r", said(rounded="10"))
    assert not rounding(tmp_path / "r").passed


@pytest.mark.slow
def test_that_all_numbers_were_points_is_the_publishers_word(tmp_path: Path) -> None:
    for mechanism in HOW:
        check = rounding(published(None, mechanism, on_grid=True))
        assert (check.passed, check.standing) == (True, "word")
        assert "none was moved" in check.detail
    release = published(tmp_path / "r", "uniform", on_grid=True)
    column = release.manifest.column("salary")
    assert column is not None
    assert column.domain is not None
    rewritten(tmp_path / "r", said(rounded="1000"))
    with pytest.raises(ReleaseError, match="on its grid and is not, at once"):
        scumble.open(tmp_path / "r")


def test_version_1_had_no_word_for_it_and_that_is_a_caution() -> None:
    """So that a newer manifest that is written as an older one does not hide it."""
    release = published(None, "uniform")
    columns = [column.model_copy(update={"rounded": None}) for column in release.manifest.columns]
    older = forged(release, columns=columns)
    older.manifest._written = FileVersion(version=1, digest=release.manifest.digest)
    check = rounding(older)
    assert (check.passed, check.standing) == (True, "caution")
    assert "up to 1000 either way" in check.detail
    assert "intervals do not count" in check.detail


def test_numbers_without_a_domain_in_the_release_are_the_publishers_word() -> None:
    """Anatomy publishes values apart and no domain; a table that was counted as it is has none either."""
    apart = publish_openly(
        salaries(), mechanism="anatomy", sensitive="salary", domains={"salary": GRID}, settings={"l": 2}, seed=3
    )
    check = rounding(apart)
    assert check.standing == "word"
    assert "up to 1000 either way" in check.detail
    counted = publish_openly(salaries(points=True), mechanism="k_dgs", settings={"k": 3}, seed=3)
    assert "no numbers were moved" in rounding(counted).detail


def test_whole_numbers_by_steps_of_one_have_nothing_to_say() -> None:
    table = pa.table({"age": list(range(20, 70)) * 4})
    grid = {"low": 0, "high": 100, "step": 1}
    release = publish_openly(table, sensitive="age", domains={"age": grid}, retain=0.5, seed=3)
    assert not [check for check in verify(release) if check.name.startswith("rounding")]


def test_a_column_of_codes_counts_its_rounding() -> None:
    """Its type is that of the codes, and its numbers were rounded all the same."""
    release = published(None, "design")
    column = release.manifest.column("salary")
    assert column is not None
    assert (column.type, column.rounded) == ("uint8", "1000")
    answer = release.query("SELECT COUNT(*) AS n FROM release WHERE salary > 20500")
    assert any("salary was rounded, by up to 1000 either way" in note for note in answer.notes)
