"""Timing, peak memory, and how a figure is written down."""

import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """A number with the limit it has to keep."""

    what: str
    value: float
    limit: float
    at_least: bool = False
    unit: str = "x"
    detail: str = ""

    @property
    def missed(self) -> bool:
        return self.value < self.limit if self.at_least else self.value > self.limit

    def line(self) -> str:
        sign = ">=" if self.at_least else "<="
        verdict = "MISSED" if self.missed else "ok"
        return f"{self.what}: {self.value:.3g} {self.unit} (wanted {sign} {self.limit:g}; {verdict}) {self.detail}"


def seconds(*actions: Callable[[], object], repeat: int = 5) -> list[float]:
    """The median time of each action; they take turns, so that a slow moment of the machine meets all of them."""
    taken: list[list[float]] = [[] for _ in actions]
    for _ in range(repeat):
        for times, action in zip(taken, actions, strict=True):
            start = time.perf_counter()
            action()
            times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in taken]


def peak_memory(code: str) -> float:
    """MiB of resident memory that a fresh Python process needed at most.

    The kernel's high-water mark of the new program; what `getrusage` gives begins with the memory of the process that started it.
    """
    tail = "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    out = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, text=True, check=True).stdout
    return int(out.split()[-1]) / 1024


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def report(figures: Sequence[Figure]) -> None:
    """Writes the figures with the machine and the versions that gave them."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("duckdb", "pyarrow", "numpy", "cryptography"))
    lines = [
        "# Figures of `make bench`",
        "",
        f"{processor()}, Python {platform.python_version()}, {versions}. Ratios of one run; each side's median of several turns.",
        "",
        "| figure | measured | wanted | |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {f.what} | {f.value:.3g} {f.unit} | {'>=' if f.at_least else '<='} {f.limit:g} | {f.detail} |"
        for f in figures
    ]
    (Path(__file__).parent / "RESULTS.md").write_text("\n".join(lines) + "\n")
