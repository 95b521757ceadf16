"""What init suggests of persons: a column to count them by, or the question."""

import numpy as np
import pyarrow as pa

from scumble.sources.source import read
from scumble.spec.suggest import role, scan, spec_text


def test_the_identifier_with_the_most_rows_a_value_is_suggested() -> None:
    table = pa.table({"encounter_id": np.arange(200), "patient_nbr": np.arange(200) // 2 + 5_000_000})
    assert '\nperson = "patient_nbr"\n' in spec_text("t.csv", read(table))


def test_without_an_identifier_the_question_is_asked_and_not_answered() -> None:
    text = spec_text("t.csv", read(pa.table({"sex": ["m", "f"] * 30, "disease": ["flu", "cold"] * 30})))
    assert '# No column says it. If each person is one row, say: persons = "one row each"' in text
    assert "\npersons =" not in text


def test_a_short_list_of_codes_is_no_person_whatever_it_is_called() -> None:
    table = pa.table({"admission_type_id": np.arange(400) % 6, "patient_id": np.arange(400) % 150})
    roles = {seen.name: role(seen)[0] for seen in scan(read(table), lambda done, of: None)}
    assert roles == {"admission_type_id": "?", "patient_id": "identifier"}


def test_a_grid_that_rounds_says_so() -> None:
    salary = np.linspace(10_000, 200_000, 300)
    assert "Numbers are rounded to this grid" in spec_text("t.csv", read(pa.table({"salary": salary})))
