"""Weaknesses that were planted into publishing, one a function: what an audit must find.

Most are bugs that are put into the publishing code while a release is made, so that files, hashes and manifest are as if nothing had happened.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from naming import publish_openly

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.entropy import Entropy, Stream
from scumble.mechanisms.noisy_count_matrix import ClampedCounts
from scumble.publishing.encode import SensitiveColumn
from scumble.publishing.perturb import Independent
from scumble.publishing.write import ShuffledFiles, file_record
from scumble.release.manifest import NAME, read_manifest
from scumble.release.release import Release, open_release

ILLS = ["flu", "cold", "gout", "hiv", "angina", "ulcer", "croup", "asthma"]
RETAIN = 0.4

Values = npt.NDArray[Any]
Columns = dict[str, Values]
Change = Callable[[Columns, dict[str, Values], dict[str, Values], npt.NDArray[np.int64]], None]
"""Changes published codes in place: by the raw table's columns, the true codes, the published ones, and the places of the rows in the table."""


def balanced(rows: int, seed: int = 1) -> pa.Table:
    """People of whom nearly everybody is alone with the public values, and whose sensitive columns have all values alike often."""
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draw.integers(0, 100, rows),
            "sex": draw.choice(["F", "M"], rows),
            "region": draw.integers(0, 12, rows),
            "code": draw.permutation(rows) // 2 * 7919 % 1_000_003,
            "ill": draw.choice(ILLS, rows),
            "job": draw.choice(ILLS, rows),
        }
    )


@dataclass(frozen=True)
class Planted:
    """What an audit is given."""

    release: Any
    raw: pa.Table
    others: list[Release] = field(default_factory=list)


@dataclass(frozen=True)
class Plant:
    """A weakness: how it is made for so many rows, by a seed; and the attacks of which one must see it."""

    make: Callable[[int, int], Planted]
    seen_by: frozenset[str]
    least: int
    """Rows from which on it must be seen."""
    most: int = 1_000_000
    """Rows for which it is made in a benchmark, at most."""


PLANTS: dict[str, Plant] = {}


def plant(name: str, *seen_by: str, least: int = 3000, most: int = 1_000_000) -> Callable[[Any], Any]:
    """Registers a function of the number of rows and a seed."""

    def registered(make: Callable[[int, int], Planted]) -> Callable[[int, int], Planted]:
        PLANTS[name] = Plant(make, frozenset(seen_by), least, most)
        return make

    return registered


ONE: dict[str, Any] = {"sensitive": "ill", "domains": {"ill": ILLS}, "drop": "job", "retain": RETAIN}
TWO: dict[str, Any] = {"sensitive": ["ill", "job"], "domains": {"ill": ILLS, "job": ILLS}, "drop": None}


@contextmanager
def changed_rows(raw: pa.Table, change: Change) -> Iterator[None]:
    """Rows that come out of their coins are changed."""
    columns = {name: raw.column(name).to_numpy(zero_copy_only=False) for name in raw.column_names}

    class Changed(Independent):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self._starts: list[int] = [0]

        def prepare(self, index: int, codes: dict[str, Any]) -> None:
            self._starts.append(self._starts[-1] + len(next(iter(codes.values()))))

        def apply(self, index: int, codes: dict[str, Any], ids: Any, state: Any) -> dict[str, Any]:
            published = {name: column.copy() for name, column in super().apply(index, codes, ids, state).items()}
            rows = np.arange(self._starts[index], self._starts[index + 1])
            change({name: column[rows] for name, column in columns.items()}, codes, published, rows)
            return published

    with patch("scumble.publishing.rows.Independent", Changed):
        yield


def published(raw: pa.Table, seed: int, *patches: Any, **how: Any) -> Release:
    """A release that was made while patches were on."""
    with ExitStack() as stack:
        for each in patches:
            stack.enter_context(each)
        return publish_openly(raw, seed=seed, **{key: value for key, value in (ONE | how).items() if value is not None})


def coins_of(retain: float) -> Coins:
    """Coins for eight values."""
    return Coins.of(Channel(retain, size=len(ILLS)))


def _with_rows(change: Change, **how: Any) -> Callable[[int, int], Planted]:
    def make(rows: int, seed: int) -> Planted:
        raw = balanced(rows, seed)
        return Planted(published(raw, seed, changed_rows(raw, change), **how), raw)

    return make


def _again(true: Values, out: Values, where: Values, retain: float, seed: int) -> None:
    """Other coins for some rows."""
    out[where] = coins_of(retain).flip(true[where], Entropy.seeded(seed).stream("again"))


# the law of true and published values


@plant("retention 10 points above the manifest", "retention", "law")
def weaker(rows: int, seed: int) -> Planted:
    """A wrong threshold."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        _again(true["ill"], out["ill"], np.ones(len(places), bool), RETAIN + 0.1, seed)

    return _with_rows(change)(rows, seed)


@plant("a tenth of the rows passed by", "retention", "law", "whole rows")
def passed_by(rows: int, seed: int) -> Planted:
    """A batch that was forgotten: a run of rows without coins."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        forgotten = (places >= rows // 3) & (places < rows // 3 + rows // 10)
        for name in out:
            out[name][forgotten] = true[name][forgotten]

    return _with_rows(change, **TWO)(rows, seed)


@plant("one value is never replaced", "retention", "law", least=1000)
def one_value(rows: int, seed: int) -> Planted:
    """hiv is published as it is, the others a little less often, so that the mean is that of the manifest."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        rare = true["ill"] == 3
        _again(true["ill"], out["ill"], ~rare, (8 * RETAIN - 1) / 7, seed)
        out["ill"][rare] = 3

    return _with_rows(change)(rows, seed)


@plant("replacements are a function of the truth", "law", least=1000)
def function_of_truth(rows: int, seed: int) -> Planted:
    """As often kept as the manifest says; whoever is not kept becomes the next value."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        x, y = true["ill"], out["ill"]
        y[y != x] = (x[y != x] + 1) % len(ILLS)

    return _with_rows(change)(rows, seed)


@plant("replacements are never the true value", "law", least=3000)
def never_true(rows: int, seed: int) -> Planted:
    """Drawn among the m - 1 others, a usual misreading; the retention is that of the manifest."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        x, draw = true["ill"], np.random.default_rng(seed)
        kept = draw.random(len(x)) < RETAIN
        out["ill"][:] = np.where(kept, x, (x + draw.integers(1, len(ILLS), len(x))) % len(ILLS))

    return _with_rows(change)(rows, seed)


@plant("retention depends on a public column", "law", "retention")
def by_public(rows: int, seed: int) -> Planted:
    """Women 0.5, men 0.3: 0.4 in the mean."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        women = columns["sex"] == "F"
        _again(true["ill"], out["ill"], women, RETAIN + 0.1, seed)
        _again(true["ill"], out["ill"], ~women, RETAIN - 0.1, seed + 1)

    return _with_rows(change)(rows, seed)


@plant("retention depends on two public columns together", "law")
def by_two(rows: int, seed: int) -> Planted:
    """0.55 where sex and the parity of the region agree, 0.25 where not: no single column shows it."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        agree = (columns["sex"] == "F") == (columns["region"] % 2 == 0)
        _again(true["ill"], out["ill"], agree, RETAIN + 0.15, seed)
        _again(true["ill"], out["ill"], ~agree, RETAIN - 0.15, seed + 1)

    return _with_rows(change)(rows, seed)


@plant("retention depends on another sensitive column", "law", "coins")
def by_other(rows: int, seed: int) -> Planted:
    """Kept more often where the job is one of the first four."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        first = true["job"] < 4
        _again(true["ill"], out["ill"], first, RETAIN + 0.15, seed)
        _again(true["ill"], out["ill"], ~first, RETAIN - 0.15, seed + 1)

    return _with_rows(change, **TWO)(rows, seed)


@plant("equal rows have equal coins", "law")
def equal_rows(rows: int, seed: int) -> Planted:
    """Coins are a function of true value, age and sex: a hash that was meant to be a key."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        cells = true["ill"] + 8 * (columns["age"] + 100 * (columns["sex"] == "F"))
        coins = coins_of(RETAIN).flip(np.arange(8 * 200).astype(np.uint8) % 8, Entropy.seeded(seed).stream("cells"))
        out["ill"][:] = coins[cells]

    return _with_rows(change)(rows, seed)


# coins against each other


@plant("a keystream that repeats", "coins")
def repeated(rows: int, seed: int) -> Planted:
    """The words of the first 700 rows are used again and again."""

    def words(self: Stream, count: int, bits: int) -> Any:
        first = original(self, min(count, 700), bits).copy()
        return np.resize(first, count)

    original = Stream.words
    raw = balanced(rows, seed)
    return Planted(published(raw, seed, patch.object(Stream, "words", words)), raw)


@plant("one keystream for two columns", "coins", "whole rows")
def one_stream(rows: int, seed: int) -> Planted:
    """The name of the column is missing from that of its stream."""

    def stream(self: Entropy, *name: str | int) -> Stream:
        return original(self, *(("coins", name[-1]) if name[0] == "coins" else name))

    original = Entropy.stream
    raw = balanced(rows, seed)
    return Planted(published(raw, seed, patch.object(Entropy, "stream", stream), **TWO), raw)


@plant("one keystream for two columns, a thousand rows apart", "coins")
def shifted_stream(rows: int, seed: int) -> Planted:
    """The second column goes on in the keystream of the first where that was a thousand rows before."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        words = Entropy.seeded(seed).stream("shared").integers(len(places) + 1000, 32)
        for name, start in (("ill", 0), ("job", 1000)):
            out[name][:] = coins_of(RETAIN).decide(true[name], words[start : start + len(places)])[0]

    return _with_rows(change, **TWO)(rows, seed)


@plant("kept rows at computable places of the source", "coins")
def places_of_source(rows: int, seed: int) -> Planted:
    """Two of five rows are kept, always the same two."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        drawn = coins_of(0).flip(true["ill"], Entropy.seeded(seed).stream("all"))
        out["ill"][:] = np.where(places % 5 < 2, true["ill"], drawn)

    return _with_rows(change)(rows, seed)


@plant("coins by a linear generator of the row number", "coins")
def linear(rows: int, seed: int) -> Planted:
    """Kept where 0.618 times the place has a fraction below 0.4."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        drawn = coins_of(0).flip(true["ill"], Entropy.seeded(seed).stream("all"))
        kept = (places * 0.6180339887498949 + 0.25) % 1 < RETAIN
        out["ill"][:] = np.where(kept, true["ill"], drawn)

    return _with_rows(change)(rows, seed)


@plant("retention that falls along the source", "coins")
def falling(rows: int, seed: int) -> Planted:
    """From 0.6 in the first rows to 0.2 in the last."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        for part in range(20):
            inside = places * 20 // rows == part
            _again(true["ill"], out["ill"], inside, RETAIN + 0.2 - 0.4 * part / 19, seed + part)

    return _with_rows(change)(rows, seed)


@plant("neighbours share a coin", "coins")
def neighbours(rows: int, seed: int) -> Planted:
    """One word for two rows."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        words = Entropy.seeded(seed).stream("half").integers(len(places) // 2 + 1, 32)
        out["ill"][:] = coins_of(RETAIN).decide(true["ill"], np.repeat(words, 2)[: len(places)])[0]

    return _with_rows(change)(rows, seed)


@plant("values swapped with the next row only", "law", "coins", "order")
def swapped_nearby(rows: int, seed: int) -> Planted:
    """What is not kept is the value of the row before, not that of any row."""

    def change(columns: Columns, true: dict[str, Values], out: dict[str, Values], places: Values) -> None:
        draw = np.random.default_rng(seed)
        kept = draw.random(len(places)) < RETAIN
        out["ill"][:] = np.where(kept, true["ill"], np.roll(true["ill"], 1))

    return _with_rows(change)(rows, seed)


# counts


def _counts(rows: int, seed: int, draw: Any, **how: Any) -> Planted:
    raw = balanced(rows, seed).select(["age", "sex", "ill"])
    settings = {"sensitive": None, "domains": None, "drop": None, "retain": None, "mechanism": "noisy_counts"}
    with patch.object(ClampedCounts, "draw", draw) if draw is not None else ExitStack():
        chosen = {k: v for k, v in {**settings, **how}.items() if v is not None}
        return Planted(publish_openly(raw, seed=seed, **chosen), raw)


def _no_noise(self: ClampedCounts, stream: Stream, counts: Any) -> Any:
    return np.maximum(self.floor, np.asarray(counts, np.int64))


PRACTICAL: dict[str, Any] = {"epsilon": 0.1, "settings": {"k": 3, "delta": 0.5}}
FULL: dict[str, Any] = {
    "sensitive": ["age", "sex", "ill"],
    "domains": {"age": {"low": 0, "high": 99}, "sex": ["F", "M"], "ill": ILLS},
    "epsilon": 0.1,
    "settings": {"matrix": "full"},
}


@plant("counts without noise, practical", "noise", least=20_000)
def no_noise_practical(rows: int, seed: int) -> Planted:
    """At a claimed epsilon of 0.1."""
    return _counts(rows, seed, _no_noise, **PRACTICAL)


@plant("counts without noise, full", "noise", "claims", least=1000)
def no_noise_full(rows: int, seed: int) -> Planted:
    """Of every tuple of a domain."""
    return _counts(rows, seed, _no_noise, **FULL)


@plant("noise of half its scale, full", "noise", least=1000)
def half_noise(rows: int, seed: int) -> Planted:
    """epsilon doubled behind the manifest."""
    original = ClampedCounts.draw

    def draw(self: ClampedCounts, stream: Stream, counts: Any) -> Any:
        return original(ClampedCounts(self.floor, 2 * self.rate), stream, counts)

    return _counts(rows, seed, draw, **FULL)


@plant("counts without noise, in one column of a schema", "noise", least=20_000)
def no_noise_columnized(rows: int, seed: int) -> Planted:
    """The other column is sound."""
    original, turn = ClampedCounts.draw, iter(range(10**9))

    def draw(self: ClampedCounts, stream: Stream, counts: Any) -> Any:
        return (_no_noise if next(turn) else original)(self, stream, counts)

    schema = {"k": 3, "delta": 0.5, "schema": [["age"], ["sex", "ill", "age"]]}
    return _counts(rows, seed, draw, mechanism="columnized", epsilon=0.1, settings=schema)


@plant("counts without noise, in one of two marginals", "noise", least=1000)
def no_noise_marginals(rows: int, seed: int) -> Planted:
    """The other marginal is sound."""
    original, turn = ClampedCounts.draw, iter(range(10**9))

    def draw(self: ClampedCounts, stream: Stream, counts: Any) -> Any:
        return (_no_noise if next(turn) else original)(self, stream, counts)

    settings = {"marginals": [["age"], ["sex", "ill", "age"]]}
    return _counts(rows, seed, draw, **{**FULL, "mechanism": "marginals", "settings": settings})


# dealing and sampling


@plant("rows dealt to sub-tables by a public column", "dealing", least=3000)
def dealt(rows: int, seed: int) -> Planted:
    """Rows of each value go to the sub-tables in the order of their region."""
    raw = balanced(rows, seed)
    draw = np.random.default_rng(seed)
    jobs = np.minimum(draw.geometric(0.15, rows) - 1, 23)
    raw = raw.set_column(5, "job", pa.array(jobs)).sort_by("region")

    def deal(true: Values, state: Values, stream: Stream) -> Values:
        order = np.argsort(true, kind="stable")
        labels = np.empty(len(true), dtype=np.uint8)
        labels[order] = np.repeat(np.tile(np.arange(state.shape[1]), len(state)), state.ravel())
        return labels

    how = {"sensitive": "job", "domains": {"job": list(range(24))}, "drop": "ill", "rho2": 0.4}
    with patch("scumble.mechanisms.partitioned.subtables.deal", deal):
        release = publish_openly(raw, seed=seed, mechanism="partitioned", persons="one row each", **how)
        return Planted(release, raw)


@plant("buckets filled in the order of the source", "dealing", least=3000, most=100_000)
def filled(rows: int, seed: int) -> Planted:
    """Of each value the first records go to the first buckets."""
    raw = balanced(rows, seed)

    def permutation(self: Stream, count: int, by: Any = None) -> Any:
        return np.arange(count) if count == rows and by is None else original(self, count, by)

    original = Stream.permutation
    how = {"retain": None, "mechanism": "anatomy", "settings": {"l": 3}, "persons": "one row each"}
    chosen = {k: v for k, v in (ONE | how).items() if v is not None}
    with patch.object(Stream, "permutation", permutation):
        return Planted(publish_openly(raw, seed=seed, **chosen), raw)


@plant("samples that take the first values only", "sampling", least=3000)
def first_records(rows: int, seed: int) -> Planted:
    """Of each group the records of the first values, not a sample that keeps the shares."""
    raw = balanced(rows, seed).select(["sex", "region", "ill"])

    def split(stream: Stream, counts: Any, size: Any) -> Any:
        before = np.cumsum(counts, axis=1) - counts
        return np.clip(np.asarray(size)[:, None] - before, 0, counts)

    how = {"mechanism": "sps", "drop": None}
    chosen = {k: v for k, v in (ONE | how).items() if v is not None}
    with patch("scumble.mechanisms.sps.publish.rounded_split", split):
        return Planted(publish_openly(raw, seed=seed, **chosen), raw)


# order and bytes


@plant("rows in the order of the source", "order", least=1000)
def source_order(rows: int, seed: int) -> Planted:
    """The shuffle is lost."""

    def permutation(self: Stream, count: int, by: Any = None) -> Any:
        return np.arange(count)

    raw = balanced(rows, seed)
    return Planted(published(raw, seed, patch.object(Stream, "permutation", permutation)), raw)


@plant("rows in the order of the source among equal ones", "order", least=3000)
def stable_order(rows: int, seed: int) -> Planted:
    """Sorted by published values as it should be, ties as they came."""

    def permutation(self: Stream, count: int, by: Any = None) -> Any:
        return np.arange(count) if by is None else np.argsort(by, kind="stable")

    raw = balanced(rows, seed)
    return Planted(published(raw, seed, patch.object(Stream, "permutation", permutation)), raw)


@plant("kept rows at computable places of the release", "order", least=1000)
def places_of_release(rows: int, seed: int) -> Planted:
    """Within equal published values, every other row is a kept one, as far as there are any."""
    raw = balanced(rows, seed)
    true = {code: ILLS.index(ill) for code, ill in zip(raw["code"].to_pylist(), raw["ill"].to_pylist(), strict=True)}
    original = ShuffledFiles._ordered

    def ordered(self: ShuffledFiles, index: int) -> pa.Table:
        table = original(self, index)
        shown = [ILLS.index(ill) for ill in table["ill"].to_pylist()]
        kept = np.array([true[c] == y for c, y in zip(table["code"].to_pylist(), shown, strict=True)])
        key = np.zeros(len(table), dtype=np.int64)
        for name in ("ill", "region", "sex"):
            coded = table[name].combine_chunks()
            plain = coded.dictionary_decode() if pa.types.is_dictionary(coded.type) else coded
            key = key * 1000 + plain.rank("dense").to_numpy() if hasattr(plain, "rank") else key
        return table.take(pa.array(_alternating(kept)))

    return Planted(published(raw, seed, patch.object(ShuffledFiles, "_ordered", ordered)), raw)


def _alternating(kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Kept and replaced rows in turn."""
    rank = np.empty(len(kept))
    for which, step in ((kept, 0.0), (~kept, 0.5)):
        rank[which] = np.arange(which.sum()) + step
    return np.argsort(rank, kind="stable")


@plant("row groups that follow the true counts", "bytes", least=1000)
def row_groups(rows: int, seed: int) -> Planted:
    """A row group ends where the number of people with each true value says."""
    raw = balanced(rows, seed)
    counts = np.bincount([ILLS.index(ill) for ill in raw["ill"].to_pylist()], minlength=len(ILLS))

    def write(self: Any, table: pa.Table, row_group_size: int | None = None) -> None:
        start = 0
        for count in counts.tolist():
            original(self, table.slice(start, count), row_group_size=count)
            start += count

    import pyarrow.parquet as pq

    original = pq.ParquetWriter.write_table
    return Planted(published(raw, seed, patch.object(pq.ParquetWriter, "write_table", write)), raw)


@plant("a dictionary in the order of the true counts", "bytes", least=1000)
def dictionary(rows: int, seed: int) -> Planted:
    """The commonest true value stands first in it."""
    raw = balanced(rows, seed)
    counts = np.bincount([ILLS.index(ill) for ill in raw["ill"].to_pylist()], minlength=len(ILLS))
    order = np.argsort(-counts, kind="stable")

    def decode(self: SensitiveColumn, column: pa.Array) -> pa.Array:
        place = np.argsort(order).astype(np.int32)
        return pa.DictionaryArray.from_arrays(pa.array(place).take(column), self.domain.values.take(pa.array(order)))

    return Planted(published(raw, seed, patch.object(SensitiveColumn, "decode", decode)), raw)


@plant("statistics in the files", "bytes", least=1000)
def statistics(rows: int, seed: int) -> Planted:
    """A writer with its defaults: ends of each row group."""
    raw = balanced(rows, seed)
    import pyarrow.parquet as pq

    original = pq.ParquetWriter.__init__

    def begin(self: Any, *given: Any, **named: Any) -> None:
        original(self, *given, **{**named, "write_statistics": True})

    return Planted(published(raw, seed, patch.object(pq.ParquetWriter, "__init__", begin)), raw)


@plant("metadata in the files", "bytes", "metadata", least=1000)
def noted(rows: int, seed: int) -> Planted:
    """The path of the source."""
    raw = balanced(rows, seed)
    import pyarrow.parquet as pq

    original = pq.ParquetWriter.add_key_value_metadata

    def add(self: Any, metadata: dict[str, str]) -> None:
        original(self, {**metadata, "source": "patients.csv"})

    return Planted(published(raw, seed, patch.object(pq.ParquetWriter, "add_key_value_metadata", add)), raw)


@plant("bytes behind the last column", "bytes", "metadata", least=1000)
def padding(rows: int, seed: int) -> Planted:
    """A hundred zeros that no reader looks at, whose number may say something."""
    raw = balanced(rows, seed)
    made = published(raw, seed)
    folder = Path(shutil.copytree(made.path, made.path.with_name(f"padded {made.path.name}")))
    data = (folder / "data.parquet").read_bytes()
    footer = int.from_bytes(data[-8:-4], "little")
    (folder / "data.parquet").write_bytes(data[: -8 - footer] + bytes(100) + data[-8 - footer :])
    manifest = read_manifest(folder)
    files = [file_record(folder, file.path, file.rows) for file in manifest.files]
    (folder / NAME).write_text(manifest.model_copy(update={"files": files}).text())
    return Planted(open_release(folder), raw)


# randomness


@plant("a small seed that is said to be secure", "seeds", least=1000)
def small_seed(rows: int, seed: int) -> Planted:
    """The manifest says that coins came from the operating system."""
    raw = balanced(rows, seed)

    def system() -> Entropy:
        key = Entropy.seeded(4711)
        key.secure = True
        return key

    chosen = {k: v for k, v in ONE.items() if v is not None}
    with patch.object(Entropy, "system", system):
        return Planted(publish_openly(raw, **chosen), raw)


@plant("a small seed behind noisy counts", "seeds", least=3000)
def small_seed_of_counts(rows: int, seed: int) -> Planted:
    """The same for counts."""
    raw = balanced(rows, seed).select(["age", "sex", "ill"])

    def system() -> Entropy:
        key = Entropy.seeded(12)
        key.secure = True
        return key

    with patch.object(Entropy, "system", system):
        return Planted(publish_openly(raw, mechanism="noisy_counts", **FULL), raw)


# what stands beside the sensitive column, and before it


@plant("a public column is a function of the sensitive one", "inference", least=1000)
def public_copy(rows: int, seed: int) -> Planted:
    """A price list: what was paid tells the illness."""
    raw = balanced(rows, seed)
    price = np.array([ILLS.index(ill) for ill in raw["ill"].to_pylist()]) * 13 % 101
    raw = raw.append_column("price", pa.array(price))
    return Planted(published(raw, seed), raw)


@plant("the same people with fresh coins", "averaging", least=1000)
def fresh(rows: int, seed: int) -> Planted:
    """Twice."""
    raw = balanced(rows, seed)
    return Planted(published(raw, seed), raw, [published(raw, seed + 1000)])


@plant("one person more, counted exactly", "differencing", least=1000)
def one_more(rows: int, seed: int) -> Planted:
    """Two releases by k_dgs, between which one person came."""
    raw = balanced(rows, seed).select(["sex", "ill"])
    first, second = (
        publish_openly(raw.slice(0, count), mechanism="k_dgs", settings={"k": 3}, seed=seed)
        for count in (rows - 1, rows)
    )
    return Planted(second, raw, [first])


@plant("two releases by buckets", "intersection", least=1000, most=100_000)
def two_buckets(rows: int, seed: int) -> Planted:
    """What is in both buckets of a person is the person's value, nearly always."""
    raw = balanced(rows, seed)
    how = {"retain": None, "mechanism": "anatomy", "settings": {"l": 3}, "persons": "one row each"}
    chosen = {k: v for k, v in (ONE | how).items() if v is not None}
    first, second = (publish_openly(raw, seed=seed + more, **chosen) for more in (0, 1000))
    return Planted(first, raw, [second])


@plant("an index of the rows", "leaked index", least=1000)
def index(rows: int, seed: int) -> Planted:
    """A column that numbers them."""
    raw = balanced(rows, seed).append_column("row", pa.array(np.arange(rows)))
    return Planted(published(raw, seed), raw)


@plant("every row three times", "duplicates", least=1000)
def thrice(rows: int, seed: int) -> Planted:
    """With one coin for all three."""
    raw = balanced(rows, seed)
    original = ShuffledFiles._ordered

    def ordered(self: ShuffledFiles, index: int) -> pa.Table:
        table = original(self, index)
        return table.take(pa.array(np.repeat(np.arange(len(table)), 3)))

    return Planted(published(raw, seed, patch.object(ShuffledFiles, "_ordered", ordered)), raw)
