"""Numbers for who runs the server, in the text format of Prometheus. They are for the administrator: totals that move with every arrival tell when it came."""

from collections.abc import Iterator, Mapping

Lines = list[tuple[str, str, str, Mapping[str, float]]]
"""Name, kind, help, and a value for each label, the empty label where there is one value."""


def exposition(lines: Lines) -> str:
    """The text.

    >>> print(exposition([("scumble_answers_total", "counter", "Answers that were stored.", {"": 3})]), end="")
    # HELP scumble_answers_total Answers that were stored.
    # TYPE scumble_answers_total counter
    scumble_answers_total 3
    """
    return "".join(f"{line}\n" for name, kind, help, values in lines for line in _lines(name, kind, help, values))


def _lines(name: str, kind: str, help: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"
    for label, value in values.items():
        yield f"{name}{f'{{{label}}}' if label else ''} {value:g}"


class Times:
    """How long something took: counts below bounds that are fixed, as Prometheus wants them."""

    BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

    def __init__(self) -> None:
        self._counts = [0] * (len(self.BOUNDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        self._sum += seconds
        self._counts[sum(seconds > bound for bound in self.BOUNDS)] += 1

    def text(self, name: str, help: str) -> str:
        """The histogram."""
        lines, below = [f"# HELP {name} {help}", f"# TYPE {name} histogram"], 0
        for bound, count in zip((*map(str, self.BOUNDS), "+Inf"), self._counts, strict=True):
            below += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {below}')
        return "\n".join([*lines, f"{name}_sum {self._sum:.6f}", f"{name}_count {below}"]) + "\n"
