"""How a server is run: what its operator decides, and the survey does not say."""

from dataclasses import dataclass
from pathlib import Path

from scumble.core.atomic import whole_file
from scumble.core.entropy import fresh_bytes
from scumble.core.errors import SurveyError

SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class ServerSettings:
    """One server."""

    store: str
    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    """Of TLS, PEM both; without them a proxy has to speak it."""
    proxy: str | None = None
    """The addresses whose X-Forwarded-For is believed."""
    rate: float = 50.0
    """Requests a second from one address; 0 for any number."""
    seconds: float = 20.0
    """What a body, or a question, may take."""
    admin_port: int | None = None
    admin_token: str = ""
    reader_token: str = ""
    issuer: Path | None = None
    """The private key of blind tokens, where this server gives them out."""
    messages: tuple[Path, ...] = ()
    """Message files of the pages, for languages that these do not have."""


def token_in(path: Path) -> str:
    """The token in a file, which is made where there is none, for nobody else to read."""
    try:
        if not path.exists():
            with whole_file(path) as aside:
                aside.touch(0o600)
                aside.write_text(fresh_bytes(24).hex() + "\n", encoding="ascii")
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SurveyError(f"there is no token in {str(path)!r}: {error}") from None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise SurveyError(
            f"the token in {str(path)!r} is no line of {SHORTEST_TOKEN} characters and more; remove it, and one is made"
        )
    return token
