"""Running the studio: a socket of this machine alone, tokens, and an end by Ctrl-C."""

import asyncio
import logging
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scumble.core.entropy import fresh_bytes
from scumble.core.errors import InputError
from scumble.core.extras import need

LOOPBACK = "127.0.0.1"


def serve(folder: Path, port: int, seed: int | None, browse: bool, say: Callable[[str], None]) -> None:
    """Runs until it is asked to end."""
    for module in ("starlette", "uvicorn", "jinja2"):
        need(module, "studio")
    if not folder.is_dir():
        raise InputError(f"there is no folder {str(folder)!r}; projects are folders in it")
    from scumble.studio.app import studio_app

    with _listening(port) as sock:
        own = int(sock.getsockname()[1])
        tokens = [fresh_bytes(24).hex() for _ in range(1 + browse)]  # the terminal's own, and the browser's
        app, studio = studio_app(folder, tokens, own, seed)
        addresses = [f"http://{LOOPBACK}:{own}/?token={token}" for token in tokens]
        say(f"studio of {folder.resolve()}: {addresses[0]}")
        say("open it in a browser of this machine; Ctrl-C ends it")
        if browse:
            threading.Thread(
                target=webbrowser.open, args=(addresses[1],), daemon=True
            ).start()  # it may wait for a page
        try:
            asyncio.run(_run(app, sock))
        finally:
            studio.close()


def _listening(port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((LOOPBACK, port))
        sock.listen(128)
    except (OSError, OverflowError) as error:
        sock.close()
        said = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"port {port} of this machine cannot be listened at: {said.lower()}; name another (--port)"
        ) from None
    return sock


async def _run(app: Any, sock: socket.socket) -> None:
    import uvicorn

    for name in (
        "uvicorn",
        "uvicorn.error",
        "uvicorn.access",
        "asyncio",
    ):  # what they say may have a piece of a request in it
        logging.getLogger(name).handlers, logging.getLogger(name).propagate = [logging.NullHandler()], False
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)

    def end() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    await server._serve([sock])
