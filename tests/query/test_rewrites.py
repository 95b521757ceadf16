"""The rules that put a question in published values: each Query -> Query, and what the last did is undone first."""

import numpy as np
import pyarrow as pa

from scumble.query.coarse import Coarse
from scumble.query.estimates import Estimate, Estimates
from scumble.query.model import sql_of
from scumble.query.parse import parse
from scumble.query.rewrites import (
    RULES,
    Recoding,
    coarsened,
    distinct,
    merged,
    on_grid,
    rewritten,
    rounded,
    taken_as_one,
)
from scumble.spec.spec import Coarsen

TENS = Recoding({"age": Coarse("age", Coarsen.model_validate({"bins": 10}), "int64")})
TOWNS = Recoding(merged={"town": {"Ulm": "south", "Bonn": "west"}.get})


def test_the_rules_stand_in_the_order_of_the_design() -> None:
    assert (taken_as_one, coarsened, merged, distinct, rounded, on_grid) == RULES


def test_values_that_were_put_together_are_asked_for_by_the_published_one() -> None:
    query = parse("SELECT COUNT(*) FROM release WHERE town = 'Ulm' AND age > 3", ["age", "town"])
    found = rewritten(query, TOWNS)
    assert found.query.where is not None
    assert sql_of(found.query.where) == '"town" = \'south\' AND "age" > 3'
    assert found.notes == [
        "town: 'Ulm' was published together with others, as 'south'; they are counted all or not at all"
    ]
    assert query.where is not None
    assert sql_of(query.where) == '"town" = \'Ulm\' AND "age" > 3'  # the question itself is as it was


def test_what_a_case_gives_is_no_value_of_the_column() -> None:
    sql = "SELECT SUM(CASE WHEN town = 'Ulm' THEN 1 ELSE 2 END) AS s FROM release WHERE CASE town WHEN 'Bonn' THEN 'Ulm' END = 'Ulm'"
    found = rewritten(parse(sql, ["town"]), TOWNS).query
    (value,) = [sql_of(a.value) for a in found.aggregates if a.value is not None]
    assert value == "CASE WHEN \"town\" = 'south' THEN 1 ELSE 2 END"
    assert found.where is not None
    assert sql_of(found.where) == "CASE \"town\" WHEN 'west' THEN 'Ulm' END = 'Ulm'"


def test_sums_in_steps_are_asked_in_the_middles_and_at_both_ends_which_are_undone() -> None:
    query = parse("SELECT AVG(Age) AS a, COUNT(*) AS n FROM release ORDER BY AVG(age)", ["age"])
    found = rewritten(query, TENS)
    values = [sql_of(a.value) for a in found.query.aggregates if a.value is not None]
    assert values == [f'("age" + CAST({part} AS DOUBLE))' for part in (4.5, 0.0, 9.0)]
    assert found.query.order == query.order
    values_of = {"a": 14.5, "n": 3.0, "scumble lower 0": 10.0, "scumble upper 0": 19.0}
    numbers = {name: np.array([value]) for name, value in values_of.items()}
    names = [output.name for output in found.query.outputs]
    assert names == list(numbers)
    estimates = [Estimate(name, x, x, x, x, "exact") for name, x in numbers.items()]
    answer = found.undo(Estimates(names, pa.table({}), estimates, 0.95, []))
    assert answer.columns == ["a", "n"]
    assert (answer["a"].low[0], answer["a"].value[0], answer["a"].high[0]) == (10, 14.5, 19)
    assert answer["n"].exact


def test_a_question_that_no_rule_is_about_stays_as_it_is() -> None:
    query = parse("SELECT town, COUNT(*) AS n FROM release GROUP BY town", ["age", "town"])
    assert rewritten(query, TENS).query == query
