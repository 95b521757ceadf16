"""HTTP that nobody can hold up: whoever sends the head of a request too slowly, or without end, is let go."""

from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 32 << 10


def guarded(seconds: float) -> type["GuardedHttp"]:
    """The protocol of a server that waits so long."""
    return type("GuardedHttp", (GuardedHttp,), {"seconds": seconds})


class GuardedHttp(HttpToolsProtocol):
    """uvicorn's own, with a clock and a scale for the head of a request."""

    seconds = 10.0
    """From the first byte of a connection, or of a next request on it, to the end of its head."""
    _timer: TimerHandle | None = None
    _head = 0
    _in_head = True

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """The clock starts."""
        super().connection_made(transport)
        self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """And stops."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes before the end of a head count."""
        if self._in_head:
            self._head += len(data)
            if self._timer is None:
                self._start()
            if self._head > HEAD_BYTES + len(data):  # what came in one piece may have its body in it
                self.transport.abort()
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """A head is whole."""
        self._in_head = False
        self._stop()
        if sum(len(name) + len(value) for name, value in self.headers) + len(self.url) > HEAD_BYTES:
            self.transport.abort()
            return
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next byte is of another head."""
        self._in_head, self._head = True, 0
        super().on_message_complete()

    def _start(self) -> None:
        self._timer = self.loop.call_later(self.seconds, self._late)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        self.transport.abort()
