"""What each of several publications tells of the same people's value of one column, whatever its form: a likelihood by value for each person.

    rows       the channel's P[y, x], averaged over the rows with the person's public values
    buckets    how often a value is in the bucket of such a row, against its share of the release
    tuples     how often a value goes with the person's other columns among the published tuples, against its share of them

Values are told by themselves and not by codes, so that domains may differ: a value that a release cannot have has the likelihood 0 there. People are told by the columns that all publications have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from scumble.auditing.evidence.buckets import AnatomyBuckets
from scumble.auditing.evidence.column_law import Numbers, column_law
from scumble.auditing.evidence.publication import Codes, Publication, together
from scumble.core.arrow_types import decoded
from scumble.core.entropy import Entropy

MOST_VALUES = 2000
CELLS = 4_000_000
"""People by values that are held."""


@dataclass(frozen=True, eq=False)
class Sightings:
    """People who are in all publications, and the likelihood of each value by each publication."""

    values: list[str]
    prior: Numbers
    likelihoods: list[Numbers]
    """One for each publication: people by values."""
    people: Codes
    """Their places in the table of people."""

    def believed(self, which: Sequence[int]) -> tuple[Codes, Numbers]:
        """The value that is believed most by some of the publications together, and how strongly."""
        weight = np.tile(self.prior, (len(self.people), 1))
        for one in which:
            weight = weight * self.likelihoods[one]
            weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
        guess = weight.argmax(axis=1)
        return guess, weight[np.arange(len(guess)), guess]


def columns_seen(publication: Publication) -> list[str]:
    """The columns of which it tells something: sensitive ones, those of buckets, and of counted tuples all."""
    if publication.form == "buckets":
        return [AnatomyBuckets.of(publication).name]
    if publication.form == "tuples" and publication.manifest is not None and publication.manifest.view.looked_up:
        return [column.name for column in publication.manifest.columns if column.role == "counted"]
    return list(publication.sensitive) if publication.perturbed else []


def known_columns(publication: Publication, name: str) -> list[str]:
    """The columns by which a person is found, where one is to be told."""
    return [column for column in publication.quasi if column != name]


def sightings(name: str, publications: Sequence[Publication], people: pa.Table) -> Sightings | None:
    """What publications tell of a column, of people whose known columns all of them have."""
    names = [n for n in known_columns(publications[0], name) if all(n in known_columns(p, name) for p in publications)]
    names = [n for n in names if n in people.column_names]
    words = list(dict.fromkeys(word for one in publications for word in _words(one, name)))
    if not names or not 1 < len(words) <= MOST_VALUES:
        return None
    numbers, count = together(names, *(one.table for one in publications), people)
    there = np.logical_and.reduce([np.bincount(number, minlength=count) > 0 for number in numbers[:-1]])
    chosen = np.flatnonzero(there[numbers[-1]])
    most = CELLS // len(words) // len(publications)
    if len(chosen) > most:
        lot = Entropy.seeded(0).stream("sightings").integers(len(chosen), 32)
        chosen = np.sort(chosen[np.argsort(lot, kind="stable")[:most]])
    if not len(chosen):
        return None
    groups = numbers[-1][chosen]
    made = [_seen(one, name, words, number, groups, count) for one, number in zip(publications, numbers, strict=False)]
    shares = np.mean([share for _, share in made], axis=0)
    return Sightings(words, shares / max(1e-300, shares.sum()), [likelihood for likelihood, _ in made], chosen)


def _words(publication: Publication, name: str) -> list[str]:
    """The values that a publication knows, as text."""
    if publication.form == "buckets":
        return _texts(AnatomyBuckets.of(publication).values)
    if publication.form == "tuples":
        return _texts(pc.unique(decoded(publication.table.column(name)).combine_chunks()))
    assert publication.manifest is not None
    return _texts(publication.manifest.domains[name].values)


def _texts(values: pa.Array) -> list[str]:
    return ["(missing)" if value is None else str(value) for value in values.to_pylist()]


def _seen(
    publication: Publication, name: str, words: list[str], number: Codes, groups: Codes, count: int
) -> tuple[Numbers, Numbers]:
    """The likelihood of each value for people of some groups, and the shares of the values."""
    own = {word: place for place, word in enumerate(_words(publication, name))}
    places = np.array([own.get(word, -1) for word in words])
    kinds, table, share = _kinds(publication, name)
    wide = np.where(places >= 0, table[:, np.maximum(places, 0)], 0.0)
    rows = sparse.csr_array((publication.weights, (number, kinds)), shape=(count, len(table)))
    some, where = np.unique(groups, return_inverse=True)
    counted = rows[some]
    likelihood = (counted @ wide) / np.maximum(counted.sum(axis=1), 1e-300)[:, np.newaxis]
    return np.asarray(likelihood)[where], np.where(places >= 0, share[np.maximum(places, 0)], 0.0)


def _kinds(publication: Publication, name: str) -> tuple[Codes, Numbers, Numbers]:
    """The kind of each row by what it shows, the likelihood of each value for each kind, and the shares of values."""
    if publication.form == "buckets":
        buckets = AnatomyBuckets.of(publication)
        share = buckets.counts.sum(axis=0) / max(1, buckets.counts.sum())
        held = buckets.counts / np.maximum(buckets.counts.sum(axis=1, keepdims=True), 1)
        return buckets.of_row, held / np.maximum(share, 1e-300), share
    if publication.form == "tuples":
        words = pc.unique(decoded(publication.table.column(name)).combine_chunks())
        codes = pc.index_in(decoded(publication.table.column(name)), value_set=words).to_numpy().astype(np.int64)
        share = np.bincount(codes, minlength=len(words)) / max(1, len(codes))
        return codes, np.diag(1 / np.maximum(share, 1e-300)), share
    law, codes = column_law(publication, name), publication.codes(name)
    width = int(codes.max(initial=0)) + 1
    shown, kind = np.unique(publication.stratum * width + codes, return_inverse=True)
    values = np.arange(len(law.prior))
    table = [
        law.likelihood(np.full_like(values, k // width), np.full_like(values, k % width), values)
        for k in shown.tolist()
    ]
    return kind, np.stack(table), law.prior
