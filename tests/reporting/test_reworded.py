"""No code reads a sentence: with every sentence of every promise another one, attacks and pages come to the same verdicts."""

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble.mechanisms import REGISTRY
from scumble.mechanisms.words import Words
from scumble.privacy import words
from scumble.reporting import promises

pytest.importorskip("altair", reason="the page is drawn by altair: pip install 'scumble[report]'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

DISEASES = ["flu", "cold", "hiv"]
ONE: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": DISEASES}}
ALL: dict[str, Any] = {
    "sensitive": ["sex", "age", "disease"],
    "domains": {"sex": ["F", "M"], "age": {"low": 0, "high": 9}, "disease": DISEASES},
}
FORMS: dict[str, dict[str, Any]] = {
    "rows": {"mechanism": "uniform", **ONE, "rho1": 0.1, "rho2": 0.4},
    "rows by value": {"mechanism": "fine_grain", **ONE, "rho1": 0.1, "rho2": 0.5},
    "rows in samples": {"mechanism": "sps", **ONE, "retain": 0.5},
    "rows permuted": {"mechanism": "swapped", **ONE, "rho1": 0.1, "rho2": 0.5},
    "tuples": {"mechanism": "noisy_counts", "epsilon": 1, "settings": {"k": 5, "delta": 0.01}},
    "buckets": {"mechanism": "anatomy", **ONE, "settings": {"l": 2}},
    "boxes": {"mechanism": "perturbed_generalization", **ONE, "retain": 0.3, "settings": {"k": 10}},
    "tuple_set": {"mechanism": "alpha_beta", **ALL, "rho1": 0.1, "rho2": 0.5},
}


def people() -> pa.Table:
    draw = np.random.default_rng(8)
    n = 900
    columns = {"sex": draw.choice(["F", "M"], n), "age": draw.integers(0, 10, n), "disease": draw.choice(DISEASES, n)}
    return pa.table(columns)


def outcome(how: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The verdicts of an audit and of a verification, and the skeleton of the page: its tags, without any word."""
    table = people()
    some = table.group_by(table.column_names).aggregate([]).slice(0, 30)
    rows = some if how["mechanism"] == "alpha_beta" else table  # it is for sets
    release = publish_openly(rows, folder / "made.release", seed=4, **how)
    page = scumble.report(release, folder / "page.html").read_text(encoding="utf-8")
    return {
        "audit": [(f.attack, f.verdict, bool(f.uncovered)) for f in scumble.audit(release, rows)],
        "verify": [(check.name, check.passed) for check in scumble.verify(release)],
        "page": [re.sub(r' (aria-label|d|alt)="[^"]*"', "", tag) for tag in re.findall(r"<[^>]*>", page)],
    }


def reword(monkeypatch: pytest.MonkeyPatch) -> None:
    for table, name in ((words, "STATEMENTS"), (promises, "SENTENCES")):
        monkeypatch.setattr(table, name, {kind: lambda g: f"Lorem {g.kind}." for kind in getattr(table, name)})
    for name in ("CLAUSES", "HEADINGS"):
        told = {code: f"ipsum {place}" for place, code in enumerate(getattr(words, name))}
        monkeypatch.setattr(words, name, told)
    monkeypatch.setattr(promises, "OWN", "dolor")
    for module in map(import_module, REGISTRY.values()):
        said = Words(
            "sit", tuple(f"amet {i}" for i, _ in enumerate(module.MECHANISM.words.techniques)), "et", "eius", "modi"
        )
        monkeypatch.setattr(module, "MECHANISM", replace(module.MECHANISM, words=said))


@pytest.mark.parametrize("form", FORMS)
def test_rewording_changes_no_verdict(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    before = outcome(FORMS[form], tmp_path / "before")
    reword(monkeypatch)
    after = outcome(FORMS[form], tmp_path / "after")
    assert "Lorem" in (tmp_path / "after" / "page.html").read_text(encoding="utf-8")
    assert after == before
