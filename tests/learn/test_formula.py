"""Formulas: which terms they come to, and what is refused."""

import pytest

from scumble.core.errors import QueryError
from scumble.learn.formula import parse_formula

COLUMNS = ["y", "a", "b", "c", "hours per week", "capital.gain"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("y ~ a", [(), ("a",)]),
        ("y ~ a + b - 1", [("a",), ("b",)]),
        ("y ~ 0 + a", [("a",)]),
        ("y ~ -1 + a + 1", [(), ("a",)]),
        ("y ~ 1", [()]),
        ("y ~ a:b + b:a", [(), ("a", "b")]),
        ("y ~ a*b*c - a:b:c", [(), ("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")]),
        ("y ~ (a + b):c + a", [(), ("a",), ("a", "c"), ("b", "c")]),
        ("y ~ . - b", [(), ("a",), ("c",), ("hours per week",), ("capital.gain",)]),
        ("y ~ a:a + capital.gain", [(), ("a",), ("capital.gain",)]),
    ],
)
def test_terms_are_those_of_r(text: str, terms: list[tuple[str, ...]]) -> None:
    assert parse_formula(text, COLUMNS).terms == terms


@pytest.mark.parametrize(
    ("atom", "sql", "category", "reference"),
    [
        ("a", '"a"', False, None),
        ("`hours per week`", '"hours per week"', False, None),
        ("C(a)", '"a"', True, None),
        ("C(a, 'x + y')", '"a"', True, "x + y"),
        ("I(a * b + 1)", "a * b + 1", False, None),
        ("log(a)", "ln(a)", False, None),
        ("log10(a)", "log10(a)", False, None),
        ("(a > 3)", "a > 3", False, None),
        (
            "I(CASE WHEN a IN (1, 2) THEN 'few' ELSE 'many' END)",
            "CASE WHEN a IN (1, 2) THEN 'few' ELSE 'many' END",
            False,
            None,
        ),
    ],
)
def test_variables_are_expressions_of_sql(atom: str, sql: str, category: bool, reference: str | None) -> None:
    (variable,) = parse_formula(f"y ~ {atom}", COLUMNS).variables.values()
    assert (variable.sql, variable.category, variable.reference) == (sql, category, reference)


def test_outcomes_may_be_conditions() -> None:
    assert parse_formula("y = 'a ~ b' ~ a", COLUMNS).outcome.sql == "y = 'a ~ b'"
    assert parse_formula("I(y > 3) ~ a", COLUMNS).outcome.sql == "y > 3"
    assert parse_formula("log(y) ~ a", COLUMNS).outcome.sql == "ln(y)"


@pytest.mark.parametrize(
    "text",
    [
        "y",
        "~ a",
        "y ~",
        "y ~ a ~ b",
        "y ~ a ^ 2",
        "y ~ a / b",
        "y ~ a +",
        "y ~ (a",
        "y ~ a b",
        "y ~ a)",
        "y ~ C(a, b, c)",
        "y ~ a - 1 - a",
        "y ~ 'text'",
        3,
    ],
)
def test_what_is_no_formula_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(QueryError):
        parse_formula(text, COLUMNS)
