"""The two tables of Anatomy: each row joined with every value of its bucket, as one statement.

For each group the estimate v = sum of T / n over buckets, and its variance s under values dealt at random within each bucket,

    s = sum of (T - R / n - C / n + T^2 / n^2) / (n - 1)

where T counts the pairs of a row and a value of the bucket that match, n is its size, and R and C are the sums over rows and over
values of the squared numbers of their pairs: the variance of a sum over a random permutation (Hoeffding). Whatever the permutation is, no more rows match
than there are rows or values that can; and no fewer than both together exceed n by, where every such row goes with every such value.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from sqlglot import exp

from scumble.engines.expressions import column, count, double, either, number, product, same, select, table, total
from scumble.forms.form import PART, Opened
from scumble.query.groups import Keys

ROWS, VALUES = "scumble_rows", "scumble_values"
ROW, SIZE, VALUE, BUCKET, COPIES = "scumble r", "scumble n", "scumble v", "scumble b", "scumble c"


def prepare(release: Opened) -> None:
    """Numbers the rows and the values, and tells each row the size of its bucket, once for all questions."""
    if ROWS in release.prepared:
        return
    manifest, engine = release.manifest, release.engine
    rows = engine.run(select(_plain([*manifest.public, "bucket"]), PART.format("rows")))
    values = engine.run(select(_plain(["bucket", str(manifest.role("apart")), "count"]), PART.format("values")))
    _, place, sizes = np.unique(rows.column("bucket").to_numpy(), return_inverse=True, return_counts=True)
    rows = rows.append_column(ROW, pa.array(np.arange(rows.num_rows))).append_column(SIZE, pa.array(sizes[place]))
    values = values.append_column(VALUE, pa.array(np.arange(values.num_rows)))
    for name, rows_of in ((ROWS, rows), (VALUES, values)):
        engine.register(name, rows_of, everywhere=True)
    release.prepared[ROWS] = True


def _plain(names: Sequence[str]) -> dict[str, exp.Expression]:
    return {name: column(name) for name in names}


def sums(columns: Sequence[str], keys: Keys, where: exp.Expression | None) -> exp.Select:
    """The statement."""
    names = [*keys, "b"]
    rows = {"t": total(column("t")), "q": total(_square("t")), "n": double(_any("n")), "m": double(count())}
    of_rows = _by(names, rows, _rows(names))
    values = {"q": total(product([column("c"), _square("t")])), "m": double(total(column("c")))}
    of_values = _by(names, values, _values(names))
    r, c = ({name: column(name, part) for name in names} for part in "rc")
    n, t = column("n", "r"), column("t", "r")
    squares = exp.paren(exp.Add(this=column("q", "r"), expression=column("q", "c")))
    dealt = exp.Sub(this=t.copy(), expression=_over(squares, n))
    dealt = exp.Add(this=dealt, expression=_over(product([t, t]), exp.paren(product([n, n]))))
    others = exp.Sub(this=n.copy(), expression=number(1))
    divisor = either(exp.GT(this=n.copy(), expression=number(2)), others, number(1))
    outputs = {
        **{name: r[name] for name in keys},
        "v": total(_over(t, n)),
        "s": total(_over(exp.paren(dealt), divisor)),
        **_ends(n, t),
    }
    joined = select(outputs, of_rows.subquery("r")).join(
        of_values.subquery("c"), on=same((r[name], c[name]) for name in names)
    )
    joined = joined.group_by(*(number(i + 1) for i in range(len(keys)))) if keys else joined
    return joined.with_(exp.TableAlias(this=exp.to_identifier("hit")), as_=_hits(columns, keys, where))


def _ends(n: exp.Expression, t: exp.Expression) -> dict[str, exp.Expression]:
    """The least and the most rows that match, whichever row has which value."""
    rows, values = column("m", "r"), column("m", "c")
    both = exp.Sub(this=exp.Add(this=rows.copy(), expression=values.copy()), expression=n.copy())
    every = exp.EQ(this=t.copy(), expression=product([rows, values]))
    fewer = exp.LTE(this=rows.copy(), expression=values.copy())
    surely = either(exp.and_(every, exp.GT(this=exp.paren(both), expression=number(0))), both, number(0))
    return {"least": total(surely), "most": total(either(fewer, rows, values))}


def _hits(columns: Sequence[str], keys: Keys, where: exp.Expression | None) -> exp.Select:
    """The pairs of a row and a value that match; the question sees no column but those that it may name."""
    shown = {name: column(name, "r" if i < len(columns) - 1 else "v") for i, name in enumerate(columns)}
    own = {BUCKET: column("bucket", "r"), COPIES: column("count", "v"), ROW: column(ROW), SIZE: column(SIZE)}
    pairs = select({**shown, **own, VALUE: column(VALUE)}, table(ROWS, "r")).join(
        table(VALUES, "v"), on=exp.EQ(this=column("bucket", "r"), expression=column("bucket", "v"))
    )
    places = {"b": BUCKET, "c": COPIES, "r": ROW, "n": SIZE, "v": VALUE}
    named = {name: column(place) for name, place in places.items()}
    return select({**keys, **named}, pairs.subquery("pairs"), [where] if where is not None else [])


def _rows(names: Sequence[str]) -> exp.Select:
    return _by([*names, "r"], {"t": double(total(column("c"))), "n": _any("n")}, table("hit"))


def _values(names: Sequence[str]) -> exp.Select:
    return _by([*names, "v"], {"t": double(count()), "c": _any("c")}, table("hit"))


def _by(names: Sequence[str], outputs: dict[str, exp.Expression], source: exp.Expression) -> exp.Select:
    inner = source.subquery("x") if isinstance(source, exp.Select) else source
    return select({**_plain(names), **outputs}, inner, (), len(names))


def _any(name: str) -> exp.Expression:
    """The one value that a column has in a group."""
    return exp.Max(this=column(name))


def _square(name: str) -> exp.Expression:
    return product([column(name), column(name)])


def _over(top: exp.Expression, bottom: exp.Expression) -> exp.Expression:
    return exp.Div(this=top.copy(), expression=bottom.copy())
