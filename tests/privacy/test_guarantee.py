"""What is guaranteed, as a data-protection officer reads it: which promise binds, for whom, and numbers as people write them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import plan_openly, publish_openly
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.channel import Channel
from scumble.privacy.guarantee import breach_guarantee
from scumble.privacy.numerals import at_most
from scumble.reporting.promises import belief, example, headline, sentence

VALUES = ["flu", "cold", "asthma", "hiv"]


def release(out: Path | None = None, **how: Any) -> scumble.Release:
    draw = np.random.default_rng(1)
    rows = {"disease": draw.choice(VALUES, 2000, p=[0.5, 0.3, 0.15, 0.05]), "smoker": draw.choice(["yes", "no"], 2000)}
    given: dict[str, Any] = {"sensitive": "disease", "drop": "smoker", "domains": {"disease": VALUES}, "seed": 1} | how
    return publish_openly(pa.table(rows), out, **given)


BOTH: dict[str, Any] = {
    "sensitive": ["disease", "smoker"],
    "drop": (),
    "domains": {"disease": VALUES, "smoker": ["yes", "no"]},
}
OWN: dict[str, Any] = BOTH | {"rho1": {"disease": "1/13", "smoker": 0.5}, "rho2": {"disease": "1/6", "smoker": 0.8}}


def test_a_promise_that_another_includes_says_so() -> None:
    """Of 4 values a factor of 4 lets 0.1 become 0.308 at most, and 0.95 adds nothing; of 2,000 values at p = 1/2 it does."""
    small = breach_guarantee({"a": Channel.from_gamma(4, 4).retain}, 4, 0.1, 0.95).statement
    assert "The factor above is the stronger promise: by it such a belief becomes at most 0.307693" in small
    large = breach_guarantee({"a": 0.5}, 2001, 0.1, 0.95).statement
    assert "this is the stronger promise: by the factor above alone the belief could become 0.99" in large


def test_probabilities_are_told_as_they_were_given() -> None:
    first, *_ = release(rho1="1/13", rho2="1/6").terms.guarantees
    assert "at most 1/13 is believed with at most 1/6" in first.statement
    assert "at most 0.1 is believed with at most 0.35" in release(rho1=0.1, rho2=0.35).terms.guarantees[0].statement


def test_factors_of_values_and_the_factor_for_anything_say_which_binds() -> None:
    own, anything = release(mechanism="fine_grain", gamma=3, settings={"rho": {"hiv": [0.05, 0.1]}}).terms.guarantees
    assert "single value of it by at most the value's own factor, 2.11112 to 3 (upward only)" in own.statement
    assert (
        "For falling odds and sets of values the factor for anything (below) binds; for a single value the smaller of the two"
        in own.statement
    )
    assert "anything about the true disease by a factor of at most 3 " in anything.statement
    alike, _ = release(mechanism="fine_grain", gamma=3).terms.guarantees
    assert "own factor, 3 for each" in alike.statement
    free, *_ = release(mechanism="fine_grain", settings={"theta": 4}).terms.guarantees
    assert "2 values without a factor of their own" in free.statement
    assert sentence(free).startswith("Seeing the row multiplies the odds of a single protected value of disease")


def test_what_one_column_tells_alone_is_not_said_of_the_row() -> None:
    """Alone a factor of 2.4 and one of 4, together 9.6: the row lets one chance in ten become more than the half."""
    guarantees = release(**OWN).terms.guarantees
    assert sentence(guarantees[0]).endswith("after seeing the row's published disease alone.")
    assert "disease and smoker by a factor of at most 9.6" in headline(guarantees)
    assert example(guarantees, belief(guarantees)) == ("10%", "51.7%")
    shared = release(**BOTH, rho1="1/13", rho2="1/6").terms.guarantees
    assert headline(shared).endswith("with 1/13 believes it with at most 1/6 after seeing the row.")
    assert example(shared, belief(shared)) == ("1/13", "1/6")


@pytest.mark.parametrize(
    ("how", "holder"),
    [
        ({"gamma": 4}, "every attacker, whoever else's row is known"),
        ({"gamma": 4, "mechanism": "fine_grain"}, "every attacker who does not know all other rows"),
        ({"rho1": 0.1, "rho2": 0.5, "mechanism": "swapped"}, "whoever believes the table's own shares"),
    ],
)
def test_a_bound_names_whom_it_holds_for(how: dict[str, Any], holder: str, tmp_path: Path) -> None:
    made = release(tmp_path / "r", **how)
    found = belief(made.terms.guarantees)
    assert found is not None
    assert found.holder == holder
    shown = CliRunner().invoke(app, ["show", str(made.path)]).stdout
    assert f"for {holder}:" in " ".join(shown.split())


def test_beliefs_are_shown_as_far_as_the_guarantee_goes_and_no_further(tmp_path: Path) -> None:
    swapped = release(tmp_path / "s", mechanism="swapped", rho1=0.1, rho2=0.5)
    lines = [line.split() for line in CliRunner().invoke(app, ["show", str(swapped.path)]).stdout.splitlines()]
    assert ["10%", "50%"] in lines
    dealt = release(tmp_path / "p", mechanism="partitioned", rho1=0.2, rho2=0.4)
    assert "believed before" not in CliRunner().invoke(app, ["show", str(dealt.path)]).stdout


@pytest.mark.parametrize(
    ("factor", "text"), [(1000, "1,000"), (1.5e6, "1,500,000"), (2.4, "2.4"), (1234567.8, "1,234,570")]
)
def test_factors_have_no_powers_of_ten(factor: float, text: str) -> None:
    assert at_most(factor) == text


def test_a_warning_has_none_either() -> None:
    (warning,) = plan_openly(
        pa.table({"v": np.arange(2000) % 1000}), sensitive="v", domains={"v": {"low": 0, "high": 999}}, retain=0.6
    ).plan.warnings
    assert "makes the true one 1,501 times as likely as another" in warning
