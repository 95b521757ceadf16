"""What a README says of codes: how a value became one, and what a code weighs in a sum. For a stranger without scumble."""

from typing import TYPE_CHECKING

from scumble.core.mixture_choice import LISTED
from scumble.core.mixture_level import LevelPart
from scumble.core.mixture_window import WindowPart

if TYPE_CHECKING:
    from scumble.core.mixture_coins import MixtureCoins
    from scumble.core.mixture_part import Part
    from scumble.release.design_record import DesignRecord
    from scumble.release.mixture_record import MixtureRecord

NUMBERED = (
    "The values are numbered from 0 in this order{missing}. Published is not a value but a code from 0 to {last:,}: "
)


def how_designed(design: "DesignRecord") -> str:
    """What a code of a design is, and what it stands for."""
    k, codes = len(design.offsets), design.codes
    return (
        NUMBERED.format(missing="", last=codes - 1) + "a row of value number x has the code "
        f"(x + d) mod {codes:,}, where d was drawn for the row, independently of everything else: each d of the {k:,} numbers `offsets` in the manifest with "
        f"probability {design.inside}/Z, and each other one with {design.outside}/Z, Z = {k:,} * {design.inside} + {codes - k:,} * {design.outside}. So a code y "
        f"stands for the values number (y - d) mod {codes:,}, d in `offsets`. The true value is among them with probability {design.kept[0]:.4g}, and nobody can "
        f"tell which it is. `offsets` is a difference set: every number from 1 to {codes - 1:,} is the difference of equally many pairs of it."
    )


def weighing_designed() -> str:
    """The weights of a design, in closed form."""
    return (
        "For a set S of values, with h = 1 on the "
        "values of S, 0 on the others, and the share of S among all values on the numbers that stand for no value; with k offsets, K codes, "
        "lambda = k (k - 1) / (K - 1), and inside, outside and Z as above:\n\n"
        "    A    = k inside / Z,    Q = (lambda inside + (k - lambda) outside) / Z\n"
        "    w(y) = (sum over d in offsets of h((y - d) mod K)  -  Q times the sum of h over 0 to K - 1) / (A - Q)\n\n"
    )


def how_mixed(record: "MixtureRecord") -> str:
    """What the codes of a mixture are, part by part."""
    coins = record.coins(record.size)
    missing = "; a missing one is the last" if record.missing else ""
    lines = ["| codes | share of rows | place of value number x | D |", "|---|---|---|---|", *_parts(coins)]
    return (
        NUMBERED.format(missing=missing, last=coins.codes - 1)
        + "for each row one of the parts below was drawn, independently of everything else, and the row has one of its codes. A part has a circle of K "
        "codes and a set D of k of the numbers below K. The value has a place on the circle, and the code is the first one of the part plus "
        f"(place + d) mod K, where d is each number of D with probability {record.inside}/Z, and each other number below K with {record.outside}/Z, Z = k * {record.inside} + "
        f"(K - k) * {record.outside}. So a code stands for the values whose place is (y - d) mod K, d in D, and nobody can tell which it is.\n\n"
        + "\n".join(lines)
    )


def _parts(coins: "MixtureCoins") -> list[str]:
    whole, lines, first = sum(coins.spans), [], 0
    for place, (part, ticks, span) in enumerate(zip(coins.parts, coins.ticks, coins.spans, strict=True)):
        codes = f"{first:,} to {first + part.codes - 1:,}"
        lines.append(f"| {codes} | {span}/{whole} = {span / whole:.4%} | {_place(part, ticks)} | {_set(part, place)} |")
        first += part.codes
    return lines


def _place(part: "Part", ticks: int) -> str:
    absent = f"; {part.absent:,} if missing" if part.numbers.missing else ""
    if isinstance(part, WindowPart):
        last = part.numbers.points - 1
        return f"x * {part.steps} / {last:,} rounded down, plus 1 with probability (the remainder * {ticks} / {last:,} rounded down) / {ticks}{absent}"
    assert isinstance(part, LevelPart)
    return (f"x / {part.width:,} rounded down" if part.width > 1 else "x") + absent


def _set(part: "Part", place: int) -> str:
    k = len(part.circle.offsets)
    if isinstance(part, WindowPart):
        return f"0 to {k - 1}" if k > 1 else "0"
    assert isinstance(part, LevelPart)
    if part.blocks.order == 0:
        return "0"
    if part.codes <= LISTED:
        return f"`offsets` of part {place} in the manifest"
    t, c = part.blocks.dimension, ", ".join(map(str, part.blocks.recurrence))
    return f"the i below K with s(i) = 0, where s(0) to s({t - 1}) are 0, ..., 0, 1 and s(i + {t}) is the sum of c(j) s(i + j) modulo {part.blocks.order}, with c(0) to c({t - 1}) = {c}"


def weighing_mixed() -> str:
    """What weights of a mixture have to satisfy, and which of them are taken."""
    return (
        "For a function h of the values (1 on a set and 0 elsewhere, or the numbers themselves) weights w are right if, for each value x, the sum over all codes y of "
        "Pr[y | x] w(y) is h(x); many are. Here those are taken that are as exact as can be where all values are alike: with the parts c, their shares s_c, P_c = Pr[y | x] within a "
        "part, v_c(y) = 1/K (of windows, where D is a range of numbers, the mean of P_c(y, x) over x), Q_c = P_c - v_c, t = ((gamma - 1) / (gamma + 1))^2 and gamma = inside / outside,\n\n"
        "    z = solve(sum over c of s_c Q_c^T diag(1/v_c) Q_c  +  t everywhere,   h - mean of h)\n"
        "    w = mean of h + t * sum of z + Q_c z / v_c\n\n"
    )
