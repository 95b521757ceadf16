"""Before publishing: what the channels will promise, and how exact each answer will be.

The variance of an estimate is a sum over published rows, so its expectation is the same sum over the rows to be expected:

    E[V] = V(P y_true)

The question is asked of the raw table, its lines are sent through the channels, and the variance is computed from what comes
out: no coin is flipped, and the estimate that comes out is the truth itself, exactly.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sqlglot import exp

from scumble.core.channel import replacement_of
from scumble.core.channel_base import BaseChannel
from scumble.core.display import Card, Shown
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError, SchemaError
from scumble.core.parameters import confidence
from scumble.engines import open_engine
from scumble.engines.engine import TABLE, Engine
from scumble.evaluate.counts_to_come import CountsToCome
from scumble.evaluate.forecast_card import card
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.breach import breach_limit
from scumble.privacy.reconstructability import condition_number, rows_needed
from scumble.privacy.rho import posteriors
from scumble.privacy.values import worst_posteriors
from scumble.publishing.admitted import admitted
from scumble.publishing.assumed_target import assumed
from scumble.publishing.dependence import Dependence, dependence_of
from scumble.publishing.expected_rows import Rows, reaches
from scumble.publishing.persons import Persons, demand_left, persons_of
from scumble.publishing.publish import profile, value_counts
from scumble.publishing.roles import decided
from scumble.publishing.staged import planned
from scumble.query.ask import ask
from scumble.query.cells import Cells
from scumble.query.compile import Published
from scumble.query.estimates import Estimates
from scumble.query.form_answer import Answer
from scumble.query.gated import gated
from scumble.query.model import Query
from scumble.query.orders import exact_orders
from scumble.query.parse import parse
from scumble.query.part_columns import of_wholes
from scumble.query.rewrites import Recoding
from scumble.query.scanned import Scanned
from scumble.query.totals import compile_totals
from scumble.release.persons import under_persons
from scumble.sources.source import Source
from scumble.spec.spec import Spec
from scumble.truth import Truth


@dataclass(frozen=True)
class Outlook:
    """What a sensitive column will look like to an attacker whose prior is the table's own distribution."""

    column: str
    retain: float
    """How probably a value is kept; of codes, how probably a code stands for it."""
    amplification: float
    prior: float
    """The share of the commonest value."""
    guess: float
    """The largest posterior of any value, after seeing the published one."""
    rise: float
    """The largest factor by which a value becomes likelier."""
    fall: float
    """The largest factor by which a value becomes less likely."""
    breach: float
    """The s of (s, 0.1, 0.95)-breaches that cannot happen."""
    rows: int
    """Rows from which a share comes back within 0.05 with probability 95%."""


@dataclass(frozen=True, repr=False)
class Forecast(Shown):
    """A plan with its outlook; nothing of it is published."""

    plan: Plan
    rows: int
    outlooks: list[Outlook]
    condition: float
    """The condition number of all sensitive columns together."""
    answers: list[tuple[str, Estimates]]
    """Each question with the truth, the standard error and interval that an answer will have, and what to know of it."""
    persons: Persons
    """Whose rows they are."""
    dependence: Sequence[Dependence] = ()
    """What public columns tell of sensitive ones."""

    def card(self) -> Card:
        """The guarantees to come, what an attacker's guess becomes, and the error that each answer will have."""
        return card(self)


def forecast(table: Source, spec: Spec, questions: Sequence[str], level: Any = 0.95) -> Forecast:
    """What publishing the table by the spec will give. The table is held in memory."""
    chosen = find_mechanism(spec.mechanism)
    spec, assumptions = assumed(decided(spec, table), table)
    persons = persons_of(table, spec, Entropy.system())
    table = persons.table
    profiled = profile(table, spec)
    plan = planned(chosen, profiled, spec)
    plan = _to_persons(replace(plan, warnings=[*assumptions, *plan.warnings]), persons, spec)
    if questions and chosen.traits.unforeseen:
        raise ParameterError(
            f"the errors of {chosen.name!r} {chosen.traits.unforeseen}; publish with a seed and ask the release"
        )
    if chosen.traits.unforeseen:
        rows = sum(batch.num_rows for batch in table.batches(spec.published[:1]))
        return Forecast(plan, rows, [], 1.0, [], persons)
    if chosen.expected is not None:
        return _of_counts(admitted(table, spec, profiled.domains), spec, profiled, plan, persons, questions, level)
    counts = value_counts(table, profiled.domains)
    raw, published, recoding = (chosen.foresee or _whole)(table, spec, profiled, plan)
    dealt = plan.dealt if len(plan.strata) > 1 else None
    shares = shares_of(plan, counts)
    engine = open_engine({TABLE: raw})
    answer_to = partial(expected, published=published, shares=shares, engine=engine, level=confidence(level))
    types = dict(zip(raw.schema.names, raw.schema.types, strict=True))
    tables = {TABLE: types | {name: part.type for name, part in recoding.parts.items()}}
    columns = [*published.columns, *recoding.parts]
    answers = [(sql, gated(sql, tables, partial(ask, sql, columns, recoding, answer_to))) for sql in questions]
    if recoding.reaches and questions:
        as_it_is = Truth.of_domains(table, spec, {})
        answers = [(sql, _of_table(sql, estimates, as_it_is, recoding)) for sql, estimates in answers]
    outlooks = [
        _outlook(name, plan.channels[0][name], float(plan.strata[0][name].kept.max()), n)
        if dealt is None
        else _outlook_dealt(name, plan.channels, dealt)
        for name, n in counts.items()
    ]
    condition = max(condition_number(list(channels.values())) for channels in plan.channels)
    dependence = dependence_of(table, spec, profiled.domains)
    return Forecast(plan, raw.num_rows, outlooks, condition, answers, persons, dependence)


def _of_counts(
    table: Source,
    spec: Spec,
    profiled: Profile,
    plan: Plan,
    persons: Persons,
    questions: Sequence[str],
    level: Any,
) -> Forecast:
    """The same where answers are sums of counts, and no row goes through a channel."""
    truth = Truth.of_domains(table, spec, profiled.domains)
    answers = CountsToCome(truth, plan, confidence(level))
    return Forecast(plan, truth.rows, [], 1.0, [(sql, answers.to(sql)) for sql in questions], persons)


def _to_persons(plan: Plan, persons: Persons, spec: Spec) -> Plan:
    """The plan with what it promises to persons; that nothing is left, which publishing refuses, is a warning here."""
    terms = under_persons(plan.terms, persons.record)
    try:
        demand_left(persons, spec, plan.terms)
        refusal = []
    except SchemaError as error:
        refusal = [f"publishing will be refused: {error}"]
    return replace(
        plan,
        guarantees=terms.guarantees,
        depends_on_data=terms.depends_on_data,
        warnings=[*plan.warnings, *refusal],
    )


def _of_table(sql: str, answer: Estimates, as_it_is: Truth, recoding: Recoding) -> Estimates:
    """The answer with the truth of the table in the place of that of rounded numbers; groups of changed values have none of the table's."""
    query = of_wholes(parse(sql, list(as_it_is.types)), as_it_is.parts)
    changed = {*recoding.reaches, *recoding.merged}
    if any(column.name in changed for group in query.groups for column in group.expression.find_all(exp.Column)):
        return answer
    truths = as_it_is.answer(sql)
    names = answer.groups.schema.names
    keys = [tuple(line[name] for name in names) for line in answer.groups.to_pylist()] if names else [()]
    nobody = [0.0 if one.kind == "count" else math.nan for one in query.aggregates]
    numbers = [truths[key][1] if key in truths else nobody for key in keys]
    true = np.array(numbers, dtype=np.float64).reshape(len(keys), len(answer.estimates))
    kept = [replace(e, value=true[:, place]) for place, e in enumerate(answer.estimates)]
    return Estimates(answer.columns, answer.groups, kept, answer.level, answer.notes)


def _whole(table: Source, spec: Spec, counts: Profile, plan: Plan) -> Rows:
    """The rows of the table."""
    published = Published(spec.published, counts.domains, plan.channels, values=True)
    truth = Truth.of_domains(table, spec, counts.domains)
    return truth.table, published, Recoding(truth.coarse, reaches=reaches(counts.domains), parts=truth.parts)


def shares_of(plan: Plan, counts: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The part of each value's rows that each sub-table gets, where there are several."""
    if len(plan.strata) == 1 or (dealt := plan.dealt) is None:
        return None
    return [{name: np.divide(row, n, out=np.zeros(len(n)), where=n > 0) for name, n in counts.items()} for row in dealt]


def expected(
    query: Query, published: Published, shares: list[dict[str, Any]] | None, engine: Engine, level: float
) -> Answer:
    """The answer that a question is to be expected to get: the truth, with the standard error and interval that it will have."""
    totals = compile_totals(query, published, engine, every=shares is not None, summing=False)
    cells = _published(Cells.fetched(totals.question, engine), published, shares)
    asked = Scanned(totals, cells, exact_orders(totals, cells, engine))

    def at(level: float) -> Answer:
        form = asked.answer(level)
        settled = _settled(form.estimates, [a.kind for a in query.aggregates])
        return replace(form, estimates=settled, at=at)

    return at(level)


def _published(cells: Cells, published: Published, shares: list[dict[str, Any]] | None) -> Cells:
    """The lines to be expected after publication."""
    if cells.question.exact:
        return cells
    return cells.dealt(published.strata, shares) if shares else cells.published(published.strata[0])


ROUNDING = 1e-9
"""What sending counts through a channel and back adds to them, at most, as a share of their size or of their standard error."""


def _settled(estimates: Estimates, kinds: Sequence[str]) -> Estimates:
    """The truth without what rounding made of it: counts are whole, and what is nothing beside its standard error is 0."""
    settled = []
    for e, kind in zip(estimates.estimates, kinds, strict=True):
        whole = np.rint(e.value) if kind == "count" else np.zeros_like(e.value)
        near = np.abs(e.value - whole) <= ROUNDING * np.maximum(np.abs(whole), e.se)
        settled.append(replace(e, value=np.where(near, whole, e.value)))
    return Estimates(estimates.columns, estimates.groups, settled, estimates.level, estimates.notes)


def _outlook(name: str, channel: BaseChannel, held: float, counts: Any) -> Outlook:
    prior = counts / counts.sum()
    guess = rise = fall = math.nan
    if channel.size <= 2000 and channel.codes <= 4000:
        after = posteriors(channel, prior)
        seen = prior > 0
        change = after[:, seen] / prior[seen]
        guess, rise, fall = (
            float(np.nanmax(after)),
            float(np.nanmax(change)),
            float(1 / np.nanmin(change)) if np.nanmin(change) > 0 else math.inf,
        )
    retain = _effective(channel)
    return Outlook(
        name,
        held,
        channel.amplification,
        float(prior.max()),
        guess,
        rise,
        fall,
        math.nan if channel.recoded else breach_limit(retain, 0.1, 0.95),
        rows_needed(retain, 0.05, 0.05) if retain > 0 else 0,
    )


def _effective(channel: BaseChannel) -> float:
    """The retention; of codes that of the uniform channel between a value and all others."""
    if channel.recoded:
        return channel.against_others[0] if channel.against_others is not None else 0.0
    return float(replacement_of(channel).retention.max())


def _outlook_dealt(name: str, strata: Sequence[Mapping[str, BaseChannel]], dealt: Any) -> Outlook:
    """The same for sub-tables, whose own shares are what the attacker believes once the sub-table is seen."""
    prior = dealt.sum(axis=0) / dealt.sum()
    worst = [worst_posteriors(channels[name], row) for channels, row in zip(strata, dealt, strict=True)]
    seen = prior > 0
    largest = np.max([bounds.largest for bounds in worst], axis=0)
    smallest = np.min([bounds.smallest for bounds in worst], axis=0)
    known = [replacement_of(channels[name]).retention for channels in strata]
    kept = sum(float(row @ retention) for retention, row in zip(known, dealt, strict=True)) / dealt.sum()
    fall = float(np.min(smallest[seen] / prior[seen]))
    return Outlook(
        name,
        kept,
        math.inf,
        float(prior.max()),
        float(largest.max()),
        float(np.max(largest[seen] / prior[seen])),
        1 / fall if fall > 0 else math.inf,
        breach_limit(kept, 0.1, 0.95),
        rows_needed(kept, 0.05, 0.05),
    )
