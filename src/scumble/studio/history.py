"""The versions of a spec: each change is kept, so that it can be undone and done again.

history/0001.toml, 0002.toml, ...   every version, the oldest first
history/at                          the number of the one that the spec is
"""

from pathlib import Path

from scumble.core.atomic import whole_file

AT = "at"


class History:
    """The versions of one file."""

    def __init__(self, spec: Path) -> None:
        self._spec, self._folder = spec, spec.parent / "history"

    @property
    def at(self) -> int:
        """Which version the spec is; 0 where nothing was kept yet."""
        try:
            return int((self._folder / AT).read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    @property
    def can_undo(self) -> bool:
        """Whether there is one before."""
        return self.at > 1

    @property
    def can_redo(self) -> bool:
        """Whether there is one after."""
        return self._version(self.at + 1).exists()

    def keep(self, text: str) -> None:
        """A new version, which becomes the spec; what had been undone before it is forgotten."""
        self.notice()
        if self.at and self._text(self.at) == text:
            return
        self._append(text)
        self._write(self._spec, text)

    def notice(self) -> None:
        """A spec that somebody edited elsewhere is a version, too."""
        own = self._spec.read_text(encoding="utf-8") if self._spec.exists() else None
        if own is not None and (not self.at or self._text(self.at) != own):
            self._append(own)

    def step(self, by: int) -> None:
        """The version before (-1) or after (1); nothing where there is none."""
        self.notice()
        wanted = self.at + by
        if wanted >= 1 and self._version(wanted).exists():
            self._write(self._spec, self._text(wanted))
            self._write(self._folder / AT, str(wanted))

    def _append(self, text: str) -> None:
        self._folder.mkdir(exist_ok=True)
        number = self.at + 1
        for later in self._folder.glob("[0-9]*.toml"):
            if int(later.stem) >= number:
                later.unlink()
        self._write(self._version(number), text)
        self._write(self._folder / AT, str(number))

    def _version(self, number: int) -> Path:
        return self._folder / f"{number:04d}.toml"

    def _text(self, number: int) -> str:
        path = self._version(number)
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _write(self, path: Path, text: str) -> None:
        with whole_file(path, overwrite=True) as aside:
            aside.write_text(text, encoding="utf-8")
