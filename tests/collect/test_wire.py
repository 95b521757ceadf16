"""The message and its batches: what is a body, and what is none."""

import json
from pathlib import Path

import msgspec
import pytest
from collect.surveys import survey
from collect.vectors import FILE, made

import scumble
from scumble.collect.wire import MOST_MESSAGES, Message, batch, decode, encode, new_id, split

MESSAGE = Message(v=1, survey="ab" * 32, id=new_id(), codes=[1, 2])


def test_a_message_comes_back_as_it_was() -> None:
    assert decode(encode(MESSAGE)) == MESSAGE
    assert encode(MESSAGE).count(b"period") == 0


@pytest.mark.parametrize(
    "body",
    [
        b"", b"x", b"[]", b"null", b"7", b'{"v":1}', b'{"v":"1"}', b"\xff", b"[" * 100_000,
        encode(MESSAGE).replace(b"[1,2]", b"[1.5]"),
        encode(MESSAGE).replace(b"[1,2]", b'["1"]'),
        encode(MESSAGE).replace(b"[1,2]", b"[true]"),
        encode(MESSAGE).replace(b'"v"', b'"name":"Ann","v"'),
        encode(MESSAGE)[:-1],
    ],
)  # fmt: skip
def test_what_is_no_message_is_none(body: bytes) -> None:
    assert decode(body) is None


def test_a_batch_is_a_list_or_lines() -> None:
    messages = [encode(Message(v=1, survey="ab" * 32, id=new_id(), codes=[i])) for i in range(3)]
    for body in (
        batch(messages),
        b"\n".join(messages),
        b"\r\n".join(messages) + b"\n",
        b" " + batch(messages) + b" \n",
    ):
        assert [decode(part) for part in split(body) or ()] == [decode(message) for message in messages]
    assert split(messages[0]) == [messages[0]]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  \n",
        b"[]",
        b"[1,2",
        b"[" * 100_000,
        b"[1]" * 2,
        batch([b"{}"] * (MOST_MESSAGES + 1)),
        b"{}\n" * (MOST_MESSAGES + 1),
    ],
)
def test_what_is_no_body_is_none(body: bytes) -> None:
    assert split(body) is None


def test_the_parts_of_a_batch_stand_for_themselves() -> None:
    """One that is no message takes no other with it."""
    parts = split(batch([encode(MESSAGE), b'{"v":1}', b"7"]))
    assert [decode(part) for part in parts or ()] == [MESSAGE, None, None]


def test_a_message_of_perturb_is_one() -> None:
    body = scumble.perturb({"sex": "F", "illness": "flu", "days": 3}, survey())
    assert isinstance(decode(body), msgspec.Struct)


def test_the_vectors_are_those_that_this_software_comes_to() -> None:
    """docs/protocol-vectors.json is what others are held to; python tests/collect/vectors.py writes it."""
    assert json.loads(FILE.read_text()) == json.loads(json.dumps(made()))


def test_the_vectors_have_every_kind_of_channel_and_words_at_every_edge() -> None:
    given = json.loads(FILE.read_text())
    kinds = {
        each["channel"].get("kind", "stages" if "stages" in each["channel"] else "replacement")
        for each in given["channels"]
    }
    assert kinds == {"replacement", "cyclic", "stages"}
    drawn = [code for each in given["channels"] for _, _, code in each.get("draws", [])]
    assert None in drawn
    assert len(drawn) > 200
    assert Path(FILE).stat().st_size < 100_000
