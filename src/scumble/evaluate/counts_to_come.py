"""Answers that will be sums of noisy counts, before these are drawn: the truth, with the errors to come."""

from functools import partial

from scumble.engines.engine import TABLE
from scumble.forms import find_form
from scumble.forms.form import Opened
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.plan import Plan
from scumble.publishing.expected_rows import reaches
from scumble.query.ask import ask
from scumble.query.estimates import Estimates
from scumble.query.form_answer import Answer
from scumble.query.gated import gated
from scumble.query.model import Query
from scumble.query.rewrites import Recoding
from scumble.truth import Truth


class CountsToCome:
    """A plan whose mechanism says what its release is to be expected to be."""

    def __init__(self, truth: Truth, plan: Plan, level: float) -> None:
        chosen = find_mechanism(plan.mechanism)
        assert chosen.expected is not None
        self._truth, self._level, self._form = truth, level, find_form(chosen.form)
        self._release: Opened = chosen.expected(truth.table, plan)

    def to(self, sql: str) -> Estimates:
        """What a question will be answered with."""
        truth = self._truth
        recoding = Recoding(truth.coarse, reaches=reaches(dict(truth.domains)), parts=truth.parts)
        return gated(sql, {TABLE: truth.types}, partial(ask, sql, list(truth.types), recoding, self._answer))

    def _answer(self, query: Query) -> Answer:
        return self._form.answer(self._release, query, self._level, "unbiased")
