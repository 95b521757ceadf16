"""From a spec to a survey: channels by a mechanism's own plan, and the promise that follows from them.

A mechanism can be used where each row's coins depend on that row alone, and on nothing that is counted: nobody has the table.
"""

from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa

import scumble
from scumble.collect.survey import Survey
from scumble.collect.survey_record import QuestionRecord, SurveyRecord
from scumble.collect.survey_spec import QuestionSpec, SurveySpec
from scumble.core.domain import Domain
from scumble.core.entropy import fresh_bytes
from scumble.core.errors import ParameterError, SchemaError, SurveyError
from scumble.core.mixture_coins import MixtureCoins
from scumble.forms.records import DomainRecord
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.plan import Plan, Profile
from scumble.publishing.staged import planned
from scumble.release.records import record_of
from scumble.sources.declared import KINDS
from scumble.spec.spec import ColumnSpec, Spec


def draft(spec: SurveySpec, *, series: str | None = None, issuer: str | None = None) -> Survey:
    """The survey of a spec, not signed yet.

    series   of the survey that this one continues: memoised coins stay where domain and channel do
    issuer   of blind tokens: the public key that they are signed by
    """
    domains = {name: _domain(name, question) for name, question in spec.asked.items()}
    plan = _plan(spec, {name: domain for name, domain in domains.items() if spec.asked[name].role == "sensitive"})
    questions = [_question(name, question, domains[name], plan) for name, question in spec.asked.items()]
    record = SurveyRecord(
        signature=None,
        software=f"scumble {scumble.__version__}",
        title=spec.title or "A survey",
        purpose=spec.purpose,
        collector=spec.collector,
        contact=spec.contact,
        until=None if spec.until is None else f"{spec.until:%Y-%m-%dT%H:%M:%SZ}",
        language=spec.language,
        series=series or fresh_bytes(16).hex(),
        tokens=spec.tokens,
        issuer=issuer,
        clock=spec.clock,
        period=spec.period,
        live=spec.live,
        mechanism=plan.mechanism,
        questions=questions,
        guarantees=plan.guarantees,
        promise="",
        texts=spec.texts or None,
    )
    follows = Survey(record)
    derived = {"guarantees": follows.terms.guarantees, "promise": follows.promise}
    return Survey(record.model_copy(update=derived))


def _plan(spec: SurveySpec, domains: dict[str, Domain]) -> Plan:
    chosen = find_mechanism(spec.mechanism)
    if not chosen.traits.keyed_coins:
        raise SurveyError(
            f"{spec.mechanism!r} works on a whole table, and nobody has one here: a survey needs a mechanism whose coins belong to a row"
        )
    columns = {name: _column(spec.asked[name]) for name in domains}
    counts = {name: np.ones(domain.size, dtype=np.int64) for name, domain in domains.items()}
    as_spec = Spec(
        mechanism=spec.mechanism, settings=spec.settings, privacy=spec.privacy, columns=columns, fresh=spec.fresh
    )
    try:
        plan = planned(chosen, Profile(domains, [], counts if chosen.traits.needs_counts else {}), as_spec)
    except ParameterError as error:
        raise SurveyError(str(error)) from None
    if plan.depends_on_data or len(plan.strata) != 1 or any(coins.own for coins in plan.coins.values()):
        raise SurveyError(
            f"{spec.mechanism!r} takes its channels from the counts of a table here, and nobody has one; give weights or frequencies, and no theta"
        )
    if mixed := [name for name, coins in plan.coins.items() if isinstance(coins, MixtureCoins)]:
        raise SurveyError(
            f"{spec.mechanism!r} has codes of several kinds for {mixed[0]!r}, which the protocol of surveys does not have; use design, which knows no order"
        )
    return plan


def _question(name: str, question: QuestionSpec, domain: Domain, plan: Plan) -> QuestionRecord:
    coins = plan.coins.get(name)
    labels = {str(key): text for key, text in question.labels.items()}
    known = {_text(value) for value in domain.values.to_pylist()} if labels else set()
    if strange := sorted(set(labels) - known):
        raise SurveyError(f"column {name!r} has a label for {strange[0]!r}, which is none of its values")
    return QuestionRecord(
        name=name,
        role="sensitive" if coins is not None else "public",
        ask=question.ask or name.replace("_", " "),
        help=question.help,
        labels=labels or None,
        type=str(domain.type),
        domain=DomainRecord.of(domain, from_data=False),
        channel=None if coins is None else record_of(coins),
        attribute=question.attribute,
    )


def _column(question: QuestionSpec) -> ColumnSpec:
    """The question as a spec of a table has its column."""
    fields = question.model_dump(include={"values", "missing", "low", "high", "step"})
    return ColumnSpec.model_validate({"role": "sensitive", "privacy": question.privacy, **fields})


def _text(value: Any) -> str:
    """A value as labels name it: none is the empty text."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _domain(name: str, question: QuestionSpec) -> Domain:
    kind = KINDS[question.type] if question.type else _kind(name, question)
    if question.low is not None and question.missing:
        raise SurveyError(f"column {name!r}: missing is for values that are listed; a grid has no place for no answer")
    try:
        return _column(question).domain(name, kind)
    except SchemaError as error:
        raise SurveyError(str(error)) from None


def _kind(name: str, question: QuestionSpec) -> pa.DataType:
    """The type of the declared answers."""
    if question.low is not None:
        whole = all(float(number) == int(float(number)) for number in (question.low, question.step))
        return KINDS["integer" if whole else "number"]
    kinds = {type(value) for value in question.values or () if value is not None}
    for held, kind in ((str, "text"), (bool, "boolean"), (int, "integer"), (date, "date"), (datetime, "timestamp")):
        if kinds == {held}:
            return KINDS[kind]
    if kinds and kinds <= {int, float}:
        return KINDS["number"]
    raise SurveyError(
        f"column {name!r}: its values are of several kinds; write all of them as texts, or all as numbers"
    )
