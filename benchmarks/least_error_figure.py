"""The figure of least errors in docs/compare.md: by the number of values, at three gammas, as SVG."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

Line = tuple[int, float, float, float, float]
"""Size, gamma, and the errors of uniform replacement, of the design and of subset selection."""

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "least_error.svg"
WIDTH, HEIGHT, LEFT, TOP, BETWEEN = 230, 220, 46, 44, 24
SIZES, ERRORS = (10, 6000), (0.4, 100)
NAMED = (("uniform", "#b5562b", ""), ("design", "#1f5fa8", ""), ("subset selection", "#222222", "3 4"))


def draw(lines: Sequence[Line]) -> None:
    """A panel for each gamma, both axes in powers of ten."""
    gammas = sorted({gamma for _, gamma, *_ in lines})
    whole = LEFT + len(gammas) * (WIDTH + BETWEEN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {TOP + HEIGHT + 44}" font-family="sans-serif" font-size="12">',
        "<title>Standard error of a count, for each root of rows, by the number of values of a column</title>",
        f'<rect width="{whole}" height="{TOP + HEIGHT + 44}" fill="#ffffff"/>',
        *_legend(),
    ]
    for place, gamma in enumerate(gammas):
        own = [line for line in lines if line[1] == gamma]
        parts += _panel(LEFT + place * (WIDTH + BETWEEN), gamma, own, labelled=place == 0)
    PICTURE.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _legend() -> list[str]:
    parts, x = [], LEFT
    for name, colour, dashes in NAMED:
        parts.append(
            f'<path d="M{x} 14h26" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dashes}" fill="none"/>'
        )
        parts.append(f'<text x="{x + 32}" y="18">{name}</text>')
        x += 60 + 7 * len(name)
    return parts


def _panel(left: float, gamma: float, lines: Sequence[Line], labelled: bool) -> list[str]:
    across, down = _scale(SIZES, left, WIDTH), _scale(ERRORS, TOP + HEIGHT, -HEIGHT)
    parts = [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999999"/>']
    parts.append(f'<text x="{left + WIDTH / 2}" y="{TOP - 8}" text-anchor="middle">gamma = {gamma:g}</text>')
    parts += [
        f'<text x="{across(size):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{size:,}</text>'
        for size in (10, 100, 1000)
    ]
    for error in (1, 10, 100):
        parts.append(f'<path d="M{left} {down(error):.1f}h{WIDTH}" stroke="#dddddd"/>')
        if labelled:
            parts.append(f'<text x="{left - 6}" y="{down(error) + 4:.1f}" text-anchor="end">{error}</text>')
    parts.append(f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 34}" text-anchor="middle">values</text>')
    for place, (_, colour, dashes) in enumerate(NAMED):
        points = " ".join(f"{across(line[0]):.1f},{down(line[2 + place]):.1f}" for line in lines)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dashes}"/>'
        )
    return parts


def _scale(ends: tuple[float, float], start: float, length: float) -> Callable[[float], float]:
    low, high = (math.log10(end) for end in ends)
    return lambda number: start + length * (math.log10(number) - low) / (high - low)
