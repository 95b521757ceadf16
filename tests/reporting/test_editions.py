"""The two editions: what each says, what the external one refuses, and what neither may contain."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from markupsafe import escape
from naming import plan_openly, publish_openly
from reporting.reported import KINDS, made

import scumble
from scumble.auditing import audit
from scumble.core.errors import ParameterError, ReleaseError, SchemaError
from scumble.mechanisms import REGISTRY, find_mechanism
from scumble.reporting import report

pytestmark = pytest.mark.slow

OUTSIDE = re.compile(
    r"""(?:src|href|action|data|poster|srcset)\s*=\s*["'](?!#|data:)|url\(|@import|https?://|<script|<iframe|javascript:""",
    re.I,
)
"""Whatever would make a browser fetch or run something."""


def plain(page: str) -> str:
    """The words of a page."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def page(tmp_path: Path, kind: str, *, internal: bool = False) -> str:
    release, raw = made(kind)
    return report(release, tmp_path / "report.html", raw=raw if internal else None).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "internal"),
    [*((kind, True) for kind in KINDS), *((kind, False) for kind in ("partitioned", "noisy_counts"))],
)
def test_every_mechanism_has_a_sound_page(tmp_path: Path, kind: str, internal: bool) -> None:
    """Every section stands there or says why not, nothing is fetched, and no number is missing or not a number."""
    text = page(tmp_path, kind, internal=internal)
    found = plain(text)
    assert not OUTSIDE.search(text)
    for anchor in re.findall(r'href="#([\w-]+)"', text):
        assert f'id="{anchor}"' in text, anchor
    assert len(re.findall(r"<h2 ", text)) >= 12
    assert not re.search(r"\b(nan|None|inf)\b", found), re.search(r".{60}\b(nan|None|inf)\b.{40}", found)
    assert ("Internal edition" in found) is internal
    release, _ = made(kind)
    assert release.manifest.digest in found
    assert all(" ".join(line.split(": ", 1)[-1].split())[1:] in found for line in release.manifest.not_covered)
    assert text.count('role="img"') == text.count("<figure>") * 2, (
        "each figure is drawn for wide and for narrow screens"
    )
    assert len(text) < 1_000_000


def test_there_are_words_for_every_mechanism() -> None:
    assert all(find_mechanism(name).words.plain for name in REGISTRY)


def test_the_summary_says_what_the_publisher_chose(tmp_path: Path) -> None:
    found = plain(page(tmp_path, "rho"))
    assert "Whoever believed something about a row's disease with 1/13 believes it with at most 1/6" in found
    assert "1/13 → 1/6" in found
    assert "× 2.4" in found
    assert "1/13 (chosen) 16.7%" in found
    assert "Recomputed from the manifest's own channels" in found
    assert "Differential privacy, local model." in found
    assert "Do not publish this release" not in found


def test_a_seeded_release_is_not_to_be_published(tmp_path: Path) -> None:
    assert "Do not publish this release." in plain(page(tmp_path, "swapped"))


def test_the_truth_is_in_the_internal_edition_alone(tmp_path: Path) -> None:
    """The true counts stand beside the estimates in one, and nowhere in the other."""
    _, raw = made("rho")
    counts = {str(v["values"]): v["counts"] for v in raw.column("disease").value_counts().to_pylist()}
    inside, outside = (plain(page(tmp_path, "rho", internal=each)) for each in (True, False))
    for value, n in counts.items():
        rows = [
            f"{value} {line}"
            for line in re.findall(rf"\b{value} ([\d,]+ -?[\d,]+ -?[\d,]+ to -?[\d,]+ [\d,]+)", inside)
        ]
        assert any(line.endswith(f" {n:,}") for line in rows), value
    assert "Truth" not in outside
    assert "Risk before and after" not in outside
    assert "Not for publication" in inside


@pytest.mark.slow
def test_other_mechanisms_are_compared_where_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By two publications of each in the place of three: the words of the page are looked at, not its numbers."""
    monkeypatch.setattr("scumble.reporting.sections.mechanisms.REPETITIONS", 2)
    release, raw = made("swapped")
    found = plain(report(release, tmp_path / "r.html", raw=raw, compare=True).read_text())
    assert "Other mechanisms at the same privacy" in found
    assert all(name in found for name in ("uniform", "identity", "swapped"))
    assert "Other mechanisms" not in plain(page(tmp_path, "swapped", internal=True))
    with pytest.raises(ParameterError, match="compared on the raw table"):
        report(release, tmp_path / "r.html", compare=True)


def test_the_external_edition_refuses_the_raw_table(tmp_path: Path) -> None:
    release, raw = made("rho")
    with pytest.raises(ParameterError, match="made from the release alone"):
        report(release, tmp_path / "report.html", raw=raw, external=True)
    assert not list(tmp_path.iterdir())
    assert "External edition" in report(release, tmp_path / "report.html", external=True).read_text()


def test_no_edition_is_written_into_the_release(tmp_path: Path) -> None:
    _, raw = made("rho")
    release = publish_openly(
        raw, tmp_path / "a.release", sensitive="disease", domain_from_data=True, retain=0.5, seed=1
    )
    before = sorted((tmp_path / "a.release").iterdir())
    for given in (raw, None):
        with pytest.raises(ParameterError, match="outside of the release's folder"):
            report(release, tmp_path / "a.release" / "report.html", raw=given)
    assert sorted((tmp_path / "a.release").iterdir()) == before


def test_another_table_is_refused(tmp_path: Path) -> None:
    release, raw = made("rho")
    with pytest.raises(SchemaError, match="no column 'sex', which the release has"):
        report(release, tmp_path / "r.html", raw=raw.drop(["sex"]))
    with pytest.raises(ReleaseError, match=r"1,000 rows and the release 1,500"):
        report(release, tmp_path / "r.html", raw=raw.slice(0, 1000))
    assert not list(tmp_path.iterdir())


def test_neither_edition_tells_seed_key_or_source(tmp_path: Path) -> None:
    """A secret place, a key and an id column: none of their names or bytes is on the page."""
    _, raw = made("rho")
    place = tmp_path / "secretfolder"
    place.mkdir()
    table = raw.append_column("person", pa.array([f"id{i}" for i in range(raw.num_rows)]))
    pa.csv.write_csv(table, place / "hiddenname.csv")
    (place / "k.key").write_bytes(b"0123456789abcdef" * 4)
    release = publish_openly(
        place / "hiddenname.csv", tmp_path / "a.release", sensitive="disease", domains={"disease": KINDS["rho"][2]["domains"]["disease"]}, retain=0.5,
        key=place / "k.key", id="person",
    )  # fmt: skip
    for given in (None, place / "hiddenname.csv"):
        text = report(release, tmp_path / "r.html", raw=given).read_text()
        for secret in ("secretfolder", "hiddenname", "0123456789abcdef", str(tmp_path), "id17", "k.key"):
            assert secret not in text


def test_a_csv_is_read_as_it_was_published(tmp_path: Path) -> None:
    """Post codes that look like numbers were published as text; the truth beside them is theirs."""
    _, raw = made("rho")
    table = raw.append_column("zip", pa.array([f"{i % 4:05d}" for i in range(raw.num_rows)]))
    pa.csv.write_csv(table, tmp_path / "t.csv")
    release = publish_openly(
        tmp_path / "t.csv", sensitive="disease", drop=["age"], text="zip", domain_from_data=True, retain=0.8, seed=1
    )
    assert "00003" in report(release, tmp_path / "r.html", raw=tmp_path / "t.csv").read_text()


def test_sub_tables_stand_at_the_posterior_that_they_promise(tmp_path: Path) -> None:
    """The shares within sub-tables are not the table's: the frontier takes what the manifest states."""
    release, _ = made("partitioned")
    stated = release.manifest.guarantees[0].parameters["largest_posterior"]
    found = re.search(r"this release \(partitioned\) ([\d.]+)%", plain(page(tmp_path, "partitioned")))
    assert found is not None
    assert float(found[1]) == pytest.approx(100 * stated, abs=0.06)


def test_the_truth_beside_suppressed_counts_says_that_it_has_more_rows(tmp_path: Path) -> None:
    found = plain(page(tmp_path, "noisy_counts", internal=True))
    assert "with the rows that were left out: no interval is about them" in found
    assert "intervals hold" not in found


def test_a_wide_domain_shows_its_commonest_values_and_says_what_is_left_out(tmp_path: Path) -> None:
    values = [f"code {i:04d}" for i in range(3000)]
    raw = pa.table({"sex": ["F", "M"] * 3000, "code": values * 2})
    release = publish_openly(raw, sensitive="code", domains={"code": values}, retain=0.9, seed=1)
    text = report(release, tmp_path / "r.html", raw=raw).read_text()
    assert "2,980 more" in plain(text)
    assert len(text) < 500_000


def test_a_release_that_was_changed_has_no_page(tmp_path: Path) -> None:
    _, raw = made("rho")
    publish_openly(raw, tmp_path / "a.release", sensitive="disease", domain_from_data=True, retain=0.5, seed=1)
    pq.write_table(raw, tmp_path / "a.release" / "data.parquet")
    with pytest.raises(ReleaseError, match="was changed"):
        report(tmp_path / "a.release", tmp_path / "r.html")


def test_a_release_without_any_bound_says_so_first(tmp_path: Path) -> None:
    found = plain(page(tmp_path, "identity"))
    assert "Nothing is guaranteed: no bound holds for this release." in found


def test_a_failed_check_stands_in_the_summary(tmp_path: Path) -> None:
    """Rows that never saw a coin, published under the manifest of those that did: the page says that it is broken."""
    release, raw = made("rho")
    folder = tmp_path / "a.release"
    folder.mkdir()
    for name in ("manifest.json", "README.md", "explore.html"):
        (folder / name).write_bytes((release.path / name).read_bytes())
    coarse = raw.set_column(0, "age", pa.array([int(a) // 10 * 10 for a in raw.column("age").to_pylist()]))
    pq.write_table(coarse, folder / "data.parquet")
    found = plain(report(scumble.Release(folder, release.manifest), tmp_path / "r.html").read_text())
    assert re.search(
        r"Integrity broken \d+ of \d+ checks fail: .*?channel of disease.*?\. .*?Do not use this release\.", found
    )


def test_an_attack_on_the_form_of_a_release_stands_in_the_summary(tmp_path: Path) -> None:
    """A file that no manifest lists: a check fails, and the audit finds it all the same."""
    _, raw = made("rho")
    release = publish_openly(
        raw, tmp_path / "a.release", sensitive="disease", domain_from_data=True, retain=0.5, seed=1
    )
    (tmp_path / "a.release" / "notes.csv").write_text("name,disease\nAnna,flu\n")
    broken = [finding.attack for finding in audit(release) if not finding.passed]
    assert broken == ["metadata", "bytes"]
    found = plain(report(release, tmp_path / "r.html").read_text())
    assert re.search(r"Integrity broken .*?2 attacks found what the release should not have: metadata, bytes\.", found)


@pytest.mark.parametrize("kind", ["k_dgs", "noisy_counts"])
def test_inference_is_not_said_to_hold_where_nothing_tried_it(tmp_path: Path, kind: str) -> None:
    """Counted tuples have no perturbed value; that rare ones are left out is about singling out."""
    release, raw = made(kind)
    assert {finding.attack: finding.question for finding in audit(release, raw)}["rare rows"] == "singling out"
    found = plain(page(tmp_path, kind, internal=True))
    assert "Inference not tested No attack was tried: there is no perturbed value to undo." in found


@pytest.mark.parametrize(
    ("kind", "again", "coins"),
    [
        ("rho", "Then with a key", "Coins: operating system"),
        ("swapped", "takes no key", "Coins: seeded"),
        ("k_dgs", "who came or left between them", "No coin was flipped"),
    ],
)
def test_what_is_said_of_coins_and_keys_fits_the_mechanism(tmp_path: Path, kind: str, again: str, coins: str) -> None:
    found = plain(page(tmp_path, kind))
    assert re.search(rf"be published again\? [^?]*{again}", found)
    assert coins in found
    assert ("Coins:" in found) is (kind != "k_dgs")


def test_several_columns_are_compared_at_what_they_tell_together(tmp_path: Path) -> None:
    """Each column's own belief is below the share of the commonest value of the other: no level, while that of both together is one."""
    _, raw = made("uniform")
    both = raw.select(["sex", "disease", "smoker"])
    domains = {"disease": KINDS["rho"][2]["domains"]["disease"], "smoker": [False, True]}
    release = publish_openly(both, sensitive=["disease", "smoker"], domains=domains, gamma=2, seed=3)
    found = plain(report(release, tmp_path / "r.html", raw=both, compare=True).read_text())
    assert "Nothing can be compared" not in found
    assert "The raw table was published 3 times by each mechanism" in found


def test_the_largest_belief_is_the_same_wherever_it_stands(tmp_path: Path) -> None:
    """Of any value in the table of risks and beside the curve; that of the value that gains most is called so."""
    found = plain(page(tmp_path, "rho", internal=True))
    before, after = (
        re.search(pattern, found)
        for pattern in (r"Largest belief in any value of disease 100% ([\d.]+%)", r"this release \(uniform\) ([\d.]+%)")
    )
    assert before is not None
    assert after is not None
    assert before[1] == after[1]
    assert re.search(
        r"Largest belief in disease = \w+ 100% [\d.]+% [\d.]+% without any row; of all values it gains most", found
    )


@pytest.mark.parametrize("kind", ["rho", "uniform", "noisy_counts"])
def test_every_question_that_is_drawn_is_accounted_for(tmp_path: Path, kind: str) -> None:
    """Those of the lines by size, and those that are said to be too few for a line, are all that were asked."""
    found = plain(page(tmp_path, kind, internal=True))
    drawn = re.search(r"(\d+) random counts, asked of the release", found)
    assert drawn is not None
    lines = [int(n) for n in re.findall(r"[\d.]+% to [\d.]+% (\d+) [\d.]+% [\d.]+%", found)]
    rest = re.search(r"(\d+) more questions? (?:is|are) drawn above", found)
    assert sum(lines) + (int(rest[1]) if rest else 0) == int(drawn[1])


def test_the_internal_edition_says_what_public_columns_tell(tmp_path: Path) -> None:
    """The same figures as plan prints; a column that determines another is named so, and names are no markup."""
    _, raw = made("rho")
    draw = np.random.default_rng(1)
    ward = [f"ward of {d}" if draw.random() < 0.9 else "other" for d in raw.column("disease").to_pylist()]
    table = raw.append_column("<b>ward</b>", pa.array(ward)).append_column(
        "smoker", pa.array(np.arange(raw.num_rows) % 3 == 0)
    )
    code = [f"code {value}" for value in table.column("smoker").to_pylist()]
    table = table.append_column("code", pa.array(code))
    domains = {"disease": KINDS["rho"][2]["domains"]["disease"], "smoker": [False, True]}
    how = {"sensitive": ["disease", "smoker"], "domains": domains, "retain": 0.5, "coarsen": {"age": {"bins": 10}}}
    tell, determine = plan_openly(table, **how).dependence
    assert (tell.by, determine.by) == (("<b>ward</b>",), ("code",))
    release = publish_openly(table, tmp_path / "a.release", **how, determined="smoker", seed=1)
    inside, outside = (report(release, tmp_path / "r.html", raw=given).read_text() for given in (table, None))
    assert f"<li>{escape(tell.words)}</li>" in inside
    assert f"<strong>{determine.words}</strong>" in inside
    assert all(str(escape(one.words)) not in outside for one in (tell, determine))
    assert "the other half guessed" not in outside
