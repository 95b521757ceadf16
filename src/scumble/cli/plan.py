"""scumble plan: what publishing will promise and how exact the answers will be, before anything is written."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as RichTable

from scumble.cli.output import Format, console, print_json
from scumble.errors import ParameterError


def command(
    spec: Annotated[Path, typer.Argument(help="The spec (.toml).", show_default=False)],
    questions: Annotated[
        list[str] | None, typer.Argument(help="Questions: SELECT ... FROM release ...", show_default=False)
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A file with questions, one a line.")] = None,
    level: Annotated[str, typer.Option(help="How often an interval shall hold the truth.")] = "0.95",
    breach: Annotated[
        str | None, typer.Option(help="S,RHO1,RHO2: also print the largest retention without such a breach.")
    ] = None,
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Show the guarantees that a spec gives, what an attacker's guess becomes, and the standard error that each answer will have."""
    from scumble.forecast import forecast
    from scumble.schema import read_spec
    from scumble.tables import read

    given = read_spec(spec)
    asked = [*(questions or ()), *(_lines(file) if file else ())]
    source = read(given.table, text=[name for name, column in given.columns.items() if column.text])
    found = forecast(source, given, asked, level)
    allowed = _allowed(breach, len(found.outlooks))
    if format is Format.JSON:
        print_json(_json(found, allowed))
    else:
        _print(found, allowed)


def _lines(file: Path) -> list[str]:
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError:
        raise ParameterError(f"there is no file {str(file)!r} with questions") from None


def _allowed(breach: str | None, columns: int) -> float | None:
    from scumble.privacy.breach import largest_retention

    if breach is None:
        return None
    parts = breach.split(",")
    if len(parts) != 3:
        raise ParameterError(f"--breach takes S,RHO1,RHO2, such as 20,0.1,0.95, not {breach!r}")
    return largest_retention(parts[0], parts[1], parts[2], k=columns)


def _json(found: Any, allowed: float | None) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "mechanism": found.plan.mechanism,
        "guarantees": [guarantee.model_dump() for guarantee in found.plan.guarantees],
        "columns": [outlook.__dict__ for outlook in found.outlooks],
        "condition": found.condition,
        "largest_retention": allowed,
        "answers": [{"question": sql, "rows": answer.to_list()} for sql, answer in found.answers],
    }


def _print(found: Any, allowed: float | None) -> None:
    out = console()
    out.print(f"{found.rows:,} rows, mechanism {found.plan.mechanism}; nothing is written", style="bold")
    for guarantee in found.plan.guarantees:
        out.print(f"will be guaranteed: {guarantee.statement}", markup=False)
    if not found.outlooks:
        _print_counted(found.plan)
        return
    out.print("\nfor your eyes only, with the table's own shares as the attacker's beliefs:", style="bold")
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("column", "kept", "factor", "commonest", "best guess", "rises", "falls", "rows for ±0.05"):
        table.add_column(heading, justify="left" if heading == "column" else "right")
    for o in found.outlooks:
        table.add_row(
            o.column, f"{o.retain:.4g}", f"{o.amplification:.4g}", f"{o.prior:.3f}", f"{o.guess:.3f}", f"x {o.rise:.3g}", f"/ {o.fall:.3g}", f"{o.rows:,}"
        )  # fmt: skip
    out.print(table)
    out.print(
        "kept: the retention. factor: odds change by at most this, whatever was believed. commonest: the guess without the release; best guess: with it. "
        "rises, falls: the most that any value becomes likelier or less likely. rows: from which a share comes back within 0.05 with 95%.",
        style="dim",
        markup=False,
    )
    out.print(f"condition number of all columns together: {found.condition:.4g}")
    if allowed is not None:
        out.print(f"largest retention without such a breach: {allowed:.4g}")
    for sql, answer in found.answers:
        out.print(f"\n{sql}", style="bold", markup=False)
        _print_answer(answer)


def _print_counted(plan: Any) -> None:
    """How frequent a tuple has to be to be published."""
    from scumble.mechanisms.noisy_count_matrix import NoisyCountMatrix

    matrix = plan.details.get("matrix")
    if isinstance(matrix, NoisyCountMatrix):
        frequent = [matrix.published_from(chance) for chance in (0.01, 0.5, 0.99)]
        told = ", ".join(f"{share} from {f:,}" for share, f in zip(("1%", "50%", "99%"), frequent, strict=True))
        console().print(
            f"a tuple is published with a probability of {told} people on, and never below {matrix.k}", markup=False
        )
    if "c_star" in plan.details:
        console().print(f"each tuple stays in at most {plan.details['c_star']} columns of the schema", markup=False)


def _print_answer(answer: Any) -> None:
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in answer.groups.schema.names:
        table.add_column(name)
    for e in answer.estimates:
        for heading in (f"true {e.name}", "standard error will be", "relative"):
            table.add_column(heading, justify="right")
    groups = answer.groups.to_pylist() or [{}] * len(answer)
    for i in range(min(len(answer), 60)):
        cells = [str(v) for v in groups[i].values()]
        for e in answer.estimates:
            share = f"{abs(e.se[i] / e.value[i]):.1%}" if e.value[i] else "-"
            cells += [f"{e.value[i]:,.6g}", f"{e.se[i]:,.4g}", share]
        table.add_row(*cells)
    console().print(table)
