"""Each code has its parameters declared, and with these a sentence can be made."""

import pytest

from scumble.privacy import parameters
from scumble.privacy.guarantee import Clause, Guarantee
from scumble.privacy.words import CLAUSES, STATEMENTS

NUMBERS = {"rho1": 0.1, "rho2": 0.5, "gamma": 3.0, "epsilon": 1.1, "l": 2}


def filled(declared: parameters.Declared) -> dict[str, float]:
    """The needed parameters alone."""
    more = [] if declared.prefix is None else [f"{declared.prefix}1"]
    return {name: NUMBERS.get(name, 2.0) for name in [*declared.needed, *more]}


def test_every_kind_of_guarantee_is_declared() -> None:
    assert parameters.GUARANTEES.keys() == STATEMENTS.keys()


def test_every_clause_that_is_made_from_parameters_is_declared() -> None:
    assert parameters.CLAUSES.keys() == {code for code, made in CLAUSES.items() if callable(made)}


@pytest.mark.parametrize("kind", STATEMENTS)
def test_what_is_needed_is_enough_for_the_sentence(kind: str) -> None:
    given = filled(parameters.GUARANTEES[kind])
    assert parameters.GUARANTEES[kind].problem(given) == ""
    assert Guarantee(kind=kind, columns=["a"], parameters=given, conditions=[]).statement


@pytest.mark.parametrize("code", parameters.CLAUSES)
def test_what_is_needed_is_enough_for_the_clause(code: str) -> None:
    kinds = {"column": "a", "ladder": [0.5], "rows": 2, "total": 9, "parts": 2, "l": 2, "epsilon": 0.5, "of": "rows"}
    given = {name: kinds[name] for name in parameters.CLAUSES[code].needed}
    assert Clause.model_validate({"code": code, "parameters": given}).sentence


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_parameter_too_few_or_too_many_is_a_problem(kind: str) -> None:
    declared, given = parameters.GUARANTEES[kind], filled(parameters.GUARANTEES[kind])
    assert "which is none of its kind" in declared.problem({**given, "zeta": 1.0})
    for name in given:
        assert "lacks the parameter" in declared.problem({n: v for n, v in given.items() if n != name})
