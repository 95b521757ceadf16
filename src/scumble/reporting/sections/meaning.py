"""What the number means: from a belief before seeing a row to the most that can be believed after."""

from scumble.core.parameters import plain
from scumble.reporting.figure import figure
from scumble.reporting.numbers import at_most_share, fraction, share, up
from scumble.reporting.plots.belief import belief as draw
from scumble.reporting.promises import BREACHES, belief, of_one_row, of_persons, of_the_row
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

PRIORS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)
TITLE = "What the number means"


def meaning(subject: Subject) -> Section:
    """The section."""
    guarantees = subject.terms.guarantees
    known = belief(guarantees)
    if known is None:
        return Section("meaning", TITLE, why_not=_why_not(subject))
    own = {
        g.parameters["rho1"]
        for g in of_persons(of_the_row(guarantees))
        if "rho1" in g.parameters and g.kind not in BREACHES
    }
    priors = sorted({*PRIORS, *own})
    lines = [(fraction(p), at_most_share(known.bound(p)), plain(known.bound(p) / p, 3), p in own) for p in priors]
    drawn = figure(
        lambda width: draw(known.bound, priors, width),
        "The curve is the most that any belief can become; on the dashed line a row tells nothing.",
        "Curve of the largest belief after seeing a row against the belief before. "
        + "; ".join(f"{share(p)} becomes at most {at_most_share(known.bound(p))}" for p in priors),
        (("curve", "largest belief after"), ("dashed", "nothing learnt"), ("dot", "lines of the table")),
        wide=420,
    )
    factor = None if known.factor is None else up(known.factor)
    return Section("meaning", TITLE, {"belief": known, "factor": factor, "lines": lines, "figure": drawn})


def _why_not(subject: Subject) -> str:
    kinds = {g.kind for g in subject.terms.guarantees}
    if not kinds:
        return "No bound holds for this release, so nothing can be said about what an attacker who sees a row may come to believe."
    if all(map(of_one_row, subject.terms.guarantees)):
        return "A person has several rows, and nothing is promised of all of them together: the guarantees are of one row alone."
    if "subtable_posterior" in kinds or "l_diversity" in kinds:
        return (
            "The guarantee names the largest belief itself, for whoever believes the table's own shares. For other beliefs there is no bound, so there is no "
            "table from any prior to the largest posterior."
        )
    if "value_odds" in kinds:
        return "Each value has a factor of its own; they are in the manifest. There is none that holds for every property, so there is no table for all beliefs."
    return "The guarantee is about the number of rows that share a combination of values, not about beliefs: it bounds no posterior."
