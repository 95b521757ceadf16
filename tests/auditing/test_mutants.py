"""Mutants of the publishing code: every edit fits the code as it is, and some of them are caught. `make mutants` has them all."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

MUTANTS: dict[str, Any] = import_module("mutants.catalogue").MUTANTS
SOURCE = Path(__file__).parents[2] / "src" / "scumble"

SOME = (
    "a threshold a quarter too large",
    "the keystream begins anew in each batch",
    "joint coins, one for each column",
    "buckets filled in the order of the source",
    "the first person of a box speaks for it",
)


@pytest.mark.parametrize("name", MUTANTS)
def test_every_edit_fits_the_code_as_it_is(name: str) -> None:
    """The text stands once in the module, and what comes of it is Python."""
    mutant = MUTANTS[name]
    text = (SOURCE / f"{mutant.module.replace('.', '/')}.py").read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    compile(text.replace(mutant.old, mutant.new), mutant.module, "exec", dont_inherit=True)


def test_there_are_forty_and_more_that_have_to_be_caught() -> None:
    assert sum(not mutant.survives for mutant in MUTANTS.values()) > 40
    assert {mutant.subject for mutant in MUTANTS.values()} <= set(import_module("mutants.subjects").SUBJECTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_a_mutant_is_caught(name: str) -> None:
    mutant = MUTANTS[name]
    assert import_module("mutants.outcome").outcome(mutant, mutant.subject).caught


@pytest.mark.slow
def test_rows_that_were_not_drawn_make_no_sound_release_broken() -> None:
    """The raw table has all rows of a person, the release one of each."""
    made = import_module("mutants.outcome").outcome(None, "persons")
    assert not made.caught, (made.refused, made.failed, made.broken)
