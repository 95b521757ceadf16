"""The page's own modules under Node: they come to the same as Python, by the vectors of the protocol, of RFC 9474, and by counting coins."""

import json
import shutil
import subprocess
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from collect.vectors import FILE, channels
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from scipy import stats

from scumble.collect.blind import issuer_text
from scumble.collect.policy import period_of
from scumble.release.records import record_of

NODE = shutil.which("node")
PAGE = Path(str(resources.files("scumble.collect") / "page"))
HERE = Path(__file__).parent
TIMES = 20_000
DRAWN = {"one retention, words of 32 bits": 1, "replacements by lots": 2, "a cyclic design, words of 32 bits": 40}
"""Channels whose codes are counted, and the place of the true answer."""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NODE is None, reason="Node is not installed")]


def issuer() -> tuple[str, dict[str, str]]:
    """The key and the vector of RFC 9474."""
    vector = json.loads((HERE / "blind_rsa.json").read_text())
    n, e = (int(vector[name], 16) for name in "ne")
    return issuer_text(RSAPublicNumbers(e, n).public_key()), vector


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the modules come to, in a folder that says that they are modules."""
    folder = tmp_path_factory.mktemp("modules")
    shutil.copytree(PAGE, folder / "page")
    shutil.copytree(HERE / "page", folder / "tests")
    (folder / "package.json").write_text('{"type": "module"}')
    key, vector = issuer()
    token = {"issuer": key, "message": vector["msg"], "salt": vector["salt"], "inverse": vector["inv"]}
    token["signature"] = vector["blind_sig"]
    draws = [
        {
            "channel": record_of(channels()[name]).model_dump(mode="json", exclude_none=True),
            "place": place,
            "times": TIMES,
        }
        for name, place in DRAWN.items()
    ]
    script = str(folder / "tests" / "node.mjs")
    command = [str(NODE), script, str(folder / "page"), str(FILE), json.dumps(token), json.dumps(draws)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout))


def test_every_vector_of_the_protocol_comes_out(told: dict[str, Any]) -> None:
    assert told["wrong"] == []


def test_a_token_is_blinded_as_the_standard_says(told: dict[str, Any]) -> None:
    _, vector = issuer()
    assert told["token"] == {"sent": vector["blinded_msg"], "signed": vector["sig"], "forged": "refused"}


def test_periods_are_those_of_the_server(told: dict[str, Any]) -> None:
    days = ["2027-05-03", "2026-12-31", "2027-01-03", "2027-01-04", "2028-02-29", "2020-12-28", "2021-01-01"]
    moments = [datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC) for day in days]
    lengths: list[Any] = ["day", "week", "month", "quarter", "year", None]
    assert told["periods"] == [[period_of(length, moment) for length in lengths] for moment in moments]


def expected(name: str, place: int) -> Any:
    """How probable each code is, from Python's own coins."""
    coins = channels()[name]
    if coins.codes is None:
        return _row(coins, place)
    inside = np.isin(np.arange(coins.codes), (place + np.array(coins.blocks.offsets)) % coins.codes)
    weights = np.where(inside, coins.inside, coins.outside).astype(float)
    return weights / weights.sum()


def _row(coins: Any, place: int) -> Any:
    threshold = int(coins.thresholds[place % len(coins.thresholds)])
    lots = np.ones(coins.size) if coins.lots is None else np.asarray(coins.lots, float)
    weights = ((1 << coins.bits) - threshold) / lots.sum() * lots
    weights[place] += threshold
    return weights / weights.sum()


@pytest.mark.parametrize("which", range(len(DRAWN)))
def test_fresh_coins_have_the_law_of_their_channel(told: dict[str, Any], which: int) -> None:
    """20,000 codes each, by chi square at 1e-8: three false alarms in a hundred million runs. Codes of which a tenth were kept more fail."""
    name, place = list(DRAWN.items())[which]
    law, counts = expected(name, place), np.zeros(len(expected(name, place)))
    for code, times in told["counts"][which].items():
        counts[int(code)] = times
    assert stats.chisquare(counts, TIMES * law).pvalue > 1e-8
    own = np.eye(len(law))[int(np.argmax(counts))]
    assert stats.chisquare(counts, TIMES * (0.9 * law + 0.1 * own)).pvalue < 1e-8
