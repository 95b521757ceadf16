"""Tables that other tools made: k-anonymous ones with small or homogeneous classes, and files that tell more than their rows."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from auditing.attacked import DISEASES, publish, write_parquet
from naming import publish_openly
from shell import scumble_command

from scumble.auditing import audit, case_of
from scumble.auditing.findings import CHANCE
from scumble.core.errors import ParameterError, SchemaError, TableError

ROLES: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": ["disease"]}


def classes(size: int = 12, count: int = 200, seed: int = 1) -> pa.Table:
    """A k-anonymous table in random order: classes of one size, each with its own mixture of values."""
    draw = np.random.default_rng(seed)
    number = np.repeat(np.arange(count), size)[draw.permutation(size * count)]
    low = number % 20 * 5
    return pa.table(
        {
            "age": [f"{a}-{a + 4}" for a in low.tolist()],
            "zip": [f"9{z:02d}**" for z in (number // 20).tolist()],
            "disease": np.array(DISEASES)[(number * 3 + draw.integers(0, 7, len(number))) % len(DISEASES)],
        }
    )


def verdicts(*arguments: Any, **options: Any) -> dict[str, str]:
    return {found.attack: found.verdict for found in audit(*arguments, **(ROLES | options))}


def test_classes_of_twelve_hold() -> None:
    found = verdicts(classes())
    assert found.pop("corruption") == "open", "a table of true values never survives it"
    assert found.pop("inference") == "broken", "a class of twelve tells of its members more than it does of others"
    assert set(found.values()) == {"holds"}
    assert {"linking", "crowds", "homogeneity", "order", "leaked index"} <= set(found)


def test_small_classes() -> None:
    some = pa.concat_tables([classes(), classes(3, 10, 2).set_column(1, "zip", pa.array(["99***"] * 30))])
    table = some.take(pa.array(np.random.default_rng(1).permutation(len(some))))
    assert verdicts(table)["crowds"] == "broken"
    assert verdicts(table)["linking"] == "holds"
    assert verdicts(table, k=3)["crowds"] == "holds"


def test_homogeneous_classes() -> None:
    table = classes()
    inside = (pa.compute.equal(table["age"], "0-4")).to_numpy(zero_copy_only=False)
    values = np.where(inside, "lupus", table["disease"].to_numpy(zero_copy_only=False))
    found = {f.attack: f for f in audit(table.set_column(2, "disease", pa.array(values)), **ROLES)}
    assert found["homogeneity"].verdict == "broken"
    assert found["homogeneity"].success == pytest.approx(0.05)
    assert found["crowds"].verdict == "holds"


def test_classes_of_the_most_frequent_value_are_no_news() -> None:
    """19 in 20 are healthy, so that whole classes are."""
    table = classes()
    sick = np.random.default_rng(1).random(len(table)) < 0.03
    values = np.where(sick, table["disease"].to_numpy(zero_copy_only=False), "healthy")
    assert verdicts(table.set_column(2, "disease", pa.array(values)))["homogeneity"] == "holds"


def test_a_raw_table_that_is_published_as_it_is(raw: pa.Table, tmp_path: Path) -> None:
    pa.csv.write_csv(raw, tmp_path / "t.csv")
    found = {f.attack: f for f in audit(tmp_path / "t.csv", raw)}
    assert {name for name, each in found.items() if each.verdict == "broken"} >= {
        "linking",
        "crowds",
        "inference",
        "order",
    }
    assert found["inference"].success > 0.95
    assert found["inference"].baseline < 0.4


def test_labels_are_read_as_what_they_stand_for(raw: pa.Table) -> None:
    """Ages in tens and zip codes by their first digit hide people in crowds; one of zip codes as they are does not."""
    age = [f"[{a // 20 * 20}, {a // 20 * 20 + 20})" for a in raw["age"].to_pylist()]
    coarse = pa.table(
        {"age": age, "zip": [f"{z:02d}"[0] + "*" for z in raw["zip"].to_pylist()], "disease": raw["disease"]}
    )
    people = raw.set_column(2, "zip", pa.array([f"{z:02d}" for z in raw["zip"].to_pylist()]))
    order = pa.array(np.random.default_rng(1).permutation(len(raw)))
    assert verdicts(coarse.take(order), people)["generalised rows"] == "holds"
    finer = coarse.set_column(0, "age", pa.array([f"{a}-{a + 1}" for a in raw["age"].to_pylist()]))
    finer = finer.set_column(1, "zip", people["zip"])
    found = {f.attack: f for f in audit(finer.take(order), people, **ROLES)}
    assert found["generalised rows"].verdict == "broken"
    assert "0 fit none" in found["generalised rows"].detail


@pytest.mark.slow
@pytest.mark.parametrize("published", ["csv", "parquet"])
@pytest.mark.parametrize("raw_as", ["csv", "parquet"])
def test_labels_in_files_of_either_kind(raw: pa.Table, tmp_path: Path, published: str, raw_as: str) -> None:
    """Parquet may hold texts coded, missing ones among them; people and labels are told apart all the same."""
    sex = pa.array([None if i % 7 == 0 else s for i, s in enumerate(raw["sex"].to_pylist())])
    people = raw.set_column(1, "sex", sex)
    labels = pa.table(
        {
            "age": [f"{a // 20 * 20}-{a // 20 * 20 + 19}" for a in raw["age"].to_pylist()],
            "sex": sex,
            "disease": raw["disease"],
        }
    )
    for name, table, kind in (("labels", labels, published), ("people", people, raw_as)):
        if kind == "csv":
            pa.csv.write_csv(table, tmp_path / f"{name}.csv")
        else:
            texts = [i for i, field in enumerate(table.schema) if pa.types.is_string(field.type)]
            for i in texts:
                table = table.set_column(i, table.column_names[i], table.column(i).dictionary_encode())
            write_parquet(table, tmp_path / f"{name}.parquet", store_schema=True)
    files = [tmp_path / f"labels.{published}", tmp_path / f"people.{raw_as}"]
    found = {f.attack: f for f in audit(*files, quasi=["age", "sex"], sensitive=["disease"])}
    assert found["generalised rows"].verdict == "holds"
    assert "0 fit none" in found["generalised rows"].detail


def test_what_is_guessed_is_said(raw: pa.Table) -> None:
    case = case_of(raw.append_column("name", pa.array([f"person {i}" for i in range(len(raw))])))
    assert case.publication.quasi == ["age", "sex", "zip", "visits", "job"]
    assert case.publication.sensitive == ["disease"]
    assert "disease" in case.publication.guesses[0]
    assert not case_of(raw, quasi=["age"], sensitive=["disease"]).publication.guesses


@pytest.mark.parametrize("how", ["metadata", "path", "pandas index", "dictionary", "folder", "comment"])
def test_files_that_tell_more_than_their_rows(how: str, tmp_path: Path) -> None:
    table, path = classes(), tmp_path / "t.parquet"
    assert verdicts(write_parquet(table, path))["metadata"] == "holds"
    path.unlink()
    if how == "metadata":
        write_parquet(table.replace_schema_metadata({"seed": "7"}), path, store_schema=True)
    elif how == "path":
        frame = table.to_pandas()
        frame.attrs = {"source": "/home/alice/patients.csv"}
        frame.to_parquet(path)
    elif how == "pandas index":
        table.to_pandas().sample(frac=1, random_state=1).to_parquet(path)
    elif how == "dictionary":
        frame = table.to_pandas().astype({"disease": "category"})
        frame[frame.disease != "hiv"].reset_index(drop=True).to_parquet(path)
    elif how == "folder":
        (tmp_path / "disease=hiv").mkdir()
        path = write_parquet(table, tmp_path / "disease=hiv" / "t.parquet")
    else:
        path = tmp_path / "t.csv"
        pa.csv.write_csv(table, path)
        path.write_text("# from ward 7\n" + path.read_text())
    assert verdicts(path)["metadata"] == "broken"


def test_a_file_that_lies_beside_the_release(raw: pa.Table) -> None:
    release = publish(raw, "uniform", 1)
    (release.path / "coins.npy").write_text("secret")
    found = {f.attack: f for f in audit(release)}
    assert found["metadata"].verdict == "broken"
    assert "coins.npy" in found["metadata"].detail


def test_wrong_roles_are_refused_by_name(raw: pa.Table) -> None:
    with pytest.raises(SchemaError, match="did you mean 'disease'"):
        audit(raw, sensitive=["diseas"])
    with pytest.raises(ParameterError, match="is it the table that was published"):
        audit(publish(raw, "uniform", 1), raw.drop_columns(["zip"]))
    with pytest.raises(ParameterError, match="is it the table that was published"):
        audit(publish(raw, "uniform", 1), raw.set_column(0, "age", pa.array(raw["age"].to_numpy() + 1000)))


@pytest.mark.slow
def test_the_command_groups_by_question_and_its_code_tells_what_is_broken(raw: pa.Table, tmp_path: Path) -> None:
    pa.csv.write_csv(raw, tmp_path / "raw.csv")
    for name in ("a", "b"):  # without a seed, which the command would call broken
        publish_openly(
            raw, tmp_path / f"{name}.release", sensitive="disease", domains={"disease": DISEASES}, retain=0.4
        )
    sound = scumble_command("audit", tmp_path / "a.release", "--raw", tmp_path / "raw.csv")
    assert sound.returncode == 0, sound.stdout + sound.stderr
    places = [sound.stdout.index(word) for word in ("Singling out:", "Inference:", "Integrity:")]
    assert places == sorted(places)
    twice = scumble_command("audit", tmp_path / "a.release", "--with", tmp_path / "b.release", "--format", "json")
    assert twice.returncode == 1
    assert {f["attack"]: f["verdict"] for f in json.loads(twice.stdout)}["averaging"] == "broken"
    other = scumble_command("audit", tmp_path / "raw.csv", "--quasi", "age,sex,zip", "--sensitive", "disease")
    assert other.returncode == 1
    assert re.search(r"broken +severe +linking", other.stdout)
    assert CHANCE in sound.stdout
    assert CHANCE not in other.stdout, "of a table without a manifest there is no law to be broken"
    wrong = scumble_command("audit", tmp_path / "a.release", "--quasi", "age")
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1


def test_a_table_without_rows_is_refused(raw: pa.Table) -> None:
    with pytest.raises(TableError, match="nothing to attack"):
        audit(raw.slice(0, 0))


def test_progress_is_told(raw: pa.Table) -> None:
    seen: list[tuple[int, int | None]] = []
    audit(raw, progress=lambda done, of: seen.append((done, of)))
    assert seen[-1][0] == seen[-1][1] == len(seen)
