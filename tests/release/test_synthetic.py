"""Synthetic rows: their tables are those that the release estimates, they say what they are, and what cannot be drawn is refused."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from every_mechanism import published
from naming import publish_openly
from pyarrow.csv import read_csv
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import ParameterError, QueryError
from scumble.release.fidelity import fidelity
from scumble.release.synthetic import EstimatedJoint, Synthetic
from scumble.release.verify import verify

ILLS = ["flu", "cold", "gout"]
DRAWN = 20_000


@pytest.fixture(scope="module")
def release() -> scumble.Release:
    """Two sensitive columns that go together, and with two public ones; a third public one has many values."""
    rng = np.random.default_rng(2)
    town, sex = rng.choice(8, 3000), rng.choice(["f", "m"], 3000)
    flu = rng.random(3000) < 0.1 + 0.07 * town + 0.2 * (sex == "f")
    ill = np.where(flu, "flu", rng.choice(["cold", "gout"], 3000))
    smoker = rng.random(3000) < np.where(flu, 0.7, 0.2)
    columns = {"town": [f"<t{i}>" for i in town], "sex": sex, "ill": ill, "smoker": smoker}
    table = pa.table({**columns, "cost": np.where(flu, 50.0, 0.0) + rng.random(3000) * 60})
    domains = {"ill": ILLS, "smoker": [False, True]}
    return publish_openly(table, sensitive=["ill", "smoker"], domains=domains, retain=0.6, seed=1)


@pytest.fixture(scope="module")
def drawn(release: scumble.Release) -> Synthetic:
    return release.synthesize(DRAWN, seed=3)


def shares(rows: pa.Table, names: list[str]) -> dict[tuple[object, ...], float]:
    lines = rows.group_by(names).aggregate([([], "count_all")]).to_pylist()
    return {tuple(line[name] for name in names): line["count_all"] / rows.num_rows for line in lines}


def bound(cells: int) -> float:
    """20,000 independent draws: some of so many shares is off by more than this with probability 1e-7 (Hoeffding, and a sum over cells)."""
    return float(np.sqrt(np.log(2 * cells / 1e-7) / (2 * DRAWN)))


@pytest.mark.slow
def test_public_columns_are_drawn_as_they_were_published(release: scumble.Release, drawn: Synthetic) -> None:
    truth, found = shares(release.table(), ["town", "sex"]), shares(drawn.rows, ["town", "sex"])
    assert all(abs(found.get(key, 0) - share) <= bound(16) for key, share in truth.items())


@pytest.mark.slow
def test_sensitive_columns_are_drawn_as_the_likelihood_estimates_them(
    release: scumble.Release, drawn: Synthetic
) -> None:
    best = release.query("SELECT ill, smoker, COUNT(*) AS n FROM release GROUP BY ill, smoker", method="likelihood")
    found = shares(drawn.rows, ["ill", "smoker"])
    off = [abs(found.get((row["ill"], row["smoker"]), 0) - row["n"] / 3000) for row in best]
    assert max(off) <= bound(6)
    one, other = (shares(rows, ["ill", "smoker"]) for rows in (release.table(), drawn.rows))
    assert max(abs(one[key] - other[key]) for key in one) > bound(6), "as published would be rejected"


@pytest.mark.slow
def test_pairs_agree_with_the_intervals_of_the_release(release: scumble.Release, drawn: Synthetic) -> None:
    for margin in drawn.fidelity:
        assert margin.inside >= 0.85 * margin.cells, margin
    assert {"ill"} in [set(margin.names) for margin in drawn.fidelity]
    assert {"town", "ill"} in [set(margin.names) for margin in drawn.fidelity]
    for column in ("sex", "town"):
        by_value = pa.table({column: drawn.rows[column], "flu": pc.equal(drawn.rows["ill"], "flu").cast(pa.float64())})
        low, *_, high = sorted(
            row["flu_mean"] for row in by_value.group_by(column).aggregate([("flu", "mean")]).to_pylist()
        )
        assert high - low > 0.12, "what goes together in the table does so here"
    cost = drawn.rows["cost"].to_numpy()
    assert cost[pc.equal(drawn.rows["ill"], "flu").to_numpy()].mean() > cost.mean() + 8


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["sps", "swapped", "mixture", "frapp"])
def test_every_mechanism_of_rows_can_be_drawn_from(mechanism: str, patients: pa.Table, tmp_path: Path) -> None:
    drawn = published(mechanism, patients, tmp_path / "r.release", seed=1).synthesize(400, seed=1)
    assert sum(m.inside for m in drawn.fidelity) >= 0.9 * sum(m.cells for m in drawn.fidelity)


@pytest.mark.slow
def test_rows_that_ignore_the_pairs_are_called_so(release: scumble.Release, drawn: Synthetic) -> None:
    mixed = drawn.rows.set_column(0, "town", pa.array(sorted(drawn.rows["town"].to_pylist())))
    found = {margin.names: margin for margin in fidelity(release, mixed)}
    assert found["town",].inside == found["town",].cells
    assert found["town", "ill"].inside < 0.8 * found["town", "ill"].cells


@pytest.mark.slow
def test_rows_say_what_they_are(release: scumble.Release, drawn: Synthetic, tmp_path: Path) -> None:
    mark = f"synthetic, made from {release.title} {release.manifest.digest}"
    few = release.synthesize(50, columns=["ill", "sex"], seed=1)
    assert few.rows.column_names == ["sex", "ill"]
    table = pq.read_table(few.write(tmp_path / "rows.parquet"))
    assert table.column_names == ["synthetic", "sex", "ill"]
    assert set(table["synthetic"].to_pylist()) == {mark}
    assert table.schema.metadata[b"scumble"].decode() == f"{mark}; not data"
    assert set(read_csv(few.write(tmp_path / "rows.csv"))["synthetic"].to_pylist()) == {mark}
    with pytest.raises(ParameterError, match=r"ends in \.parquet or \.csv"):
        few.write(tmp_path / "rows.xlsx")
    assert release.synthesize(50, seed=1).rows.equals(release.synthesize(50, seed=1).rows)
    assert not release.synthesize(50).rows.equals(release.synthesize(50).rows)


def test_no_combination_of_public_values_is_lost_to_coins() -> None:
    """Few rows, little retention, many zeros: every published combination keeps its rows in the joint."""
    rng = np.random.default_rng(6)
    table = pa.table({"a": rng.choice(6, 120), "b": rng.choice(6, 120), "ill": rng.choice(ILLS, 120)})
    release = publish_openly(table, sensitive="ill", domains={"ill": ILLS}, retain=0.2, seed=1)
    joint = EstimatedJoint.of(release, ["a", "b", "ill"])
    rows = {
        (line["a"], line["b"]): line["count_all"]
        for line in table.group_by(["a", "b"]).aggregate([([], "count_all")]).to_pylist()
    }
    assert joint.weights.sum(axis=1) == pytest.approx([rows[line["a"], line["b"]] for line in joint.public.to_pylist()])


def test_numbers_that_are_none_are_one_value() -> None:
    """All of them have flu, which few others have."""
    rng = np.random.default_rng(8)
    x = rng.choice([1.0, 2.0, np.nan], 3000)
    ills = np.where(np.isnan(x), "flu", rng.choice(ILLS, 3000, p=[0.1, 0.45, 0.45]))
    release = publish_openly(pa.table({"x": x, "ill": ills}), sensitive="ill", domains={"ill": ILLS}, gamma=50, seed=1)
    rows = release.synthesize(DRAWN, seed=3).rows
    none, flu = pc.is_nan(rows["x"]).to_numpy(), pc.equal(rows["ill"], "flu").to_numpy()
    assert flu[none].mean() > 0.95
    assert flu[~none].mean() < 0.15


def test_columns_of_one_kind_alone_are_drawn_too(release: scumble.Release) -> None:
    assert set(release.synthesize(300, columns=["town"]).rows["town"].to_pylist()) <= {f"<t{i}>" for i in range(8)}
    assert set(release.synthesize(300, columns="ill").rows["ill"].to_pylist()) <= set(ILLS)


def test_what_cannot_be_drawn_is_refused(
    release: scumble.Release, patients: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ParameterError, match="did you mean 'town'"):
        release.synthesize(10, columns=["twon"])
    for count in (0, -3, 1.5, True, 10**9):
        with pytest.raises(ParameterError, match="whole number from 1"):
            release.synthesize(count)  # type: ignore[arg-type]
    counted = published("k_dgs", patients, tmp_path / "r.release")
    with pytest.raises(ParameterError, match="ask it for counts instead"):
        counted.synthesize(10)
    monkeypatch.setattr("scumble.release.synthetic.MOST_CELLS", 20)
    with pytest.raises(QueryError, match="name fewer columns"):
        release.synthesize(10)
    monkeypatch.setattr("scumble.release.synthetic.MOST_VALUES", 5)
    with pytest.raises(QueryError, match="ill and smoker have 6 combinations"):
        release.synthesize(10)


@pytest.mark.slow
def test_the_page_says_what_agrees_and_escapes_names(
    drawn: Synthetic, release: scumble.Release, tmp_path: Path
) -> None:
    text = drawn.page(tmp_path / "page.html").read_text(encoding="utf-8")
    assert release.manifest.digest in text
    assert "These rows are not data." in text
    assert text.count("<tr>") == 2 + len(drawn.fidelity)
    table = pa.table({"<script>alert(1)</script>": ["<b>x</b>", "y"] * 60, "ill": ["flu", "cold", "gout"] * 40})
    odd = publish_openly(table, sensitive="ill", domains={"ill": ILLS}, retain=0.6, seed=1).synthesize(40, seed=1)
    page = odd.page(tmp_path / "odd.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.slow
def test_the_command_writes_rows_and_page(release: scumble.Release, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({"sex": rng.choice(["f", "m"], 200), "ill": rng.choice(ILLS, 200)})
    path, out = tmp_path / "t.release", tmp_path / "rows.csv"
    publish_openly(table, path, sensitive="ill", domains={"ill": ILLS}, retain=0.6, seed=1)
    arguments = ["synthesize", str(path), "-o", str(out), "--rows", "70", "--seed", "2"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "70 synthetic rows, which are not data" in done.stdout
    assert len(out.read_text().splitlines()) == 71
    assert "Synthetic rows" in (tmp_path / "rows.html").read_text()
    assert CliRunner().invoke(app, arguments).exit_code != 0, "nothing is replaced"
    for wrong in (["-o", str(path / "data.parquet")], ["-o", str(out), "--page", str(out)]):
        refused = CliRunner().invoke(app, ["synthesize", str(path), *wrong, "--overwrite"])
        assert isinstance(refused.exception, ParameterError), refused.output
    assert not [check for check in verify(scumble.open(path)) if not check.passed and check.name == "hashes"]
    again = scumble.open(path).synthesize(70, seed=2).rows
    assert read_csv(out)["ill"].to_pylist() == again["ill"].to_pylist()
