"""The test vectors of docs/protocol.md: what any other implementation has to come to. python tests/collect/vectors.py writes them."""

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parents[2] / "docs" / "protocol-vectors.json"
SERIES = "000102030405060708090a0b0c0d0e0f"
SECRET = bytes(range(32))

TEXTS = [
    '{"b": 1, "a": [true, false, null], "\\u00e9": "\\u20ac \\ud83d\\ude00"}',
    '{"z": 0.3641753268893808, "y": 1e-07, "x": 5.0, "w": 18446744073709551615, "v": -0.5, "u": 1e+300}',
    '{"\\ud83d\\ude00": 1, "\\uffee": 2, "a\\"b": "line\\nend\\u0001\\u007f\\u2028"}',
    "[]",
    '{"a": {}, "b": [[], [1, "2"]]}',
]
"""Documents whose canonical form is not the way in which they are written."""


def channels() -> dict[str, Any]:
    """Channels of every kind, by what is special about them."""
    from scumble.core.channel import Channel
    from scumble.core.coins import Coins
    from scumble.core.design import Design
    from scumble.core.design_coins import DesignCoins
    from scumble.core.shaped_coins import one_retention, own_retentions
    from scumble.core.staged_coins import StagedCoins

    return {
        "one retention, words of 32 bits": Coins.of(Channel.from_gamma(3, 3)),
        "one retention, words of 53 bits": Coins.of(Channel.from_gamma(5000, 20)),
        "a retention for each value": Coins.of(Channel([0.1, 0.7, 0.4], size=3)),
        "a value that is never kept: words are drawn again": Coins(
            3,
            32,
            np.array([0, 1 << 30, 1 << 31], np.uint64) // np.uint64(3) * np.uint64(3) + np.array([0, 1, 1], np.uint64),
        ),
        "replacements by lots": one_retention([Fraction(3), Fraction(9, 5), Fraction(20), Fraction(20)]),
        "replacements by lots, a retention for each value": own_retentions(
            Channel([0.1, 0.2, 0.05], [0.5, 0.3, 0.2]), [Fraction(9)] * 3
        ),
        "a cyclic design, words of 32 bits": DesignCoins.of(Design(46, 2.06)),
        "a cyclic design, words of 53 bits": DesignCoins.of(Design(973, 5)),
        "a memoised response with a fresh one over it": StagedCoins.product(
            Coins.of(Channel(0.5, size=4)), Coins.of(Channel(0.75, size=4))
        ),
    }


def decided(coins: Any, place: int, word: int) -> int | None:
    """The code of a word, or none where it is drawn again."""
    kind = np.uint32 if coins.bits == 32 else np.uint64
    size = max(coins.size, coins.codes or 0)
    codes, again = coins.decide(np.array([place], np.min_scalar_type(size - 1)), np.array([word], kind))
    return None if again[0] else int(codes[0])


def edges(coins: Any, place: int) -> list[int]:
    """Words at which something changes, and some others."""
    whole = 1 << coins.bits
    if coins.codes is None:
        threshold = int(coins.thresholds[place % len(coins.thresholds)])
        share, lots = (whole - threshold) // coins.parts, np.ones(coins.size) if coins.lots is None else coins.lots
        ends = [int(sum(lots[:place].tolist())) for place in (1, 2)]
        cuts = [threshold, *(threshold + share * end for end in (*ends, coins.parts))]
    else:
        inside = len(coins.blocks.offsets) * coins.inside
        cuts = [
            coins.inside,
            inside,
            inside + coins.outside,
            inside + (coins.codes - len(coins.blocks.offsets)) * coins.outside,
        ]
    near = {cut + step for cut in cuts for step in (-1, 0)} | {0, whole - 1, whole // 7, whole // 3, 2 * whole // 3}
    return sorted(word for word in near if 0 <= word < whole)


def drawn(coins: Any) -> list[list[Any]]:
    """Place, word and code, for places at both ends and in the middle."""
    places = sorted({0, 1, coins.size // 2, coins.size - 1})
    return [[place, str(word), decided(coins, place, word)] for place in places for word in edges(coins, place)]


def channel(name: str, coins: Any) -> dict[str, Any]:
    from scumble.core.staged_coins import StagedCoins
    from scumble.release.records import record_of

    record = record_of(coins).model_dump(mode="json", exclude_none=True)
    whole = {"name": name, "size": coins.size, "codes": coins.codes or coins.size, "channel": record}
    if isinstance(coins, StagedCoins):
        return whole | {
            "memoised": drawn(coins.memoised),
            "fresh": drawn(coins.fresh),
            "gamma": fraction(coins.memoised),
        }
    return whole | {"draws": drawn(coins), "gamma": fraction(coins)}


def fraction(coins: Any) -> list[str]:
    """The factor, exactly: over and under the line."""
    return [str(coins.amplification.numerator), str(coins.amplification.denominator)]


def memoised() -> list[dict[str, Any]]:
    from scumble.collect.device_coins import memoised_words

    lines = []
    for bits, place in ((32, 0), (32, 7), (53, 1234)):
        draw = memoised_words(bits, SECRET, SERIES, "ab" * 32, place)
        for turn in range(2):
            word = int(draw(np.arange(1))[0]) >> (11 if bits == 53 else 0)
            given = {"secret": SECRET.hex(), "series": SERIES, "stream": "ab" * 32, "place": place}
            lines.append({**given, "turn": turn, "bits": bits, "word": str(word)})
    return lines


def answered(survey: Any, record: Any, period: str, token: str) -> dict[str, Any]:
    from scumble.collect.answers import message_of
    from scumble.collect.wire import as_id, encode

    message = message_of(record, survey, token=token, secret=SECRET, period=period, id=as_id(bytes(range(16, 32))))
    return {
        "record": record,
        "secret": SECRET.hex(),
        "id": message.id,
        "period": period,
        "token": token,
        "message": encode(message).decode(),
    }


def unversioned(survey: Any) -> Any:
    """The same survey, whatever the version of the software."""
    from collect.surveys import KEY

    from scumble.collect.survey import Survey

    return Survey(survey.record.model_copy(update={"software": "test vectors"})).signed(KEY)


def made() -> dict[str, Any]:
    """All of them, computed."""
    from collect.surveys import survey

    from scumble.release.manifest import digest_of

    asked = unversioned(survey(series=SERIES))
    columns = {
        "illness": {"role": "sensitive", "values": ["none", "flu", "asthma", None]},
        "code": {"role": "sensitive", "low": 0, "high": 999},
    }
    coded = unversioned(
        survey(series=SERIES, mechanism="design", period="month", columns=columns, privacy={"gamma": 4})
    )
    records = [
        {"sex": sex, "illness": illness, "days": days}
        for sex, illness, days in (("F", "flu", 3), ("M", "none", 0), ("F", "diabetes", 10))
    ]
    others = [{"illness": illness, "code": code} for illness, code in (("none", 7), (None, 999))]
    return {
        "canonical": [{"text": text, "sha256": digest_of(json.loads(text))} for text in TEXTS],
        "channels": [channel(name, coins) for name, coins in channels().items()],
        "memoised": memoised(),
        "surveys": [
            {
                "document": each.text(),
                "digest": each.digest,
                "streams": {name: question.stream for name, question in each.questions.items()},
                "promise": each.promise,
                "answers": [
                    answered(each, record, period, token)
                    for record, token in zip(given, ("", "K7QF", ""), strict=False)
                ],
            }
            for each, given, period in ((asked, records, ""), (coded, others, "2027-05"))
        ],
    }


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    FILE.write_text(json.dumps(made(), indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
