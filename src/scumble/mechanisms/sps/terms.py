"""What samples of personal groups promise: made by the plan, and derived again from a manifest by whoever opens a release."""

import numpy as np

from scumble.core.coins import Coins
from scumble.mechanisms.facts import Facts, Terms, of_rows
from scumble.mechanisms.sps.settings import Settings
from scumble.mechanisms.sps.sizes import Sampling, sampling_of
from scumble.privacy.checks import meets_rho
from scumble.privacy.guarantee import (
    ROUNDING,
    Clause,
    Guarantee,
    amplification_guarantee,
    clauses,
    dependence_of_domains,
    rho_guarantee,
)
from scumble.privacy.reconstruction import least_tail


def derive(facts: Facts) -> Terms:
    """What follows from the coins and from the sizes of samples, which are computed anew."""
    facts.demand_rows()
    given, coins = facts.sampling, facts.coins
    facts.demand(
        given is not None and len(coins) == 1, "samples of groups and one perturbed column, and the manifest has not"
    )
    assert given is not None
    ((name, coin),) = coins.items()
    settings = Settings.model_validate(
        {"lambda": given.lam, "delta": given.delta, "tail": given.tail, "sizes": given.sizes}
    )
    sampling = sampling_of(settings, float(coin.channel().retain), coin.size)
    rungs_alike = (
        np.allclose(sampling.ladder or [0], given.ladder or [0], rtol=ROUNDING, atol=0)
        if len(sampling.ladder or []) == len(given.ladder or [])
        else False
    )
    same = sampling.least == given.least and rungs_alike
    facts.demand(same, "sample sizes that follow from lambda, delta and the retention, and the manifest has others")
    rhos = [
        (c.parameters["rho1"], c.parameters["rho2"])
        for c in facts.asked("rho")
        if meets_rho(coin.amplification, c.parameters)
    ]
    return terms_of(name, coin, sampling, rhos, facts.from_data, facts.merged or facts.says("merged"))


def terms_of(
    name: str, coins: Coins, sampling: Sampling, asked: list[tuple[float, float]], from_data: list[str], merged: bool
) -> Terms:
    """What no reconstruction of a personal group gets where that is proved, and what coins give each row."""
    proved = sampling.sizes == "one" or (sampling.sizes == "ladder" and sampling.tail == "exact")
    terms = [reconstruction_guarantee(name, sampling)] if proved else []
    terms += [_here(rho_guarantee([name], *pair)) for pair in asked]
    terms.append(_here(amplification_guarantee([name], coins.amplification)))
    tells = [*dependence_of_domains(from_data), *sizes_tell(sampling), *(clauses("merged") if merged else [])]
    return of_rows(terms, tells)


def reconstruction_guarantee(name: str, sampling: Sampling) -> Guarantee:
    """What the largest samples give, with the true tails whatever bound chose them."""
    shares = sampling.ladder or [1.0]
    sizes = [sampling.least] if sampling.ladder is None else [int(s) for s in sampling.of_share(np.array(shares))]
    delta = sampling.delta
    if sampling.tail == "chernoff":
        delta = least_tail(sampling.least, 1.0, sampling.retain, sampling.values, sampling.lam)
    parameters = {"lambda": sampling.lam, "delta": delta, "retain": sampling.retain, "values": float(sampling.values)}
    parameters |= {"asked": sampling.delta} if sampling.tail == "chernoff" else {}
    parameters |= {f"size at f <= {f:.12g}": float(s) for s, f in zip(sizes, shares, strict=True)}
    return Guarantee(
        kind="reconstruction", columns=[name], parameters=parameters, conditions=[*HERE, *clauses("own_group")]
    )


HERE = clauses("one_row", "fresh_coins", "not_most_others")


def _here(guarantee: Guarantee) -> Guarantee:
    return guarantee.model_copy(update={"conditions": HERE})


def sizes_tell(sampling: Sampling) -> list[Clause]:
    """What the size of a sample tells of its group."""
    if sampling.sizes == "ladder":
        return [Clause(code="rungs_tell", parameters={"ladder": sampling.ladder or []})]
    return clauses("sizes_tell") if sampling.sizes == "paper" else []
