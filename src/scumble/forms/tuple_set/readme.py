"""What the README of a set of tuples says: how to compute with it, by hand."""

from typing import TYPE_CHECKING

from scumble.forms.by_hand import by_group, or_scumble
from scumble.forms.tuple_set.record import TupleSetRecord

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def place(manifest: "Manifest") -> str:
    """Where the tuples are."""
    return "`data/*.parquet`, sorted by value" if len(manifest.data) > 1 else "`data.parquet`, sorted by value"


def howto(manifest: "Manifest") -> str:
    """Taking off what was made up."""
    record = manifest.form
    assert isinstance(record, TupleSetRecord)
    return (
        f"A tuple of the table was published with probability alpha + beta, any other tuple of the declared domain (in the manifest) with beta, where alpha = "
        f"{record.alpha!r} and beta = {record.beta!r}. Of D tuples of the domain that match a condition let s be published; then (s - beta D) / alpha "
        "is an unbiased estimate of how many are in the table.\n\n" + or_scumble(by_group(manifest.columns[0].name))
    )
