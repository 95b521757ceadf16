"""Whether the coins of a release were coins: those of a seed are anybody's who has it, or guesses it."""

from scumble.release.manifest import Manifest

SEEDED = (
    "the coins were drawn from a seed, for tests: whoever has or guesses it undoes the perturbation, and no guarantee holds; "
    "publish again without a seed"
)


def coins_problem(manifest: Manifest) -> str:
    """What is wrong with the coins, by the manifest's own word; nothing where it says that they were secret."""
    randomness = manifest.randomness
    if randomness.secure != (randomness.source == "operating system, AES-256-CTR"):
        return f"the manifest contradicts itself: coins from {randomness.source!r} are called {'secure' if randomness.secure else 'insecure'}"
    return "" if randomness.secure else SEEDED
