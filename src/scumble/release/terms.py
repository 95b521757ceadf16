"""What follows from a manifest, and where it claims something else. What scumble prints of a release's promise is made here, never read."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from scumble.core.errors import InternalError, ReleaseError, ScumbleError
from scumble.core.staged_coins import StagedCoins
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.facts import Facts, Terms
from scumble.privacy.guarantee import ROUNDING, Clause, Guarantee, memoised_guarantee
from scumble.release.manifest import Manifest
from scumble.release.persons import under_persons
from scumble.release.records import GuaranteeRecord
from scumble.release.rounding import rounding_problems

LATER = ("by_factor", "anything", "asked")
"""Numbers that follow, and that releases without codes do not have yet."""


def facts_of(manifest: Manifest) -> Facts:
    """What the manifest says that a promise may follow from."""
    view = manifest.view
    return Facts(
        mechanism=manifest.mechanism,
        rows=manifest.rows,
        roles={column.name: column.role for column in manifest.columns},
        strata=_strata(manifest),
        from_data=[c.name for c in manifest.columns if c.domain is not None and c.domain.from_data],
        merged=any(column.merged is not None for column in manifest.columns),
        row_by_row=view.row_by_row,
        joint=list(view.joint) or None,
        sampling=view.sampling,
        form=manifest.form,
        claims=[record.claim() for record in manifest.guarantees],
        disclosed=manifest.depends_on_data_codes or [],
    )


def _strata(manifest: Manifest) -> list[dict[str, Any]]:
    sizes = {name: domain.size for name, domain in manifest.domains.items()}
    columns = [column for column in manifest.columns if column.records]
    count = max((len(column.records) for column in columns), default=1)
    return [{c.name: c.records[i % len(c.records)].coins(sizes[c.name]) for c in columns} for i in range(count)]


def terms_of(manifest: Manifest) -> Terms:
    """What follows from the manifest's mechanism, coins, form and numbers; refused where nothing does."""
    mechanism = find_mechanism(manifest.mechanism)
    try:
        facts = facts_of(manifest)
        terms = mechanism.derive(facts)
    except ReleaseError:
        raise
    except (ScumbleError, ArithmeticError, LookupError, ValueError) as error:
        raise ReleaseError(
            f"nothing follows from the manifest, whose numbers are not those of {manifest.mechanism} ({error}); get the release again from its publisher"
        ) from None
    if manifest.randomness.keyed and not mechanism.traits.keyed_coins:
        raise ReleaseError(
            f"the manifest says that coins are keyed, and {manifest.mechanism} has none that can be; get the release again from its publisher"
        )
    terms = under_persons(_of_coins(terms, manifest, facts.strata), manifest.persons)
    more = not manifest.coded and len(manifest.depends_on_data) > len(terms.depends_on_data)
    older = [Clause(code="older_words")] if more else []
    return _sayable(Terms(terms.guarantees, terms.not_covered, [*terms.depends_on_data, *older]))


def _sayable(terms: Terms) -> Terms:
    """The terms, once a sentence can be made of each: numbers of the publisher's go through to them."""
    try:
        for guarantee in terms.guarantees:
            _ = guarantee.statement
        return terms
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise ReleaseError(
            "the manifest has numbers of which nothing can be said; get the release again from its publisher"
        ) from None


def _of_coins(terms: Terms, manifest: Manifest, strata: Sequence[Mapping[str, Any]]) -> Terms:
    """The terms by where the coins come from."""
    if manifest.randomness.keyed:
        return under_key(terms, strata)
    if any(isinstance(coins, StagedCoins) for stratum in strata for coins in stratum.values()):
        raise ReleaseError(
            "the manifest has a memoised response and no key that it could come from; get the release again from its publisher"
        )
    return terms


def under_key(terms: Terms, strata: Sequence[Mapping[str, Any]]) -> Terms:
    """The terms with the condition that keyed coins have in the place of fresh ones; and, where these are memoised responses, what all releases tell."""
    columns = list(strata[0])
    staged = [coins for coins in strata[0].values() if isinstance(coins, StagedCoins)]
    if staged and len(staged) < len(columns):
        raise ReleaseError("the manifest has a memoised response for some columns alone; the manifest was changed")
    place = Clause(code="memoised_coins" if staged else "keyed_coins")

    def keyed(guarantee: Guarantee) -> Guarantee:
        codes = [place if c.code == "fresh_coins" else c for c in guarantee.conditions]
        return guarantee.model_copy(update={"conditions": codes})

    guarantees = [keyed(guarantee) for guarantee in terms.guarantees if guarantee.kind != "memoised"]
    if staged:
        gamma, fresh = (
            math.prod((coins.amplification for coins in stage), start=Fraction(1))
            for stage in ([coins.memoised for coins in staged], [coins.fresh for coins in staged])
        )
        guarantees.insert(0, memoised_guarantee(columns, gamma, fresh))
    return Terms(guarantees, terms.not_covered, terms.depends_on_data)


def records_of(terms: Terms) -> dict[str, Any]:
    """The fields of a manifest that say them, in codes and in sentences."""
    return {
        "guarantees": [GuaranteeRecord.of(guarantee) for guarantee in terms.guarantees],
        "not_covered": [clause.sentence for clause in terms.not_covered],
        "depends_on_data": [clause.sentence for clause in terms.depends_on_data],
        "not_covered_codes": terms.not_covered,
        "depends_on_data_codes": terms.depends_on_data,
    }


@dataclass(frozen=True)
class Compared:
    """What follows beside what is claimed: sentences that say where they differ."""

    guarantees: list[tuple[Guarantee, str]]
    """Each guarantee that follows, and what is wrong with the claim of it; nothing where it is claimed as it is."""
    unfounded: list[str]
    """Claims that do not follow."""
    not_covered: str
    depends_on_data: str
    sentences: str
    rounding: list[str]

    @property
    def problems(self) -> list[str]:
        """All differences."""
        problems = [problem for _, problem in self.guarantees]
        return list(
            filter(
                None,
                [*problems, *self.unfounded, self.not_covered, self.depends_on_data, self.sentences, *self.rounding],
            )
        )


def compared(manifest: Manifest, terms: Terms) -> Compared:
    """The manifest's claims beside what follows."""
    open_claims = list(manifest.guarantees)
    pairs = []
    for guarantee in terms.guarantees:
        claim = next((c for c in open_claims if (c.kind, c.columns) == (guarantee.kind, guarantee.columns)), None)
        if claim is not None:
            open_claims.remove(claim)
        pairs.append((guarantee, _problem(claim, guarantee)))
    return Compared(
        pairs,
        [f"the manifest claims {_shown(claim)}, which does not follow" for claim in open_claims],
        _codes("as not covered", manifest.not_covered_codes, terms.not_covered),
        _codes("as taken from the data", manifest.depends_on_data_codes, terms.depends_on_data),
        _sentences(manifest),
        rounding_problems(manifest),
    )


def _shown(claim: GuaranteeRecord) -> str:
    numbers = ", ".join(f"{name} = {value:g}" for name, value in claim.parameters.items())
    return f"{claim.kind} of {' and '.join(claim.columns) or 'no column'}" + (f" with {numbers}" if numbers else "")


def _problem(claim: GuaranteeRecord | None, derived: Guarantee) -> str:
    """What is wrong with a claim, if anything."""
    if claim is None:
        return f"the manifest does not claim what follows: {derived.statement}"
    about = f"{claim.kind} of {' and '.join(claim.columns)}"
    older = claim.condition_codes is None
    expected = {n: v for n, v in derived.parameters.items() if not (older and n in LATER and n not in claim.parameters)}
    for name in dict.fromkeys([*expected, *claim.parameters]):
        if not _same(claim.parameters.get(name), expected.get(name)):
            said, follows = (_number(given, name) for given in (claim.parameters, expected))
            return f"the manifest claims {said} for {about}, and {follows} follows"
    if not _same_bounds(claim.bounds, derived.bounds):
        return f"the manifest claims bounds for {about} that do not follow"
    return _codes(f"as conditions of {about}", claim.condition_codes, derived.conditions)


def _number(given: Mapping[str, float], name: str) -> str:
    return f"{name} = {given[name]:.10g}" if name in given else f"no {name}"


def _same(claimed: float | None, derived: float | None) -> bool:
    if claimed is None or derived is None:
        return claimed is derived
    return math.isclose(claimed, derived, rel_tol=ROUNDING, abs_tol=0.0)


def _same_bounds(claimed: list[list[float | None]] | None, derived: list[list[float | None]] | None) -> bool:
    rows = list(claimed or []), list(derived or [])
    if [len(row) for row in rows[0]] != [len(row) for row in rows[1]]:
        return False
    return all(_same(a, b) for mine, theirs in zip(*rows, strict=True) for a, b in zip(mine, theirs, strict=True))


def _codes(where: str, claimed: Sequence[Clause] | None, derived: Sequence[Clause]) -> str:
    """The first clause that one has and the other has not; a release without codes has none to compare."""
    if claimed is None:
        return ""
    missing = [clause for clause in derived if not any(_alike(clause, other) for other in claimed)]
    if missing:
        return f"the manifest does not name {where}: {missing[0].sentence}"
    extra = [clause.code for clause in claimed if not any(_alike(clause, other) for other in derived)]
    if extra or len(claimed) != len(derived):
        return f"the manifest names {where} what does not follow: {(extra or ['something twice'])[0]}"
    return ""


def _alike(one: Clause, other: Clause) -> bool:
    """Whether two clauses say the same, up to the last digit of a number."""
    if one.code != other.code or one.parameters.keys() != other.parameters.keys():
        return False
    return all(_same_value(value, other.parameters[name]) for name, value in one.parameters.items())


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    return _same(one, other) if isinstance(one, float) and isinstance(other, int | float) else bool(one == other)


def _sentences(manifest: Manifest) -> str:
    """The first sentence of the manifest that is not the one of its code. Codes for some claims alone are as good as rewritten ones."""
    claims = [record.claim() for record in manifest.guarantees]
    parts = [
        manifest.not_covered_codes,
        manifest.depends_on_data_codes,
        *(g.condition_codes for g in manifest.guarantees),
    ]
    if manifest.written.version == 1 and all(codes is None for codes in parts):
        return ""
    if not manifest.coded:
        return "the manifest has sentences without codes for some of what it claims"
    written = [*manifest.not_covered, *manifest.depends_on_data]
    written += [text for record in manifest.guarantees for text in (record.statement, *record.conditions)]
    made = [_said(clause) for clause in (*(manifest.not_covered_codes or []), *(manifest.depends_on_data_codes or []))]
    made += [text for claim in claims for text in (_stated(claim), *map(_said, claim.conditions))]
    for text, follows in zip_longest(written, made):
        if text != follows:
            return f"the manifest says {text!r}, and the sentence of its code is {follows!r}"
    return ""


def _said(clause: Clause) -> str | None:
    """The sentence of a claimed clause; none where its code or its parameters are not known."""
    return _in_words(lambda: clause.sentence)


def _stated(claim: Guarantee) -> str | None:
    """The sentence of a claimed guarantee; none where its code or its parameters are not known."""
    return _in_words(lambda: claim.statement)


def _in_words(made: Callable[[], str]) -> str | None:
    try:
        return made()
    except (InternalError, ArithmeticError, LookupError, ValueError, TypeError):
        return None
