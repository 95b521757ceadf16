"""Every planted weakness is found, by the attack that looks for it, at the number of rows that it is said to take. Seeds are fixed; the same tables without it are in test_sound."""

import pytest
from auditing.planted import PLANTS

from scumble.auditing import audit
from scumble.auditing.finding import GRADES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_weakness_is_found(name: str) -> None:
    """It is called broken; or, where a release says that it does not protect from it, open and bad."""
    plant = PLANTS[name]
    planted = plant.make(plant.least, 1)
    findings = audit(planted.release, planted.raw, others=planted.others, only=sorted(plant.seen_by))
    caught = {f.attack for f in findings if not f.passed or GRADES.index(f.grade) >= GRADES.index("moderate")}
    assert caught & plant.seen_by, [finding.detail for finding in findings]
