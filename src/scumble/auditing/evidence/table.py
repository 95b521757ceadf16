"""The test of reconstruction privacy for a table, before anything is published."""

from typing import Any

from scumble.auditing.attacks.reconstruction import DELTA, LAMBDA
from scumble.auditing.evidence.examined import Examined
from scumble.core.coins import Coins
from scumble.core.parameters import number
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.sps.merging import merge_columns
from scumble.mechanisms.sps.personal_groups import personal_groups
from scumble.mechanisms.sps.settings import Settings
from scumble.privacy.reconstruction import sample_size
from scumble.privacy.violations import violations
from scumble.publishing.assumed_target import assumed
from scumble.publishing.publish import profile
from scumble.publishing.roles import decided
from scumble.sources.source import Source
from scumble.spec.spec import DEFAULT, Spec


def examined_as(spec: Spec, table: Source) -> tuple[Spec, list[str]]:
    """The spec with a target that gives a retention, and what was taken for granted where it says none."""
    plain, assumptions = assumed(spec.model_copy(update={"mechanism": DEFAULT, "settings": {}}), table)
    return spec.model_copy(update={"privacy": plain.privacy}), assumptions


def examine_table(table: Source, spec: Spec, lam: Any = None, delta: Any = None) -> list[Examined]:
    """The test of every sensitive column, with the retention that the spec asks for."""
    spec, _ = examined_as(decided(spec, table), table)
    sampling = find_mechanism(spec.mechanism).settings is Settings  # only then does the spec say what it is tested for
    settings = spec.settings_as(Settings) if sampling else Settings.model_validate({})
    lam = lam if lam is not None else settings.lam if sampling else LAMBDA
    delta = delta if delta is not None else settings.delta if sampling else DELTA
    counts = profile(table, spec)
    public = {name: spec.columns[name].coarsen for name in spec.published if name not in spec.sensitive}
    sharing = sum(spec.columns[name].privacy is None for name in counts.domains)
    results = []
    for name, domain in counts.domains.items():
        own = spec.columns[name].privacy
        channel = (own or spec.privacy).channel(domain.size, 1 if own else sharing)
        retain = float(Coins.of(channel).channel().retain)
        groups, _ = merge_columns(personal_groups(table, public, name, domain), settings)
        verdict = violations(groups.dense(), retain, lam, delta)
        size = int(sample_size(1, retain, domain.size, lam, delta))
        numbers = number(lam, "lambda"), number(delta, "delta")
        listed = domain.values.to_pylist()
        results.append(Examined(name, groups.keys, groups.size, verdict, retain, *numbers, size, listed))
    return results
