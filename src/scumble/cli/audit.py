"""scumble audit: what attacks on a release get, and what a table would let be estimated."""

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as RichTable

from scumble.cli.output import Format, console, print_json
from scumble.core.errors import ParameterError


class FailOn(StrEnum):
    """From what on an audit fails."""

    WEAKER = "weaker"
    LOW = "low"
    MODERATE = "moderate"
    HIGH = "high"
    SEVERE = "severe"
    NEVER = "never"


def command(
    target: Annotated[
        str | None,
        typer.Argument(
            help="A release, or a table that any tool made (.csv, .parquet); with --reconstruction, a spec (.toml).",
            show_default=False,
        ),
    ] = None,
    reconstruction: Annotated[
        bool, typer.Option("--reconstruction", help="Which groups let a person's value be estimated too well.")
    ] = False,
    raw: Annotated[str | None, typer.Option(help="The raw table, to score attacks by the truth.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="The name of an attack that is run alone, as it is printed; may be given several times."),
    ] = None,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="From what on the exit code is 1: a release weaker than it declares, or a grade of what it declares too."
        ),
    ] = FailOn.WEAKER,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Repeat which rows of a large table are looked at; drawn afresh when absent.", show_default=False
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write the findings into this file too, as a report of tests (JUnit XML).")
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(help="Of a table that is no release: people like those of the raw table who are not in it."),
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="The publisher's ledger: what all its releases tell together.")
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Option("--with", help="Another publication of the same people; may be given several times."),
    ] = None,
    quasi: Annotated[
        list[str] | None, typer.Option(help="Of a table that is no release: a column that an attacker may know.")
    ] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option(help="Of a table that is no release: a column that is to be protected.")
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", help="Of a table that is no release: the crowd it is held to.", min=2)
    ] = None,
    lam: Annotated[
        str | None, typer.Option("--lambda", help="An estimate within this share of the truth is too good.")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="Either tail of its error must be at least this probable.")] = None,
    ratio: Annotated[
        tuple[str, str] | None,
        typer.Option(help="X Y: two counts that noisy answers give the ratio of.", show_default=False),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="With --ratio: the budget of both answers together.")] = None,
    trials: Annotated[int, typer.Option(help="With --ratio: how many noisy answers are simulated.", min=1)] = 10_000,
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Attack a release, test a table for personal reconstruction, or tell what two noisy counts disclose. Exit code 1 where it fails."""
    if ratio is not None:
        passed = _ratio(ratio, epsilon, trials, format)
    elif target is None:
        raise ParameterError("say what to audit: a release, a spec with --reconstruction, or --ratio X Y --epsilon E")
    elif reconstruction:
        passed = _examined(_examine(target, raw, lam, delta), format)
    else:
        given = Given(target, raw, others or [], _split(quasi), _split(sensitive), k, ledger, control, seed)
        passed = _attack(given, _split(only), fail_on.value, junit, format)
    if not passed:
        raise typer.Exit(1)


def _split(names: list[str] | None) -> list[str] | None:
    return None if names is None else [part.strip() for name in names for part in name.split(",")]


@dataclass(frozen=True)
class Given:
    """What is audited, and by what."""

    target: str
    raw: str | None
    others: list[str]
    quasi: list[str] | None
    sensitive: list[str] | None
    k: int | None
    ledger: Path | None
    control: str | None
    seed: int | None


def _attack(given: Given, only: list[str] | None, fail_on: Any, junit: Path | None, format: Format) -> bool:
    from scumble.auditing import Findings, case_of, run
    from scumble.auditing.evidence.publication import CROWD
    from scumble.cli.findings import print_findings
    from scumble.cli.progress import progress_bar
    from scumble.core.atomic import whole_file

    case = case_of(
        given.target,
        given.raw,
        given.others,
        given.quasi,
        given.sensitive,
        given.k or CROWD,
        given.ledger,
        given.control,
        given.seed,
    )
    if case.publication.release is not None and (given.quasi or given.sensitive or given.k):
        raise ParameterError(
            "a release says itself what its columns are; --quasi, --sensitive and --k are for other tables"
        )
    with progress_bar("attacking") as progress:
        findings = Findings(run(case, progress, only))
    if junit is not None:
        with whole_file(junit, overwrite=True) as file:
            file.write_text(findings.junit(case.publication.name, fail_on), encoding="utf-8")
    if format is Format.JSON:
        print_json([finding.to_dict() for finding in findings])
    else:
        print_findings(case, findings, fail_on)
    return not findings.failing(fail_on)


def _examine(target: str, raw: str | None, lam: Any, delta: Any) -> list[Any]:
    """The test of a spec's table, or of a release."""
    from scumble.api import open
    from scumble.auditing.attacks.reconstruction import examine
    from scumble.auditing.evidence.table import examine_table, examined_as
    from scumble.mechanisms.declared_table import spec_table
    from scumble.publishing.roles import decided
    from scumble.sources.source import read
    from scumble.spec.spec import read_spec

    if Path(target).suffix != ".toml":
        return [examine(open(target), read(raw) if raw is not None else None, lam, delta)]
    spec = read_spec(target)
    table = spec_table(spec)
    spec, assumptions = examined_as(decided(spec, table), table)
    for note in assumptions:
        print(f"note: {note}", file=sys.stderr)
    return examine_table(table, spec, lam, delta)


def _examined(examined: list[Any], format: Format) -> bool:
    if format is Format.JSON:
        print_json([column.to_dict() for column in examined])
    else:
        for column in examined:
            _print_examined(column)
    return all(column.passed for column in examined)


def _print_examined(examined: Any) -> None:
    out, v = console(), examined.violations
    out.print(
        f"{examined.column}: {int(examined.people.sum()):,} records in {len(examined.people):,} groups, kept with p = {examined.retain:.4g}, "
        f"lambda = {examined.lam:g}, delta = {examined.delta:g}",
        style="bold",
        markup=False,
    )
    if examined.estimated:
        out.print("  frequencies are estimated from the release; --raw TABLE takes the true ones")
    for name, verdict in (("exact tails", v.exact), ("Chernoff bound", v.chernoff)):
        sentence = f"{name}: v_g = {verdict.groups:.2%} of the groups, v_r = {verdict.records:.2%} of the records fail"
        out.print(f"  {sentence}", markup=False)
    out.print(
        f"  safe whatever the values: up to {examined.size} records of a group (mechanism sps publishes so many)\n"
    )
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("group", "value", "records", "with it", "tail above", "below", "Chernoff above", "below"):
        table.add_column(heading, justify="left" if heading in ("group", "value") else "right")
    for group in v.worst:
        shown = examined.exposed(group)
        numbers = [
            f"{t:.2e}" for t in (group.exact.upper, group.exact.lower, group.chernoff.upper, group.chernoff.lower)
        ]
        names = ", ".join(str(value) for value in shown["group"].values())
        table.add_row(names, str(shown["value"]), f"{group.size:,}", f"{group.count:,}", *numbers)
    out.print(table)


def _ratio(ratio: tuple[str, str], epsilon: str | None, trials: int, format: Format) -> bool:
    from scumble.core.entropy import Entropy
    from scumble.privacy.ratio import ratio_disclosure, simulate

    if epsilon is None:
        raise ParameterError("--ratio needs --epsilon, the budget of both answers together")
    disclosure = ratio_disclosure(*ratio, epsilon)
    seen = simulate(disclosure, Entropy.system().stream("ratio"), trials)
    result = {
        "x": disclosure.x,
        "y": disclosure.y,
        "ratio": disclosure.ratio,
        "scale": disclosure.scale,
        "relative_scale": disclosure.relative_scale,
        "expectation": disclosure.expectation,
        "variance": disclosure.variance,
        "discloses": disclosure.discloses,
        "simulated": {"trials": trials, "median": seen.median, "quantiles": seen.quantiles(), "within_5%": seen.within(0.05)},
    }  # fmt: skip
    if format is Format.JSON:
        print_json(result)
        return not disclosure.discloses
    low, _, _, high = seen.quantiles()
    print(
        f"true ratio {disclosure.ratio:.4f}; noise of scale b = {disclosure.scale:g} on each answer, b/x = {disclosure.relative_scale:.4g}"
    )
    print(f"by Taylor: expectation {disclosure.expectation:.4f}, standard deviation {disclosure.variance**0.5:.4f}")
    print(
        f"simulated, {trials:,} times: median {seen.median:.4f}, 90% within [{low:.4f}, {high:.4f}], within 5% of the truth in {seen.within(0.05):.1%}"
    )
    sentence = "the ratio is as good as known" if disclosure.discloses else "the noise still hides the ratio"
    print(
        f"{'FAIL' if disclosure.discloses else 'ok  '}  b/x is {'at most' if disclosure.discloses else 'above'} 1/20: {sentence}"
    )
    return not disclosure.discloses
