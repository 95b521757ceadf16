"""A privacy target that is not said, or half of it: what planning and testing take instead, as comparing and advising do.

    rho2 alone   rho1 is the share of the commonest sensitive value: what is believed of a person without the release
    nothing      the odds of anything may become three times as large

Nothing is published by it: a number that was taken from the table would tell of it, so a publisher says it.
"""

from scumble.core.errors import ParameterError
from scumble.core.parameters import number, plain
from scumble.mechanisms import find_mechanism
from scumble.publishing.publish import profile, value_counts
from scumble.sources.source import Source
from scumble.spec.spec import Spec, Target

MODEST = 3
"""The factor on the odds where nothing is said."""


def assumed(spec: Spec, table: Source) -> tuple[Spec, list[str]]:
    """The spec with a target that can be planned with, and what was taken for granted."""
    target = spec.privacy
    own = all(spec.columns[name].privacy is not None for name in spec.sensitive)
    if own or not find_mechanism(spec.mechanism).traits.by_target or not table.stable:
        return spec, []
    if not target.given:
        sentence = f"the spec does not say how private: gamma = {MODEST} is taken here, and publish wants it said"
        return spec.model_copy(update={"privacy": Target(gamma=MODEST)}), [sentence]
    if target.rho2 is None or target.rho1 is not None:
        return spec, []
    prior, rho2 = commonest(spec, table), number(target.rho2, "rho2")
    if not prior < rho2 < 1:
        raise ParameterError(
            f"rho2 = {plain(rho2, 4)} cannot be promised: the commonest sensitive value has a share of {plain(prior, 4)}, and is believed with that before "
            "anything is published; ask for more than that, below 1"
        )
    sentence = f"the spec has rho2 alone: rho1 = {plain(prior, 4)} is taken here, the share of the commonest value, and publish wants it said"
    return spec.model_copy(update={"privacy": target.model_copy(update={"rho1": prior})}), [sentence]


def commonest(spec: Spec, table: Source) -> float:
    """The largest share of a value in any sensitive column."""
    counts = value_counts(table, profile(table, spec).domains).values()
    return max(float(count.max() / max(1, count.sum())) for count in counts)
