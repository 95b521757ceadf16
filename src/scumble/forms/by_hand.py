"""How to compute with a release by hand, in words and statements that the READMEs of several forms share."""

import shlex
from datetime import date
from typing import TYPE_CHECKING

from scumble.core.domain import Domain
from scumble.core.scale import points_of
from scumble.engines.sql import named
from scumble.forms.markdown import indented

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest

SOFTWARE = (
    "scumble (the software that `manifest.json` names, with its version; who gave you this release knows where it is)"
)
"""What a stranger is told of it: no address, because a name in an index of packages may be somebody else's one day."""


def or_scumble(question: str = "SELECT COUNT(*) AS n FROM release") -> str:
    """The same by scumble: what it is, and the command that asks the question."""
    return f"Or let {SOFTWARE} do it, in this folder:\n\n{asking(question)}"


def counting(condition: str) -> str:
    """The question how many rows satisfy a condition."""
    return f"SELECT COUNT(*) AS n FROM release WHERE {condition}"


def by_group(name: str) -> str:
    """The question how many rows there are of each value of a column."""
    return f"SELECT {named(name)}, COUNT(*) AS n FROM release GROUP BY {named(name)}"


def plain_place(manifest: "Manifest") -> str:
    """Where the rows of a single table are."""
    return "`data.parquet`" if len(manifest.data) == 1 else f"`data/*.parquet` ({len(manifest.data)} files)"


def data_files(manifest: "Manifest") -> str:
    """The rows of the release, as DuckDB names them in its folder."""
    return "data.parquet" if len(manifest.data) == 1 else "data/*.parquet"


def asking(question: str) -> str:
    """The command that asks scumble a question, indented: whatever is quoted in it, a shell hands it on."""
    plain = not set(question) & set('"$`\\!')
    return indented("scumble query . " + (f'"{question}"' if plain else shlex.quote(question)))


def double(number: float) -> str:
    """A literal that SQL takes as a double: sums of squared decimals would overflow."""
    text = repr(float(number))
    return text if "e" in text else text + "e0"


def condition_on(name: str, domain: Domain) -> tuple[str, float]:
    """A condition on the column for an example, and the share of the domain that satisfies it."""
    column = named(name)
    if (found := points_of(domain)) is not None:
        middle = found[0] // 2
        point = domain.values[middle].as_py()
        literal = f"DATE '{point}'" if isinstance(point, date) else repr(float(point))
        return f"{column} < {literal}", middle / domain.size
    value = next(v for v in domain.values.to_pylist() if v is not None)
    literal = (
        "'" + str(value).replace("'", "''") + "'" if not isinstance(value, bool | int | float) else str(value).lower()
    )
    return f"{column} = {literal}", 1 / domain.size
