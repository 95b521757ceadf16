"""How well public columns tell a sensitive one, before anything is published: no coin hides what stands beside it.

Half of a sample of the rows is looked up by the values of a public column, and the other half is guessed: the commonest sensitive value of the same
group, or of all rows where the group was not seen. The best column is taken, or the best pair of those with the fewest values, then the one beside it that
helps most. A column is *determined* where every guess in groups that were seen is right. What three columns tell that no two of them do is not found.

The figures are for the publisher's eyes. A refusal by them depends on the data, and says so. Where all columns are protected alike there is no public
column, and nothing is looked at.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import is_number
from scumble.core.domain import Domain
from scumble.core.entropy import Entropy
from scumble.core.errors import SchemaError
from scumble.mechanisms import find_mechanism
from scumble.publishing.encode import PublicColumn
from scumble.sources.source import Source
from scumble.spec.spec import Spec

READ = 1_000_000
"""Rows that are read at most, from the first on."""
SAMPLE = 40_000
"""Rows that are looked at."""
BESIDE = 3
"""Columns that are taken together, at most."""
TRIED = 10
"""Columns, best first, that are tried beside others."""
PAIRED = 14
"""Columns with the fewest values, of which all pairs are tried: two may tell what neither does."""
GAIN = 0.005
"""What a further column has to add to the share of right guesses."""
RARE = 8
"""Right guesses of others than the commonest value, at least, before a column is called determined."""
BINS = 100
"""Parts into which a number with many values is cut, besides being looked up as it is."""

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Dependence:
    """What public columns tell of a sensitive one."""

    column: str
    by: tuple[str, ...]
    right: float
    """The share of right guesses by these columns."""
    without: float
    """The share of right guesses without them."""
    determined: bool
    rows: int
    """That were guessed."""

    @property
    def words(self) -> str:
        """In a sentence, for the publisher."""
        if not self.by:
            return f"{self.column}: public columns do not help to guess it; the commonest value is right for {self.without:.1%}"
        verb = "DETERMINE" if self.determined else "tell"
        sentence = (
            f"{' and '.join(self.by)} {verb if len(self.by) > 1 else verb + ('S' if self.determined else 's')} it"
        )
        return f"{self.column}: {sentence}, right for {self.right:.1%} of {self.rows:,} rows; {self.without:.1%} without public columns"


def dependence_of(table: Source, spec: Spec, domains: Mapping[str, Domain]) -> list[Dependence]:
    """What public columns tell of each sensitive one; nothing where there are no public ones, or where a stream can be read once."""
    public = [name for name in spec.published if name not in domains]
    sensitive = [name for name in spec.published if name in domains]
    if find_mechanism(spec.mechanism).traits.columns_alike or not public or not sensitive or not table.stable:
        return []
    return _dependences(_sample(_prepared(table, spec, domains, [*public, *sensitive])), public, sensitive)


def dependence_in(truth: pa.Table, public: Sequence[str], sensitive: Sequence[str]) -> list[Dependence]:
    """The same of a table that is as it was published, but for the coins."""
    if not public or not sensitive:
        return []
    return _dependences(_sample([truth.select([*public, *sensitive])]), public, sensitive)


def _dependences(rows: Mapping[str, pa.Array], public: Sequence[str], sensitive: Sequence[str]) -> list[Dependence]:
    if not rows or len(rows[sensitive[0]]) < 4:
        return []
    coded = {name: _codings(rows[name]) for name in public}
    return [_greedy(name, _codes(rows[name]), coded) for name in sensitive]


def _prepared(table: Source, spec: Spec, domains: Mapping[str, Domain], names: Sequence[str]) -> Iterator[pa.Table]:
    """Rows as they will be published, before their coins."""
    columns = {n: PublicColumn(n, spec.columns[n]) for n in names if n not in domains}
    for batch in table.batches(names):
        arrays = [
            pa.array(domains[n].encode(batch.column(n), n)) if n in domains else columns[n].plain(batch.column(n))
            for n in names
        ]
        yield pa.table(arrays, names=list(names))


def _sample(parts: Iterable[pa.Table]) -> dict[str, pa.Array]:
    """Rows that are chosen alike among those that are read; no coin of the release has a part in that."""
    lots = Entropy.seeded(0).stream("dependence")
    kept: pa.Table | None = None
    drawn, read = np.empty(0, np.uint32), 0
    for part in parts:
        kept = part if kept is None else pa.concat_tables([kept, part])
        drawn, read = np.concatenate([drawn, lots.integers(len(part), 32)]), read + len(part)
        if len(drawn) > SAMPLE:
            lowest = np.argpartition(drawn, SAMPLE)[:SAMPLE]
            kept, drawn = kept.take(pa.array(lowest)), drawn[lowest]
        if read >= READ:
            break
    if kept is None:
        return {}
    mixed = kept.take(pa.array(np.argsort(drawn)))  # so that the two halves are alike
    return {name: mixed.column(name).combine_chunks() for name in mixed.column_names}


def _codes(column: pa.Array) -> Codes:
    coded = column.dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), np.int64)


def _codings(column: pa.Array) -> list[Codes]:
    """A column as it is, and cut into parts where it has many numbers."""
    plain = _codes(column)
    if not is_number(column.type) or plain.max(initial=0) < BINS:
        return [plain]
    numbers = np.nan_to_num(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), nan=-np.inf)
    edges = np.unique(np.quantile(numbers[np.isfinite(numbers)], np.linspace(0, 1, BINS + 1)[1:-1]))
    return [plain, np.searchsorted(edges, numbers).astype(np.int64)]


@dataclass(frozen=True)
class _Guess:
    by: tuple[str, ...]
    groups: Codes
    right: float
    sure: bool


def _greedy(name: str, values: Codes, public: Mapping[str, list[Codes]]) -> Dependence:
    half = len(values) // 2
    commonest = int(np.bincount(values[:half]).argmax())
    without = float((values[half:] == commonest).mean())
    singles = [_guessed((n,), codes, values, commonest) for n, ways in public.items() for codes in ways]
    singles.sort(key=lambda guess: (-guess.sure, -guess.right))
    best = _Guess((), np.zeros(len(values), np.int64), without, False)
    few = sorted(singles, key=lambda guess: int(guess.groups.max()))[:PAIRED]
    apart = [(one, other) for one, other in itertools.combinations(few, 2) if one.by != other.by]
    pairs = [_beside(one, other, values, commonest) for one, other in apart]
    first = max(pairs, key=lambda guess: (guess.sure, guess.right), default=best)
    if not singles[0].sure and (first.sure or first.right > singles[0].right + 2 * GAIN):
        best = first if first.right > without + GAIN else best
    for _ in range(BESIDE - len(best.by)):
        tried = [_beside(best, one, values, commonest) for one in singles[:TRIED] if not set(one.by) <= set(best.by)]
        better = max(tried, key=lambda guess: (guess.sure, guess.right), default=best)
        if best.sure or (better.right < best.right + GAIN and not better.sure):
            break
        best = better
    return Dependence(name, best.by, best.right, without, best.sure, len(values) - half)


def _beside(best: _Guess, one: _Guess, values: Codes, commonest: int) -> _Guess:
    if not best.by:
        return one
    together = np.unique(best.groups * (one.groups.max() + 1) + one.groups, return_inverse=True)[1]
    return _guessed((*best.by, *one.by), together.astype(np.int64), values, commonest)


def _guessed(by: tuple[str, ...], groups: Codes, values: Codes, commonest: int) -> _Guess:
    """The second half guessed by what the first one has in the same groups."""
    half, width = len(values) // 2, int(values.max()) + 1
    pairs, counts = np.unique(groups[:half] * width + values[:half], return_counts=True)
    order = np.lexsort((counts, pairs // width))
    last = np.flatnonzero(np.diff(np.append(pairs[order] // width, -1)))  # of each group the pair that occurs most
    guesses = np.full(int(groups.max()) + 1, -1, np.int64)
    guesses[pairs[order][last] // width] = pairs[order][last] % width
    truth, guess = values[half:], guesses[groups[half:]]
    seen = guess >= 0
    right = np.where(seen, guess, commonest) == truth
    rare = int((right & seen & (truth != commonest)).sum())
    sure = bool(right[seen].all() and seen.mean() >= 0.5 and rare >= RARE)
    return _Guess(by, groups, float(right.mean()), sure)


def demand_independent(spec: Spec, dependences: Sequence[Dependence]) -> None:
    """Refuses a sensitive column that public ones determine, unless the spec accepts it."""
    for one in dependences:
        if one.determined and spec.columns[one.column].determined is None:
            several = len(one.by) > 1
            raise SchemaError(
                f"column {one.column!r} is determined by the public column{'s' * several} {' and '.join(map(repr, one.by))}: whoever sees "
                f"{'them' if several else 'it'} knows {one.column!r}, whatever the coins do ({one.rows:,} rows were guessed). "
                f"Drop or coarsen {'one of them' if several else 'it'}, make it sensitive too, or accept it: "
                f'determined = "accepted" at the column in a spec (--determined {one.column}, determined=). This was found in the data, and the refusal tells it'
            )
