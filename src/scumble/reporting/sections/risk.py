"""Risk before and after, in the internal edition: what handing over the table as it is would tell, beside what the release tells."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from sqlglot import exp

from scumble.engines import open_engine
from scumble.engines.engine import TABLE
from scumble.privacy.rho import posteriors
from scumble.publishing.dependence import Dependence
from scumble.reporting.figure import text
from scumble.reporting.numbers import share, whole
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

MOST_VALUES = 2000
"""Of a domain whose posteriors are computed in full."""

TITLE = "Risk before and after"


def risk(subject: Subject) -> Section | None:
    """The section; the external edition has none."""
    if subject.truth is None or subject.raw is None:
        return None
    lines = [*_alone(subject), *[line for name in subject.manifest.sensitive[:6] for line in _guess(subject, name)]]
    sentences = [(_readable(one).words, one.determined) for one in subject.dependences]
    return Section("risk", TITLE, {"lines": lines, "told": sentences}) if lines or sentences else None


def _readable(one: Dependence) -> Dependence:
    """With names as a page can show them."""
    return replace(one, column=text(one.column), by=tuple(map(text, one.by)))


def _alone(subject: Subject) -> list[tuple[str, str, str, str]]:
    """Rows that are alone, before and after public columns were coarsened."""
    names = subject.manifest.public
    if not names or subject.alone is None or subject.raw is None:
        return []
    coarsened = [c.name for c in subject.manifest.columns if c.coarsened or c.merged]
    after = subject.alone / max(1, subject.manifest.rows)
    before = after
    if coarsened:
        raw = pa.concat_tables([pa.table(batch) for batch in subject.raw.batches(names)], promote_options="default")
        columns = [exp.column(name, quoted=True) for name in names]
        alone = exp.select("1").from_(TABLE).group_by(*columns).having("COUNT(*) = 1")
        counted = open_engine({TABLE: raw}).run(exp.select("COUNT(*) AS n").from_(alone.subquery("alone")))
        before = counted.column("n")[0].as_py() / max(1, raw.num_rows)
    note = f"{', '.join(map(text, coarsened))} coarser" if coarsened else "public columns are published as they are"
    return [("Rows that are alone with the values of their public columns", share(before), share(after), note)]


def _rows(count: int) -> str:
    return "1 row has" if count == 1 else f"{whole(count)} rows have"


def _guess(subject: Subject, name: str) -> list[tuple[str, str, str, str]]:
    """How often the best guess of a found person's value is right, for whoever knows the table's shares."""
    assert subject.truth is not None
    domain = subject.manifest.domains[name]
    apart = subject.manifest.view.sampling is not None or not subject.manifest.view.row_by_row
    if domain.size > MOST_VALUES or apart:
        return []
    counts = np.bincount(domain.encode(subject.truth.column(name).combine_chunks(), name), minlength=domain.size)
    prior = counts / counts.sum()
    strata = [channels[name] for channels in subject.release.strata]
    if len(strata) > 1:
        return []
    (channel,) = strata
    right = float((channel.matrix() * prior).max(axis=1).sum())
    after = np.nanmax(posteriors(channel, prior), axis=0)
    rare = int(np.argmax(np.where(prior > 0, after / np.maximum(prior, 1e-300), 0)))
    label = text(domain.values[rare].as_py())
    sentence = f"the commonest value alone is right for {share(float(prior.max()))}, without any row"
    rise = f"of all values it gains most; {_rows(int(counts[rare]))} it"
    top = int(np.argmax(after))
    most = f"it is in {text(domain.values[top].as_py())}, which is believed with {share(float(prior[top]))} without any row"
    return [
        (f"Best guess of a found person's {text(name)} is right", "100%", share(right), sentence),
        (f"Largest belief in any value of {text(name)}", "100%", share(float(after[top])), most),
        (
            f"Largest belief in {text(name)} = {label}",
            "100%",
            share(float(after[rare])),
            f"{share(float(prior[rare]))} without any row; {rise}",
        ),
    ]
