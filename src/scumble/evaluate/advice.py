"""Advice, as it is told: the choice, the error of every question, what an attacker comes to believe, and the spec to use."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.core.display import Card, Grid, Items, Note, Part, Shown
from scumble.core.parameters import plain
from scumble.evaluate.foresight import Foreseen
from scumble.evaluate.measured import percent
from scumble.evaluate.promise import Met
from scumble.evaluate.search import Offer, error_text
from scumble.spec.toml import spec_toml

CHOSEN = (
    "The privacy was chosen by looking at the table: that it was just enough for this accuracy tells about how many rows the questions are about. "
    "Publish a rounded parameter, or one fixed beforehand, where that is too much."
)
SET = (
    "The parameter was computed from the table's own shares: that it is just enough for this posterior tells how common the commonest protected value is. "
    "Publish a rounded parameter, or one fixed beforehand, where that is too much."
)


@dataclass(frozen=True, repr=False)
class Advice(Shown):
    """Which spec to use, and what it gives."""

    chosen: Offer
    why: str
    others: Sequence[Offer]
    refused: dict[str, str]
    prior: float
    absolute: bool
    met: dict[str, Met]
    notes: Sequence[str]
    folder: Path | None
    asked_posterior: bool = False
    """Whether the privacy was given and the accuracy followed, or the other way round."""
    exempt: Sequence[str] = ()
    """What is said of values that the posterior is not about."""

    @property
    def mechanism(self) -> str:
        """The mechanism to use."""
        return self.chosen.setting.spec.mechanism

    @property
    def posterior(self) -> float:
        """What the attacker comes to believe at most of a protected value."""
        return self.chosen.beliefs.posterior

    @property
    def foreseen(self) -> Sequence[Foreseen]:
        """The error that each question will have."""
        return self.chosen.foreseen

    @property
    def spec(self) -> str:
        """The spec to publish with, as TOML."""
        return self.written(self.folder)

    def written(self, folder: Path | None) -> str:
        """The same, for a folder that it is written into."""
        lines = [
            f"Advised: {self.why}",
            f"An attacker who knows the table's shares believes a protected value with at most {self.posterior:.4g}.",
            *self.exempt,
        ]
        for answer in self.foreseen:
            what = "standard error " if math.isfinite(answer.error) else ""
            lines.append(f"{what}{self._shown(answer.error)}: {' '.join(answer.sql.split())}")
        return spec_toml(self.chosen.setting.spec, folder, lines)

    def to_list(self) -> list[dict[str, Any]]:
        """One dictionary for each question, with the spec in each."""
        return [
            {
                "question": answer.sql,
                "error": answer.error if math.isfinite(answer.error) else None,
                "worst_line": answer.line,
                "measured_error": self.met[answer.sql].error if answer.sql in self.met else None,
                "ratio": self.met[answer.sql].ratio if answer.sql in self.met else None,
                "publications": self.met[answer.sql].publications if answer.sql in self.met else 0,
                "mechanism": self.mechanism,
                "posterior": self.posterior,
                "prior": self.prior,
                "factor": self.chosen.beliefs.factor if math.isfinite(self.chosen.beliefs.factor) else None,
                "spec": self.spec,
            }
            for answer in self.foreseen
        ]

    def _shown(self, error: float) -> str:
        return error_text(error, self.absolute)

    def card(self) -> Card:
        """The choice, the errors, the beliefs, and the spec."""
        factor = self.chosen.beliefs.factor
        beliefs = (
            f"attacker: a protected value is believed with {self.prior:.4g} before and {self.posterior:.4g} at most after; the best guess is right for "
            f"{percent(self.chosen.beliefs.guess)} of the rows; for other beliefs "
            + (f"odds change by at most {factor:.4g}" if factor < 1e4 else "nothing is promised")
        )
        parts: list[Part] = [
            Note(self.why),
            Note(beliefs),
            *(Note(sentence) for sentence in self.exempt),
            self._errors(),
            self._offers(),
            *(Note(note) for note in self.notes),
        ]
        if self.refused:
            parts.append(Items("does not apply", [f"{name}: {why}" for name, why in self.refused.items()]))
        sentences = [clause.sentence for clause in self.chosen.plan.depends_on_data]
        parts.append(
            Items(
                "what the parameters tell of the table, because they were chosen with it",
                [SET if self.asked_posterior else CHOSEN, *sentences],
            )
        )
        return Card(f"use {self.chosen.setting.name}", parts)

    def _errors(self) -> Grid:
        rows = []
        for answer in self.foreseen:
            met = self.met.get(answer.sql)
            rows.append(
                [
                    " ".join(answer.sql.split()),
                    answer.line or "-",
                    plain(answer.truth) if math.isfinite(answer.truth) else "-",
                    self._shown(answer.error),
                    "-" if met is None else self._shown(met.error),
                    "-" if met is None else f"{met.ratio:.2f}",
                ]
            )
        headings = ["question", "worst line", "true", "error to expect", "measured", "measured / expected, all lines"]
        return Grid(headings, rows, left=[0, 1])

    def _offers(self) -> Grid:
        rows = [
            [
                "*" if offer is self.chosen else "",
                offer.setting.name,
                offer.setting.label,
                f"{offer.beliefs.posterior:.4g}",
                f"x {offer.beliefs.factor:.4g}" if offer.beliefs.factor < 1e4 else "none",
                self._shown(offer.error),
            ]
            for offer in self.others
        ]
        return Grid(["", "mechanism", "setting", "posterior", "other beliefs", "worst error"], rows, left=[0, 1, 2])
