"""What needs no attack: coins that anybody can flip again, and a manifest that claims what does not follow from it."""

from scumble.auditing.evidence.case import Case
from scumble.auditing.finding import Finding
from scumble.release import soundness


def coins(case: Case) -> Finding | None:
    """Whether the coins were secret, by the release's own word."""
    if case.publication.manifest is None:
        return None
    problem = soundness.coins_problem(case.publication.manifest)
    sentence = problem or "by the manifest the coins were secret: nobody can flip them again"
    return Finding.of_facts("seeded coins", int(bool(problem)), 1, sentence, "integrity")


def claims(case: Case) -> Finding | None:
    """Whether every guarantee, condition and number that the manifest claims follows from its mechanism and coins."""
    release = case.publication.release
    if release is None:
        return None
    sentence = (
        release.doubts[0] if release.doubts else "all that the manifest claims follows from its mechanism and coins"
    )
    return Finding.of_facts("claims", len(release.doubts), max(1, len(release.doubts)), sentence, "integrity")
