"""Averaging over repeated releases: the same people published again with fresh coins can be read together.

Rows are linked where their public values (or a row id among them) are found once in every release. The likelihood of a true value i behind the published y_1, y_2, ...
is the product of the channels, prior_i * P_1[y_1, i] * P_2[y_2, i] ...; the guess is the likeliest i. Counted is the quarter of the people of whom the
attacker is surest: where coins are fresh these are the ones who were published alike. The baseline is the surest quarter by the best one of the releases alone.
With the raw table it is measured, and where coins are fresh it is expected from the channels too; what shows more is the finding.

Keyed coins publish a person who did not change the same way every time, and there is nothing to average. Which it is shows: with fresh coins
the published values agree in a share a of the pairs that the channels tell, with keyed ones in all that did not change. Agreement nearer to 1 than to a
is taken for keyed coins, and with the raw table it is looked at whether all of them are (`renewed`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import CodedLaw, ColumnLaw, column_law
from scumble.auditing.evidence.publication import Codes, Publication, together
from scumble.auditing.evidence.renewed import renewed
from scumble.auditing.finding import Finding, Z
from scumble.auditing.level import error_of

NAME = "averaging"

FEWEST = 100
"""Linked people below which nothing is said."""

Numbers = npt.NDArray[np.float64]


def attack(case: Case) -> Finding | None:
    """The perturbed column that several releases tell most of."""
    releases = [case.publication, *(other for other in case.others if other.perturbed)]
    if not case.publication.perturbed or len(releases) < 2:
        return None
    names = [
        n for n in case.publication.sensitive if all(same_domain(n, case.publication, other) for other in releases)
    ]
    memoised = [name for name in names if _memoised(name, releases)]
    names = [name for name in names if name not in memoised]
    if memoised and not names:
        sentence = f"{' and '.join(memoised)}: one response by key is behind all {len(releases)} releases, and averaging finds no more than that"
        return Finding(NAME, 0.0, 0.0, 0.0, 0.0, sentence, "linkability")
    quasi = [n for n in case.publication.quasi if all(n in other.quasi for other in releases)]
    rows, people = linked(quasi, [release.table for release in releases], case.raw)
    if not names or len(rows[0]) < FEWEST:
        sentence = f"{len(rows[0]):,} rows are linked by public columns that all {len(releases)} releases have, too few to average"
        return Finding(NAME, 0.0, 0.0, 0.0, 0.0, sentence, "linkability")
    findings = [_column(case, name, releases, rows, people) for name in names]
    return max(findings, key=lambda finding: finding.low - finding.baseline)


def _memoised(name: str, releases: list[Publication]) -> bool:
    """Whether all releases lay fresh coins over one response by key, by their manifests: what they tell together is stated, and is more than one tells."""
    streams = set()
    for release in releases:
        column = release.manifest.column(name) if release.manifest is not None else None
        if release.manifest is None or column is None or not any(record.stages for record in column.records):
            return False
        known = {stream.column: stream.commitment for stream in release.manifest.randomness.streams or []}
        streams.add(known.get(name))
    return len(streams) == 1 and None not in streams


def linked(quasi: list[str], tables: list[pa.Table], raw: pa.Table | None) -> tuple[list[Codes], Codes | None]:
    """The rows of each table whose public values are found once in each of them; and of the raw table, where there is one."""
    every = tables if raw is None else [*tables, raw]
    numbers, count = together(quasi, *every)
    once = np.logical_and.reduce([np.bincount(number, minlength=count) == 1 for number in numbers])
    rows = []
    for number in numbers:
        row = np.zeros(count, dtype=np.int64)
        row[number] = np.arange(len(number))
        rows.append(row[once])
    return (rows, None) if raw is None else (rows[:-1], rows[-1])


def same_domain(name: str, a: Publication, b: Publication) -> bool:
    """Whether both have published rows of a column with the same values in the same order."""
    if not (a.perturbed and b.perturbed):
        return False
    ours, theirs = (release.manifest.domains if release.manifest is not None else {} for release in (a, b))
    return name in theirs and theirs[name].values.equals(ours[name].values)


@dataclass(frozen=True, eq=False)
class Sighting:
    """One published value of each linked person, and the law that it came by."""

    law: ColumnLaw
    stratum: Codes
    seen: Codes

    def likelihood(self, value: Codes) -> Numbers:
        """P[published, value] for a value of each person."""
        return self.law.likelihood(self.stratum, self.seen, value)


def _column(case: Case, name: str, releases: list[Publication], rows: list[Codes], people: Codes | None) -> Finding:
    truth = case.truth(name) if case.raw is not None else None
    looks = [
        Sighting(column_law(e, name, truth), e.stratum[at], e.codes(name)[at])
        for e, at in zip(releases, rows, strict=True)
    ]
    prior = looks[0].law.prior
    same = float(np.mean([looks[0].seen == other.seen for other in looks[1:]]))
    fresh = float(np.mean([_agreement(looks[0].law, other.law) for other in looks[1:]]))
    used = looks if same < (1 + fresh) / 2 else looks[:1]
    kind = "coins are fresh" if used is looks else "coins are keyed, so a second look tells nothing"
    sentence = f"{name}: of {len(rows[0]):,} people linked in {len(looks)} releases {same:.1%} are published alike ({fresh:.1%} with fresh coins): {kind}"
    (both, sure), *alone = (_guess(part, prior) for part in (used, *([look] for look in looks)))
    findings = []
    if truth is not None and people is not None:
        hits, *single = (_right(guess == truth[people], belief) for guess, belief in ((both, sure), *alone))
        targets = _surest(sure).sum()
        findings.append(Finding.of_share(NAME, int(hits), int(targets), max(single) / targets, sentence, "linkability"))
        if used is not looks:
            return _some_fresh(case, looks, truth[people], sentence) or findings[0]
    success, *single = (_right(belief, belief) / _surest(sure).sum() for _, belief in ((both, sure), *alone))
    half = Z * float(sure[_surest(sure)].std()) / float(_surest(sure).sum()) ** 0.5
    ends = (success - half, min(1.0, success + half)) if used is looks else (success, success)
    sentence += "; success is expected, not measured"
    findings.append(Finding(NAME, success, max(single), *ends, sentence, "linkability"))
    return max(findings, key=lambda finding: finding.low - finding.baseline)


def _some_fresh(case: Case, looks: list[Sighting], truth: Codes, sentence: str) -> Finding | None:
    """Whether some people have fresh coins while most have keyed ones."""
    error = error_of(NAME) / len(case.publication.sensitive) / (len(looks) - 1)
    findings = [
        judged
        for other in looks[1:]
        if looks[0].law.same_channel(other.law)
        and (judged := renewed(looks[0].law, truth, looks[0].seen, other.seen, error)) is not None
    ]
    worst = min(findings, key=lambda judged: judged.log_p, default=None)
    if worst is None or not worst.broken:
        return None
    said = f"{sentence}; but {worst.success:.1%} of {worst.people:,} {worst.of}, at most {worst.expected:.1%} if all coins were keyed: some people have fresh ones"
    return worst.finding(NAME, said, "linkability")


def _surest(belief: Numbers) -> npt.NDArray[np.bool_]:
    """The quarter of people whose guess is believed most."""
    chosen = np.zeros(len(belief), dtype=np.bool_)
    chosen[np.argsort(-belief, kind="stable")[: -(-len(belief) // 4)]] = True
    return chosen


def _right(hits: npt.NDArray[Any], belief: Numbers) -> float:
    return float(hits[_surest(belief)].sum())


def _agreement(a: ColumnLaw, b: ColumnLaw) -> float:
    """How often two fresh publications of a value agree, by their channels."""
    if isinstance(a, CodedLaw) or isinstance(b, CodedLaw):
        return _agreeing_codes(a, b)
    total = 0.0
    for p, r, q in zip(a.keep, a.draw, a.share, strict=True):
        for p2, r2, q2 in zip(b.keep, b.draw, b.share, strict=True):
            together = p * p2 + p * (1 - p2) * r2 + (1 - p) * p2 * r + (1 - p) * (1 - p2) * float((r * r2).sum())
            total += float((a.prior * q * q2 * together).sum())
    return total


def _agreeing_codes(a: ColumnLaw, b: ColumnLaw) -> float:
    """sum_x prior_x sum_y P[y, x] P'[y, x]; of codes and values, or of other codes, nothing agrees."""
    if not (isinstance(a, CodedLaw) and isinstance(b, CodedLaw)) or a.channel.codes != b.channel.codes:
        return 0.0
    blocks = zip(a.channel.column_blocks(), b.channel.column_blocks(), strict=True)
    return sum(float((p * q).sum(axis=0) @ a.prior[some]) for (some, p), (_, q) in blocks)


def _guess_of_codes(looks: list[Sighting], prior: Numbers) -> tuple[Codes, Numbers]:
    """The same where codes are published: all values are tried."""
    people = len(looks[0].seen)
    best, guess, total = np.zeros(people), np.zeros(people, dtype=np.int64), np.zeros(people)
    for value in np.flatnonzero(prior > 0).tolist():
        same = np.full(people, value)
        weight = prior[value] * np.prod([look.likelihood(same) for look in looks], axis=0)
        guess, best, total = np.where(weight > best, value, guess), np.maximum(best, weight), total + weight
    return guess, np.asarray(best / np.maximum(total, 1e-300))


def _guess(looks: list[Sighting], prior: Numbers) -> tuple[Codes, Numbers]:
    """The likeliest value of each person, and how strongly it is believed.

    A value that no look shows has the likelihood of redrawn ones only, so the best of these is the same for all people of the same sub-tables.
    """
    if any(isinstance(look.law, CodedLaw) for look in looks):
        return _guess_of_codes(looks, prior)
    people = len(looks[0].seen)
    strata = np.ravel_multi_index([look.stratum for look in looks], [len(look.law.keep) for look in looks])
    kinds, kind = np.unique(strata, return_inverse=True)
    behind = np.ones((len(kinds), len(prior))) * prior
    for place, number in enumerate(np.unravel_index(kinds, [len(look.law.keep) for look in looks])):
        law = looks[place].law
        behind *= law.share[number] * (1 - law.keep[number])
    drawn = np.prod([look.law.draw[look.stratum, look.seen] for look in looks], axis=0)
    candidates = [*(look.seen for look in looks), behind.argmax(axis=1)[kind]]
    weights = np.stack([prior[c] * np.prod([look.likelihood(c) for look in looks], axis=0) for c in candidates])
    best = weights.argmax(axis=0)
    total = drawn * behind.sum(axis=1)[kind]
    for place, candidate in enumerate(candidates):
        first = np.logical_and.reduce([candidate != before for before in candidates[:place]], axis=0) if place else True
        total += np.where(first, weights[place] - drawn * behind[kind, candidate], 0)
    chosen = np.stack(candidates)[best, np.arange(people)]
    return chosen, np.asarray(weights.max(axis=0) / np.maximum(total, 1e-300))
