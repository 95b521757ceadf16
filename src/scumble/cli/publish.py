"""scumble publish: a release from a spec, or from a table and flags."""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.output import TABLES, in_place_is_done, listed, print_card, whole_or_word
from scumble.core.errors import ParameterError, SchemaError


def command(
    table: Annotated[
        str,
        typer.Argument(help=f"A spec (.toml), or a table: {TABLES}.", show_default=False),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="The folder to write, or where to put it into a database: postgresql://user@host/db?release=NAME.",
            show_default=False,
        ),
    ],
    sensitive: Annotated[
        list[str] | None, typer.Option(help="A column to perturb; may be given several times.")
    ] = None,
    public: Annotated[
        list[str] | None, typer.Option(help="A column to publish as it is; may be given several times.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out; notes_* leaves out all that begin so.")
    ] = None,
    rest: Annotated[
        str | None, typer.Option(help="drop: leave out the columns that nothing names; without it they are refused.")
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="A CSV column to read as text, whatever it looks like.")
    ] = None,
    type: Annotated[
        list[str] | None,
        typer.Option(help="What the values of a column are, where a mechanism must not guess: age=integer, day=date."),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(help="The values of a column: disease=flu,cold,asthma or age=0..120 or cost=0..99.5:0.5."),
    ] = None,
    domain_from_data: Annotated[
        bool,
        typer.Option(
            "--domain-from-data", help="Take domains that are not declared from the data; the manifest will say so."
        ),
    ] = False,
    compound: Annotated[
        list[str] | None,
        typer.Option(help="Columns to perturb as one, and what it is called: job=occupation,industry."),
    ] = None,
    coarsen: Annotated[
        list[str] | None,
        typer.Option(
            help="Make a public column coarser: age=bins:10, age=edges:18,65, zip=prefix:3, born=date:month, zip=hierarchy:zip.csv:2."
        ),
    ] = None,
    mechanism: Annotated[str | None, typer.Option(help="How to perturb; the spec's, or uniform.")] = None,
    set: Annotated[
        list[str] | None, typer.Option(help="A setting of the mechanism: name=value; may be given several times.")
    ] = None,
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="sps: scale samples back by duplicates instead of weights.")
    ] = False,
    rho1: Annotated[
        str | None, typer.Option(help="No prior up to rho1 ... (a number or a fraction such as 1/13)")
    ] = None,
    rho2: Annotated[str | None, typer.Option(help="... becomes a posterior above rho2.")] = None,
    gamma: Annotated[str | None, typer.Option(help="Instead: the largest factor by which odds may change.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Instead: the epsilon of local differential privacy.")] = None,
    retain: Annotated[str | None, typer.Option(help="Instead: the probability that a value is kept.")] = None,
    key: Annotated[
        Path | None, typer.Option(help="A file with 32 random bytes, for repeated publication; needs --id.")
    ] = None,
    id: Annotated[
        str | None, typer.Option(help="The column that says who a row is, for --key; it is not published.")
    ] = None,
    occurrence: Annotated[
        str | None, typer.Option(help="The column that tells the rows of a person apart, for --key.")
    ] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="What coins by key belong to, whatever a column is called: diag=diagnosis.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="The column that says whose row it is: rows of a person are counted by it.")
    ] = None,
    rows_per_person: Annotated[
        str | None,
        typer.Option(help="How many rows of a person are published, drawn by coins; all: accept what is left then."),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(help="With --rows-per-person: 'rows' or 'persons', what answers count, by weights on rows."),
    ] = None,
    determined: Annotated[
        list[str] | None, typer.Option(help="A sensitive column that public ones determine: accept that.")
    ] = None,
    persons: Annotated[
        str | None, typer.Option(help="'one row each': your word, where no column says whose row it is.")
    ] = None,
    fresh: Annotated[
        str | None,
        typer.Option(
            help="With --key, for values that change: how probably the memoised response is published as it is."
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="What was published of whom; beside the key when absent. It is never in a release."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Publish also where the ledger objects, and say what all releases tell.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(help="The epsilon that all releases of the same people together may come to.")
    ] = None,
    metadata: Annotated[
        bool,
        typer.Option(
            "--metadata", help="Write files for catalogues of data, by [metadata] of the spec: Croissant and DCAT-AP."
        ),
    ] = False,
    insecure_seed: Annotated[
        int | None, typer.Option(help="INSECURE: repeatable coins, for tests; the manifest will say so.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a release that exists, if nothing else is in its folder.")
    ] = False,
    memory: Annotated[
        str | None, typer.Option(help="The memory that it may take, 1GiB when absent; the rest is put into files.")
    ] = None,
) -> None:
    """Publish a table: sensitive columns perturbed, with a manifest that tells how."""
    from scumble.api import publish_chosen
    from scumble.cli.progress import progress_bar
    from scumble.cli.shown import singling_out, summary
    from scumble.core.memory import within
    from scumble.publishing.arguments import Arguments, choose
    from scumble.publishing.preview import Preview
    from scumble.sources.address import is_url

    beside = {} if is_url(table) or table.endswith(".toml") else _spec_beside(table)
    coarser = dict(_coarsening(text) for text in coarsen or ())
    pairs = (_assignment(text, "--compound", "job=occupation,industry") for text in compound or ())
    made = {name: [part.strip() for part in parts.split(",")] for name, parts in pairs}
    named = [*listed(sensitive), *listed(public), *listed(drop), id or "", occurrence or "", person or ""]
    named += [part for parts in made.values() for part in parts]
    how = Arguments(
        sensitive=listed(sensitive) or None,
        public=listed(public) if public is not None else None,
        drop=[*listed(drop), *_left_out(beside, [*named, *coarser], table)],
        rest=rest,
        text=listed(text),
        types=dict(_assignment(text, "--type", "age=integer") for text in listed(type)),
        domains=_domains(domain) or ({} if domain_from_data else _declared(beside, listed(sensitive), table)),
        compound=made,
        coarsen=coarser,
        mechanism=mechanism,
        settings=dict(_setting(text) for text in set or ()) | ({"duplicates": True} if duplicates else {}),
        rho1=rho1,
        rho2=rho2,
        gamma=gamma,
        epsilon=epsilon,
        retain=retain,
        domain_from_data=domain_from_data,
        id=id,
        occurrence=occurrence,
        attributes=dict(_assignment(text, "--attribute", "diag=diagnosis") for text in attribute or ()),
        person=person,
        rows_per_person=whole_or_word(rows_per_person),
        answers=answers,
        persons=persons,
        determined=listed(determined),
        fresh=fresh,
        metadata=metadata,
    )
    source, spec = choose(table, how)
    shown: list[Preview] = []
    budget_of_all = within(memory)
    with budget_of_all, in_place_is_done(out):
        with progress_bar("publishing") as progress:
            release = publish_chosen(
                source,
                spec,
                out,
                key=key,
                id=id,
                occurrence=occurrence,
                ledger=ledger,
                again=again,
                budget=budget,
                seed=insecure_seed,
                overwrite=overwrite,
                memory=memory,
                progress=progress,
                show=shown.append,
            )
        print_card(shown[0].card())
        print(f"wrote {out}")
        summary(release)
        if release.manifest.view.row_by_row or release.manifest.public:
            singling_out(release)


def _assignment(text: str, option: str, example: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not value:
        raise ParameterError(f"{option} takes COLUMN=..., such as {example}, not {text!r}")
    return name.strip(), value


END = r"(-?[\d.]+?|\d{4}-\d\d-\d\d)"
GRID = re.compile(rf"\s*{END}\.\.{END}(?::([\d.]+))?\s*(,?)\s*")
"""Numbers or days from one to another, by a step; a comma after them, as after any list, is for a missing value."""


def _domains(given: list[str] | None) -> dict[str, Any]:
    domains: dict[str, Any] = {}
    for text in given or ():
        name, value = _assignment(text, "--domain", "disease=flu,cold or age=0..120")
        if grid := GRID.fullmatch(value):
            domains[name] = {"low": grid[1], "high": grid[2], "step": grid[3] or "1", "missing": bool(grid[4])}
        else:
            domains[name] = [_value(part.strip()) for part in value.split(",")]
    return domains


def _value(text: str) -> Any:
    """A number where it is one: a domain of whole numbers is typed as they are."""
    try:
        return int(text)
    except ValueError:
        return None if text == "" else text


def _setting(text: str) -> tuple[str, Any]:
    """A value as TOML would read it (numbers, true, lists), or else a word."""
    name, value = _assignment(text, "--set", "delta=0.1")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value


def _coarsening(text: str) -> tuple[str, dict[str, Any]]:
    name, value = _assignment(text, "--coarsen", "age=bins:10")
    how, sign, number = value.partition(":")
    if not sign:
        raise ParameterError(f"--coarsen takes COLUMN=HOW:VALUE, such as age=bins:10, not {text!r}")
    if how == "hierarchy":
        path, _, level = number.rpartition(":")
        return name, {how: path or number, "level": level if path else 1}
    return name, {how: [float(x) for x in number.split(",")] if how == "edges" else number}


def _spec_beside(table: str) -> dict[str, Any]:
    """The columns of the spec that `scumble init` wrote for this table, and somebody read."""
    from scumble.spec.spec import read_spec

    try:
        return dict(read_spec(_beside(table)).columns) if _beside(table).exists() else {}
    except SchemaError:
        return {}


def _beside(table: str) -> Path:
    from scumble.sources.address import behind

    path, _ = behind(table)
    return path.with_name(path.name.split(".")[0] + ".toml")


def _declared(columns: dict[str, Any], sensitive: list[str], table: str) -> dict[str, Any]:
    """The domains of the spec, where the flags give none."""
    declared = {
        name: columns[name]
        for name in sensitive
        if name in columns and columns[name].role == "sensitive" and columns[name].has_domain
    }
    for name in declared:
        print(f"the domain of {name!r} is taken from {_beside(table).name}")
    return declared


def _left_out(columns: dict[str, Any], named: list[str], table: str) -> list[str]:
    """The columns that the spec does not publish, and no flag names."""
    names = [n for n, column in columns.items() if column.role in ("identifier", "dropped") and n not in named]
    for name in names:
        print(
            f"{name!r} is left out: it is {columns[name].role} in {_beside(table).name}; --public names what is published"
        )
    return names
