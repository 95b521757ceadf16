"""Random questions in SQL that is valid: brackets are left out now and then, so that what binds tighter is tested too."""

from collections.abc import Callable
from random import Random

from fuzz.asked import compared

NUMBERS = ["age", "n", "cost", "price"]
TEXTS = ["town"]
PERTURBED_NUMBERS = ["grade", "level"]


def case(draw: Random) -> str:
    """One question, asked of both."""
    return compared(question(draw))


def question(draw: Random) -> str:
    """SELECT groups, aggregates FROM release WHERE ... GROUP BY ... ORDER BY ... LIMIT ..."""
    groups = [group(draw) for _ in range(draw.choice([0, 0, 1, 1, 2]))]
    named = [f"{text} AS g{i}" for i, text in enumerate(groups)]
    counted = [f"{aggregate(draw)} AS a{i}" for i in range(draw.choice([1, 1, 2, 3]))]
    outputs = [*named, *counted]
    draw.shuffle(outputs)
    sql = f"SELECT {', '.join(outputs)} FROM release"
    if draw.random() < 0.8:
        sql += f" WHERE {condition(draw, 3)}"
    if groups:
        sql += f" GROUP BY {', '.join(f'g{i}' if draw.random() < 0.5 else text for i, text in enumerate(groups))}"
    if draw.random() < 0.3:
        sql += (
            f" ORDER BY {draw.choice([text.split(' AS ')[-1] for text in outputs])}{draw.choice(['', ' DESC', ' ASC'])}"
        )
    return sql + (f" LIMIT {draw.randint(0, 5)}" if draw.random() < 0.1 else "")


def group(draw: Random) -> str:
    """Perturbed columns by themselves, public ones also through functions."""
    plain = ["kind", "grade", "smoker", "level", "town", "paid", "day", "age"]
    return _made(draw, [*plain, lambda: number(draw, 1), lambda: text(draw), lambda: date(draw)])


def _made(draw: Random, options: list[str | Callable[[], str]]) -> str:
    chosen = draw.choice(options)
    return chosen if isinstance(chosen, str) else chosen()


def aggregate(draw: Random) -> str:
    return _made(
        draw,
        [
            "COUNT(*)",
            lambda: f"COUNT({draw.choice([*NUMBERS, 'town', 'kind', 'day'])})",
            lambda: f"SUM({draw.choice(PERTURBED_NUMBERS)})",
            lambda: f"AVG({draw.choice(PERTURBED_NUMBERS)})",
            lambda: f"SUM({number(draw, 1)})",
            lambda: f"AVG({number(draw, 1)})",
        ],
    )


def condition(draw: Random, depth: int) -> str:
    """Conditions on public and on perturbed columns, put together."""
    if depth == 0 or draw.random() < 0.3:
        return draw.choice([on_numbers, on_text, on_dates, on_truths, on_perturbed, on_perturbed])(draw)
    left, right = condition(draw, depth - 1), condition(draw, depth - 1)
    link = draw.choice([" AND ", " OR "])
    return _made(
        draw,
        [
            lambda: f"{left}{link}{right}",
            lambda: f"({left}){link}{right}",
            lambda: f"({left}){link}({right})",
            lambda: f"NOT {left}{link}{right}",
            lambda: f"NOT ({left}{link}{right})",
            lambda: f"({left}) = ({right})",
            lambda: f"({left}) IS {draw.choice(['', 'NOT '])}{draw.choice(['TRUE', 'FALSE', 'NULL'])}",
            lambda: f"CASE WHEN {left} THEN {right} ELSE {draw.choice(['TRUE', 'FALSE', 'NULL'])} END",
        ],
    )


def on_perturbed(draw: Random) -> str:
    name, values = draw.choice(
        [
            ("kind", ["'flu'", "'cold'", "'it''s'", "'50%'", "'nobody'", "NULL"]),
            ("grade", ["0", "3", "9", "-1", "4.5", "77"]),
            ("level", ["1", "2", "3", "8"]),
            ("smoker", ["TRUE", "FALSE"]),
        ]
    )
    return _comparison(draw, name, values)


def _comparison(draw: Random, name: str, values: list[str]) -> str:
    one, other = draw.choice(values), draw.choice(values)
    several = ", ".join(draw.choice(values) for _ in range(draw.randint(1, 4)))
    negated = draw.choice(["", "NOT "])
    return _made(
        draw,
        [
            lambda: f"{name} {draw.choice(['=', '<>', '!=', '<', '<=', '>', '>='])} {one}",
            lambda: f"{one} {draw.choice(['=', '<', '>='])} {name}",
            lambda: f"{name} {negated}IN ({several})",
            lambda: f"{name} {negated}BETWEEN {one} AND {other}",
            lambda: f"{name} IS {negated}NULL",
            lambda: f"{name} IS {negated}DISTINCT FROM {one}",
            lambda: f"coalesce({name}, {one}) = {other}",
        ],
    )


def on_numbers(draw: Random) -> str:
    return _comparison(draw, number(draw, 2), [number(draw, 1), "0", "1", "-3", "0.5", "2 + 3 * 4", "17"])


def on_text(draw: Random) -> str:
    patterns = ["'%o%'", "'_lm'", "'B%'", "''", "'K_ln'"]
    return _made(
        draw,
        [
            lambda: _comparison(draw, text(draw), ["'Ulm'", "'bonn'", "''", "'x' || 'y'", "town"]),
            lambda: f"{text(draw)} {draw.choice(['', 'NOT '])}{draw.choice(['LIKE', 'ILIKE'])} {draw.choice(patterns)}",
            lambda: f"{draw.choice(['contains', 'starts_with', 'ends_with'])}({text(draw)}, 'o')",
        ],
    )


def on_dates(draw: Random) -> str:
    days = ["DATE '2024-05-01'", "'2024-02-29'", "DATE '2024-12-31' - INTERVAL 30 DAY", "day"]
    times = ["TIMESTAMPTZ '2024-03-31 12:00:00+00'", "'2024-04-01 00:00:00+02'"]
    return _made(
        draw,
        [
            lambda: _comparison(draw, "day", days),
            lambda: _comparison(draw, "seen", times),
            lambda: _comparison(draw, date(draw), ["1", "3", "12", "2024"]),
        ],
    )


def on_truths(draw: Random) -> str:
    return draw.choice(["paid", "NOT paid", "paid IS TRUE", "paid IS NOT FALSE", "paid = (age > 30)", "paid IS NULL"])


def number(draw: Random, depth: int) -> str:
    """An expression over public numbers."""
    name = draw.choice(NUMBERS)
    if depth == 0 or draw.random() < 0.3:
        return name
    inner, other = number(draw, depth - 1), number(draw, 0)
    constant = draw.choice(["1", "2", "3", "0.5", "10"])
    return _made(
        draw,
        [
            lambda: f"{inner} {draw.choice('+-*')} {constant}",
            lambda: f"{constant} {draw.choice('+-*')} {inner}",
            lambda: f"{inner} {draw.choice('+-')} {other} {draw.choice('*-')} {constant}",
            lambda: f"{inner} / {constant}",
            lambda: f"age {draw.choice(['//', '%', '&', '|', '<<', '>>'])} {draw.choice('1234')}",
            lambda: f"- {inner}",
            lambda: f"-{name}",
            lambda: f"({inner})",
            lambda: f"abs({inner})",
            lambda: f"round({inner})",
            lambda: f"{draw.choice(['floor', 'ceil', 'sign'])}({inner})",
            lambda: f"greatest({inner}, {constant})",
            lambda: f"coalesce({name}, {constant})",
            lambda: f"CAST({name} AS {draw.choice(['DOUBLE', 'INTEGER'])})" if name != "n" else "n::BIGINT",
            lambda: f"CASE WHEN {name} > {constant} THEN {constant} ELSE {inner} END",
            lambda: f"length({text(draw)})",
        ],
    )


def text(draw: Random) -> str:
    return _made(
        draw,
        [
            "town",
            "lower(town)",
            "upper(town)",
            "substring(town, 1, 2)",
            "town || 'x'",
            "trim(town)",
            "replace(town, 'o', '0')",
            "coalesce(town, 'none')",
            "nullif(town, '')",
            lambda: f"CASE WHEN age > {draw.randint(0, 50)} THEN town ELSE 'young' END",
            "left(town, 1)",
            "concat(town, '-', paid)",
            "CAST(age AS VARCHAR)",
        ],
    )


def date(draw: Random) -> str:
    part = draw.choice(["year", "month", "day", "quarter", "dayofweek", "week"])
    return draw.choice(
        [f"{part}(day)", f"date_part('{part}', day)", "hour(seen)", "day(seen)", f"extract({part} FROM day)"]
    )
