"""Perturbed generalization, from table to answer: groups of k, the odds that it promises, and the law of its estimates."""

import datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naming import publish_openly

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError, QueryError, ScumbleError
from scumble.forms.boxes.checks import checks
from scumble.forms.boxes.record import BoxesRecord
from scumble.mechanisms.perturbed_generalization.mondrian import grouped
from scumble.mechanisms.perturbed_generalization.plan import generalize
from scumble.privacy.checks import meets_rho
from scumble.privacy.guarantee import sampled_gamma
from scumble.release.verify import verify

VALUES = ["flu", "cold", "gout", "mumps"]
ROWS = 3000
PUBLICATIONS = 50


def table(rows: int = ROWS) -> pa.Table:
    """Whole numbers, other numbers, days, text with missing values, truth values; the disease does not depend on them."""
    draw = np.random.default_rng(4)
    wards = np.array(["north", "south", "west", None], dtype=object)[draw.integers(0, 4, rows)]
    return pa.table(
        {
            "age": draw.integers(0, 90, rows),
            "cost": draw.random(rows) * 100,
            "day": pa.array(np.datetime64("2020-01-01") + draw.integers(0, 100, rows)),
            "ward": pa.array(wards.tolist(), pa.string()),
            "smoker": draw.random(rows) < 0.3,
            "disease": np.array(VALUES)[draw.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])],
        }
    )


def publish(rows: Any = None, out: Path | None = None, **how: Any) -> Any:
    given = {"settings": {"k": 5}, "gamma": 4, "seed": 1, "domains": {"disease": VALUES}} | how
    raw = table() if rows is None else rows
    return publish_openly(raw, out, sensitive="disease", mechanism="perturbed_generalization", **given)


def asked(sql: str, **tables: pa.Table) -> list[tuple[Any, ...]]:
    """A question asked of tables in memory."""
    with duckdb.connect() as connection:
        for name, each in tables.items():
            connection.register(name, each)
        return connection.sql(sql).fetchall()


@pytest.fixture(scope="module")
def release() -> Any:
    return publish()


@pytest.fixture(scope="module")
def releases() -> list[Any]:
    """Publications of one table."""
    raw = table()
    return [publish(raw, seed=seed) for seed in range(PUBLICATIONS)]


@pytest.mark.parametrize("k", [1, 5, 40])
def test_groups_have_k_rows_and_cannot_be_halved(k: int) -> None:
    """No row is lost, and in no group of 2k rows or more does any column have a cut at its median that leaves k on both sides."""
    draw = np.random.default_rng(3)
    ranks = np.column_stack([draw.integers(0, 60, 900), draw.integers(0, 2, 900), np.repeat(0, 900)])
    rows, sizes = grouped(ranks, k)
    assert sorted(rows.tolist()) == list(range(900))
    assert sizes.min() >= k
    for group in np.split(rows, np.cumsum(sizes)[:-1]):
        for column in ranks[group].T:
            median = np.sort(column)[(len(column) - 1) // 2]
            upper = column > min(median, column.max() - 1)
            assert min(upper.sum(), len(group) - upper.sum()) < k


def test_the_widest_column_is_measured_by_its_own_span() -> None:
    """A column of 2 values is halved before one of 100,000 of which the group has few left."""
    ranks = np.array([[0, 0], [1, 10], [0, 20], [1, 30], [0, 100_000], [1, 99_990], [0, 99_980], [1, 99_970]])
    rows, sizes = grouped(ranks, 2)
    assert sizes.tolist() == [2, 2, 2, 2]
    assert all(len({int(ranks[r, 0]) for r in group}) == 1 for group in np.split(rows, 4))


def test_odds_change_by_no_more_than_is_promised() -> None:
    """All values of the others in a group of 3, by exact enumeration: the largest likelihood ratio is 1 + (gamma - 1) / 3, and is reached."""
    channel = Coins.of(Channel.from_gamma(3, 1 + 3 * (2.5 - 1))).channel().matrix()
    worst = max(
        (channel[y, x] + channel[y, a] + channel[y, b]) / (channel[y, z] + channel[y, a] + channel[y, b])
        for y in range(3)
        for x in range(3)
        for z in range(3)
        for a in range(3)
        for b in range(3)
    )
    assert worst == pytest.approx(2.5, rel=1e-6)
    assert worst <= 2.5


@pytest.mark.slow
def test_the_row_of_a_group_is_drawn_alike() -> None:
    """4,000 draws from a group of four rows of different values that are kept: each is drawn 1,000 times, within 5.5 deviations (1e-7)."""
    coins = Coins.of(Channel(1 - 1e-9, size=4))
    ranks, codes = np.zeros((4, 1), np.int64), np.arange(4, dtype=np.uint8)
    drawn = [generalize(ranks, codes, coins, 4, Entropy.seeded(s).stream("g")).value[0] for s in range(4000)]
    assert (abs(np.bincount(drawn, minlength=4) - 1000) < 5.5 * np.sqrt(750)).all()


@pytest.mark.slow
def test_what_is_published(release: Any) -> None:
    """Every box holds as many rows of the table as it says, and shows their ends and sets; the manifest says what each column is."""
    roles = {c.name: (c.role, c.of) for c in release.manifest.columns}
    assert roles["age_low"] == ("low", "age")
    assert roles["day_high"] == ("high", "day")
    assert (roles["ward"], roles["smoker"], roles["group_rows"]) == (("set", None), ("set", None), ("size", None))
    boxes = release.table()
    assert boxes.num_rows == release.manifest.rows
    held = asked(
        """SELECT b.group_rows, COUNT(*) AS n FROM boxes b JOIN raw r ON r.age BETWEEN age_low AND age_high AND r.cost BETWEEN cost_low AND cost_high
        AND r.day BETWEEN day_low AND day_high AND len(list_filter(b.ward, lambda w: w IS NOT DISTINCT FROM r.ward)) = 1
        AND list_contains(b.smoker, r.smoker) GROUP BY b.group_rows, b.age_low, b.cost_low, b.day_low, b.ward, b.smoker""",
        boxes=boxes,
        raw=table(),
    )
    assert len(held) == boxes.num_rows
    assert all(size == count >= 5 for size, count in held)
    assert all(check.passed for check in verify(release))
    readme = (release.path / "README.md").read_text()
    assert "the smallest age of the group" in readme
    (by_hand,) = asked(readme.split("```sql")[1].split("```")[0].replace("'data.parquet'", "boxes"), boxes=boxes)
    ours = release.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'flu'")["n"]
    assert by_hand[0] == pytest.approx(ours.value[0])
    assert by_hand[1] == pytest.approx(ours.se[0], rel=0.01)


@pytest.mark.parametrize(
    "condition",
    [
        "disease = 'cold'",
        "age < 45 AND disease IN ('cold', 'gout')",
        "(ward = 'north' OR ward IS NULL) AND cost > 50 AND disease = 'cold'",
        "day >= DATE '2020-02-15' AND smoker AND disease <> 'flu'",
    ],
)
@pytest.mark.slow
def test_estimates_are_unbiased_and_their_errors_right(releases: list[Any], condition: str) -> None:
    """50 publications of 3,000 rows that lie evenly: the mean is the truth within 5 of its standard errors (false alarm 1e-6) and 5% for what boxes cut; the
    stated errors are the true ones within what 50 can tell, 0.7 to 1.45 times (1e-5)."""
    truth = asked(f"SELECT COUNT(*) FROM raw WHERE {condition}", raw=table())[0][0]
    found = [each.query(f"SELECT COUNT(*) AS n FROM release WHERE {condition}")["n"] for each in releases]
    values, errors = np.array([(each.value[0], each.se[0]) for each in found]).T
    cut = 0.05 * truth if "AND" in condition else 0
    assert abs(values.mean() - truth) < 5 * values.std() / PUBLICATIONS**0.5 + cut
    assert 0.7 < np.sqrt((errors**2).mean()) / values.std() < 1.45


def test_no_estimate_is_certain_because_few_groups_drew_the_same_value() -> None:
    """Twelve groups, asked by parts of their boxes: where all that overlap drew another value, the coins alone still make an error."""
    answer = publish(table(60)).query(
        "SELECT ward, smoker, disease, COUNT(*) AS n FROM release GROUP BY ward, smoker, disease"
    )["n"]
    assert (answer.value < 0).any()
    assert (answer.se > 0.1).all()


@pytest.mark.slow
def test_conditions_are_parts_of_boxes(release: Any) -> None:
    """Without the sensitive column nothing is random: counts are the sums of the parts of the boxes, and conditions that share a column are taken together."""
    boxes = release.table()
    ages = "GREATEST(0, LEAST(age_high, 39) - age_low + 1) / (age_high - age_low + 1)"
    smokers = "list_contains(smoker, TRUE)::INT / len(smoker)"
    by_hand = asked(f"SELECT SUM(group_rows * {ages} * {smokers}) FROM boxes", boxes=boxes)[0][0]

    def ask(where: str) -> float:
        return float(release.query(f"SELECT COUNT(*) AS n FROM release WHERE {where}")["n"].value[0])

    assert ask("age < 40 AND smoker") == pytest.approx(by_hand)
    assert ask("age < 40") + ask("age >= 40") == pytest.approx(ROWS)
    assert ask("age < 40 AND age >= 40") == 0
    assert ask("age < 40 OR smoker") == pytest.approx(ask("age < 40") + ask("smoker") - by_hand)
    assert ask("1 = 1") == ROWS
    assert ask("age > 1000") == ask("disease = 'plague'") == 0
    whole = release.query("SELECT ward, COUNT(*) AS n FROM release GROUP BY ward")
    assert len(whole) == 4
    assert whole["n"].value.sum() == pytest.approx(ROWS)
    crossed = release.query("SELECT disease, smoker, COUNT(*) AS n FROM release GROUP BY disease, smoker")
    assert len(crossed) == 8
    assert crossed["n"].value.sum() == pytest.approx(ROWS)
    assert "evenly" in whole.notes[0]
    assert not release.query("SELECT COUNT(*) AS n FROM release").notes


def test_times_and_wide_ranges_are_taken_at_points() -> None:
    """A range of a million whole numbers and one of times: half of each is half of the rows, within what 512 points can tell."""
    draw = np.random.default_rng(5)
    start = datetime.datetime(2020, 1, 1)
    seconds = np.append(draw.integers(0, 1000, 98), [0, 1000]).tolist()
    raw = pa.table(
        {
            "income": np.append(draw.integers(0, 1_000_000, 98), [0, 1_000_000]),
            "at": [start + datetime.timedelta(seconds=s) for s in seconds],
            "disease": np.array(VALUES)[draw.integers(0, 4, 100)],
        }
    )
    made = publish(raw, settings={"k": 60})
    for where in ("income < 500000", "\"at\" < TIMESTAMP '2020-01-01 00:08:20'"):
        value = made.query(f"SELECT COUNT(*) AS n FROM release WHERE {where}")["n"].value[0]
        assert value == pytest.approx(50, abs=0.2)


def test_a_group_below_k_and_a_channel_that_keeps_more_are_found(release: Any, tmp_path: Path) -> None:
    """The check of groups looks at the rows, that of the guarantee at the channel: each fails when its part is wrong."""
    rows = release.table()
    small = rows.set_column(rows.schema.get_field_index("group_rows"), "group_rows", pa.array([4] * len(rows)))
    pq.write_table(small, tmp_path / "data.parquet")
    found = {name: passed for name, passed, _ in checks(tmp_path, release.manifest)}
    assert not found["groups"]
    turned = rows.rename_columns([{"age_low": "age_high", "age_high": "age_low"}.get(n, n) for n in rows.column_names])
    pq.write_table(turned, tmp_path / "data.parquet")
    assert not {name: passed for name, passed, _ in checks(tmp_path, release.manifest)}["groups"]
    asked = publish(gamma=None, rho1="1/5", rho2="1/2").manifest
    more = Coins.of(Channel(asked.channels["disease"].retain * 1.01, size=4)).amplification
    kept = Coins.of(asked.channels["disease"]).amplification
    assert isinstance(asked.form, BoxesRecord)
    assert meets_rho(sampled_gamma(kept, asked.form.k), {"rho1": 0.2, "rho2": 0.5})
    assert not meets_rho(sampled_gamma(more, asked.form.k), {"rho1": 0.2, "rho2": 0.5})


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"settings": {}}, "'k' is missing"),
        ({"settings": {"k": 1}}, "greater than or equal to 2"),
        ({"settings": {"k": 4000}}, "3,000 rows, and a group has k = 4,000"),
        ({"gamma": 1}, "gamma"),
        ({"gamma": None}, "say how private"),
        ({"key": b"k" * 32, "id": "age"}, "coins by key"),
        ({"rows": table().select(["disease"])}, "there are none; make a column public"),
        ({"rows": table().rename_columns(["age", "age_low", "day", "ward", "smoker", "disease"])}, "'age_low' has the name"),
        ({"rows": table().rename_columns(["age", "GROUP_ROWS", "day", "ward", "smoker", "disease"])}, "rename or drop it"),
        ({"rows": table().set_column(0, "age", pa.array([None, 1] * 1500))}, "'age' has 1,500 rows without a finite"),
        ({"rows": table().set_column(1, "cost", pa.array([np.inf, 1] * 1500))}, "'cost' has 1,500 rows without a finite"),
        ({"rows": table().set_column(1, "cost", pa.array([[1]] * 3000))}, "'cost' has the type list"),
        ({"rows": table(0)}, "no rows"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(how: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ScumbleError, match=words) as error:
        publish(out=tmp_path / "r", **how)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT AVG(age) AS a FROM release", "answers COUNT"),
        ("SELECT COUNT(*) AS n FROM release WHERE age > 5 OR disease = 'flu'", "ask for them by AND"),
        ("SELECT COUNT(*) AS n FROM release WHERE age_low > 5", "'age_low' is not in the release"),
        ("SELECT COUNT(*) AS n FROM release WHERE age > 'x'", "'age' holds numbers, and 'x' is not one"),
        ("SELECT COUNT(*) AS n FROM release WHERE nonsense(age) > 1", "nonsense.. cannot be answered"),
    ],
)
def test_questions_that_cannot_be_answered(release: Any, sql: str, words: str) -> None:
    with pytest.raises(QueryError, match=words):
        release.query(sql)


def test_other_methods_and_levels_are_refused(release: Any) -> None:
    with pytest.raises(ParameterError, match="by the method unbiased"):
        release.query("SELECT COUNT(*) AS n FROM release", method="likelihood")
    with pytest.raises(ParameterError, match="level"):
        release.query("SELECT COUNT(*) AS n FROM release", level=95)


BASELINES: dict[str, dict[str, Any]] = {
    "anatomy": {"settings": {"l": 2}},
    "frapp": {"gamma": 3},
    "alpha_beta": {"rho1": "1/10", "rho2": "1/2"},
    "perturbed_generalization": {"settings": {"k": 5}, "gamma": 3},
}


@pytest.mark.parametrize("mechanism", BASELINES)
def test_no_baseline_takes_a_key(mechanism: str, tmp_path: Path) -> None:
    """They deal, draw or combine anew at every publication: coins of single values by key mean nothing there, and nothing is written."""
    raw = pa.table(
        {"id": np.arange(200), "a": ["x", "y"] * 100, "b": ["u", "v", "u", "v"] * 50, "age": np.arange(200) % 90}
    )
    both = mechanism in ("frapp", "alpha_beta")
    roles = {"sensitive": ["a", "b"], "drop": ["age"]} if both else {"sensitive": ["a"], "drop": ["b"]}
    domains = {"a": ["x", "y"]} | ({"b": ["u", "v"]} if both else {})
    with pytest.raises(ParameterError, match="coins by key are for") as error:
        publish_openly(
            raw, tmp_path / "r", mechanism=mechanism, key=b"k" * 32, id="id", domains=domains, **roles, **BASELINES[mechanism]
        )  # fmt: skip
    assert mechanism in str(error.value)
    assert not list(tmp_path.iterdir())
