"""The process in which a mutant publishes; without one the code is as it is.

A finder stands before all others, and gives the module that is to be edited from its own text with the edit. Coins come from a key that is made of the
seed, and the manifest says that they are the operating system's: the same mutant with the same seed is the same release.
"""

import hashlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, ModuleType

from mutants.catalogue import MUTANTS
from mutants.mutant import Mutant
from mutants.subjects import arguments_of, raw_of, source_of


class Outdated(Exception):  # noqa: N818 - what it says of a mutant
    """The code changed, and the text of a mutant is no longer in it."""


class EditedLoader(SourceFileLoader):
    """Loads a module from its edited text, never from a cache."""

    mutant: Mutant

    def get_code(self, fullname: str) -> CodeType:
        """The edited text, compiled."""
        text = Path(self.path).read_text(encoding="utf-8")
        if text.count(self.mutant.old) != 1:
            raise Outdated(
                f"{self.mutant.name}: its text stands {text.count(self.mutant.old)} times in {fullname}, and not once"
            )
        return compile(text.replace(self.mutant.old, self.mutant.new), self.path, "exec", dont_inherit=True)


class EditingFinder(MetaPathFinder):
    """Finds the one module that is edited."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, with a loader that edits it; nothing for any other."""
        if fullname != f"scumble.{self._mutant.module}":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = EditedLoader(fullname, spec.origin)
            spec.loader.mutant = self._mutant
        return spec


def published(name: str, subject: str, out: Path, seed: int, answer: Connection) -> None:
    """Publishes the subject's table, and answers with nothing, or with what was refused."""
    try:
        _publish(MUTANTS.get(name), subject, out, seed)
        answer.send("")
    except BaseException as error:  # noqa: BLE001 - whatever a mutant comes to is one way to be caught
        answer.send(f"{type(error).__name__}: {error}")


def _publish(mutant: Mutant | None, subject: str, out: Path, seed: int) -> None:
    if mutant is not None:
        sys.meta_path.insert(0, EditingFinder(mutant))
    warnings.simplefilter("ignore")
    import scumble
    from scumble.core.entropy import Entropy

    if mutant is None or not mutant.own_entropy:
        key = hashlib.sha256(b"mutants %d" % seed).digest()
        Entropy.system = classmethod(lambda cls: cls(key, secure=True))  # type: ignore[assignment,method-assign]
    raw = raw_of(subject, seed)
    scumble.publish(source_of(subject, raw, out.parent), out, **arguments_of(subject, raw))
