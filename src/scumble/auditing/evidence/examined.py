"""The result of the test of reconstruction privacy, for a table or for a release."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from scumble.mechanisms.sps.personal_groups import Counts
from scumble.privacy.violations import Exposure, Violations


@dataclass(frozen=True, eq=False)
class Examined:
    """What the published groups of a sensitive column let be estimated."""

    column: str
    keys: pa.Table
    """The public values of each group."""
    people: Counts
    """How many each group has, sampled or not."""
    violations: Violations
    retain: float
    lam: float
    delta: float
    size: int
    """How many records of a group may be published, whatever their values: s(1)."""
    values: list[Any]
    estimated: bool = False
    """Whether frequencies were estimated from a release."""

    @property
    def passed(self) -> bool:
        """Whether no group fails by exact tails."""
        return not self.violations.exact.violating.any()

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        v = self.violations
        return {
            "column": self.column,
            "groups": len(self.people),
            "records": int(self.people.sum()),
            "retain": self.retain,
            "lambda": self.lam,
            "delta": self.delta,
            "sample_size": self.size,
            "estimated": self.estimated,
            "passed": self.passed,
            "exact": {"v_g": v.exact.groups, "v_r": v.exact.records},
            "chernoff": {"v_g": v.chernoff.groups, "v_r": v.chernoff.records},
            "worst": [self.exposed(group) for group in v.worst],
        }

    def exposed(self, exposure: Exposure) -> dict[str, Any]:
        """One of the worst groups, by name."""
        return {
            "group": self.keys.slice(exposure.group, 1).to_pylist()[0],
            "value": self.values[exposure.value],
            "records": exposure.size,
            "count": exposure.count,
            "exact": {"upper": exposure.exact.upper, "lower": exposure.exact.lower},
            "chernoff": {"upper": exposure.chernoff.upper, "lower": exposure.chernoff.lower},
        }
