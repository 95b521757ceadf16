"""What a mechanism is: one declaration, from which every command takes what it needs. Nobody asks for its name.

A mechanism is a folder (or a module) with a `MECHANISM`, and one line in the registry of `mechanisms/__init__.py`. What it plans and publishes with is
loaded when it is used, so that a declaration can be read by who only opens a release.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scumble.core.deferred import deferred as deferred
from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.words import Words
from scumble.spec.spec import Model, NoSettings, Role, Spec

if TYPE_CHECKING:
    import pyarrow as pa

    from scumble.evaluate.settings import Setter
    from scumble.forms.form import Opened
    from scumble.publishing.expected_rows import Rows
    from scumble.publishing.row_pipeline import Job, Written
    from scumble.sources.source import Source

P = TypeVar("P", bound=Plan)

AtPosterior = Callable[["Setter", float], Spec]
"""The spec with which whoever believes the table's own shares believes no protected value with more than a level."""


@dataclass(frozen=True)
class Traits:
    """What commands, attacks and reports ask of a mechanism."""

    needs_counts: bool = False
    """It plans with the counts of the sensitive columns, which one scan gives it."""
    one_attribute: bool = False
    """It is for one sensitive attribute: several columns are taken as one, whose values are their combinations."""
    columns_alike: bool = False
    """It treats all published columns alike: none of them needs to be sensitive."""
    by_target: bool = False
    """Its privacy is given by the target of the spec alone, so that one can be assumed where planning has none."""
    keyed_coins: bool = False
    """Its coins can be a function of a key, so that the same people are published alike again."""
    stackable: bool = False
    """Releases of several owners by one spec can be asked as one."""
    every_output: bool = False
    """Its promise is about every output: types are declared, and a row that has no place in what was declared is left out, where others refuse the table."""
    sorted_rows: bool = False
    """Rows are published in the order of their values; else in random order."""
    permuted: bool = False
    """Values that are not kept are exchanged among rows, so that each is published as often as it occurs."""
    deterministic: bool = False
    """It has no coins and publishes the same of the same table always."""
    columns_together: bool = False
    """The sensitive values of a row are kept together or replaced together, and not each through a channel of its own."""
    adds_rows: bool = False
    """It may publish more rows of a kind than there are people, and says so: counts with noise, rows that are scaled back or made up."""
    central: bool = False
    """Noise is added once, to counts of the whole table, and no row is published: told beside mechanisms that each row goes through, and taken where it is asked for."""
    unforeseen: str = ""
    """Why the errors of answers are not foreseen before publishing, where they are not."""


@dataclass(frozen=True)
class Customary:
    """The target and the settings that a mechanism with another promise than a posterior is compared at, where the spec does not say."""

    target: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Mechanism(Generic[P]):
    """A way to publish."""

    name: str
    form: str
    """What a release looks like: a name of the registry of forms."""
    words: Words
    plan: Callable[[Profile, Spec], P]
    derive: Callable[[Facts], Terms]
    """What follows from the public facts of a release; plans make their terms by the same functions."""
    publish: Callable[["Job"], "Written"]
    settings: type[Model] = NoSettings
    traits: Traits = Traits()
    column_settings: Mapping[str, Role] = field(default_factory=dict)
    """Settings that name a column, and the role that naming it there gives it."""
    at_posterior: AtPosterior | None = None
    """How it is set to a posterior; None where it promises something else."""
    variants: Mapping[str, AtPosterior] = field(default_factory=dict)
    """Further ways to set it, each compared as a mechanism of its own, under a name of its own."""
    advised: bool = False
    """Whether `advise` searches among its settings."""
    customary: Customary | None = None
    foresee: "Callable[[Source, Spec, Profile, Any], Rows] | None" = None
    """The rows before their coins, with what will be known of the release, where they are not the rows of the table."""
    expected: "Callable[[pa.Table, Any], Opened] | None" = None
    """The release to come, by a plan, of one whose answers are sums of counts: its form answers with the truth, and with the errors to come."""
