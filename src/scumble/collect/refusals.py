"""Why a server does not take what was sent: a code, the status of HTTP, and a sentence. Refusals are counted by their code, and nothing of them is kept."""

from typing import NamedTuple


class Refusal(NamedTuple):
    """One reason."""

    code: str
    status: int
    sentence: str


MALFORMED = Refusal("malformed", 400, "this is no message; docs/protocol.md says what one is")
BODY = Refusal(
    "body", 400, "this is no message, no list of messages and no lines of them, or there are more than 1,000"
)
VERSION = Refusal("version", 400, "messages of this version are not known here")
SURVEY = Refusal("survey", 422, "the message answers another survey; GET /survey has the one that is asked here")
CODES = Refusal("codes", 422, "the codes are none that the survey has, or not one for each question")
PERIOD = Refusal("period", 422, "the message is for another period than the one that is asked now")
TOKEN_MISSING = Refusal("token_missing", 403, "the survey asks for a token, and the message has none")
TOKEN_UNKNOWN = Refusal("token_unknown", 403, "there is no such token")
TOKEN_UNWANTED = Refusal("token_unwanted", 422, "the survey is open, and a message to it has no token")
TOKEN_SPENT = Refusal("token_spent", 409, "the token was used for another answer; each is good for one")
CODE_SPENT = Refusal("code_spent", 409, "the code was exchanged for a token before; each is good for one")
ID_REUSED = Refusal("id_reused", 409, "another message has this id; a new message has a new one")
CLOSED = Refusal("closed", 410, "the survey takes no answers any more")
SIZE = Refusal("size", 413, "the body is too large; send smaller batches")
TYPE = Refusal("type", 415, "the content type is application/vnd.scumble.answers+json, or application/json")
SLOW = Refusal("slow", 408, "the body did not come in time")
RATE = Refusal("rate", 429, "too many requests; wait, and send them again")
BUSY = Refusal("busy", 503, "the server has too much to do; nothing was stored, send it again")
STORE = Refusal("store", 503, "the store did not answer; nobody knows whether it was stored, send it again")
STRANGER = Refusal("stranger", 401, "this is for who has the token of readers; send it as Authorization: Bearer TOKEN")
HIDDEN = Refusal("hidden", 404, "the survey shows nothing before it is closed")

RETRY_AFTER = {"rate": 5, "busy": 1, "store": 2}
"""Seconds after which what was refused may be sent again."""
