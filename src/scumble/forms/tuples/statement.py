"""What a question sums over counted tuples, as one statement.

A tuple stands for v rows, give or take noise of variance s. Of the m of them in which a value x is not missing (of a table each tuple has one row, a
pattern of transactions as many as pairs of it match, all with the same noise) a tuple has the sum y of x, and of x less a constant, which keeps
fourth powers small, the sum d. A group has sums of products of these over its tuples: `forms/tuples/sums.py` says what for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from scumble.engines.expressions import column, count, double, either, number, product, select, total
from scumble.query.groups import Keys

NUMBER, NOISE, TUPLE = "scumble v", "scumble s", "scumble tuple"
"""The columns of counted tuples that say how many rows one stands for, how uncertain that is, and which pairs belong together."""

Columns = dict[str, exp.Expression]


@dataclass(frozen=True)
class Summed:
    """What a question sums: rows (no value), rows that have a value, or a value."""

    value: exp.Expression | None = None
    middle: float | None = None
    """What the spread of a value is taken around; None: rows are counted."""

    def of_tuple(self, place: int, several: bool) -> Columns:
        """m, y and d of each tuple, of one row or of several."""
        if self.value is None:
            return {f"m{place}": double(count() if several else number(1))}
        missing = exp.Is(this=exp.paren(self.value), expression=exp.null())
        rows = exp.Count(this=self.value.copy()) if several else either(missing, number(0), number(1))
        outputs = {f"m{place}": double(rows)}
        if self.middle is None:
            return outputs
        less = exp.Sub(this=double(self.value), expression=number(self.middle))
        for name, value in (("y", double(self.value)), ("d", less)):
            outputs[f"{name}{place}"] = exp.Coalesce(this=total(value) if several else value, expressions=[number(0)])
        return outputs

    def of_group(self, place: int) -> Columns:
        """Sums over tuples: of d^a m^b as `p` + a + b, of d^a m^b s as `s` + a + b, and those that are named."""
        m, y, d = (column(f"{name}{place}") for name in "myd")
        v, s = column("v"), column("s")
        some = either(exp.GT(this=m.copy(), expression=number(0)), number(1), number(0))
        outputs = {"tuples": total(some), "rows": total(m), "count": total(product([m, v]))}
        if self.middle is not None:
            mean = exp.Div(this=y.copy(), expression=exp.Nullif(this=m.copy(), expression=number(0)))
            outputs |= {"weight": total(y), "sum": total(product([y, v])), "spread": total(product([d, v]))}
            outputs |= {"least": exp.Min(this=mean), "most": exp.Max(this=mean.copy())}
        for power in (2, 4):
            for a in range(power + 1 if self.middle is not None else 1):
                factors = [d] * a + [m] * (power - a)
                outputs[f"p{a}{power - a}"] = total(product(factors))
                if power == 2:
                    outputs[f"s{a}{power - a}"] = total(product([*factors, s]))
        return {f"{name}_{place}": double(formula) for name, formula in outputs.items()}


def sums_of(
    table: str, several: bool, keys: Keys, where: exp.Expression | None, values: Sequence[Summed]
) -> exp.Select:
    """For each group its keys, and the sums of each value, with the value's place after their names.

    several   whether a tuple has several lines in the table
    """
    noise: Columns = {"v": column(NUMBER), "s": column(NOISE)}
    if several:
        noise = {"id": column(TUPLE), **{name: exp.Max(this=term) for name, term in noise.items()}}
    lines = {name: part for i, value in enumerate(values) for name, part in value.of_tuple(i, several).items()}
    outputs = {name: part for i, value in enumerate(values) for name, part in value.of_group(i).items()}
    matching = [where] if where is not None else []
    tuples = select({**keys, **noise, **lines}, table, matching, len(keys) + 1 if several else 0)
    return select({**{name: column(name) for name in keys}, **outputs}, tuples.subquery("tuples"), (), len(keys))
