"""Running a server: sockets, TLS, signals. It ends when it is asked to, after what was taken is written."""

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from scumble.collect.events import quiet_libraries, tell
from scumble.collect.settings import ServerSettings
from scumble.collect.survey import Survey
from scumble.core.errors import SurveyError
from scumble.core.extras import need

if TYPE_CHECKING:
    from scumble.collect.serving import Collector

LOOPBACK = "127.0.0.1"
MOST_CONNECTIONS = 4_000
KEEP_ALIVE = 15
LONGEST_HEAD = 10.0
BACKLOG = 1024
LAST_REQUESTS = 10
"""Seconds that requests which have begun may take when the server is asked to end."""


def serve(survey: Survey, settings: ServerSettings) -> None:
    """Runs a server until it is asked to end."""
    for module in ("msgspec", "starlette", "uvicorn", "httptools"):
        need(module, "collect")
    quiet_libraries()
    from scumble.collect.serving import Collector

    collector = Collector(survey, settings)
    with ExitStack() as sockets:
        public = sockets.enter_context(listening(settings.host, settings.port))
        own = None if settings.admin_port is None else sockets.enter_context(listening(LOOPBACK, settings.admin_port))
        asyncio.run(_run(collector, public, own))


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens; one line where it cannot."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(BACKLOG)  # who comes before all is up waits
    except (OSError, OverflowError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise SurveyError(
            f"port {port} of {host!r} cannot be listened at: {said.lower()}; name another (--port)"
        ) from None
    with sock:
        yield sock


async def _run(collector: "Collector", public: socket.socket, own: socket.socket | None) -> None:
    from scumble.collect.administering import Administration

    settings = collector.settings
    servers = [(_uvicorn(collector.app(), settings, public=True), public)]
    if own is not None:
        servers.append((_uvicorn(Administration(collector).app(), settings, public=False), own))
    loop = asyncio.get_running_loop()

    def end() -> None:
        for server, _ in servers:
            server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    places = {"address": _address(public, settings.certificate is not None)}
    places |= {} if own is None else {"admin": _address(own, False)}
    tell("started", **places, survey=collector.survey.digest)
    await asyncio.gather(*(server._serve([sock]) for server, sock in servers))
    tell("stopped", answers=collector.writer.stored)


def _address(sock: socket.socket, tls: bool) -> str:
    host, port = sock.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def _uvicorn(app: Any, settings: ServerSettings, *, public: bool) -> Any:
    import uvicorn

    from scumble.collect.guarded_http import guarded

    config = uvicorn.Config(
        app,
        http=guarded(min(LONGEST_HEAD, settings.seconds)),
        ws="none",
        lifespan="on" if public else "off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=settings.proxy is not None,
        forwarded_allow_ips=settings.proxy,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=LAST_REQUESTS,
        ssl_certfile=settings.certificate if public else None,
        ssl_keyfile=settings.key if public else None,
        backlog=BACKLOG,
    )
    return uvicorn.Server(config)
