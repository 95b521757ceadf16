"""The mechanism shaped: common values are drawn more often, every question knows it, and both bounds are derived."""

import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from forged import forged, restated
from naming import plan_openly, publish_openly

import scumble
from scumble.auditing import audit
from scumble.core.coins import Coins
from scumble.core.errors import ParameterError, ReleaseError
from scumble.mechanisms.shaped.plan import ShapedPlan
from scumble.privacy.values import rise
from scumble.privacy.words_of_rows import share_of
from scumble.release.records import ChannelRecord
from scumble.release.terms import compared, terms_of
from scumble.release.verify import verify

ROWS = 4000
TOWNS = [f"town {i:02d}" for i in range(12)]
SHARES = np.array([0.3, 0.2, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.012, 0.007, 0.001])
DOMAINS: dict[str, Any] = {"town": TOWNS, "pay": {"low": 0, "high": 9}}
HOW: dict[str, Any] = {"mechanism": "shaped", "rho2": "1/4", "gamma": 20}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw = np.random.default_rng(7)
    return pa.table(
        {
            "sex": draw.choice(["F", "M"], ROWS),
            "town": draw.choice(TOWNS, ROWS, p=SHARES / SHARES.sum()),
            "pay": draw.binomial(9, 0.3, ROWS),
        }
    )


@pytest.fixture(scope="module")
def release(people: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> scumble.Release:
    table = people.select(["sex", "town"])
    out = tmp_path_factory.mktemp("shaped") / "r"
    return publish_openly(table, out, sensitive="town", domains={"town": TOWNS}, seed=1, **HOW)


def shares_of(people: pa.Table) -> Any:
    return np.bincount([TOWNS.index(town) for town in people.column("town").to_pylist()], minlength=12) / ROWS


def planned(table: pa.Table, **how: Any) -> ShapedPlan:
    plan = plan_openly(table, **{**HOW, **how}).plan
    assert isinstance(plan, ShapedPlan)
    return plan


def test_nobody_who_knows_the_shares_believes_more_than_rho2(people: pa.Table, release: scumble.Release) -> None:
    """Exactly, from the channel as it is applied; a town that is commoner before is the one that is not protected."""
    channel, f = release.manifest.channels["town"], shares_of(people)
    after = channel.posteriors(f)
    protected = f < 0.25
    assert protected.tolist() == [False] + [True] * 11
    assert after[:, protected].max() <= 0.25
    assert after[:, protected].max() > 0.249
    assert 19.99 < channel.amplification <= 20


def test_the_factors_of_values_are_derived(people: pa.Table, release: scumble.Release) -> None:
    """Those of the coins, exactly; the share that follows from each is the table's, rounded up, or what gamma hides."""
    value, anything = terms_of(release.manifest).guarantees
    (bounds,) = value.bounds or []
    channel = release.manifest.channels["town"]
    f = shares_of(people)
    assert bounds[0] is None
    assert bounds[1:] == pytest.approx(rise(channel)[1:], rel=1e-12)  # type: ignore[arg-type]
    told = np.array([share_of(float(bound), 0.25) for bound in bounds[1:] if bound is not None])
    hidden = share_of(20, 0.25)
    np.testing.assert_allclose(told, np.maximum(f[1:], hidden), rtol=0.006)
    assert np.all(told >= f[1:])
    assert "believes it with at most 0.25 after seeing the published town" in value.statement
    assert anything.parameters["gamma"] == pytest.approx(float(anything.parameters["gamma"]))
    assert compared(release.manifest, terms_of(release.manifest)).problems == []
    assert [clause.code for clause in release.manifest.depends_on_data_codes or []] == ["replacements_tell"]


def test_public_frequencies_take_nothing_from_the_data(people: pa.Table) -> None:
    """And coins may then be known by whoever knows all other rows: nothing of the table is in them."""
    known = {"town": {town: float(share) for town, share in zip(TOWNS, SHARES / SHARES.sum(), strict=True)}}
    table = people.select(["sex", "town"])
    made = publish_openly(
        table, sensitive="town", domains={"town": TOWNS}, settings={"frequencies": known}, seed=1, **HOW
    )
    assert made.manifest.depends_on_data_codes == []
    assert terms_of(made.manifest).guarantees[0].under("knows_all_others")
    other = publish_openly(
        table.slice(0, 50), sensitive="town", domains={"town": TOWNS}, settings={"frequencies": known}, seed=1, **HOW
    )
    assert other.manifest.column("town") == made.manifest.column("town")


def test_values_that_are_not_named_share_what_is_left(people: pa.Table) -> None:
    one = planned(
        people.select(["sex", "town"]),
        sensitive="town",
        domains={"town": TOWNS},
        settings={"frequencies": {"town": {"town 00": 0.12}}},
    )
    lots = one.replacing["town"].lots
    assert lots is not None
    assert len(set(lots[1:].tolist())) <= 2
    assert lots[0] > lots[1]


def test_digits_hide_counts(people: pa.Table) -> None:
    """With two digits the coins are the same for tables that differ by a few rows; without rounding they are not."""
    table = people.select(["sex", "town"])
    for digits, same in ((1, True), (None, False)):
        how = {"sensitive": "town", "domains": {"town": TOWNS}, "settings": {"digits": digits}}
        one, two = (planned(rows, **how).replacing["town"] for rows in (table, table.slice(1)))
        assert (one.spelling == two.spelling) == same


def test_single_values_can_have_pairs(people: pa.Table) -> None:
    """A town believed with at most 1/10 is believed with at most 1/8: its odds rise by 9/7 at most, and by 20 without."""
    table = people.select(["sex", "town"])
    plan = planned(table, sensitive="town", domains={"town": TOWNS}, settings={"rho": {"town 11": ["1/10", "1/8"]}})
    assert rise(plan.replacing["town"].channel())[11] == pytest.approx(9 / 7, rel=1e-6)


def test_a_retention_each_is_more_exact_where_it_is_asked_for(people: pa.Table) -> None:
    """Relative errors of rare towns count: their sum of squares falls by a quarter and more, under the same factors."""
    table, n = people.select(["sex", "town"]), ROWS * shares_of(people)
    how: dict[str, Any] = {"sensitive": "town", "domains": {"town": TOWNS}}
    one = planned(table, **how).replacing["town"]
    each = planned(table, settings={"objective": "error", "weights": "relative"}, **how).replacing["town"]

    def squares(coins: Coins) -> float:
        return sum(n @ coins.channel().variance(own) / n[i] ** 2 for i, own in enumerate(np.eye(12)))

    assert squares(each) < 0.75 * squares(one)
    pairs = zip(each.rises()[1:], one.rises()[1:], strict=True)
    assert all(float(a) <= float(b) * (1 + 1e-6) for a, b in pairs)
    assert each.amplification <= 20
    sets = planned(
        table, settings={"objective": "error", "weights": "alike", "workload": [["town 10", "town 11"]]}, **how
    ).replacing["town"]
    rare = np.arange(12) > 9
    assert n @ sets.channel().variance(rare) < 0.9 * (n @ one.channel().variance(rare))


def test_answers_are_sums_of_weights(release: scumble.Release) -> None:
    channel = release.manifest.channels["town"]
    published = np.array([TOWNS.index(town) for town in release.table().column("town").to_pylist()])
    women = np.array(release.table().column("sex").to_pylist()) == "F"
    for i, line in enumerate(release.query("SELECT town, COUNT(*) AS n FROM release WHERE sex = 'F' GROUP BY town")):
        w = np.linalg.solve(channel.matrix().T, np.eye(12)[i])[published][women]
        assert line["n"] == pytest.approx(w.sum(), rel=1e-9)
        assert line["n_se"] == pytest.approx(np.sqrt((w**2 - w).sum()), rel=1e-6)


@pytest.mark.slow
def test_intervals_hold_the_truth(people: pa.Table) -> None:
    """60 publications of 12 counts: 720 intervals, at least 91% (5 standard errors below 95%: false alarm below 1e-6)."""
    table, n, held = people.select(["sex", "town"]), np.rint(ROWS * shares_of(people)), 0
    for seed in range(60):
        made = publish_openly(table, sensitive="town", domains={"town": TOWNS}, seed=seed, **HOW)
        for i, line in enumerate(made.query("SELECT town, COUNT(*) AS n FROM release GROUP BY town")):
            held += line["n_low"] <= n[i] <= line["n_high"]
    assert held / 720 > 0.91


def test_the_readme_computes_what_scumble_does(release: scumble.Release) -> None:
    text = (release.path / "README.md").read_text(encoding="utf-8")
    sql = re.search(r"```sql\n(.*?)```", text, re.DOTALL)
    assert sql is not None
    ((estimate, error),) = duckdb.sql(sql[1].replace("'data.parquet'", f"'{release.path}/data.parquet'")).fetchall()
    (line,) = release.query("SELECT COUNT(*) AS n FROM release WHERE town = 'town 00'")
    assert (estimate, error) == pytest.approx((line["n"], line["n_se"]), rel=1e-9)
    assert "sum over i in S of r_i/p_i" in text
    assert "`lots`[i]" in text


def test_several_columns_share_gamma(people: pa.Table, tmp_path: Path) -> None:
    """Each at its root, and each with rho2 for its own published value; the release is sound and withstands its attacks."""
    made = publish_openly(people, tmp_path / "r", sensitive=["town", "pay"], domains=DOMAINS, **HOW)
    factors = [record.coins(record.size).amplification for c in made.manifest.columns for record in c.records]
    assert len(factors) == 2
    assert all(20**0.5 * (1 - 1e-6) < factor <= 20**0.5 for factor in factors)
    kinds = [guarantee.kind for guarantee in terms_of(made.manifest).guarantees]
    assert kinds == ["value_odds", "value_odds", "amplification"]
    assert all(check.passed for check in verify(made))
    assert all(finding.passed for finding in audit(tmp_path / "r", people))


def test_keyed_coins_do_not_depend_on_the_order_of_the_domain(people: pa.Table) -> None:
    ids = people.select(["town"]).append_column("id", pa.array(range(ROWS)))
    known = {"town": {town: float(share) for town, share in zip(TOWNS, SHARES / SHARES.sum(), strict=True)}}
    how: dict[str, Any] = {
        "sensitive": "town",
        "key": bytes(range(32)),
        "id": "id",
        "settings": {"frequencies": known},
        **HOW,
    }
    one, two = (publish_openly(ids, domains={"town": towns}, **how) for towns in (TOWNS, TOWNS[::-1]))
    assert sorted(one.table().column("town").to_pylist()) == sorted(two.table().column("town").to_pylist())
    assert one.manifest.randomness.streams == two.manifest.randomness.streams


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lots": lambda old: [*old[:-1], old[-1] + 1]}, "retention is not the one of its threshold"),
        ({"lots": lambda old: old[:-1]}, "other lots than its values"),
        ({"lots": lambda old: [0, *old[1:-1], old[-1] + old[0]]}, "other lots than its values"),
        ({"lots": lambda old: None}, "lots where they are given"),
        ({"replace": lambda old: "uniform"}, "lots where they are given"),
        ({"replace": lambda old: "uniform", "lots": lambda old: None}, "threshold"),
        ({"lots": lambda old: [lot << 40 for lot in old]}, "other lots than its values"),
    ],
)
def test_changed_lots_are_refused(changes: dict[str, Any], words: str, release: scumble.Release) -> None:
    column = release.manifest.columns[1]
    record = column.records[0]
    assert isinstance(record, ChannelRecord)
    update = {name: change(getattr(record, name)) for name, change in changes.items()}
    other = column.model_copy(update={"channel": record.model_copy(update=update)})
    with pytest.raises(ReleaseError, match=words):
        terms_of(forged(release, columns=[release.manifest.columns[0], other]).manifest)


def test_lots_that_hide_less_than_is_claimed_show(release: scumble.Release) -> None:
    """Fewer lots for a value: its odds rise by more than the factor that the manifest claims for it."""
    column = release.manifest.columns[1]
    record = column.records[0]
    assert isinstance(record, ChannelRecord)
    assert record.lots is not None
    lots = [record.lots[0] + 1000, record.lots[1] - 1000, *record.lots[2:]]
    other = column.model_copy(update={"channel": record.model_copy(update={"lots": lots})})
    manifest = forged(release, columns=[release.manifest.columns[0], other]).manifest
    assert compared(manifest, terms_of(manifest)).problems


def test_a_smaller_belief_than_published_counts_show_fails(people: pa.Table) -> None:
    """100,000 rows: with the town of 20% published as often as it is, nobody's largest belief was 5% (false alarm 1e-9, by the check itself)."""
    table = pa.concat_tables([people.select(["town"])] * 25)
    made = publish_openly(table, sensitive="town", domains={"town": TOWNS}, seed=1, **HOW)
    for stated, refuted in ((0.25, False), (0.05, True)):
        failed = [
            check.name
            for check in verify(restated(made, 0, largest_posterior=stated, smallest_posterior=0))
            if not check.passed
        ]
        assert ("largest belief about town" in failed) == refuted


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"gamma": None}, "shaped bounds two things"),
        ({"rho2": None}, "shaped bounds two things"),
        ({"epsilon": 1}, "shaped bounds two things"),
        ({"rho2": "1/1000"}, "no value of 'town' is below rho2"),
        ({"settings": {"frequencies": {"twn": {}}}}, "which is no sensitive column"),
        ({"settings": {"frequencies": {"town": {"Rome": 0.1}}}}, "'Rome', which is not in the domain"),
        ({"settings": {"frequencies": {"town": {"town 00": 1.2}}}}, "shares of 1"),
        ({"settings": {"rho": {"town 00": ["1/2"]}}}, r"is a pair \[rho1, rho2\]"),
        ({"settings": {"workload": [["Rome"]], "objective": "error"}}, "'Rome', which is not in the domain"),
        ({"settings": {"rho": {"town 00": ["1/3", "1/2"]}}, "sensitive": ["town", "sex"]}, "the values of one column"),
    ],
)
def test_what_cannot_be_planned_is_refused(how: dict[str, Any], words: str, people: pa.Table) -> None:
    named = how.get("sensitive", ["town"])
    domains = {name: {"town": TOWNS, "sex": ["F", "M"]}[name] for name in named}
    given: dict[str, Any] = {"sensitive": named, "domains": domains, **HOW, **how}
    with pytest.raises(ParameterError, match=words):
        plan_openly(people, **{name: value for name, value in given.items() if value is not None})


def test_a_common_value_is_named(people: pa.Table) -> None:
    plan = planned(people.select(["sex", "town"]), sensitive="town", domains={"town": TOWNS})
    assert any("(town 00) are commoner than rho2" in warning for warning in plan.warnings)
