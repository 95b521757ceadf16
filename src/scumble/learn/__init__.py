"""Learning from a release: models whose every figure is a reconstructed one, with the conventions of scikit-learn.

They need scikit-learn: pip install 'scumble[learn]'. Names are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scumble.core.extras import need

if TYPE_CHECKING:
    from scumble.learn.recommender import ItemAverage, ReleaseRecommender
    from scumble.learn.regression import ReleaseLinearRegression, ReleaseLogisticRegression, ReleasePoissonRegression
    from scumble.learn.tree import ReleaseTreeClassifier

_HOMES = {
    "ItemAverage": "scumble.learn.recommender",
    "ReleaseLinearRegression": "scumble.learn.regression",
    "ReleaseLogisticRegression": "scumble.learn.regression",
    "ReleasePoissonRegression": "scumble.learn.regression",
    "ReleaseRecommender": "scumble.learn.recommender",
    "ReleaseTreeClassifier": "scumble.learn.tree",
}

__all__ = [
    "ItemAverage",
    "ReleaseLinearRegression",
    "ReleaseLogisticRegression",
    "ReleasePoissonRegression",
    "ReleaseRecommender",
    "ReleaseTreeClassifier",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        need("sklearn", "learn")
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'scumble.learn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
