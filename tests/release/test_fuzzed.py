"""Some of the cases of `tests/fuzzing` that are about releases: nothing that a stranger wrote breaks a reader. All of them: make fuzz."""

from pathlib import Path

import pytest
from fuzzing.manifests import manifest_case, releases
from fuzzing.parquets import parquet_case

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return releases(tmp_path_factory.mktemp("kept"))


def test_manifests_that_were_changed_at_random_break_nobody(kept: dict[str, Path]) -> None:
    assert [problem for case in range(100) if (problem := manifest_case(kept, case))] == []


def test_files_that_were_broken_at_random_break_nobody(kept: dict[str, Path]) -> None:
    cases = [parquet_case(kept, case, audited=case % 10 == 0) for case in range(50)]
    assert [problem for problem in cases if problem] == []
