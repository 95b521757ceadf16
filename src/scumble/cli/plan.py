"""scumble plan: what publishing will promise and how exact the answers will be, before anything is written."""

from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.output import Format, console, print_card, print_json, spec_with_rest
from scumble.cli.progress import progress_bar
from scumble.core.errors import ParameterError


def command(
    spec: Annotated[Path, typer.Argument(help="The spec (.toml).", show_default=False)],
    questions: Annotated[
        list[str] | None, typer.Argument(help="Questions: SELECT ... FROM release ...", show_default=False)
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A file with questions, one a line.")] = None,
    rest: Annotated[
        str | None, typer.Option(help="drop: leave out the columns that have no role; without it they are refused.")
    ] = None,
    level: Annotated[str, typer.Option(help="How often an interval shall hold the truth.")] = "0.95",
    breach: Annotated[
        str | None, typer.Option(help="S,RHO1,RHO2: also print the largest retention without such a breach.")
    ] = None,
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Show the guarantees that a spec gives, what an attacker's guess becomes, and the standard error that each answer will have."""
    from scumble.evaluate.forecast import forecast
    from scumble.mechanisms.declared_table import spec_table

    given = spec_with_rest(spec, rest)
    asked = [*(questions or ()), *(_lines(file) if file else ())]
    with progress_bar("planning"):
        outlook = forecast(spec_table(given), given, asked, level)
    allowed = _allowed(breach, len(outlook.outlooks))
    if format is Format.JSON:
        print_json(_json(outlook, allowed))
    else:
        print_card(outlook.card())
        if allowed is not None:
            console().print(_sentence(*allowed, len(outlook.outlooks)))


def _lines(file: Path) -> list[str]:
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError:
        raise ParameterError(f"there is no file {str(file)!r} with questions") from None


def _sentence(any_set: float, small: float, columns: int) -> str:
    said = f"largest retention without such a breach: {any_set:.4g}"
    if columns == 1:
        return said
    return f"{said}, whatever the sets of values (one a column); {small:.4g} for sets that are a small share of each column"


def _allowed(breach: str | None, columns: int) -> tuple[float, float] | None:
    """The largest retention for any product of sets, and for products of small ones."""
    from scumble.privacy.breach import largest_retention, product_retention

    if breach is None:
        return None
    parts = breach.split(",")
    if len(parts) != 3:
        raise ParameterError(f"--breach takes S,RHO1,RHO2, such as 20,0.1,0.95, not {breach!r}")
    s, rho1, rho2 = parts
    return product_retention(s, rho1, rho2, columns), largest_retention(s, rho1, rho2, k=columns)


def _json(forecast: Any, allowed: tuple[float, float] | None) -> dict[str, Any]:
    from scumble.release.records import GuaranteeRecord

    return {
        "rows": forecast.rows,
        "mechanism": forecast.plan.mechanism,
        "guarantees": [GuaranteeRecord.of(guarantee).model_dump() for guarantee in forecast.plan.guarantees],
        "warnings": forecast.plan.warnings,
        "columns": [outlook.__dict__ for outlook in forecast.outlooks],
        "condition": forecast.condition,
        "largest_retention": allowed and allowed[0],
        "largest_retention_of_small_sets": allowed and allowed[1],
        "answers": [
            {"question": sql, "rows": answer.to_list(), "notes": answer.notes} for sql, answer in forecast.answers
        ],
    }
