"""What a publisher says about a release, for catalogues of data: none of it follows from rows, and all of it is public."""

import re
from datetime import date
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

LANGUAGES = {
    "bg": "BUL", "cs": "CES", "da": "DAN", "de": "DEU", "el": "ELL", "en": "ENG", "es": "SPA", "et": "EST", "fi": "FIN", "fr": "FRA", "ga": "GLE", "hr": "HRV",
    "hu": "HUN", "is": "ISL", "it": "ITA", "lt": "LIT", "lv": "LAV", "mt": "MLT", "nl": "NLD", "no": "NOR", "pl": "POL", "pt": "POR", "ro": "RON", "sk": "SLK",
    "sl": "SLV", "sv": "SWE", "tr": "TUR", "uk": "UKR",
}  # fmt: skip
"""Languages by the code that a spec has, and by that of the European Union's list."""
THEMES = ("AGRI", "ECON", "EDUC", "ENER", "ENVI", "GOVE", "HEAL", "INTR", "JUST", "REGI", "SOCI", "TECH", "TRAN")
"""The European Union's list of themes of data."""
ACCESS = ("PUBLIC", "RESTRICTED", "NON_PUBLIC")
SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
MAIL = re.compile(r"[^@\s<>\"]+@[^@\s<>\"]+\.[^@\s<>\"]+")


class Metadata(BaseModel):
    """Title and so on. What is absent is left out, and title and description are then said from the manifest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str | None = None
    description: str | None = None
    publisher: str | None = None
    contact: str | None = None
    """An address of mail, or of a page."""
    licence: str | None = None
    """Its address, or its name in the SPDX list, such as CC-BY-4.0."""
    address: str | None = None
    """Where the folder of the release is found, once it is there."""
    issued: str | None = None
    language: str = "en"
    keywords: list[str] = []
    theme: str | None = None
    """One of THEMES; HEAL makes it a dataset of HealthDCAT-AP."""
    access: str | None = None
    """One of ACCESS: who may have it."""

    @field_validator("title", "description", "publisher")
    @classmethod
    def _some_text(cls, given: str | None) -> str | None:
        if given is not None and not given.strip():
            raise ValueError("a text of the metadata is empty; leave it out")
        return given

    @field_validator("contact")
    @classmethod
    def _reachable(cls, given: str | None) -> str | None:
        if given is not None and not (MAIL.fullmatch(given) or is_address(given)):
            raise ValueError(f"contact is an address of mail or one that begins with https://, not {given!r}")
        return given

    @field_validator("licence")
    @classmethod
    def _licence(cls, given: str | None) -> str | None:
        if given is not None and not (SPDX.fullmatch(given) or is_address(given)):
            raise ValueError(f"licence is its address or its name in the SPDX list, such as CC-BY-4.0, not {given!r}")
        return given

    @field_validator("address")
    @classmethod
    def _address(cls, given: str | None) -> str | None:
        if given is not None and not is_address(given):
            raise ValueError(f"address begins with https:// or http://, and has no spaces; {given!r} does not")
        return given

    @field_validator("issued", mode="before")
    @classmethod
    def _issued(cls, given: object) -> object:
        text = given.isoformat() if isinstance(given, date) else given
        try:
            return date.fromisoformat(str(text)).isoformat() if text is not None else None
        except ValueError:
            raise ValueError(f"issued is a day such as 2026-11-30, not {given!r}") from None

    @field_validator("language", "theme", "access")
    @classmethod
    def _listed(cls, given: str | None, about: ValidationInfo) -> str | None:
        known = {"language": LANGUAGES, "theme": THEMES, "access": ACCESS}[str(about.field_name)]
        if given is not None and given not in known:
            raise ValueError(f"{about.field_name} is one of {', '.join(known)}, not {given!r}")
        return given


def is_address(text: str) -> bool:
    """Whether it is an address of the web, and nothing else that a reader's browser would run.

    >>> is_address("https://example.org/flu/"), is_address("javascript:alert(1)"), is_address("https://a b")
    (True, False, False)
    """
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    plain = text.isprintable() and not re.search(r"[\s<>\"{}|\\^`]", text)
    return plain and parts.scheme in ("http", "https") and bool(parts.netloc)
