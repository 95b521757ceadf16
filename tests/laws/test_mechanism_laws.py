"""The laws of mechanisms, for every one that is registered: it works in all commands, and promises what follows from its release."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from laws.commands import COMMANDS, LAWS, REFUSING, Things, call, is_json
from laws.registered import MECHANISMS, example_of

import scumble
from scumble.api import publish_chosen
from scumble.auditing import audit
from scumble.core.errors import ParameterError
from scumble.forms import FORMS
from scumble.mechanisms import REGISTRY, find_mechanism
from scumble.release.terms import compared, terms_of
from scumble.release.verify import verify
from scumble.sources.source import read
from scumble.spec.spec import ColumnSpec

WITH_SCIPY = {
    "partitioned": "its solvers: which values are put together, and how often each is kept",
    "anatomy": "sparse matrices: which values a bucket has",
    "sps": "binomial tails: how many rows of a group are published",
    "columnized": "sparse matrices: who has which items",
}
"""Mechanisms that plan or publish by SciPy, and what for."""

CALLS = [(command, number) for command in LAWS if command != "demo" for number in range(len(LAWS[command]))]


def test_every_command_has_its_laws() -> None:
    assert set(LAWS) == set(COMMANDS)


@pytest.fixture
def things(mechanism: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Things:
    """The mechanism's example; its coins are seeded, so that no attack is unlucky, and pass for fresh ones here."""
    it = example_of(mechanism)
    monkeypatch.setattr("scumble.reporting.figure.svg", lambda chart, alt: "")  # drawings have tests of their own
    return Things(mechanism, it.table, it.toml(tmp_path), it.release.path, tmp_path)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.slow
def test_every_command_works(
    mechanism: str, things: Things, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each call ends well and prints what was asked for; what a mechanism does not offer is refused by one sentence."""
    for command, number in CALLS:
        arguments = LAWS[command][number](things)
        code, out, error = call(command, arguments, monkeypatch, capsys)
        if code == 2 and REFUSING.get(command, lambda traits: False)(find_mechanism(mechanism).traits):
            assert error.startswith("scumble: ")
            assert error.count("\n") == 1
            continue
        assert code == 0, f"scumble {command} {' '.join(arguments)}\n{out}{error}"
        assert "json" not in arguments or is_json(out), out


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_its_release_opens_again_and_promises_what_follows(mechanism: str) -> None:
    it = example_of(mechanism)
    release = scumble.open(it.release.path)
    assert release.manifest == it.release.manifest
    terms = terms_of(release.manifest)
    assert compared(release.manifest, terms).problems == []
    assert [each.statement for each in terms.guarantees] == [
        each.claim().statement for each in release.manifest.guarantees
    ]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_its_form_is_registered_and_is_that_of_its_release(mechanism: str) -> None:
    assert find_mechanism(mechanism).form in FORMS
    assert example_of(mechanism).release.manifest.form.kind == find_mechanism(mechanism).form


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_plan_promises_what_its_release_does(mechanism: str) -> None:
    it = example_of(mechanism)
    forecast = scumble.plan(it.toml(it.table.parent))
    promised = [guarantee.statement for guarantee in forecast.plan.guarantees]
    assert promised == [record.claim().statement for record in it.release.manifest.guarantees]


@pytest.mark.real_coins
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_seeded_coins_never_pass_for_sound(mechanism: str) -> None:
    failed = [check.name for check in verify(example_of(mechanism).release) if not check.passed]
    assert failed == ["coins"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.slow
def test_an_audit_is_the_same_twice(mechanism: str) -> None:
    it = example_of(mechanism)
    assert list(audit(it.release.path, it.table)) == list(audit(it.release.path, it.table))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_coins_are_keyed_where_it_says_so_and_refused_elsewhere(mechanism: str, tmp_path: Path) -> None:
    """The same key gives the same release again, and it verifies; a mechanism without such coins names those that have them."""
    it = example_of(mechanism)
    rows = pq.read_table(it.table).append_column("person", pa.array(range(pq.read_metadata(it.table).num_rows)))
    spec = it.spec.model_copy(
        update={"columns": {**it.spec.columns, "person": ColumnSpec.model_validate({"role": "identifier"})}}
    )
    how: dict[str, Any] = {"key": bytes(range(32)), "id": "person"}
    if not find_mechanism(mechanism).traits.keyed_coins:
        with pytest.raises(ParameterError, match=r"coins by key are for .*coin"):
            publish_chosen(read(rows), spec, tmp_path / "r", **how)
        return
    one, two = (publish_chosen(read(rows), spec, tmp_path / name, **how) for name in ("one", "two"))
    kept = [name for name in it.spec.published if name != "person"]
    assert sorted(map(str, one.table().select(kept).to_pylist())) == sorted(
        map(str, two.table().select(kept).to_pylist())
    )
    assert all(check.passed for check in verify(one))


LOADED = """
import json, sys, warnings
from scumble.mechanisms import REGISTRY, find_mechanism
REGISTRY["coin"] = "toys.mechanism"
find_mechanism({name!r})
declared = sorted(sys.modules)
import scumble
warnings.simplefilter("ignore")
scumble.publish({spec!r}, {out!r})
print(json.dumps([declared, sorted(sys.modules)]))
"""


def loaded(mechanism: str, folder: Path) -> list[list[str]]:
    """The modules that are there when a mechanism is declared, and when it has published, in a process of its own."""
    code = LOADED.format(name=mechanism, spec=str(example_of(mechanism).toml(folder)), out=str(folder / "r"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    found: Any = json.loads(run.stdout)
    return list(found)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.slow
def test_it_is_declared_without_publishing_and_publishes_alone(mechanism: str, tmp_path: Path) -> None:
    """Its declaration loads nothing that plans or publishes; publishing by it loads no other mechanism, nor SciPy without need."""
    declared, used = loaded(mechanism, tmp_path)
    own = REGISTRY[mechanism]
    assert not [name for name in declared if name.startswith(("scumble.publishing", "scumble.evaluate"))]
    assert not [name for name in declared if name in (f"{own}.plan", f"{own}.publish")]
    others = [module for module in REGISTRY.values() if module != own]
    assert [name for name in used if any(name == other or name.startswith(other + ".") for other in others)] == []
    assert any(name.split(".")[0] == "scipy" for name in used) == (mechanism in WITH_SCIPY)
