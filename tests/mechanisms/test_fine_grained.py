"""mechanism = "fine_grain": per-value protection from the spec to the release, and what is refused."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import restated
from naming import publish_openly

import scumble
from scumble.core.channel import replacement_of
from scumble.core.errors import NotEstimable, ParameterError
from scumble.mechanisms.channel_utility import record_utility
from scumble.privacy import posteriors
from scumble.privacy.checks import meets_bounds
from scumble.privacy.guarantee import CONDITIONS
from scumble.release.verify import verify

VALUES = ["cold", "flu", "asthma", "cancer", "sars"]
COUNTS = np.array([4, 4, 3, 2, 1]) * 200
FOUR = {"a": ["1/10", "1/7"], "b": ["1/10", "1/4"], "c": ["1/9", "19/35"], "d": ["1/8", "18/25"]}


def publish(counts: Any = COUNTS, values: list[str] = VALUES, **changes: Any) -> scumble.Release:
    table = pa.table({"sex": ["F", "M"] * (sum(counts) // 2), "disease": np.repeat(values, counts)})
    given: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": values}, "seed": 1} | changes
    return publish_openly(given.pop("table", table), mechanism="fine_grain", **given)


def retention(release: scumble.Release) -> np.ndarray:
    return replacement_of(release.manifest.channels["disease"]).retention


def test_the_worked_figures_come_out_of_a_release() -> None:
    """theta = 3 on (4,4,3,2,1)/14, and four values with their own (rho1, rho2), upward and both ways."""
    kept = retention(publish(settings={"theta": 3}))
    assert kept == pytest.approx([0.5283, 0.5283, 0.5283, 0.2807, 0.1681], abs=5e-5)
    four = np.full(4, 200)
    for breaches, diagonal, utility in [("upward", [1 / 4, 1 / 2, 1 / 2, 1 / 2], 0.4375), ("both", None, 0.34375)]:
        made = publish(four, list("abcd"), settings={"rho": FOUR, "breaches": breaches})
        channel = made.manifest.channels["disease"]
        assert record_utility(channel, four) == pytest.approx(utility, abs=1e-6)
        assert diagonal is None or channel.matrix().diagonal() == pytest.approx(diagonal, abs=1e-6)


def test_downward_is_excluded_only_where_it_is_asked_for() -> None:
    """The papers' counterexample: prior 1/7 on the first value, the rest on the fourth. Upward leaves 0.0769, below rho1 = 0.1; both does not."""
    prior = [1 / 7, 0, 0, 6 / 7]
    upward, both = (
        publish(np.full(4, 200), list("abcd"), settings={"rho": FOUR, "breaches": way}) for way in ("upward", "both")
    )
    assert posteriors(upward.manifest.channels["disease"], prior)[3, 0] == pytest.approx(0.0769, abs=5e-5)
    assert posteriors(both.manifest.channels["disease"], prior)[3, 0] >= 0.1
    assert "upward only" in upward.manifest.guarantees[0].statement
    assert any(line.startswith("Downward") for line in upward.manifest.not_covered)
    assert not any(line.startswith("Downward") for line in both.manifest.not_covered)
    assert restated(upward, downward=1.0).doubts


def test_the_guarantee_fails_for_a_channel_that_keeps_more() -> None:
    release = publish(settings={"theta": 3})
    guarantee = release.manifest.guarantees[0]
    channel = replacement_of(release.manifest.channels["disease"])
    assert meets_bounds([channel], guarantee.bounds, 0)
    assert not meets_bounds([scumble.Channel(channel.retention * 1.001)], guarantee.bounds, 0)
    assert all(check.passed for check in verify(release))


def test_posteriors_of_the_table_are_stated_in_two_digits_outward() -> None:
    """With theta = 3 no posterior passes 3 f under the table's frequencies; the stated extremes hold, and are no more exact than needed."""
    release = publish(settings={"theta": 3})
    table = posteriors(release.manifest.channels["disease"], COUNTS)
    f = COUNTS / COUNTS.sum()
    assert np.all(table <= np.minimum(3 * f, 1) * (1 + 1e-9))
    given = release.manifest.guarantees[0].parameters
    assert table.max() <= given["largest_posterior"] < table.max() + 0.01
    assert table.min() - 0.01 < given["smallest_posterior"] <= table.min()
    assert given["largest_posterior"] == round(given["largest_posterior"], 2)


def test_conditions_follow_what_was_taken_from_the_data() -> None:
    """Weights alike and gammas from the spec: the plan is public, and the attacker may know every other row. Else not."""
    public = publish(gamma=6, settings={"weights": "alike"}).manifest
    assert (public.depends_on_data, (public.guarantees[0].condition_codes or [])[1:]) == ([], CONDITIONS[1:])
    assert "largest_posterior" not in public.guarantees[0].parameters
    taken: list[dict[str, Any]] = [{"gamma": 6}, {"settings": {"theta": 3}}]
    for how in taken:
        private = publish(**how).manifest
        codes = {c.code for g in private.guarantees for c in g.condition_codes or ()}
        assert not {c.code for c in CONDITIONS[1:]} & codes
        assert "once_by_counts" in codes
        assert private.depends_on_data


def test_scores_divide_the_budget() -> None:
    """A value of score 2 has the root of gamma as its factor; one of score 0 has none."""
    bounds = publish(gamma=9, settings={"scores": {"sars": 2, "cold": 0}}).manifest.guarantees[0].bounds
    assert bounds is not None
    assert bounds[0][0] is None
    assert bounds[0][1:] == pytest.approx([9, 9, 9, 3])


def test_the_strictest_of_several_conditions_counts() -> None:
    one = publish(rho1="1/10", rho2="1/2", settings={"rho": {"sars": ["1/10", "1/5"]}})
    two = publish(rho1="1/10", rho2="1/2", settings={"rho": {"sars": [["1/10", "1/5"], ["1/10", "1/4"]]}})
    assert retention(one).tolist() == retention(two).tolist()


def test_several_columns_share_a_target() -> None:
    """Two columns at the root of gamma: the amplification of the row stays within it, and each column's guarantee says it is alone."""
    table = pa.table({"disease": np.repeat(VALUES, COUNTS), "smoker": np.arange(COUNTS.sum()) % 3 == 0})
    release = publish(
        table=table,
        sensitive=["disease", "smoker"],
        domains={"disease": VALUES, "smoker": [False, True]},
        gamma=9,
        settings={},
    )
    odds, _, joint = release.manifest.guarantees
    assert joint.parameters["gamma"] <= 9 * (1 + 1e-9)
    assert odds.bounds is not None
    assert odds.bounds[0] == pytest.approx([3] * 5)
    assert odds.claim().under("alone")
    with pytest.raises(ParameterError, match="'scores' speaks of the values of one column"):
        publish(
            table=table,
            sensitive=["disease", "smoker"],
            domains={"disease": VALUES, "smoker": [False, True]},
            gamma=9,
            settings={"scores": {"sars": 2}},
        )


def test_values_that_are_never_retained_are_refused_by_name_and_a_floor_mends_it() -> None:
    """Two rare values at retention 0: counting one of them is refused, both together is not; with a floor both are estimated."""
    counts = np.array([3000, 2900, 20, 20])
    gammas = {"gamma": 30, "settings": {"scores": {"c": 2.5, "d": 2.5}}}
    with pytest.warns(UserWarning, match=r"\(c, d\) are never retained.*A floor up to"):
        lost = publish(counts, list("abcd"), **gammas)
    assert retention(lost)[2:].tolist() == [0, 0]
    with pytest.raises(NotEstimable, match="'c'"):
        lost.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'c'")
    together = lost.query("SELECT COUNT(*) AS n FROM release WHERE disease IN ('c', 'd')")["n"]
    assert np.isfinite(together.se[0])
    gammas["settings"] = {"scores": {"c": 2.5, "d": 2.5}, "floor": 0.2}
    kept = publish(counts, list("abcd"), **gammas)
    assert retention(kept).min() == pytest.approx(0.2, abs=1e-6)
    assert np.isfinite(kept.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'c'")["n"].se[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gamma": 1}, "gamma must be above 1"),
        ({"retain": 0.5}, "chooses the retention"),
        ({}, "how private is 'cold' of 'disease'"),
        ({"settings": {"theta": 1}}, "theta must be above 1"),
        ({"gamma": 3, "settings": {"theta": 3}}, "theta says how private"),
        ({"gamma": 3, "settings": {"scores": {"sras": 2}}}, "'sras', which is not in the domain.*sars"),
        ({"gamma": 3, "settings": {"scores": {"sars": -1}}}, "a score must be 0 or above; value 'sars'"),
        ({"settings": {"scores": {"sars": 1}}}, "scores divide a privacy target"),
        ({"gamma": 3, "settings": {"rho": {"sars": ["1/4"]}}}, "is a pair"),
        ({"gamma": 3, "settings": {"rho": {"sars": ["1/4", "1/5"]}}}, "rho1"),
        ({"gamma": 3, "settings": {"floor": 0.9}}, "floor must lie between 0 and .* value 'cold'"),
        ({"gamma": 3, "settings": {"breaches": "down"}}, "breaches"),
        ({"counts": [4, 4, 3, 3, 0], "settings": {"theta": 3}}, "value 'sars' has none"),
    ],
)
def test_bad_input_is_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        publish(**changes)
