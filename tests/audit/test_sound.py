"""Sound releases are not called broken, by any attack, with the raw table or without.

Attacks that draw on chance (retention, inference, corruption, order: up to four for each release) call a sound release broken with probability below
1e-4 each, so these 78 audits would have a false alarm in 3% of all choices of seeds; the seeds are fixed.
"""

import pytest
from attacked import SOUND, people, publish

from scumble.audit import audit


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("how", SOUND)
def test_a_sound_release_is_not_called_broken(how: str, seed: int) -> None:
    table = people(seed=seed)
    release = publish(table, how, seed)
    for raw in (None, table):
        findings = audit(release, raw)
        assert len(findings) >= 3
        assert [found for found in findings if not found.passed] == []


def test_what_the_release_says_is_uncovered_is_open() -> None:
    findings = {found.attack: found for found in audit(publish(people(), "uniform", 1))}
    assert findings["linking"].verdict == "open"
    assert findings["linking"].uncovered.startswith("Singling out")
    assert [found.verdict for name, found in findings.items() if name != "linking"].count("holds") == len(findings) - 1
