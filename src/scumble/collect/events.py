"""What the server says of itself: a line of JSON for each event. No answer, token, id or address is ever in it, and no line is of one request."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any


def tell(event: str, **fields: Any) -> None:
    """An event, on standard error."""
    line = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "event": event, **fields}
    print(json.dumps(line, ensure_ascii=False, default=str), file=sys.stderr, flush=True)


class EventHandler(logging.Handler):
    """Errors of the libraries below, by their kind alone: a message of theirs may have a piece of a request in it."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line."""
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else record.levelname.lower()
        tell("error", source=record.name, kind=kind)


def quiet_libraries() -> None:
    """The libraries below say nothing of requests, and errors by their kind."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], False
        logger.setLevel(logging.ERROR)
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addHandler(EventHandler())
