"""Coins on the respondent's own device: fresh words, or words that are the same for the same answer each time.

Asking again must not average coins out. A memoised word is a keyed function of what it is for,

    word = HMAC-SHA-256(secret, "scumble-coin 1" | series | stream | place | turn),     fields of text with a byte 0x1f between

where secret is the device's, series the survey's, stream what the question's coins depend on (attribute, domain, channel), place that
of the true answer, and turn counts words that a coin had to draw again. No answer has to be kept for it. The word is the first 4
bytes, or the first 8 without the lowest 11 bits where a coin takes 53; the lowest byte comes first.
"""

import hashlib
import hmac
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from scumble.collect.survey_question import SurveyQuestion
from scumble.core.coins import SHORT, BaseCoins, Words
from scumble.core.entropy import Entropy
from scumble.core.staged_coins import StagedCoins

LABEL = "scumble-coin 1"
SECRET_BYTES = 32

Draw = Callable[[npt.NDArray[np.intp]], Words]
"""The random words of records at the given places."""


def sent_code(question: SurveyQuestion, place: int, series: str, secret: bytes | None = None) -> int:
    """The code that is sent for an answer: by coins that are memoised under the device's secret, or by fresh ones where there is none."""
    coins = question.coins
    if coins is None:
        return place
    if isinstance(coins, StagedCoins):
        first = _flipped(coins.memoised, place, _words(coins.memoised, question, place, series, secret))
        return _flipped(coins.fresh, first, fresh_words(coins.fresh))
    return _flipped(coins, place, _words(coins, question, place, series, secret))


def _flipped(coins: BaseCoins, place: int, words: Draw) -> int:
    kind = np.min_scalar_type(max(coins.size, coins.codes or 0) - 1)
    return int(coins.settle(np.array([place], kind), words)[0])


def _words(coins: BaseCoins, question: SurveyQuestion, place: int, series: str, secret: bytes | None) -> Draw:
    if secret is None:
        return fresh_words(coins)
    return memoised_words(coins.bits, secret, series, question.stream, place)


def fresh_words(coins: BaseCoins) -> Draw:
    """New words each time."""
    stream = Entropy.system().stream("answer")
    return lambda places: stream.integers(len(places), 32 if coins.bits == SHORT else 64)


def memoised_words(bits: int, secret: bytes, series: str, stream: str, place: int) -> Draw:
    """The same words each time, one after the other."""
    turn = 0

    def draw(places: npt.NDArray[np.intp]) -> Words:
        nonlocal turn
        text = "\x1f".join([LABEL, series, stream, str(place), str(turn)])
        turn += 1
        digest = hmac.new(secret, text.encode(), hashlib.sha256).digest()
        return np.frombuffer(digest, dtype="<u4" if bits == SHORT else "<u8", count=1).copy()

    return draw
