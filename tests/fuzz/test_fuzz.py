"""Random cases of every kind, the same ones each time; `make fuzz` runs 10,000."""

import warnings
from collections import Counter

import pytest
from fuzz.asked import compared, demand_same, release
from fuzz.kinds import KINDS, FailedCase, run

CHUNKS = 5
QUESTIONS, OTHERS = 600, 500
"""Cases in all."""

EACH = {kind: (QUESTIONS if kind == "questions" else OTHERS // (len(KINDS) - 1)) // CHUNKS for kind in KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_traceback_no_hang_no_wrong_answer(kind: str, chunk: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        outcomes = run(kind, range(chunk * EACH[kind], (chunk + 1) * EACH[kind]))
    assert outcomes.total() == EACH[kind]
    if kind == "questions":
        assert _answered(outcomes) > 0.9, f"random questions are hardly ever answered: {outcomes}"


def _answered(outcomes: Counter[str]) -> float:
    return sum(n for outcome, n in outcomes.items() if outcome.startswith("answered")) / outcomes.total()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_wrong_answer_is_found() -> None:
    """A count that is off by one, and a line too many."""
    sql = "SELECT town, COUNT(*) AS n FROM release GROUP BY town"
    answer = release().query(sql)
    truth = [(line["town"], line["n"]) for line in answer.to_list()]
    demand_same(sql, answer, truth)
    for wrong in ([(truth[0][0], truth[0][1] + 1), *truth[1:]], truth[1:]):
        with pytest.raises(AssertionError):
            demand_same(sql, answer, wrong)


FAILED_ONCE = [
    "SELECT COUNT(age) AS a0, ('dayofweek', day) AS g0 FROM release GROUP BY g0",
    "SELECT age AS g0, STDDEV(grade) AS a0 FROM release WHERE age = price AND (level <> 8) = (smoker <> TRUE) GROUP BY age",
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("sql", FAILED_ONCE)
def test_what_failed_once_is_answered_or_refused(sql: str) -> None:
    assert compared(sql)


def test_a_traceback_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "broken", "fuzz.test_fuzz:_broken")
    with pytest.raises(FailedCase, match=r"python -m fuzz broken 7: KeyError"):
        run("broken", [7])


def _broken(draw: object) -> str:
    raise KeyError("ill")
