"""Runs the notebooks beside this file and stores what their cells show: `make notebooks`.

What would change from run to run is not stored: times, versions, and the numbers of a kernel.
"""

from pathlib import Path

import nbformat
from nbclient import NotebookClient


def run(path: Path) -> None:
    """Runs one in place; a cell that fails leaves the file as it was."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.clear()
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)
    print(path.name)


if __name__ == "__main__":
    for each in sorted(Path(__file__).parent.glob("*.ipynb")):
        run(each)
