"""A decision tree that is grown on a release and predicts for ordinary rows.

    tree = ReleaseTreeClassifier(max_depth=6).fit(release, target="income", features=["age", "education_num", "sex"])
    tree.predict(rows)        tree.predict_proba(rows)        tree.score(rows)        print(tree.text())

Every count behind a split is reconstructed from the whole release: rows are not partitioned, because nobody knows which rows
truly belong to a node. Perturbed and public features, a perturbed or a public target: all are the same to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from scumble.core.errors import InputError, ParameterError
from scumble.core.parameters import plain
from scumble.learn.axis import Axis, category_axis, feature_axis
from scumble.learn.counts import Box, Mask, Tensor, sums
from scumble.learn.splits import Rules, Split, best_split, entropy, gini, project, standard_errors
from scumble.learn.training_rows import TrainingRows, as_table, training_rows
from scumble.release.release import Release

CRITERIA = {"gini": gini, "entropy": entropy}
LABEL = "scumble label"


@dataclass(eq=False)
class Node:
    """A box of the tree: its rows by class, and, unless it is a leaf, its split and the two nodes below."""

    box: Box
    counts: Tensor
    """Non-negative estimates, one for each class."""
    shares: Tensor
    """Class probabilities of a row that falls into the box."""
    rows_se: float = 0.0
    """The standard error of the number of rows."""
    shares_se: Tensor = field(default_factory=lambda: np.zeros(0))
    """Those of the class shares."""
    split: Split | None = None
    children: list["Node"] = field(default_factory=list)


class ReleaseTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classification tree from reconstructed counts.

    criterion          "gini" or "entropy"
    max_depth          splits from the root to a leaf at most; as many as are significant when None
    min_samples_leaf   estimated rows of a leaf at least
    significance       the probability that a node is split where classes do not differ
    max_bins           thresholds of a numeric feature are looked for between so many groups of about the same size

    After `fit`: `classes_`, `n_features_in_`, `feature_names_in_` (where features have names), `root_`, `depth_`, `leaves_`.
    """

    def __init__(
        self,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        significance: float = 0.05,
        max_bins: int = 64,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.significance = significance
        self.max_bins = max_bins

    def fit(
        self, X: Any, y: Any = None, *, target: str | None = None, features: Sequence[str] | None = None
    ) -> "ReleaseTreeClassifier":
        """Grows the tree.

        X         a release; or raw rows, for comparison: a data frame, a dictionary of columns, a matrix
        y         labels of raw rows, as scikit-learn passes them; or the name of the target
        target    the column to predict
        features  the columns to predict it from; all others when absent
        """
        rules = self._rules()
        data, wanted, named = _learned(X, y, target)
        names = list(features) if features is not None else _others(data, wanted)
        if not names or wanted in names:
            raise InputError(f"a tree needs features beside its target {wanted!r}; features = {names}")
        self._target = category_axis(data, wanted)
        self._axes = [feature_axis(data, name, self.max_bins) for name in names]
        self.target_, self.n_features_in_ = wanted, len(names)
        self.classes_ = _classes(self._target)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._grow(data, rules)
        return self

    def predict(self, X: Any) -> Any:
        """The likeliest class of each row."""
        check_is_fitted(self)
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def predict_proba(self, X: Any) -> Any:
        """The class shares of the leaf that each row falls into."""
        check_is_fitted(self)
        table = as_table(X, [axis.name for axis in self._axes])
        missing = [axis.name for axis in self._axes if axis.name not in table.column_names]
        if missing:
            raise InputError(f"the rows have no column {missing[0]!r}, from which the tree predicts")
        bins = np.stack([axis.bins(_flat(table, axis.name)) for axis in self._axes], axis=1)
        out = np.zeros((len(bins), len(self.classes_)))
        _fall(self.root_, bins, np.arange(len(bins)), out)
        return out

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right; the labels are y, or the target's column of X."""
        if y is None:
            table = as_table(X)
            if self.target_ not in table.column_names:
                raise InputError(f"the rows have no column {self.target_!r} to compare with; give the labels as y")
            y = _flat(table, self.target_).to_pylist()
        right = np.asarray(y) == self.predict(X)
        return float(np.average(right, weights=sample_weight))

    def text(self) -> str:
        """The tree, one node a line: its estimated rows and the shares of its classes, each with its standard error."""
        check_is_fitted(self)
        return "\n".join(_lines(self.root_, self._axes, self.classes_, "", ""))

    def __sklearn_tags__(self) -> Any:
        """Missing numbers are understood: they lie beyond the largest."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _rules(self) -> Rules:
        if self.criterion not in CRITERIA:
            raise ParameterError(f"criterion is one of {', '.join(CRITERIA)}, not {self.criterion!r}")
        for name, least in (("min_samples_leaf", 1), ("max_bins", 2), ("max_depth", 0)):
            value = getattr(self, name)
            if not (name == "max_depth" and value is None) and (not np.isreal(value) or value < least):
                raise ParameterError(f"{name} must be at least {least}, not {value!r}")
        if not 0 < self.significance <= 1:
            raise ParameterError(f"significance is a probability above 0, not {self.significance!r}")
        return Rules(CRITERIA[self.criterion], float(self.min_samples_leaf), float(self.significance))

    def _grow(self, data: TrainingRows, rules: Rules) -> None:
        """Level by level: for each feature one statement serves all nodes of a level."""
        level: list[Node] = []
        self.depth_, self.leaves_ = 0, 1
        while True:
            boxes = [node.box for node in level] or [Box()]
            splits = [sums(data, self._axes, self._target, boxes, i) for i in range(len(self._axes))]
            if not level:
                self.root_ = _root(self._target, splits[0][0].first)
                level = [self.root_]
            for i, node in enumerate(level):
                first = self._axes[0], self._target, splits[0][i], _inside(node.box, 0, self._axes[0])
                node.rows_se, node.shares_se = standard_errors(*first, node.counts, self.root_.counts.sum())
            if self.max_depth is not None and self.depth_ >= self.max_depth:
                return
            for i, node in enumerate(level):
                inside = [_inside(node.box, j, axis) for j, axis in enumerate(self._axes)]
                node.split = best_split(self._axes, self._target, [f[i] for f in splits], inside, rules)
                node.children = [] if node.split is None else _children(node, node.split)
            level = [child for node in level for child in node.children]
            if not level:
                return
            self.depth_ += 1
            self.leaves_ += len(level) // 2


def _learned(X: Any, y: Any, target: str | None) -> tuple[TrainingRows, str, bool]:
    """What to learn from, the target's name, and whether the features have names."""
    wanted = y if isinstance(y, str) else target
    if isinstance(X, Release) or y is None or isinstance(y, str):
        if wanted is None:
            raise ParameterError(
                "requires y to be passed, but the target y is None; or name the column to predict: target="
            )
        return training_rows(X), wanted, True
    table, labels = as_table(X), column_or_1d(y, warn=True)
    if len(labels) != len(table):
        raise ParameterError(f"{len(table)} rows need as many labels, not {len(labels)}")
    check_classification_targets(labels)
    return training_rows(table.append_column(LABEL, pa.array(labels.tolist()))), LABEL, hasattr(X, "columns")


def _others(data: TrainingRows, target: str) -> list[str]:
    hidden = {target, data.published.stratum, data.published.weight}
    return [name for name in data.published.columns if name not in hidden]


def _classes(target: Axis) -> Any:
    assert target.values is not None
    if target.values.null_count:
        raise InputError(
            f"the target {target.name!r} has missing values; fill them, or learn from a release without them"
        )
    if not len(target.values):
        raise ParameterError(f"there are no rows to learn {target.name!r} from")
    return np.array(target.values.to_pylist())


def _root(target: Axis, first: Tensor) -> Node:
    classes = sum((c.solve(y.sum(axis=0)) for c, y in zip(target.channels, first, strict=True)), np.zeros(1))
    counts = project(classes[None])[0]
    return Node(Box(), counts, counts / counts.sum())


def _inside(box: Box, place: int, axis: Axis) -> Mask:
    return box.sets.get(place, np.ones(axis.size, dtype=np.bool_))


def _children(node: Node, split: Split) -> list[Node]:
    """The two sides. A split is chosen for its difference, which is therefore too large on average: shares move away from
    those of the node by one standard error less than was estimated, a factor 1 - 1/z.
    """
    moved, before = max(0.0, 1 - 1 / split.strength), node.counts / node.counts.sum()
    children = []
    for members, counts in zip((split.left, split.right), split.counts, strict=True):
        shares = np.maximum(node.shares + moved * (counts / counts.sum() - before), 0)
        children.append(Node(node.box.within(split.feature, members), counts, shares / shares.sum()))
    return children


def _fall(node: Node, bins: Any, rows: Any, out: Tensor) -> None:
    """Writes the shares of the leaf of each row; a category that was never seen goes where most rows go."""
    if node.split is None or not len(rows):
        out[rows] = node.shares
        return
    at = bins[rows, node.split.feature]
    larger = bool(node.children[0].counts.sum() >= node.children[1].counts.sum())
    left = np.where(at >= 0, node.split.left[at], larger)
    _fall(node.children[0], bins, rows[left], out)
    _fall(node.children[1], bins, rows[~left], out)


def _flat(table: pa.Table, name: str) -> pa.Array:
    return table.column(name).combine_chunks()


def _lines(node: Node, axes: Sequence[Axis], classes: Any, lead: str, name: str) -> list[str]:
    shares = ", ".join(
        f"{c}: {share:.1%} ± {error:.1%}" for c, share, error in zip(classes, node.shares, node.shares_se, strict=True)
    )
    rows = f"{node.counts.sum():,.0f} ± {node.rows_se:,.0f} rows"
    lines = [f"{lead}{name}{': ' if name else ''}{rows} ({shares})"]
    if node.split is not None:
        for child, members in zip(node.children, (node.split.left, node.split.right), strict=True):
            lines += _lines(child, axes, classes, lead + "    ", _named(axes[node.split.feature], members))
    return lines


def _named(axis: Axis, members: Mask) -> str:
    if axis.thresholds is None:
        assert axis.values is not None
        return f"{axis.name} in {{{', '.join(str(v) for v in axis.values.filter(pa.array(members)).to_pylist())}}}"
    first, last = np.flatnonzero(members)[[0, -1]]
    low = f"{plain(axis.thresholds[first - 1])} <= " if first > 0 else ""
    high = f" < {plain(axis.thresholds[last])}" if last < axis.size - 1 else ""
    return f"{low}{axis.name}{high}"
