"""What the files of every form are held to: their columns; and of declared domains, that published values are of them."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from scumble.forms.files import arrays_of, schema_of
from scumble.forms.form import Check

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def columns_check(folder: Path, manifest: "Manifest") -> Check:
    """Each file has the columns of its table, with the types of the manifest."""
    problem = columns_problem(lambda path: folder / path, manifest)
    return "columns", not problem, problem or f"{len(manifest.columns)} columns with the types of the manifest"


def values_checks(folder: Path, manifest: "Manifest") -> list[Check]:
    """Every published value is one that was declared, where the form has domains: what is promised and estimated goes by their sizes."""
    kinds = {column.name: column.type for column in manifest.columns if column.coarsened is None}
    known = {n: record.domain(kinds[n]) for n, record in manifest.form.declared_domains.items() if n in kinds}
    for names, files in manifest.form.layout([column.name for column in manifest.columns], manifest.data):
        for name, path in product((n for n in names if n in known), files):
            if not all(
                pc.all(known[name].holds(values), min_count=0).as_py() for values in arrays_of(folder / path, name)
            ):
                return [("values", False, f"{path} has a value of {name!r} that is not of its domain in the manifest")]
    return [("values", True, f"those of {len(known)} columns are of their domains")] if known else []


def columns_problem(at: Callable[[str], Path], manifest: "Manifest") -> str:
    """The first file that has other columns than its table in the manifest, if any."""
    kinds = {column.name: column.type for column in manifest.columns}
    for names, files in manifest.form.layout(list(kinds), manifest.data):
        listed = {name: kinds[name] for name in names if name in kinds}
        for path in files:
            held = {field.name: str(field.type) for field in schema_of(at(path), path)}
            if held != listed or len(listed) != len(names):
                return _difference(path, held, listed)
    return ""


def _difference(path: str, held: dict[str, str], listed: dict[str, str]) -> str:
    """The first column in which they differ."""
    for name in dict.fromkeys([*listed, *held]):
        if held.get(name) != listed.get(name):
            has = f"the type {held[name][:60]!r}" if name in held else "no such column"
            says = f"says {listed[name][:60]!r}" if name in listed else "does not list it"
            return f"column {name[:60]!r}: {path} has {has}, and the manifest {says}"
    return f"{path} has other columns than its table in the manifest"
