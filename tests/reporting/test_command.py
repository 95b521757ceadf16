"""scumble report from the command line: one line for what goes wrong, and a file that is whole or not there."""

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from naming import publish_openly
from reporting.reported import made
from shell import scumble_command

from scumble.reporting import page
from scumble.reporting import report as write_report

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    _, raw = made("rho")
    place = tmp_path_factory.mktemp("report")
    pq.write_table(raw, place / "raw.parquet")
    publish_openly(raw, place / "a.release", sensitive="disease", domain_from_data=True, retain=0.5, seed=1)
    return place


def test_the_command_writes_both_editions(folder: Path) -> None:
    done = scumble_command("report", folder / "a.release", "-o", folder / "out.html")
    assert (done.returncode, "external edition" in done.stdout) == (0, True)
    done = scumble_command("report", folder / "a.release", "--raw", folder / "raw.parquet", "-o", folder / "in.html")
    assert (done.returncode, "not for publication" in done.stdout) == (0, True)
    assert "Truth" in (folder / "in.html").read_text()


def test_the_external_edition_refuses_the_raw_table_in_one_line(folder: Path) -> None:
    done = scumble_command(
        "report", folder / "a.release", "--external", "--raw", folder / "raw.parquet", "-o", folder / "no.html"
    )
    assert done.returncode == 2
    assert done.stderr.startswith("scumble: the external edition is made from the release alone")
    assert len(done.stderr.splitlines()) == 1
    assert not (folder / "no.html").exists()


def test_an_interruption_leaves_the_old_page_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release, _ = made("rho")
    (tmp_path / "r.html").write_text("old")

    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(page, "render", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(release, tmp_path / "r.html", overwrite=True)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("r.html", "old")]


def test_without_the_extra_the_install_line_is_printed(folder: Path) -> None:
    """Both by the command, and by the demonstration, which goes on."""
    code = "import sys; sys.modules['vl_convert'] = None; import scumble.__main__ as m; sys.argv = ['scumble', 'report', sys.argv[1]]; m.main()"
    done = subprocess.run([sys.executable, "-c", code, str(folder / "a.release")], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'scumble[report]'" in done.stderr


def test_the_demonstration_goes_on_without_the_extra(tmp_path: Path) -> None:
    code = "import sys; sys.modules['altair'] = None; from pathlib import Path; from scumble.cli.hospital import run; run(Path(sys.argv[1]), 1000)"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "no report was written: this needs altair" in done.stdout
    assert "pip install 'scumble[report]'" in done.stdout
    assert "explore.html: the page" in done.stdout
    assert "Now try" in done.stdout


def test_progress_is_told_section_by_section(tmp_path: Path) -> None:
    release, _ = made("k_dgs")
    told: list[tuple[int, int | None]] = []
    write_report(release, tmp_path / "r.html", progress=lambda done, of: told.append((done, of)))
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert {of for _, of in told} == {len(page.SECTIONS)}
