"""What a manifest says of its keyed coins, checked by whoever has the key: the commitment of each column, made anew.

A commitment is a keyed digest of attribute, domain, thresholds, and whether a person may have several rows. Without the key nobody can make
it, so that a manifest in which attribute, domain or thresholds were changed shows nothing to other readers; with the key it is found. The column
is not in it: attributes of columns with the same domain and the same thresholds can be exchanged, and a signature alone protects from that.
"""

from pathlib import Path

from scumble.core.staged_coins import memoised
from scumble.publishing.keyed import KeyedCoins, read_key
from scumble.release.check import Check
from scumble.release.manifest import Manifest
from scumble.release.records import StreamRecord
from scumble.release.release import Release

OTHER = "they are not what the commitment was made of by this key: attribute, values, retentions or the memoised stage were changed, or it is another key"
NONE = "the coins of the release were not drawn by a key, so that there is nothing to check with one; leave it out"


def key_checks(release: Release, key: str | Path | bytes) -> list[Check]:
    """A check of each column's commitment; the release, or each that it was put together of."""
    secret = read_key(key)
    return [check for part in release.parts or [release] for check in _of_manifest(part.manifest, secret)]


def _of_manifest(manifest: Manifest, key: bytes) -> list[Check]:
    streams = manifest.randomness.streams or []
    if not streams:
        return [Check("key", False, NONE)]
    known = [stream for stream in streams if stream.column in manifest.domains]
    return [_compared(manifest, stream, key) for stream in known]


def _compared(manifest: Manifest, stream: StreamRecord, key: bytes) -> Check:
    domain = manifest.domains[stream.column]
    (record,) = (column for column in manifest.columns if column.name == stream.column)
    coins = memoised(record.records[0].coins(domain.size))
    made = [KeyedCoins(key, stream.attribute, domain, coins, several).commitment for several in (False, True)]
    what = f"key of {stream.column}"
    if stream.commitment not in made:
        return Check(what, False, OTHER)
    return Check(
        what, True, f"attribute {stream.attribute!r}, values and retentions are those that its coins were drawn for"
    )
