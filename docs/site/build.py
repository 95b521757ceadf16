"""Puts the pages of the site together in build/docs, and has Zensical build them there: `make docs`.

The documents are written to be read in the repository. For the site each gets a place of its own, and links follow: what is a page becomes a link to it, what
lies in the repository alone becomes plain text. Notebooks become pages with what their cells show. Nothing is fetched, and a link that leads nowhere fails.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OUT = ROOT / "build" / "docs"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^([ \t]*```.*?^[ \t]*```[ \t]*$)", re.DOTALL | re.MULTILINE)
OF_THE_ROOT = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md",
               "CHANGELOG.md": "changelog.md", "r/README.md": "r.md"}  # fmt: skip


def places(root: Path = ROOT) -> dict[Path, str]:
    """Where every file of the repository stands that is a page or a picture of the site."""
    docs = root / "docs"
    pages = {path: path.relative_to(docs).as_posix() for path in [*docs.glob("*.md"), *docs.glob("proofs/*.md")]}
    pages |= {path: path.name for path in (docs / "site" / "pages").glob("*.md")}
    pages |= {path: path.relative_to(docs).with_suffix(".md").as_posix() for path in docs.glob("notebooks/*.ipynb")}
    pages |= {path: path.relative_to(docs).as_posix() for path in [*docs.glob("images/*"), *docs.glob("*.json")]}
    pages |= {root / name: place for name, place in OF_THE_ROOT.items()}
    return pages | {docs / "proofs": "proofs/index.md", docs / "notebooks": "notebooks/publisher.md"}


def moved(text: str, source: Path, known: dict[Path, str]) -> str:
    """The text with its links as they are on the site; code is left alone."""
    parts = FENCE.split(text)
    return "".join(
        part if index % 2 else LINK.sub(lambda m: _link(m, source, known), part) for index, part in enumerate(parts)
    )


def _link(found: re.Match[str], source: Path, known: dict[Path, str]) -> str:
    picture, words, target = found.groups()
    path, hash, anchor = target.partition("#")
    if "://" in target or not path:
        return found[0]
    place = known.get((source.parent / path).resolve())
    if place is None:
        return words
    begin = Path(known[source]).parent
    return f"{picture}[{words}]({Path(os.path.relpath(place, begin)).as_posix()}{hash}{anchor})"


def notebook(path: Path) -> str:
    """A notebook as a page: what was written, what was run, and what it showed."""
    return "\n\n".join(_cell(cell) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]) + "\n"


def _cell(cell: dict[str, object]) -> str:
    written = "".join(cell["source"])  # type: ignore[arg-type]
    if cell["cell_type"] == "markdown":
        return written
    shown = "".join(_shown(output) for output in cell["outputs"])  # type: ignore[attr-defined]
    code = f"```python\n{written}\n```"
    return f"{code}\n\n```text\n{shown.rstrip()}\n```" if shown.strip() else code


def _shown(output: dict[str, object]) -> str:
    text = output.get("text") or output.get("data", {}).get("text/plain", "")  # type: ignore[attr-defined]
    return "".join(text) + "\n"


def proofs(known: dict[Path, str]) -> str:
    """A page that lists the derivations by their titles."""
    found = sorted((place, path) for path, place in known.items() if place.startswith("proofs/") and path.is_file())
    lines = [
        f"- [{path.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}]({Path(place).name})"
        for place, path in found
    ]
    return "# Proofs\n\nThe derivations beside the code, one a mechanism or idea.\n\n" + "\n".join(lines) + "\n"


def put_together(out: Path = OUT) -> Path:
    """Writes the pages, and the configuration beside them."""
    shutil.rmtree(out, ignore_errors=True)
    known = places()
    for path, place in known.items():
        if path.is_dir():
            continue
        target = out / "pages" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in (".md", ".ipynb"):
            text = notebook(path) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")
            target.write_text(moved(text, path, known), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    (out / "pages" / "proofs" / "index.md").write_text(proofs(known), encoding="utf-8")
    for name in ("zensical.toml", "docstrings.py"):
        shutil.copyfile(HERE / name, out / name)
    (out / "src").symlink_to(ROOT / "src")
    return out


def elsewhere(page: str) -> list[str]:
    """What a browser would fetch from another host to show a page."""
    return re.findall(
        r"""<(?:script|img|iframe|link rel="?stylesheet"?)\b[^>]*?(?:src|href)="?(https?://[^">\s]+)""", page
    )


def main() -> int:
    """Builds the site. Whatever Zensical warns of fails, and so does a page that needs another host."""
    out = put_together()
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    if subprocess.run(command, cwd=out, check=False).returncode:
        return 1
    site = out / "site"
    fetched = {link for page in site.rglob("*.html") for link in elsewhere(page.read_text(encoding="utf-8"))}
    if fetched:
        print(f"the pages would fetch {', '.join(sorted(fetched))}; a reader has to get all of the site from the site")
        return 1
    print(
        f"the site is in {site.relative_to(ROOT)}; look at it with: python -m http.server -d {site.relative_to(ROOT)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
