"""A hospital that does not exist: its table, its release, and three questions with the truth beside the answers."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
from rich.table import Table as RichTable

from scumble.api import publish
from scumble.cli.output import console
from scumble.cli.progress import progress_bar
from scumble.cli.shown import singling_out
from scumble.core.atomic import demand_file, whole_file
from scumble.core.channel import replacement_of
from scumble.core.errors import InputError
from scumble.engines.duckdb.engine import exact
from scumble.query.estimates import Estimates
from scumble.release.release import Release
from scumble.web.explore import NAME as PAGE

# disease: how common, the age around which it is most so, how widely it spreads around it, women to men, median cost
DISEASES: dict[str, tuple[float, float, float, float, float]] = {
    "hypertension": (9.0, 68, 16, 1.0, 900),
    "influenza": (7.0, 35, 35, 1.0, 700),
    "type 2 diabetes": (6.0, 65, 15, 0.8, 1500),
    "pneumonia": (5.5, 72, 25, 0.9, 4200),
    "ischaemic heart disease": (5.0, 70, 12, 0.6, 7800),
    "asthma": (4.5, 20, 25, 1.1, 1300),
    "depression": (4.0, 42, 18, 1.7, 2600),
    "osteoarthritis": (4.0, 70, 12, 1.4, 5200),
    "urinary tract infection": (3.8, 45, 30, 3.0, 1100),
    "appendicitis": (3.0, 22, 14, 0.9, 5600),
    "atrial fibrillation": (3.0, 74, 11, 0.8, 3900),
    "heart failure": (3.0, 78, 10, 0.9, 6900),
    "COPD": (3.0, 69, 11, 0.8, 3400),
    "fracture of the femur": (2.6, 80, 13, 2.2, 9800),
    "stroke": (2.6, 73, 13, 0.9, 11200),
    "gastroenteritis": (2.5, 12, 30, 1.0, 800),
    "gallstones": (2.4, 52, 16, 1.9, 4700),
    "migraine": (2.2, 36, 13, 2.6, 600),
    "kidney stones": (2.0, 46, 14, 0.5, 2300),
    "breast cancer": (1.8, 62, 13, 60.0, 14500),
    "prostate cancer": (1.7, 70, 9, 0.001, 11800),
    "colorectal cancer": (1.5, 69, 12, 0.8, 17200),
    "lung cancer": (1.3, 68, 10, 0.7, 19800),
    "chronic kidney disease": (1.3, 70, 15, 0.9, 8600),
    "anaemia": (1.2, 48, 28, 1.8, 1400),
    "epilepsy": (1.0, 25, 25, 0.9, 2900),
    "thyroid disorder": (1.0, 50, 16, 4.0, 1700),
    "anxiety disorder": (1.0, 33, 14, 1.8, 1900),
    "alcohol dependence": (0.9, 47, 12, 0.35, 3300),
    "rheumatoid arthritis": (0.8, 56, 14, 2.5, 4800),
    "hepatitis C": (0.6, 48, 13, 0.6, 6100),
    "schizophrenia": (0.6, 32, 12, 0.8, 8200),
    "Crohn's disease": (0.5, 28, 12, 1.1, 5900),
    "Parkinson's disease": (0.5, 75, 8, 0.7, 5100),
    "endometriosis": (0.5, 34, 8, 500.0, 4400),
    "multiple sclerosis": (0.35, 38, 11, 2.4, 9400),
    "tuberculosis": (0.25, 40, 20, 0.6, 7200),
    "HIV infection": (0.25, 38, 11, 0.3, 6400),
    "leukaemia": (0.2, 55, 25, 0.7, 31000),
    "cystic fibrosis": (0.1, 16, 8, 1.0, 22500),
}
REGIONS = [
    "North",
    "North East",
    "North West",
    "East",
    "Midlands",
    "West",
    "South East",
    "South West",
    "Capital",
    "Islands",
]
WARDS = ["children", "general medicine", "surgery", "geriatrics", "short stay", "intensive care"]

QUESTIONS = [
    ("How common are the ten most common diseases?",
     "SELECT disease, COUNT(*) AS patients FROM release GROUP BY disease ORDER BY patients DESC LIMIT 10"),
    ("Who over 60 has a disease of the heart, and what does that cost?",
     "SELECT sex, COUNT(*) AS patients, AVG(cost) AS cost FROM release "
     "WHERE age >= 60 AND disease IN ('ischaemic heart disease', 'heart failure', 'atrial fibrillation') GROUP BY sex"),
    ("Where do respiratory diseases fill emergency beds?",
     "SELECT region, COUNT(*) AS patients FROM release "
     "WHERE disease IN ('influenza', 'pneumonia', 'asthma', 'COPD', 'tuberculosis') AND admission = 'emergency' GROUP BY region"),
]  # fmt: skip


def hospital(rows: int, seed: int = 20, *, step: float = 0.01) -> pa.Table:
    """Patients whose disease depends on age and sex, billed in steps. Nobody is in it, so an ordinary generator may draw them."""
    draw = np.random.default_rng(seed)
    young = draw.random(rows) < 0.35
    age = np.clip(np.where(young, draw.gamma(2.0, 14, rows), draw.normal(62, 17, rows)), 0, 104).astype(np.int64)
    female = draw.random(rows) < 0.52
    disease = _diseases(draw, age, female)
    emergency = draw.random(rows) < np.where((age < 5) | (age > 75), 0.62, 0.41)
    ward = np.where(
        age < 16,
        0,
        np.where((age > 76) & (draw.random(rows) < 0.6), 3, draw.choice([1, 2, 4, 5], rows, p=[0.45, 0.3, 0.19, 0.06])),
    )
    median = np.array([values[4] for values in DISEASES.values()])[disease]
    cost = median * draw.lognormal(0, 0.55, rows) * np.where(emergency, 1.25, 1.0)
    return pa.table(
        {
            "patient": pa.array(draw.permutation(rows) + 10_000_000),
            "age": age,
            "sex": pa.array(["M", "F"]).take(pa.array(female.astype(np.int8))),
            "region": pa.array(REGIONS).take(pa.array(draw.choice(len(REGIONS), rows, p=_shares(len(REGIONS))))),
            "ward": pa.array(WARDS).take(pa.array(ward)),
            "admission": pa.array(["planned", "emergency"]).take(pa.array(emergency.astype(np.int8))),
            "disease": pa.array(list(DISEASES)).take(pa.array(disease)),
            "cost": np.round(np.maximum(1, np.round(cost / step)) * step, 2),
        }
    )


def _diseases(draw: np.random.Generator, age: npt.NDArray[Any], female: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    common, around, spread, women, _ = (np.array(column) for column in zip(*DISEASES.values(), strict=True))
    by_age = common * (0.04 + np.exp(-(((np.arange(106)[:, None] - around) / spread) ** 2) / 2))
    weights = np.stack([by_age * 2 / (1 + women), by_age * 2 * women / (1 + women)])
    edges = np.cumsum(weights / weights.sum(axis=2, keepdims=True), axis=2)[female.astype(int), age]
    return np.asarray((draw.random(len(age))[:, None] > edges).sum(axis=1).clip(0, len(DISEASES) - 1))


def _shares(count: int) -> npt.NDArray[np.float64]:
    sizes = 1 / np.arange(2, count + 2)
    return np.asarray(sizes / sizes.sum())


def run(out: Path, rows: int) -> None:
    """The whole road: table, release, questions, report."""
    say = console().print
    out.mkdir(parents=True, exist_ok=True)
    with progress_bar("inventing patients"):
        table = hospital(rows, step=500)  # to the cent, cost would single out nearly everybody
        _write(table, out / "patients.csv")
    say(f"{out / 'patients.csv'}: {rows:,} patients of a hospital that does not exist", markup=False)
    with progress_bar("publishing") as progress:
        release = publish(
            out / "patients.csv",
            out / "patients.release",
            sensitive=["disease"],
            public=["age", "sex", "region", "admission", "cost"],
            drop=["patient", "ward"],
            domains={"disease": list(DISEASES)},
            coarsen={"age": {"bins": 10}},
            rho1="1/10",
            rho2="1/2",
            overwrite=True,
            progress=progress,
        )
    kept = replacement_of(release.manifest.channels["disease"]).retain
    say(
        f"{out / 'patients.release'}: each disease kept with probability {kept:.3f}, else one of {len(DISEASES)} at random",
        markup=False,
    )
    say(f"guaranteed: {release.terms.guarantees[0].statement}", markup=False)
    held: list[bool] = []
    for title, sql in QUESTIONS:
        say(f"\n{title}", style="bold")
        say(sql, style="dim", markup=False)
        shown, inside = side_by_side(release, sql, table)
        say(shown)
        held += inside
    say(f"\n{sum(held)} of {len(held)} intervals hold the truth; of many, 19 of 20 do: one that misses is chance")
    singling_out(release)
    report(release, out)
    say(
        f"{out / 'patients.release' / PAGE}: the page on which anybody asks it by clicking; open it in a browser",
        markup=False,
    )
    command = "python -m scumble" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    say(f"Now try: {command} show {out / 'patients.release'}", markup=False)


def _write(table: pa.Table, path: Path) -> None:
    """The patients as a CSV file. One that is there stays if it is the same, and is nobody else's to be replaced if not."""
    made = pa.BufferOutputStream()
    pa.csv.write_csv(table, made)
    text = made.getvalue().to_pybytes()
    if not path.is_file() or path.read_bytes() != text:
        demand_file(path, overwrite=False)
        with whole_file(path) as aside:
            aside.write_bytes(text)


def report(release: Release, out: Path) -> None:
    """The page about the release, with the truth in it; where it cannot be drawn, the line that installs what is missing."""
    from scumble.reporting import report as write_report
    from scumble.reporting import require

    try:
        require()
    except InputError as error:
        console().print(f"no report was written: {error}", markup=False)
        return
    with progress_bar("report") as progress:
        page = write_report(release, out / "report.html", raw=out / "patients.csv", progress=progress)
    console().print(f"{page}: the report of this release; open it in a browser", markup=False)


def side_by_side(release: Release, sql: str, raw: pa.Table) -> tuple[RichTable, list[bool]]:
    """Truth, estimate and interval of each aggregate, and which intervals hold the truth."""
    held: list[bool] = []
    answer = release.query(sql)
    truth = _truth(sql, raw, answer)
    shown = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    groups = answer.groups.schema.names
    for name in groups:
        shown.add_column(name)
    for e in answer.estimates:
        for heading in (f"true {e.name}", e.name, "95% interval", ""):
            shown.add_column(heading, justify="right", no_wrap=True)
    for i in range(len(answer)):
        cells = [str(answer.groups.column(name)[i].as_py()) for name in groups]
        for e in answer.estimates:
            true = truth[e.name][i]
            inside = bool(e.low[i] <= true <= e.high[i])
            held.append(inside)
            cells += [
                f"{true:,.0f}",
                f"{e.value[i]:,.0f}",
                f"[{e.low[i]:,.0f}, {e.high[i]:,.0f}]",
                "holds" if inside else "misses",
            ]
        shown.add_row(*cells)
    return shown, held


def _truth(sql: str, raw: pa.Table, answer: Estimates) -> dict[str, list[float]]:
    """The same question on the raw table, in the order of the answer's rows."""
    rows = exact(sql.split(" ORDER BY")[0], raw).to_pylist()
    names = answer.groups.schema.names
    lines = {tuple(row[name] for name in names): row for row in rows}
    keys = [tuple(row[name] for name in names) for row in answer.groups.to_pylist()]
    return {e.name: [float(lines[key][e.name]) if key in lines else 0.0 for key in keys] for e in answer.estimates}
