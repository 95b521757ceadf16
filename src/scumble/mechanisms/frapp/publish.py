"""Publishing by FRAPP: the sensitive values of a row are kept together or replaced together."""

from typing import Any

from scumble.core.domain import Codes
from scumble.core.entropy import Entropy
from scumble.forms.rows.record import RowsRecord
from scumble.mechanisms.frapp.plan import Frapp, JointPlan
from scumble.publishing.keyed import Ids
from scumble.publishing.row_pipeline import Job, RowPipeline, Written


def publish(job: Job) -> Written:
    """Every row through one coin over the cross product of its sensitive columns."""
    plan = job.plan_as(JointPlan)
    names = list(job.profile.domains)
    return RowPipeline(job, JointColumn(names, plan.frapp, job.coin_source.entropy)).run(RowsRecord(joint=names))


class JointColumn:
    """All values of a row through one coin over their cross product."""

    def __init__(self, names: list[str], frapp: Frapp, entropy: Entropy) -> None:
        self.extra: list[str] = []
        self._names = names
        self._frapp = frapp
        self._entropy = entropy

    def prepare(self, index: int, codes: dict[str, Codes]) -> None:
        """Nothing is carried from batch to batch."""

    def apply(self, index: int, codes: dict[str, Codes], ids: Ids | None, state: Any) -> dict[str, Codes]:
        """Fresh coins, one for each row."""
        stream = self._entropy.stream("coins", *self._names, index)
        drawn = self._frapp.publish([codes[name] for name in self._names], stream)
        return dict(zip(self._names, drawn, strict=True))
