"""The systems to compare with: what each promises, and that its estimator estimates."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from forged import restated
from naming import publish_openly
from scipy import sparse

import scumble
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError, QueryError, SchemaError
from scumble.engines.duckdb.engine import exact
from scumble.mechanisms.alpha_beta.plan import AlphaBeta
from scumble.mechanisms.anatomy.plan import Anatomy, anatomize, buckets, suppressed
from scumble.mechanisms.frapp.plan import Frapp
from scumble.mechanisms.frapp.terms import terms_of
from scumble.release.release import Release
from scumble.release.verify import verify


@pytest.mark.parametrize("seed", range(20))
def test_buckets_are_diverse_and_lose_nobody(seed: int) -> None:
    """Every bucket has l different values or more, none of them more than twice; at most l - 1 records are left over, one of a value."""
    draw = np.random.default_rng(seed)
    counts, diversity = draw.integers(1, 60, 12), int(draw.integers(2, 6))
    counts = counts - suppressed(counts, diversity)
    assert counts.max() * diversity <= counts.sum()
    _, left = buckets(counts, diversity)
    assert len(left) == len(set(left)) < diversity
    codes = draw.permutation(np.repeat(np.arange(12, dtype=np.uint8), counts))
    found = anatomize(codes, 12, diversity, Entropy.seeded(seed).stream("a"))
    values = found.values.toarray()
    assert (np.count_nonzero(values, axis=1) >= diversity).all()
    assert values.max() == 1
    assert found.posterior <= 1 / diversity
    got = np.zeros_like(values)
    np.add.at(got, (found.bucket, codes), 1)
    assert got.tolist() == values.tolist()
    assert found.values.data.nbytes == 8 * len(codes)  # a cell for each record, however many values there are


def test_suppression_is_the_least_that_makes_a_table_eligible() -> None:
    """One record less of the most frequent value removed, and the table is not eligible; what is eligible loses nothing."""
    for counts, diversity in (([70, 20, 10], 2), ([500, 300, 20, 10, 5], 3), ([9, 9, 9], 3)):
        gone = suppressed(np.array(counts), diversity)
        kept = np.array(counts) - gone
        assert kept.max() * diversity <= kept.sum()
        if gone.any():
            more = kept.copy()
            more[np.argmax(counts)] += 1
            assert more.max() * diversity > more.sum()
    with pytest.raises(ParameterError, match="3 values occur"):
        suppressed(np.array([5, 5, 5, 0]), 4)


def test_anatomy_counts_values_exactly_and_joint_conditions_with_bias() -> None:
    """Without a public condition the estimate is the truth; with one that follows the value it is drawn toward independence."""
    draw = np.random.default_rng(1)
    codes = draw.choice(5, 4000, p=[0.3, 0.25, 0.2, 0.15, 0.1]).astype(np.uint8)
    found = anatomize(codes, 5, 3, Entropy.seeded(1).stream("a"))
    value = np.arange(5) == 1
    assert found.count(np.ones(4000, bool), value)[0] == pytest.approx((codes == 1).sum())
    same = codes == 1
    assert found.count(same, value)[0] < 0.5 * same.sum()
    independent = draw.random(4000) < 0.5
    estimate, error = found.count(independent, value)
    assert abs(estimate - (independent & same).sum()) < 5 * error


def test_anatomys_two_tables_give_its_estimate() -> None:
    """The estimator by SQL over the published tables is the one that is computed from the arrays."""
    draw = np.random.default_rng(9)
    codes = draw.choice(4, 3000, p=[0.6, 0.2, 0.15, 0.05]).astype(np.uint8)
    public = pa.table({"age": draw.integers(20, 60, 3000)})
    found = anatomize(codes, 4, 2, Entropy.seeded(2).stream("a"))
    rows, held = found.tables(public, "disease", pa.array(["flu", "cold", "asthma", "hiv"]))
    assert len(rows) < 3000
    sql = """WITH size AS (SELECT bucket, COUNT(*) AS n FROM rows GROUP BY bucket)
        SELECT SUM(h.count / size.n) FROM rows JOIN held h USING (bucket) JOIN size USING (bucket) WHERE age < 30 AND disease = 'cold'"""
    estimate, _ = found.count(public.column("age").to_numpy() < 30, np.arange(4) == 1)
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        connection.register("held", held)
        assert connection.sql(sql).fetchall()[0][0] == pytest.approx(estimate)


def test_frapp_is_unbiased_and_keeps_less_than_columns_apart() -> None:
    """2,000 rows, 400 publications: the mean is within 5 standard errors, the errors are right within 15%."""
    sizes, gamma = (5, 4), 40.0
    made = Frapp.plan(sizes, gamma)
    apart = [scumble.Channel.from_gamma(m, 5**0.5).retain for m in (50, 14)]
    assert Frapp.plan((50, 14), 5).retention < min(apart) / 4
    assert terms_of(["a", "b"], made.coins, []).guarantees[0].parameters["gamma"] <= gamma * (1 + 1e-9)
    draw = np.random.default_rng(2)
    a = draw.integers(0, 5, 2000).astype(np.uint8)
    b = (a % 4).astype(np.uint8)
    sets = [np.arange(5) < 2, np.arange(4) == 1]
    condition = np.arange(2000) % 2 == 0
    truth = int((condition & sets[0][a] & sets[1][b]).sum())
    answers = [made.count(made.publish([a, b], Entropy.seeded(s).stream("f")), sets, condition) for s in range(400)]
    values, errors = np.array(answers).T
    assert abs(values.mean() - truth) < 5 * values.std() / 20
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(values.std(), rel=0.15)
    with pytest.raises(ParameterError, match="cross product has"):
        Frapp.plan([100_000, 100_000], 5)


@pytest.mark.slow
def test_alpha_beta_is_unbiased_and_its_odds_are_gamma() -> None:
    """300 publications of 500 tuples of 10,000: unbiased, errors right within 15%, and (alpha + beta) / beta is the bound."""
    made = AlphaBeta.plan([100, 100], 0.1, 0.5)
    assert (made.alpha + made.beta) / made.beta == pytest.approx(9)
    tuples = np.sort(np.random.default_rng(3).permutation(10_000)[:500])
    truth = int((tuples < 4000).sum())
    answers = [
        made.count(made.publish(tuples, Entropy.seeded(s).stream("ab")), lambda t: t < 4000, 4000) for s in range(300)
    ]
    values, errors = np.array(answers).T
    assert abs(values.mean() - truth) < 5 * values.std() / np.sqrt(300)
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(values.std(), rel=0.2)
    published = made.publish(tuples, Entropy.seeded(1).stream("ab"))
    assert len(np.unique(published)) == len(published)
    with pytest.raises(ParameterError, match="occurs twice"):
        made.publish(np.array([1, 1]), Entropy.seeded(1).stream("ab"))


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    draw = np.random.default_rng(9)
    names = np.array(["flu", "cold", "asthma", "hiv"])
    return pa.table(
        {"age": draw.integers(20, 60, 3000), "disease": names[draw.choice(4, 3000, p=[0.6, 0.2, 0.15, 0.05])]}
    )


def anatomy(table: pa.Table, **more: Any) -> scumble.Release:
    domains = {"disease": ["flu", "cold", "asthma", "hiv"]}
    return publish_openly(
        table, sensitive=["disease"], domains=domains, mechanism="anatomy", settings={"l": 2}, seed=1, **more
    )


def test_anatomy_on_disk_has_two_tables_that_verify(patients: pa.Table) -> None:
    """Every bucket has as many rows as values, half of one value at most; a forged l is found out."""
    release = anatomy(patients)
    assert release.table("rows").column_names == ["age", "bucket"]
    assert release.table("values").column_names == ["bucket", "disease", "count"]
    assert release.manifest.rows == len(release.table("rows")) < 3000
    assert all(check.passed for check in verify(release))
    form = release.manifest.form.model_copy(update={"diversity": 3})
    forged = Release(release.path, release.manifest.model_copy(update={"form": form}))
    assert {check.name for check in verify(forged) if not check.passed} == {
        "buckets",
        "explore.html",
        "guarantee",
        "taken from the data",
    }
    assert "JOIN 'values.parquet'" in (release.path / "README.md").read_text()
    assert release.unique_rows() == 0


@pytest.mark.slow
def test_anatomy_answers_by_its_own_estimator(patients: pa.Table) -> None:
    """Value and error by SQL are those of the arrays; values alone are exact."""
    release = anatomy(patients)
    rows, held = release.table("rows"), release.table("values")
    names = pa.array(["flu", "cold", "asthma", "hiv"])
    table = np.zeros((rows["bucket"].to_numpy().max() + 1, 4), dtype=np.int64)
    table[held["bucket"].to_numpy(), pc.index_in(held["disease"], names).to_numpy()] = held["count"].to_numpy()
    same = Anatomy(2, rows["bucket"].to_numpy(), sparse.csr_array(table))
    found = release.query("SELECT COUNT(*) AS n FROM release WHERE age < 30 AND disease = 'cold'")["n"]
    expected = same.count(rows["age"].to_numpy() < 30, np.arange(4) == 1)
    assert (found.value[0], found.se[0]) == pytest.approx(expected)
    by = release.query("SELECT disease, COUNT(*) AS n FROM release GROUP BY disease ORDER BY n DESC LIMIT 3")
    truth = pc.sum(pc.equal(patients["disease"], "cold")).as_py()
    assert {row["disease"]: (row["n"], row["n_se"]) for row in by.to_list()}["cold"] == (pytest.approx(truth), 0)
    assert release.query("SELECT COUNT(*) AS n FROM release WHERE age > 99")["n"].value.tolist() == [0]
    with pytest.raises(QueryError, match="answers COUNT"):
        release.query("SELECT AVG(age) AS a FROM release")


def test_anatomy_refuses_what_it_cannot_keep(patients: pa.Table) -> None:
    """A target, and a name that it needs itself."""
    with pytest.raises(ParameterError, match="given by l"):
        anatomy(patients, gamma=5)
    with pytest.raises(SchemaError, match="that anatomy adds"):
        anatomy(patients.rename_columns(["Bucket", "disease"]))


def frapp(table: pa.Table, seed: int = 1, **more: Any) -> scumble.Release:
    domains = {"disease": ["flu", "cold", "asthma", "hiv"], "sex": ["F", "M"]}
    return publish_openly(
        table, sensitive=["disease", "sex"], domains=domains, mechanism="frapp", **{"gamma": 30, **more}, seed=seed
    )


@pytest.fixture(scope="module")
def both(patients: pa.Table) -> pa.Table:
    """The sex follows the disease, but not quite."""
    odd = np.random.default_rng(3).random(3000) < 0.2
    return patients.append_column(
        "sex", pa.array(np.where(pc.equal(patients["disease"], "flu").to_numpy() ^ odd, "F", "M"))
    )


def test_frapp_on_disk_verifies_and_is_checked_as_one_channel(both: pa.Table) -> None:
    """Both columns have the retention of the product, (29 / 37); a forged gamma is found out."""
    release = frapp(both)
    assert release.manifest.view.joint == ["disease", "sex"]
    retained = [c.channel.retain for c in release.manifest.columns if c.channel]
    assert retained == pytest.approx([29 / 37] * 2, rel=1e-6)
    assert all(check.passed for check in verify(release))
    (given,) = release.manifest.guarantees
    assert given.parameters["gamma"] <= 30
    assert "gamma = 29.9 for joint_amplification" in restated(release, gamma=29.9).doubts[0]
    assert "all kept, or all replaced" in (release.path / "README.md").read_text()


@pytest.mark.slow
def test_frapp_answers_are_unbiased_with_right_errors(both: pa.Table) -> None:
    """Over 60 publications, two columns with a public condition, in groups: within 5 standard errors, which are right within 30%."""
    sql = (
        "SELECT sex, COUNT(*) AS n FROM release WHERE disease IN ('flu', 'hiv') AND age < 40 GROUP BY sex ORDER BY sex"
    )
    answers = [frapp(both, seed).query(sql)["n"] for seed in range(60)]
    values, errors = np.array([a.value for a in answers]), np.array([a.se for a in answers])
    frame = both.to_pandas()
    chosen = frame[frame.disease.isin(["flu", "hiv"]) & (frame.age < 40)]
    truth = chosen.groupby("sex").size().to_numpy()
    assert (np.abs(values.mean(axis=0) - truth) < 5 * values.std(axis=0) / 60**0.5).all()
    assert np.sqrt((errors**2).mean(axis=0)) == pytest.approx(values.std(axis=0), rel=0.3)


def test_frapp_by_sql_is_its_own_estimator_and_answers_more(both: pa.Table) -> None:
    release = frapp(both)
    rows = release.table()
    codes = [pc.index_in(rows[n], release.manifest.domains[n].values).to_numpy() for n in ("disease", "sex")]
    sets = [np.arange(4) == 1, np.arange(2) == 0]
    expected = Frapp.plan((4, 2), 30).count(codes, sets, rows["age"].to_numpy() < 30)
    found = release.query("SELECT COUNT(*) AS n FROM release WHERE age < 30 AND disease = 'cold' AND sex = 'F'")["n"]
    assert (found.value[0], found.se[0]) == pytest.approx(expected, rel=1e-6)
    assert release.query("SELECT AVG(age) AS a FROM release WHERE sex = 'F'")["a"].value[0] > 20
    for sql in (
        "SELECT COUNT(*) AS n FROM release WHERE (age < 30 OR disease = 'cold') AND sex = 'F'",
        "SELECT AVG(age) AS n FROM release WHERE sex = 'F' AND disease = 'flu'",
    ):  # within six standard errors of the truth: 2e-9 of a false alarm each
        answer, truth = release.query(sql)["n"], exact(sql, both).column("n")[0].as_py()
        assert abs(answer.value[0] - truth) < 6 * answer.se[0]
    with pytest.raises(SchemaError, match="two sensitive columns"):
        publish_openly(both, sensitive=["sex"], domains={"sex": ["F", "M"]}, mechanism="frapp", gamma=5)


@pytest.mark.slow
def test_alpha_beta_on_disk_verifies_and_answers() -> None:
    """40 publications of 600 tuples of 10,000: counts in groups are unbiased, and a forged alpha is found out."""
    places = np.random.default_rng(5).permutation(10_000)[:600]
    table = pa.table({"age": places // 100, "score": places % 100})
    domains = {"age": {"low": 0, "high": 99}, "score": {"low": 0, "high": 99}}
    common: dict[str, Any] = {"mechanism": "alpha_beta", "rho1": 0.1, "rho2": 0.5}
    releases = [
        publish_openly(table, sensitive=["age", "score"], domains=domains, seed=seed, **common) for seed in range(40)
    ]
    assert all(check.passed for check in verify(releases[0]))
    sql = "SELECT COUNT(*) AS n FROM release WHERE age < 40 AND score >= age"
    found = [release.query(sql)["n"] for release in releases]
    values, errors = np.array([(f.value[0], f.se[0]) for f in found]).T
    truth = int(((places // 100 < 40) & (places % 100 >= places // 100)).sum())
    assert abs(values.mean() - truth) < 5 * values.std() / 40**0.5
    assert np.sqrt((errors**2).mean()) == pytest.approx(values.std(), rel=0.4)
    assert len(releases[0].query("SELECT age, COUNT(*) AS n FROM release GROUP BY age")) == 100
    assert "made up" in (releases[0].path / "README.md").read_text()
    assert "beta = 0.01 for tuple_membership" in restated(releases[0], beta=0.01).doubts[0]
    with pytest.raises(SchemaError, match="whole domain"):
        publish_openly(table, sensitive=["age"], domains={"age": domains["age"]}, **common)
    with pytest.raises(ParameterError, match="occurs twice"):
        publish_openly(pa.concat_tables([table, table]), sensitive=["age", "score"], domains=domains, **common)
