"""The algebra of the query layer against a direct, dense computation; and what it refuses."""

import itertools
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.core.channel import replacement_of
from scumble.core.errors import NotEstimable, ParameterError, QueryError
from scumble.query.parse import parse
from scumble.query.totals import compile_totals

ATOMS = {
    "disease = 'flu'": lambda t: t["disease"] == "flu",
    "disease IN ('cold', 'hiv')": lambda t: np.isin(t["disease"], ["cold", "hiv"]),
    "disease LIKE '%a%'": lambda t: np.char.find(t["disease"].astype(str), "a") >= 0,
    "smoker": lambda t: t["smoker"],
    "visits >= 4": lambda t: t["visits"] >= 4,
    "visits BETWEEN 2 AND 7": lambda t: (t["visits"] >= 2) & (t["visits"] <= 7),
    "sex = 'F'": lambda t: t["sex"] == "F",
    "age < 40": lambda t: t["age"] < 40,
}
Node = tuple[str, Callable[[dict[str, np.ndarray]], np.ndarray]]


def combine(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    def negated(a: Node) -> Node:
        return f"NOT ({a[0]})", lambda t: ~a[1](t)

    def joined(word: str, a: Node, b: Node) -> Node:
        if word == "AND":
            return f"({a[0]} AND {b[0]})", lambda t: a[1](t) & b[1](t)
        return f"({a[0]} OR {b[0]})", lambda t: a[1](t) | b[1](t)

    return st.builds(negated, children) | st.builds(joined, st.sampled_from(["AND", "OR"]), children, children)


conditions = st.recursive(st.sampled_from(list(ATOMS.items())), combine, max_leaves=5)


class Dense:
    """MATHS section 2, row by row, with dense inverses and all true states enumerated."""

    def __init__(self, release: scumble.Release) -> None:
        table = release.table()
        self.rows = {name: np.array(table.column(name).to_pylist()) for name in table.column_names}
        self.n = table.num_rows
        domains = {"disease": np.array(DISEASES), "smoker": np.array([False, True]), "visits": np.arange(11)}
        self.states = list(itertools.product(range(5), range(2), range(11)))
        self.values = {name: domains[name][[s[i] for s in self.states]] for i, name in enumerate(domains)}
        self.factor = np.ones((len(self.states), self.n))
        for i, (name, values) in enumerate(domains.items()):
            inverse = np.linalg.inv(release.manifest.channels[name].matrix())
            place = np.array([list(values).index(v) for v in self.rows[name]])
            self.factor *= inverse[[s[i] for s in self.states]][:, place]

    def weights(self, h: Callable[[dict[str, np.ndarray]], np.ndarray]) -> np.ndarray:
        """The weight of every row for a function of the true state and the row's public values."""
        total = np.zeros(self.n)
        for k in range(len(self.states)):
            state = {name: np.broadcast_to(v[k], self.n) for name, v in self.values.items()}
            total += h({**self.rows, **state}) * self.factor[k]
        return total


@pytest.fixture(scope="module")
def small(patients: pa.Table) -> scumble.Release:
    return publish_openly(
        patients.slice(0, 400),
        sensitive=["disease", "smoker", "visits"],
        drop="name",
        domains={"disease": DISEASES, "smoker": [False, True], "visits": {"low": 0, "high": 10}},
        retain={"disease": 0.5, "smoker": 0.6, "visits": 0.7},
        seed=4,
    )


@pytest.fixture(scope="module")
def dense(small: scumble.Release) -> Dense:
    return Dense(small)


@settings(max_examples=40)
@given(condition=conditions)
@pytest.mark.slow
def test_any_boolean_expression_equals_the_dense_computation(
    condition: Node, small: scumble.Release, dense: Dense
) -> None:
    text, holds = condition
    answer = small.query(f"SELECT COUNT(*) AS n, SUM(cost) AS s, SUM(visits) AS v FROM release WHERE {text}")
    w = dense.weights(lambda t: holds(t).astype(float))
    assert answer["n"].value[0] == pytest.approx(w.sum(), abs=1e-6)
    if not w.any() and np.isnan(answer["s"].value[0]):
        return  # the sum of nobody is null
    assert answer["s"].value[0] == pytest.approx((w * dense.rows["cost"]).sum(), abs=1e-4)
    v = dense.weights(lambda t: holds(t) * t["visits"].astype(float))
    squares = dense.weights(lambda t: holds(t) * t["visits"].astype(float) ** 2)
    assert answer["v"].value[0] == pytest.approx(v.sum(), abs=1e-6)
    expected = (w**2 - w).sum()
    if expected > 1:
        assert answer["n"].se[0] >= np.sqrt(expected) - 1e-6
    assert answer["v"].se[0] == pytest.approx(np.sqrt(max((v**2 - squares).sum(), 0)), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "condition", ["smoker", "disease <> 'hiv' OR visits > 6", "(disease = 'flu' AND sex = 'F') OR visits < 3"]
)
def test_grouping_by_a_perturbed_column_equals_asking_for_each_value(condition: str, small: scumble.Release) -> None:
    grouped = small.query(
        f"SELECT disease, COUNT(*) AS n, AVG(cost) AS c, SUM(visits) AS v FROM release WHERE {condition} GROUP BY disease"
    )
    for i, disease in enumerate(DISEASES):
        single = small.query(
            f"SELECT COUNT(*) AS n, AVG(cost) AS c, SUM(visits) AS v FROM release WHERE ({condition}) AND disease = '{disease}'"
        )
        for name in ("n", "c", "v"):
            assert grouped[name].value[i] == pytest.approx(single[name].value[0], rel=1e-9, abs=1e-7)
            assert grouped[name].se[i] == pytest.approx(single[name].se[0], rel=1e-7, abs=1e-7)


def test_grouping_by_two_perturbed_columns_and_summing_one_of_them(small: scumble.Release) -> None:
    answer = small.query(
        "SELECT smoker, visits, COUNT(*) AS n, SUM(visits) AS v, AVG(visits) AS m FROM release GROUP BY smoker, visits"
    )
    assert len(answer) == 22
    visits = np.array(answer.groups.column("visits").to_pylist())
    assert np.allclose(answer["v"].value, answer["n"].value * visits)
    assert np.allclose(answer["m"].value, visits)


def test_groups_add_up_to_the_whole(release: scumble.Release) -> None:
    parts = release.query("SELECT sex, disease, smoker, COUNT(*) AS n FROM release GROUP BY sex, disease, smoker")
    assert parts["n"].value.sum() == pytest.approx(3000)
    assert len(parts) == 20


def test_public_questions_are_exact_and_say_so(release: scumble.Release, patients: pa.Table) -> None:
    answer = release.query(
        "SELECT sex, COUNT(*) AS n, AVG(cost) AS c, SUM(age) AS a FROM release WHERE age >= 50 GROUP BY sex ORDER BY n DESC"
    )
    frame = (
        patients.to_pandas()
        .query("age >= 50")
        .groupby("sex")
        .agg(n=("cost", "size"), c=("cost", "mean"), a=("age", "sum"))
    )
    frame = frame.sort_values("n", ascending=False)
    for name in ("n", "c", "a"):
        assert np.allclose(answer[name].value, frame[name])
        assert answer[name].method == "exact"
        assert (answer[name].se == 0).all()
        assert np.array_equal(answer[name].low, answer[name].high)
    assert "exact" in str(answer)


def test_empty_and_full_conditions_are_known(release: scumble.Release) -> None:
    """A set that is empty counts 0, one that is everything counts all rows, both without error."""
    empty = release.query("SELECT COUNT(*) AS n FROM release WHERE visits > 99")["n"]
    full = release.query("SELECT COUNT(*) AS n FROM release WHERE visits >= 0")["n"]
    assert (empty.value[0], empty.se[0], empty.low[0], empty.high[0]) == (0, 0, 0, 0)
    assert (full.value[0], full.se[0]) == (3000, 0)


def test_no_published_row_at_all(release: scumble.Release) -> None:
    answer = release.query("SELECT COUNT(*) AS n, SUM(cost) AS s FROM release WHERE age > 1000 AND disease = 'flu'")
    assert answer["n"].value[0] == 0
    nobody = release.query(
        "SELECT COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS c FROM release WHERE age > 1000"
    ).to_list()
    assert nobody == [
        {"n": 0, "n_se": 0, "n_low": 0, "n_high": 0}
        | {f"{a}{s}": None for a in "sc" for s in ("", "_se", "_low", "_high")}
    ]


@pytest.mark.slow
def test_missing_values_follow_sql() -> None:
    """NULL is neither equal to nor different from a value, in perturbed and in public columns."""
    n = 2000
    table = pa.table(
        {"kind": ["a", "b", None, "a"] * (n // 4), "score": [1, None, 3, 4] * (n // 4), "group": ["x", None] * (n // 2)}
    )
    release = publish_openly(
        table,
        sensitive=["kind", "score"],
        domains={"kind": ["a", "b", None], "score": [1, 3, 4, None]},
        retain=0.9999999,
        seed=1,
    )

    def count(condition: str) -> float:
        return float(release.query(f"SELECT COUNT(*) AS n FROM release WHERE {condition}")["n"].value[0])

    for word in ("None", "NULL"):
        (note,) = release.query(f"SELECT COUNT(*) AS n FROM release WHERE kind = '{word}'").notes
        assert note == f"'{word}' is not a value of 'kind'; there are: a, b (and missing: IS NULL)"
    assert count("kind = 'a'") == pytest.approx(1000, abs=1)
    assert count("kind <> 'a'") == pytest.approx(500, abs=1)
    assert count("NOT kind = 'a'") == pytest.approx(500, abs=1)
    assert count("kind IS NULL") == pytest.approx(500, abs=1)
    assert count("kind IS NOT NULL AND score > 1") == pytest.approx(500, abs=1)
    assert count("NOT (kind = 'a' OR \"group\" = 'y')") == pytest.approx(0, abs=1)
    assert count("kind = 'b' OR \"group\" = 'x'") == pytest.approx(1500, abs=1)
    answer = release.query(
        'SELECT COUNT(score) AS n, SUM(score) AS s, AVG(score) AS m, COUNT("group") AS g FROM release'
    ).to_list()[0]
    assert answer["n"] == pytest.approx(1500, abs=1)
    assert answer["s"] == pytest.approx(4000, abs=5)
    assert answer["m"] == pytest.approx(8 / 3, abs=0.01)
    assert answer["g"] == 1000
    kinds = release.query("SELECT kind, COUNT(*) AS n FROM release GROUP BY kind")
    assert kinds.groups.column("kind").to_pylist() == ["a", "b", None]


def test_order_limit_offset_aliases_and_positions(release: scumble.Release) -> None:
    whole = release.query("SELECT disease AS d, COUNT(*) AS n FROM release GROUP BY d ORDER BY n DESC")
    assert list(whole["n"].value) == sorted(whole["n"].value, reverse=True)
    part = release.query("SELECT disease AS d, COUNT(*) AS n FROM release GROUP BY 1 ORDER BY 2 DESC LIMIT 2 OFFSET 1")
    assert np.allclose(part["n"].value, whole["n"].value[1:3])
    ordered = release.query("SELECT disease, COUNT(*) FROM release GROUP BY disease ORDER BY disease")
    assert ordered.groups.column("disease").to_pylist() == sorted(DISEASES)
    decades = release.query("SELECT age // 20 * 20 AS a, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY a")
    assert decades.groups.column("a").to_pylist() == [0, 20, 40, 60, 80]


def test_case_quotes_and_table_prefix_do_not_matter(release: scumble.Release) -> None:
    one = release.query("select count(*) as n from release where Disease = 'flu'")
    two = release.query("SELECT COUNT(*) AS n FROM RELEASE WHERE release.\"disease\" = 'flu'")
    assert one["n"].value[0] == two["n"].value[0]


def test_a_word_outside_the_domain_is_noted(release: scumble.Release) -> None:
    answer = release.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'astma'")
    assert answer["n"].value[0] == 0
    assert "did you mean 'asthma'?" in answer.notes[0]


@pytest.mark.parametrize(
    ("condition", "noted"),
    [
        ("visits BETWEEN 5 AND 99", ["99"]),
        ("visits > -3", ["-3"]),
        ("visits IN (2, 50)", ["50"]),
        ("visits >= 0 AND visits <= 10", []),
    ],
)
def test_a_range_beyond_the_domain_is_cut_with_a_note(
    condition: str, noted: list[str], release: scumble.Release
) -> None:
    answer = release.query(f"SELECT COUNT(*) AS n FROM release WHERE {condition}")
    assert [note.split()[0] for note in answer.notes if "is cut there" in note] == noted
    if "99" in condition:
        assert answer["n"].value == release.query("SELECT COUNT(*) AS n FROM release WHERE visits >= 5")["n"].value


@pytest.mark.parametrize(
    "where",
    [
        "score % 2 = 0",
        "CASE WHEN score < 15 THEN 100 ELSE 200 END = 100",
        "disease < 'm'",
        "disease BETWEEN 'a' AND 'd'",
        "UPPER(disease) = 'FLU'",
        "disease LIKE 'f%'",
    ],
)
def test_numbers_and_words_that_no_value_is_compared_with_are_not_noted(where: str) -> None:
    table = pa.table({"score": list(range(10, 20)) * 20, "disease": ["flu", "cold"] * 100})
    domains = {"score": {"low": 10, "high": 19}, "disease": ["flu", "cold"]}
    asked = publish_openly(table, sensitive=["score", "disease"], domains=domains, retain=0.5, seed=1)
    assert asked.query(f"SELECT COUNT(*) AS n FROM release WHERE {where}").notes == []


def test_few_matching_rows_are_noted(release: scumble.Release) -> None:
    """Not for counts, whose law is known and which cover whatever the number of rows (tests/statistical/test_coverage_of_few.py)."""
    where = "FROM release WHERE disease = 'hiv' AND age = 33 AND sex = 'F'"
    assert "fewer than 10 published rows" in release.query(f"SELECT SUM(cost) AS s {where}").notes[0]
    assert not any("fewer than" in note for note in release.query(f"SELECT COUNT(*) AS n {where}").notes)
    grouped = "FROM release WHERE smoker AND age = 33 AND sex = 'F' GROUP BY disease"
    assert not any("fewer than" in note for note in release.query(f"SELECT disease, COUNT(*) AS n {grouped}").notes)
    assert "fewer than 10 published rows" in release.query(f"SELECT disease, AVG(cost) AS a {grouped}").notes[0]


def test_rows_that_carry_most_of_a_sum_are_noted(publish_simply: Callable[..., scumble.Release]) -> None:
    """Of 25 published rows that match one may be most of the average, and few coins decide which; where costs are alike none is."""
    heavy = np.random.default_rng(7).lognormal(0, 1.5, 400)
    table = pa.table({"disease": ["flu"] * 25 + ["cold"] * 375, "heavy": heavy, "even": np.arange(400) % 5 + 10})
    release = publish_simply(
        table=table, sensitive=["disease"], drop=(), domains={"disease": ["flu", "cold", *"abcdefgh"]}, retain=0.95
    )
    sql = "SELECT AVG({}) AS a FROM release WHERE disease = 'flu'"
    assert "carry most of a sum" in release.query(sql.format("heavy")).notes[0]
    assert release.query(sql.format("even")).notes == []


def test_score_interval_of_the_worked_definition(release: scumble.Release) -> None:
    """Its ends are the k at which the observation is exactly z standard deviations away."""
    answer = release.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'hiv'")["n"]
    p = replacement_of(release.manifest.channels["disease"]).retain
    seen = release.table().column("disease").to_pylist().count("hiv")
    a, b, n, z = p + (1 - p) / 5, (1 - p) / 5, 3000, 1.959963984540054
    for k in (answer.low[0], answer.high[0]):
        assert (seen - k * a - (n - k) * b) ** 2 == pytest.approx(z**2 * (k * a * (1 - a) + (n - k) * b * (1 - b)))
    assert answer.low[0] < answer.value[0] < answer.high[0]


def test_levels_widen_the_interval(release: scumble.Release) -> None:
    sql = "SELECT SUM(cost) AS s FROM release WHERE smoker"
    narrow, wide = (release.query(sql, level=level)["s"] for level in (0.5, "0.99"))
    assert wide.high[0] - wide.low[0] == pytest.approx(2 * 2.5758293 * wide.se[0])
    assert narrow.high[0] - narrow.low[0] < wide.high[0] - wide.low[0]
    for level in (0, 1, "x"):
        with pytest.raises(ParameterError):
            release.query(sql, level=level)
    with pytest.raises(ParameterError, match=r"for 95% write 0\.95"):
        release.query(sql, level=95)


REFUSED = {
    "SELECT COUNT(*) FROM release JOIN other USING (age)": "JOIN",
    "SELECT COUNT(*) FROM release, other": "JOIN",
    "SELECT AVG(n) FROM (SELECT sex, COUNT(*) AS n FROM release GROUP BY sex)": "an aggregate of aggregates",
    "SELECT COUNT(*) FROM (SELECT * FROM release LIMIT 3)": "a sub-query with LIMIT",
    "SELECT COUNT(*) FROM release WHERE age > (SELECT AVG(age) FROM release)": "sub-query",
    "WITH t AS (SELECT 1) SELECT COUNT(*) FROM t": "FROM release",
    "SELECT COUNT(*) FROM release RIGHT JOIN (VALUES ('flu', 1)) AS c(disease, k) USING (disease)": "RIGHT JOIN",
    "SELECT COUNT(*) FROM release JOIN (VALUES ('flu', 1), ('flu', 2)) AS c(disease, k) USING (disease)": "has 'flu' twice",
    "SELECT COUNT(*) FROM patients": "FROM release",
    "SELECT COUNT(*)": "FROM release",
    "SELECT DISTINCT disease FROM release": "which values there are is not published",
    "SELECT COUNT(DISTINCT disease) FROM release": "single rows decide it",
    "SELECT COUNT(*) FROM release WHERE diseas = 'flu'": "did you mean 'disease'",
    "SELECT COUNT(*) FROM release WHERE \"diseas\" = 'flu'": "did you mean 'disease'",
    "SELECT COUNT(*) FROM release WHERE disease = \"flu\"": "a text stands in single quotes: 'flu'",
    "SELECT \"flu\", COUNT(*) FROM release GROUP BY 1": "there are: ",
    " ; ": "the question is empty",
    "SELECT SUM(disease) FROM release": "needs numbers",
    "SELECT COUNT(*) FROM release WHERE visits > age": "constants only",
    "SELECT COUNT(*) FROM release WHERE disease = sex": "constants only",
    "SELECT sex, COUNT(*) FROM release": "GROUP BY",
    "SELECT * FROM release": "SELECT *",
    "SELECT sex FROM release GROUP BY sex": "at least one of COUNT",
    "SELECT MAX(cost) FROM release WHERE smoker": "single rows decide it",
    "SELECT MAX(visits) FROM release": "its possible values are public",
    "SELECT MIN(sex) FROM release": "is no number but",
    "SELECT SUM(DISTINCT age) FROM release": "SUM(DISTINCT x)",
    "SELECT SUM(greatest(visits, age)) FROM release": "columns may be mixed by",
    "SELECT COUNT(*) FROM release GROUP BY visits > 3 AND sex = 'F'": "group by an expression of each apart",
    "SELECT CASE WHEN COUNT(*) > 3 THEN 1 END AS x FROM release": "of aggregates there are",
    "SELECT QUANTILE_CONT(visits, 3) FROM release": "a share from 0 to 1",
    "SELECT AVG(COUNT(*)) OVER () FROM release": "OVER",
    "SELECT COUNT(*) AS n, SUM(cost) AS n FROM release": "called 'n'",
    "SELECT COUNT(*) AS n FROM release ORDER BY cost": "ORDER BY",
    "SELECT COUNT(*) AS n, SUM(cost) AS n_se FROM release": "a column 'n_se' of its own",
    "SELECT COUNT(*) FROM release LIMIT 'x'": "LIMIT",
    "SELECT COUNT(* FROM release": "not valid SQL",
    "DELETE FROM release": "DELETE",
    "SELECT COUNT(*) FROM release; SELECT COUNT(*) FROM release": "one statement",
    "SELECT COUNT(*) FROM release WHERE age = 'x'": "is not one of them",
    "SELECT COUNT(*) FROM release UNION SELECT COUNT(*) FROM release": "UNION",
    "SELECT COUNT(*) FROM release UNION ALL SELECT sex, COUNT(*) FROM release GROUP BY sex": "different numbers of columns",
}  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_what_cannot_be_answered_is_named(sql: str, release: scumble.Release) -> None:
    with pytest.raises(QueryError) as caught:
        release.query(sql)
    assert REFUSED[sql] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_that_is_never_retained_is_not_estimable(publish_simply: Callable[..., scumble.Release]) -> None:
    release = publish_simply(retain=0)
    with pytest.raises(NotEstimable, match="flu"):
        release.query("SELECT disease, COUNT(*) FROM release GROUP BY disease")
    assert release.query("SELECT COUNT(*) AS n FROM release WHERE disease IS NOT NULL")["n"].value[0] == 3000


GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.sql"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_the_statement_is_the_golden_one(path: Path, release: scumble.Release) -> None:
    """First the question, then after a line of dashes the one statement that is run for it."""
    question, statement = (part.strip() for part in path.read_text().split("----"))
    names = [c.name for c in release.manifest.columns]
    compiled = compile_totals(parse(question, names), release.published, release.engine)
    assert compiled.question.statement.sql(dialect="duckdb", pretty=True) == statement


def test_answers_convert_and_print(release: scumble.Release) -> None:
    answer = release.query("SELECT sex, COUNT(*) AS n FROM release WHERE smoker GROUP BY sex")
    assert answer.to_arrow().column_names == ["sex", "n", "n_se", "n_low", "n_high"]
    assert answer.to_pandas().shape == (2, 5)
    assert answer.to_polars().shape == (2, 5)
    assert answer.to_list()[0]["sex"] == "F"
    assert "95% interval" in str(answer)
    assert "<table" in answer._repr_html_()


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("age = 'old'", "column 'age' holds numbers, and 'old' is not one"),
        ("age IN (5, 'old') AND disease = 'flu'", "column 'age' holds numbers, and 'old' is not one"),
        ("age BETWEEN 'a' AND 'b'", "column 'age' holds numbers, and 'a' is not one"),
        ("sex = 1", "column 'sex' holds text, and 1 is a number"),
        ("disease > 5", "column 'disease' holds text, and 5 is a number"),
        ("age LIKE '4%'", "column 'age' holds numbers, and LIKE is for text"),
        ("CAST(sex AS INT) = 1", "column 'sex' holds text, not numbers"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_its_column(
    condition: str, told: str, release: scumble.Release
) -> None:
    with pytest.raises(QueryError) as caught:
        release.query(f"SELECT COUNT(*) AS n FROM release WHERE {condition}")
    assert str(caught.value).startswith(told)
    assert "Error" not in str(caught.value)


def test_text_has_no_sum(release: scumble.Release) -> None:
    with pytest.raises(QueryError, match="column 'sex' holds text, not numbers"):
        release.query("SELECT SUM(sex) AS n FROM release")


def test_notes_are_about_the_lines_that_are_shown(publish_simply: Callable[..., scumble.Release]) -> None:
    """Few published rows match at each age; at the two ages that are asked for by LIMIT, that is said of two."""
    release = publish_simply()
    sql = "SELECT age, SUM(cost) AS c FROM release WHERE disease = 'hiv' GROUP BY age"
    assert "rows match in 2 of 2 rows" in " ".join(release.query(f"{sql} LIMIT 2").notes)
    wide = "SELECT sex, age, SUM(cost) AS c FROM release WHERE disease = 'flu' OR age = 50 GROUP BY sex, age"
    assert release.query(f"{wide} LIMIT 0").notes == []


def test_groups_that_the_condition_excludes_are_no_part_of_the_answer(release: scumble.Release) -> None:
    """As in SQL; a value that may occur is there even where nobody has it."""
    answer = release.query(
        "SELECT disease, sex, COUNT(*) AS n FROM release WHERE disease IN ('flu', 'hiv') AND visits < 3 GROUP BY disease, sex"
    )
    assert {(row["disease"], row["sex"]) for row in answer.groups.to_pylist()} == set(
        itertools.product(["flu", "hiv"], "FM")
    )
    top = release.query("SELECT disease, COUNT(*) AS n FROM release WHERE disease <> 'flu' GROUP BY disease LIMIT 3")
    assert top.groups.column("disease").to_pylist() == ["cold", "asthma", "diabetes"]


@pytest.mark.parametrize(
    "where",
    [
        "(kind = 'p') = (level > 1)",
        "(kind = 'p') <> (paid > 4)",
        "smoker = (level > 1 OR paid > 4)",
        "(kind = 'p' AND level > 1) IS NULL",
        "(kind = 'p' OR paid > 4) IS NOT TRUE",
        "NOT (kind = 'p' OR paid > 4) IS FALSE",
        "CASE WHEN kind = 'p' THEN level > 1 WHEN paid > 4 THEN smoker END",
        "NOT CASE WHEN smoker THEN kind = 'p' ELSE level > 1 END",
        "CASE kind WHEN 'p' THEN level > 1 WHEN 'q' THEN smoker ELSE FALSE END",
        "IF(smoker, kind = 'p', level > 1)",
    ],
)
def test_every_boolean_function_of_conditions_is_answered(where: str) -> None:
    """At a retention of 0.999 an estimate is within a few rows of the truth; one that took NULL for FALSE would be off by hundreds."""
    kinds, levels, smokers, paid = ["p", "q", None], [1, 2, 3, None], [True, False, None], [3, 5, None]
    rows = [(k, x, b, v) for k in kinds for x in levels for b in smokers for v in paid] * 40
    table = pa.table(dict(zip(("kind", "level", "smoker", "paid"), map(list, zip(*rows, strict=True)), strict=True)))
    domains = {"kind": kinds, "level": levels, "smoker": smokers}
    with pytest.warns(UserWarning, match="hardly protected"):
        asked = publish_openly(table, sensitive=list(domains), domains=domains, retain=0.999, seed=1)
    answer = asked.query(f"SELECT COUNT(*) AS n FROM release WHERE {where}").to_list()[0]
    truth = table_count(table, where)
    assert abs(answer["n"] - truth) < 5 * answer["n_se"] + 1e-6 < 50


def table_count(release: pa.Table, where: str) -> int:
    """What DuckDB counts in the raw table."""
    ((count,),) = duckdb.sql(f"SELECT COUNT(*) FROM release WHERE {where}").fetchall()
    return int(count)


@pytest.mark.slow
def test_decimals_are_summed_and_averaged_like_the_same_fractions() -> None:
    """Cents as decimals and as doubles go through the same coins, and give the same answers."""
    cents = np.random.default_rng(6).integers(0, 200, 3000)
    kinds = {"decimal": pa.decimal128(8, 2), "double": pa.float64()}
    sql = "SELECT SUM(price) AS s, AVG(price) AS a, COUNT(*) AS n FROM release WHERE price > 0.5 AND kind = 'x'"
    found = []
    for kind in kinds.values():
        table = pa.table({"price": pa.array(cents / 100).cast(kind), "kind": np.array(["x", "y"])[cents % 2]})
        domains = {"price": {"low": 0, "high": "1.99", "step": "0.01"}, "kind": ["x", "y"]}
        release = publish_openly(table, sensitive=["price", "kind"], domains=domains, retain=0.6, seed=3)
        found.append([release.query(sql, method=method) for method in ("unbiased", "likelihood")])
    for decimal, double in zip(*found, strict=True):
        for name in ("s", "a", "n"):
            np.testing.assert_allclose(decimal[name].value, double[name].value)
            np.testing.assert_allclose(decimal[name].se, double[name].se)
    inside = (cents > 50) & (cents % 2 == 0)
    assert abs(found[0][0]["s"].value[0] - cents[inside].sum() / 100) < 4 * found[0][0]["s"].se[0]
