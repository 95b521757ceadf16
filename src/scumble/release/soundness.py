"""Whether the coins of a release were coins: those of a seed are anybody's who has it, or guesses it."""

from scumble.release.gate import AGAIN
from scumble.release.manifest import Manifest
from scumble.release.records import SEED

SEEDED = (
    "the coins were drawn from a seed, for tests: whoever has or guesses it undoes the perturbation, and no guarantee holds; "
    "publish again without a seed"
)


def coins_problem(manifest: Manifest) -> str:
    """What is wrong with the coins, by the manifest's own word; nothing where it says that they were secret."""
    randomness = manifest.randomness
    if randomness.secure != (randomness.source != SEED):
        return f"the manifest contradicts itself: coins from {randomness.source!r} are called {'secure' if randomness.secure else 'insecure'}"
    return _keyed_problem(manifest) or ("" if randomness.secure else SEEDED)


def _keyed_problem(manifest: Manifest) -> str:
    """Keyed coins are committed to, column by column. Version 1 had no commitments at first."""
    streams = manifest.randomness.streams
    if not manifest.randomness.keyed:
        return (
            "" if streams is None else f"the manifest contradicts itself: coins that no key made have streams; {AGAIN}"
        )
    if streams is None and manifest.written.version == 1:
        return ""
    named = [stream.column for stream in streams or []]
    if sorted(named) == sorted(manifest.sensitive):
        return ""
    missing = [name for name in manifest.sensitive if name not in named]
    culprit = (
        f"no commitment for {missing[0]!r}" if missing else "commitments for other columns than the perturbed ones"
    )
    return f"the manifest says that coins are keyed, and has {culprit}; keyed coins have one for each perturbed column; {AGAIN}"
