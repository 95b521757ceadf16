"""A count, or a sum of one public number or of perturbed ones, over the rows of a stratum: its moments, as exactly as they are known.

To the value and the variance of query/joint.py come how the variance follows the value (query/slope.py), the least that it can be, what sampling
adds (query/sampled.py), and what is different where coins draw from the column itself (query/own.py).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scumble.core.channel import replacement_of
from scumble.core.channel_base import Vector
from scumble.core.once import once
from scumble.query import own, states
from scumble.query.factors import CUBE
from scumble.query.few import Draws
from scumble.query.joint import Linear, classes
from scumble.query.law import Tables
from scumble.query.moments import Moments, quotient
from scumble.query.sampled import public_share, sample_of, smaller
from scumble.query.slope import covariances, steepness
from scumble.query.stratum import Block, Stratum, Tensor, first_of
from scumble.query.sums import number_steepness
from scumble.query.terms import Factor
from scumble.query.totals import Totals


@dataclass(frozen=True)
class Estimated:
    """The sum of a public factor times a table over the cells, in one stratum, for the lines of one key."""

    part: Stratum
    totals: Totals
    factor: Factor
    table: Tensor
    key: int = 0

    @once
    def chosen(self) -> Tensor:
        """The table where the WHERE holds and the key is this one."""
        return self.totals.of_key(self.table, self.key)

    @once
    def needed(self) -> frozenset[int]:
        """The other columns and public conditions that the table depends on, by their places; with those that were perturbed as one with them."""
        ahead = self.part.ahead
        varies = {i - ahead for i in range(ahead, self.chosen.ndim) if np.any(np.ptp(self.chosen, axis=i) != 0)}
        together = [set(block.places) for block in self.part.blocks if set(block.places) & varies]
        return frozenset(varies.union(*together))

    @property
    def _blocks(self) -> list[Block]:
        """The blocks of these."""
        return [b for b in self.part.blocks if set(b.places) <= self.needed and b.channel.size > 1]

    @property
    def _public(self) -> bool:
        """Whether public conditions are among them."""
        return any(place >= len(self.part.question.others) for place in self.needed)

    @property
    def alike(self) -> bool:
        """Whether rows count or do not; else numbers of perturbed columns are summed."""
        return bool(np.all((self.table == 0) | (self.table == 1))) and self._power is None

    @property
    def _power(self) -> tuple[str, int] | None:
        return self.totals.factors.power(self.factor)

    @property
    def orders(self) -> tuple[Vector, Vector, Vector]:
        """The sums of the factor, of its square and of its cube by cell, with the weights of rows in the same power."""
        names, numbers = self.totals.factors.names, self.part.cells.numbers
        name = names[self.factor]
        third = numbers(CUBE.format(name)) if CUBE.format(name) in self.part.cells.names else numbers(name, 3)
        return numbers(name), numbers(names[self.factor * self.factor], 2), third

    def moments(self) -> Moments:
        """The estimate with its variance, and how that follows it."""
        value, variance, replaced = (self.part.blank() for _ in range(3))
        linear, some = [Linear({self.factor: self.table})], np.array([self.key])
        for members, weighed in classes(self.part, self.totals, linear, some):
            value[:, members] = weighed.value(0)[..., 0][:, members]
            variance[:, members] = weighed.drawn(0, 0)[..., 0][:, members]
            replaced[:, members] = np.broadcast_to(weighed.replaced(0, 0), (*value.shape, 1))[..., 0][:, members]
        moments = self._raised(Moments(value, variance)) if self.alike else Moments(value, variance)
        moments = self._own(self._leaning(moments), replaced)
        return moments.widened(self._sampling()) if self.part.cells.sampled is not None else moments

    def _own(self, moments: Moments, replaced: Tensor) -> Moments:
        """Where values are replaced by others of the same column, the variance that follows from that."""
        question = self.part.question
        if not question.published.whole or question.exact:
            return moments
        variance = moments.variance + replaced
        variance = np.where(variance > own.ROUNDING * moments.variance, variance, 0.0)
        if self.single is None or not self.alike:
            return moments.of_variance(variance, quotient(variance, moments.variance))
        p = float(replacement_of(self.single.channel).retain)
        share = self.part.over(self.part.cells.numbers("n")) / question.published.whole
        return moments.of_variance(variance, own.lean(p, share, question.published.permuted))

    def _sampling(self) -> Tensor:
        """What sampling adds to the variance."""
        assert self.part.cells.sampled is not None
        return self.share * self.part.over(self.orders[1] * self.part.cells.sampled)

    @once
    def share(self) -> Tensor:
        """How much of a sum of squares over sampled rows sampling adds, for each line."""
        part, sampled = self.part, self.part.cells.sampled
        assert sampled is not None
        second, public, hits = part.cells.numbers("n", 2) * sampled, np.zeros(part.cells.lines), part.blank()
        for members, (f,) in part.classes(self.chosen):
            grouped = bool(part.question.grouped)  # then a line is one value
            full = np.broadcast_to(f, part.true_cells)
            public[members] = 0.25 / sample_of(part.question) if grouped else public_share(part.question, full)
            hits[:, members] = part.solve(part.cells.gather(part.weights(f**2), second))[:, members]
        return smaller(public, hits, part.over(second))

    def _leaning(self, moments: Moments) -> Moments:
        """The moments with how their variance follows them, where that is known."""
        if self.part.question.exact:
            return moments
        _, second, third = self.orders
        part = self.part
        if self._power is not None:
            alone = len(part.cells.rest) == 1 and not part.ahead
            truth = np.broadcast_to(self.chosen, part.true_cells) > 0 if alone else None
            return moments.leaning(number_steepness(part, self._power[0], truth)) if truth is not None else moments
        if part.ahead:
            steep = self._grouped_steepness() if self.alike else np.zeros(part.cells.lines)
        else:
            f = np.broadcast_to(self.chosen, part.true_cells)
            k, u = covariances(f, part.weights, part.expectation)
            steep = steepness(part.cells.gather(part.weights(k), second), moments.variance, k, u)
        return moments.leaning(steep * quotient(part.over(third), part.over(second)))

    def _grouped_steepness(self) -> Tensor:
        """k / u for each value of the only perturbed column; nothing, where that is not known."""
        others = self._blocks or self._public
        known = self.part.listed[0].channel.against_others if len(self.part.listed) == 1 else None
        if others or known is None:
            return np.zeros(self.part.cells.lines)
        p, r = known
        return np.asarray((1 - p - 2 * (1 - p) * r) / p).reshape(self.part.cells.lines)

    @once
    def single(self) -> Block | None:
        """The only block that tells rows apart, where each row counts 1 and values are alike against all others; else nothing."""
        blocks = [*self.part.listed, *self._blocks]
        if len(blocks) != 1 or self._public or self.part.question.published.weighted:
            return None
        return blocks[0] if blocks[0].channel.against_others is not None else None

    def _pairs(self) -> tuple[Tensor, Tensor, Callable[[Vector], Tensor]] | None:
        """How probably rows that count, and rows that do not, look as if they did, for each line; and how many do, of published ones."""
        block, part = self.single, self.part
        if block is None:
            return None
        kept, drawn = np.ones(part.cells.lines), np.zeros(part.cells.lines)
        if part.ahead:
            known = block.channel.against_others
            assert known is not None
            for members, _ in part.classes(self.chosen) if block.channel.size > 1 else ():
                drawn[members] = ((1 - known[0]) * known[1]).reshape(part.cells.lines)[members]
                kept[members] = known[0] + drawn[members]
            return kept, drawn, self._matches
        matches = np.zeros(part.cells.rest)
        for _, (f,) in part.classes(self.chosen):
            truth = first_of(np.broadcast_to(f, part.true_cells), self.needed) > 0
            matches = np.ones(part.cells.rest)
            if not truth.all():
                pair = block.channel.pair(truth.reshape(-1))
                if pair is None:
                    return None
                kept, drawn = np.asarray(pair.kept), np.asarray(pair.drawn)
                shape = [size if i in self.needed else 1 for i, size in enumerate(part.cells.rest)]
                matches = np.broadcast_to(pair.matches.astype(np.float64).reshape(shape), part.cells.rest)
        return kept, drawn, lambda ones: part.cells.gather(np.ascontiguousarray(matches), ones)

    @property
    def lawful(self) -> bool:
        """Whether it is known what a count was drawn from."""
        return self._pairs() is not None or states.known([self])

    def draws(self) -> Draws | Tables | None:
        """What a count was drawn from, where that is known; where all rows or none count, nothing is drawn."""
        part, ones = self.part, self.orders[0]
        if (pairs := self._pairs()) is None:
            return states.of_count([self]) if states.known([self]) else None
        kept, drawn, looking = pairs
        rows, published = part.over(ones), looking(ones)
        whole, permuted = part.question.published.whole, part.question.published.permuted
        certain = permuted & (rows == whole)  # a permutation keeps what it is asked about
        kept, drawn = np.where(certain, 1, kept), np.where(certain, 0, drawn)
        y, n, q, b = (np.broadcast_to(coins, rows.shape).reshape(-1) for coins in (published, rows, kept, drawn))
        return Draws(y, n, q, b, states.most(part))

    def matching(self) -> Tensor:
        """How many published rows look as if they were counted; a sampled row is one, whatever its weight."""
        return self._matches(self.part.cells.numbers("n_rows" if self.part.question.published.weighted else "n"))

    def _matches(self, ones: Vector) -> Tensor:
        result = self.part.blank()
        for members, (f,) in self.part.classes((self.chosen != 0).astype(np.float64)):
            looking = self.part.cells.gather(self.part.looks(f), ones)
            result[:, members] = self.part.matched(looking)[:, members]
        return result

    def _raised(self, moments: Moments) -> Moments:
        return Moments(moments.value, np.maximum(moments.variance, self.least))

    @property
    def least(self) -> Tensor:
        """With two or more columns V can come out too small on small counts: it is at least sum v^2 min_x Var(w | x)."""
        part = self.part
        if len(part.listed) + len(self._blocks) < 2 or not self.alike:
            return part.blank()
        total, least = part.over(self.orders[1]), np.zeros(part.cells.lines)
        hit, miss = self._grouped_spread()
        for members, (f,) in part.classes(self.chosen):
            truth = np.broadcast_to(f, part.true_cells)
            if len(part.listed) == 1 and np.ptp(truth) == 0:
                continue  # one column decides
            mean_square = part.expectation(part.weights(truth) ** 2)
            if part.ahead:
                behind = tuple(range(hit.ndim, hit.ndim + mean_square.ndim))
                spread = np.min(np.multiply.outer(hit, mean_square) - truth, axis=behind)
                least[members] = np.minimum(spread, miss * mean_square.min())[members]
            else:
                least[members] = (mean_square - truth).min()
        return np.asarray(total * np.maximum(least, 0))

    def _grouped_spread(self) -> tuple[Tensor, Tensor]:
        """The mean square of B[d, y] where the true value is d, and the least of it where it is another."""
        lines = self.part.cells.lines
        hit, miss = np.ones(lines), np.ones(lines)
        for block in self.part.listed:
            if (known := block.channel.against_others) is not None:
                own, other = _spread(*known)
            else:
                channel = replacement_of(block.channel)
                p, r = channel.retention, channel.replace
                if len(channel.never_retained):
                    return np.ones(lines), np.zeros(lines)
                c, odds = (r / p) / (r / p).sum(), (1 - p) / p
                redrawn = channel.solve_squares(r)
                own = p * (1 / p - c * odds) ** 2 + (1 - p) * redrawn
                other = c**2 * ((1 - p) ** 2 / p).min() + (1 - p.max()) * redrawn
            shape = [lines[i] if i in block.places else 1 for i in range(len(lines))]
            hit, miss = hit * own.reshape(shape), miss * np.minimum(own, other).reshape(shape)
        return hit, miss


def _spread(p: float, r: Vector) -> tuple[Tensor, Tensor]:
    """The mean squares of weights of one value, where it is kept with p and else drawn with r: of its own rows, and of all others."""
    b = (1 - p) * r
    hit, miss = (1 - b) / p, b / p
    return (p + b) * hit**2 + (1 - p - b) * miss**2, b * hit**2 + (1 - b) * miss**2
