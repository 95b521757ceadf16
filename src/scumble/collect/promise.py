"""What is promised to who answers, in one sentence: made from the factor of the channels, in the words of the page's message files.

The page makes the same sentence from the same channels, in the language of its reader.
"""

import json
import math
from fractions import Fraction
from functools import cache
from importlib import resources

BEFORE = Fraction(1, 10)
"""The suspicion that the sentence takes as its example."""

WEAK = 1000
"""The factor from which on nothing worth the word is promised."""


@cache
def messages(language: str = "en") -> dict[str, str]:
    """The message file of a language, as the page has it."""
    text = (resources.files("scumble.collect") / "page" / "messages" / f"{language}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def promise(gamma: Fraction, *, over_time: bool = False) -> str:
    """The sentence for a factor of the odds; for all periods together, where a survey has several.

    >>> promise(Fraction(3)).split(": ")[1]
    'a suspicion of 10% becomes one of at most 25%.'
    """
    if gamma > WEAK:
        return messages()["promise_weak"]
    after = gamma * BEFORE / (1 + (gamma - 1) * BEFORE)
    numbers = {
        "factor": rounded_up(gamma, 2),
        "before": f"{rounded_up(100 * BEFORE, 1)}%",
        "after": f"{rounded_up(100 * after, 1)}%",
    }
    return messages()["promise_over_time" if over_time else "promise"].format(**numbers)


def rounded_up(exact: Fraction, decimals: int) -> str:
    """A number with so many decimals at most, not below the exact one: a bound that is printed must hold.

    >>> rounded_up(Fraction(7389, 1000), 2), rounded_up(Fraction(3), 2), rounded_up(Fraction(5, 2), 2)
    ('7.39', '3', '2.5')
    """
    whole = math.ceil(exact * 10**decimals)
    text = f"{whole // 10**decimals}.{whole % 10**decimals:0{decimals}d}"
    return text.rstrip("0").rstrip(".")
