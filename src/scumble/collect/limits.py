"""How much a stranger may ask of the server: bytes of a body, seconds to send it, requests a second."""

import asyncio
import hashlib
import time
from collections import OrderedDict

from starlette.requests import ClientDisconnect, Request

from scumble.collect import refusals
from scumble.collect.refusals import Refusal
from scumble.core.entropy import fresh_bytes

MOST_ADDRESSES = 50_000
"""Addresses that are remembered at a time: hashes, in memory alone, under a key that is forgotten with the process."""


async def read_body(request: Request, largest: int, seconds: float) -> bytes | Refusal:
    """The body, or why it is refused: too large, too slow, or gone."""
    declared = request.headers.get("content-length", "0")
    if not declared.isascii() or not declared.isdigit() or int(declared[:12]) > largest:
        return refusals.SIZE
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > largest:
                    return refusals.SIZE
                parts.append(part)
    except TimeoutError:
        return refusals.SLOW
    except ClientDisconnect:
        return refusals.MALFORMED
    return b"".join(parts)


class Rates:
    """So many requests a second from one address, and some at once. Loopback is the proxy's or one's own, and is not counted."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._key = fresh_bytes(16)
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def allows(self, address: str | None) -> bool:
        """Whether one more request may come from an address."""
        if not self._rate or address is None or address.startswith("127.") or address == "::1":
            return True
        who = hashlib.blake2b(address.encode(), key=self._key, digest_size=8).digest()
        now = time.monotonic()
        left, then = self._buckets.pop(who, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        self._buckets[who] = (max(0.0, left - 1), now)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return left >= 1
