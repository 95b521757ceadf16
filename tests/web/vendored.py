"""The vendored Parquet reader, built from pinned npm packages: `python tests/web/vendored.py` compares it with the one that is here, `--write` replaces it.

src/scumble/web/vendor/hyparquet.txt records from what and how it was built.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

NODE = Path(__file__).parent / "node"
VENDOR = Path(__file__).parents[2] / "src" / "scumble" / "web" / "vendor"
FLAGS = ["--bundle", "--format=esm", "--minify", "--target=es2022", "--legal-comments=none", "--charset=utf8"]


def packages() -> dict[str, dict[str, str]]:
    """The pinned packages: version and integrity of each."""
    locked = json.loads((NODE / "package-lock.json").read_text())["packages"]
    return {name: locked[f"node_modules/{name}"] for name in ("hyparquet", "esbuild")}


def built() -> str:
    """The reader, with the licence before it."""
    command = [str(NODE / "node_modules" / ".bin" / "esbuild"), "hyparquet.js", *FLAGS]
    code = subprocess.run(command, cwd=NODE, capture_output=True, text=True, check=True).stdout
    licence = (NODE / "node_modules" / "hyparquet" / "LICENSE").read_text().strip()
    return f"/*! hyparquet {packages()['hyparquet']['version']}\n\n{licence}\n*/\n{code}"


def record(code: str) -> str:
    """What stands in hyparquet.txt."""
    pinned = packages()
    return "\n".join(
        [
            "hyparquet.js: a part of hyparquet, which reads Parquet files in a browser. Licence: MIT, at the head of the file.",
            "",
            *(f"{name} {own['version']} {own['integrity']}" for name, own in pinned.items()),
            "entry: tests/web/node/hyparquet.js",
            f"command: esbuild hyparquet.js {' '.join(FLAGS)}",
            f"sha256: {hashlib.sha256(code.encode()).hexdigest()}",
            "built again and compared by: make hyparquet",
            "",
        ]
    )


def main() -> int:
    """0 where the reader is the one that is built, 1 where it is another."""
    code = built()
    made = {VENDOR / "hyparquet.js": code, VENDOR / "hyparquet.txt": record(code)}
    if "--write" in sys.argv:
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
    changed = [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text]
    print(f"not what is built: {', '.join(changed)}" if changed else "the vendored reader is the one that is built")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
