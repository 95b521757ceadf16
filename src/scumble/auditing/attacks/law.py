"""The law: is a value published as the manifest says, whatever it is and whoever has it? Every cell of true and published values, in the table and in its parts.

With the raw table. Of everybody whose row is known (`trials`):

    cells    how often each true value was published as each code, against Bin(n, P), exactly
    crowds   all cells of a part together: do the people of a part agree with each other more than P makes them (`tails.polya`)? One part alone, or all of them a little
    kept     how many people of a part were published as what their value makes likeliest; one part alone, or all of them a little (`tails.tilted`)

Parts are the people of one value of a public column, of two public columns together, and of what another perturbed column is and was published as; `crowds` looks within each of these at the people of one true value.
Of all people, known or not: how often each code was published among those of a public value, against what their true values make of it. Where values are exchanged among rows (`permuted`) the people of one
true value are exchangeable, and a part is compared with the others of the same true values. Each kind of sign has the same share of the error.
"""

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from scipy.stats import binom

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers
from scumble.auditing.evidence.guessing import true_values
from scumble.auditing.evidence.parts import columns_of, frequent, summed
from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.evidence.signs import Sign, finding_of
from scumble.auditing.evidence.tails import bennett, polya, tilted
from scumble.auditing.evidence.trials import Trials, all_trials, law_of
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of
from scumble.core.channel_base import BaseChannel

NAME = "law"

Named = Callable[[int], str]
Part = tuple[Codes, Named]
"""A number for each person by which parts are told, and the words for each."""

MOST_COLUMNS = 12
"""Public columns that are looked at in pairs: the first ones."""

MOST_ENTRIES = 1 << 22
"""Entries of a channel up to which the variances of codes are taken from it; beyond, their means stand in for them, which are larger."""


def attack(case: Case) -> Finding | None:
    """The most improbable cell or part."""
    trials = list(all_trials(case))
    cells, crowds, kept = list[Sign](), list[Sign](), list[Sign]()
    for one in trials:
        parts = list(_parts(case, one, trials))
        kept += [sign for part in parts for sign in _kept(one, *part)]
        if not one.exchanged:
            cells += _cells(case, one)
            crowds += [sign for part in parts for sign in _crowds(one, *part)]
    families = [cells, crowds, kept, list(_marginals(case))]
    return finding_of(NAME, families, error_of(NAME), "the law of the manifest")


def _parts(case: Case, trials: Trials, every: list[Trials]) -> Iterator[Part]:
    yield np.zeros(len(trials.true), dtype=np.int64), lambda _: "any public values"
    quasi = [name for name in case.publication.quasi if name not in case.altered]
    columns = [(codes[trials.row], named) for codes, named in columns_of(case.publication.table, quasi)]
    yield from columns
    for one, other in combinations(columns[:MOST_COLUMNS], 2):
        yield _crossed(*one, *other)
    assert case.publication.manifest is not None
    joint = set(case.publication.manifest.view.joint)
    for beside in every:
        if beside is not trials:
            yield beside.true, true_values(case, beside.column)
            if not {trials.column, beside.column} <= joint:
                yield beside.shown, _published(beside.column)


def _published(column: str) -> Named:
    return lambda code: f"{column} published as code {code}"


def _crossed(first: Codes, one: Named, second: Codes, other: Named) -> Part:
    width = int(second.max(initial=0)) + 1
    return first * width + second, lambda code: f"{one(code // width)} and {other(code % width)}"


def _cells(case: Case, trials: Trials) -> Iterator[Sign]:
    """The cell that is fuller, or emptier, than all others could make it."""
    pair = trials.cell * trials.codes + trials.shown
    counted, first, times = np.unique(pair, return_index=True, return_counts=True)
    people, chance = np.bincount(trials.cell)[counted // trials.codes], trials.chance[first]
    log_p = np.minimum(binom.logsf(times - 1, people, chance), binom.logcdf(times, people, chance))
    at = int(log_p.argmin())
    value = true_values(case, trials.column)(int(trials.true[first[at]]))
    of = (
        f"{times[at]:,} of {people[at]:,} people with {value} are published as code {counted[at] % trials.codes}, "
        f"where {people[at] * chance[at]:.1f} are expected"
    )
    tests = 2 * len(np.unique(trials.cell)) * trials.codes
    yield Sign(float(log_p[at]), float(times[at] / people[at]), float(chance[at]), of).among(tests)


def _crowds(trials: Trials, codes: Codes, named: Named) -> Iterator[Sign]:
    """The part that agrees most with itself, and all of them together."""
    _, group = np.unique(codes * (int(trials.cell.max(initial=0)) + 1) + trials.cell, return_inverse=True)
    size = np.bincount(group)
    counted, first, times = np.unique(group * trials.codes + trials.shown, return_index=True, return_counts=True)
    owner = counted // trials.codes
    ratios = polya(owner, times.astype(np.float64), trials.chance[first], len(size))
    at = int(ratios.argmax())
    most = int(np.where(owner == at, times / trials.chance[first], -1).argmax())
    seen, expected = float(times[most] / size[at]), float(trials.chance[first[most]])
    where = f"people of one true {trials.column} with {named(int(codes[first[most]]))}"
    one = f"{times[most]:,} of {size[at]:,} {where} are published alike, where {size[at] * expected:.1f} are expected"
    yield Sign(-float(ratios[at]), seen, expected, one).among(len(size))
    every = f"{len(size):,} such parts as the {size[at]:,} {where} agree each with itself more than coins make them"
    yield Sign(-float(ratios.sum()), seen, expected, every)


def _kept(trials: Trials, codes: Codes, named: Named) -> Iterator[Sign]:
    """Too many, or too few, that are published as their value makes likeliest."""
    count = int(codes.max(initial=0)) + 1
    rows, hits = (np.bincount(codes, weights=w, minlength=count) for w in (np.ones(len(codes)), trials.kept))
    if trials.exchanged:
        above, variance = _against_others(trials, codes, count)
    else:
        score = trials.scores[0]
        above, variance = (summed(codes, of, count) for of in (score.value, score.variance))
    log_p = np.minimum(bennett(np.abs(above), variance) + math.log(2), 0)
    for k in frequent(rows):
        seen, expected = hits[k] / rows[k], (hits[k] - above[k]) / rows[k]
        of = f"{seen:.2%} of {rows[k]:,.0f} people with {named(k)} are published as their true {trials.column} makes likeliest, where {expected:.2%} are expected"
        yield Sign(float(log_p[k]), float(seen), float(expected), of)
    if not trials.exchanged:
        ratios = tilted(codes, trials.kept, trials.likelihood(trials.likeliest), count)
        at = int(ratios.argmax())
        every = f"{int((rows > 0).sum()):,} such parts as {named(at)} keep their true {trials.column} more unevenly than coins do"
        yield Sign(
            -float(ratios.sum()),
            float(hits[at] / max(1, rows[at])),
            float((hits - above)[at] / max(1, rows[at])),
            every,
        )


def _against_others(trials: Trials, codes: Codes, count: int) -> tuple[Numbers, Numbers]:
    """Of each part how many more are kept than by chance among the people of the same true values, and the variance of that: hypergeometric."""
    people, kept = (np.bincount(trials.cell, weights=w) for w in (np.ones(len(codes)), trials.kept))
    width = len(people)
    inside = np.bincount(codes * width + trials.cell, minlength=count * width).reshape(count, width)
    share = kept / np.maximum(people, 1)
    above = np.bincount(codes, weights=trials.kept, minlength=count) - inside @ share
    left = (people - inside) / np.maximum(people - 1, 1)
    return np.asarray(above), np.asarray((inside * left) @ (share * (1 - share)))


def _marginals(case: Case) -> Iterator[Sign]:
    """The codes that were published among all people of a public value."""
    publication = case.publication
    if case.raw is None or not publication.perturbed or publication.sampled or publication.traits.permuted:
        return
    assert publication.release is not None
    persons = publication.release.manifest.persons
    if len(publication.release.strata) > 1 or (persons is not None and persons.how == "capped"):
        return  # rows that were not drawn are in the raw table, and in no release
    for name in publication.sensitive:
        (channel,) = law_of(publication, name, case.truth(name))
        for column in [None, *(quasi for quasi in publication.quasi if quasi not in case.altered)]:
            yield from _marginal(case, name, channel, column)


def _marginal(case: Case, name: str, channel: BaseChannel, column: str | None) -> Iterator[Sign]:
    (shown, true), count = together([column] if column else [], case.publication.table, case.raw)
    people = np.bincount(true, minlength=count).astype(np.float64)
    looked_at = np.array(frequent(people), dtype=np.int64)
    if not len(looked_at):
        return
    place = np.full(count, -1)
    place[looked_at] = np.arange(len(looked_at))
    held, seen = np.zeros((channel.size, len(looked_at))), np.zeros((channel.codes, len(looked_at)))
    for table, codes, part in ((held, case.truth(name), true), (seen, case.publication.codes(name), shown)):
        inside = place[part] >= 0
        np.add.at(table, (codes[inside], place[part[inside]]), 1)
    mean = channel.apply(held)
    variance = mean
    if channel.size * channel.codes <= MOST_ENTRIES:
        variance = mean - sum(columns**2 @ held[some] for some, columns in channel.column_blocks())
    log_p = np.minimum(bennett(np.abs(seen - mean), np.maximum(variance, 0)) + math.log(2), 0)
    code, most = (int(at) for at in np.unravel_index(int(log_p.argmin()), log_p.shape))
    where = (
        f" with {next(iter(columns_of(case.publication.table, [column])))[1](int(looked_at[most]))}" if column else ""
    )
    of = f"{seen[code, most]:,.0f} rows{where} have {name} published as code {code}, where {mean[code, most]:,.1f} are expected"
    total = people[looked_at[most]]
    sign = Sign(float(log_p[code, most]), float(seen[code, most] / total), float(mean[code, most] / total), of)
    yield sign.among(log_p.size)
