"""Predicting ratings from a columnized release: the singular value decomposition of what it published.

    rating of user u for item i  ~  m_i + o_u + x_u q_i

where m_i = the published average of item i, drawn toward that of all items where there are few; q_i = the item's factors: they begin as rows of V S
of the truncated decomposition U S V' of published ratings minus their averages, a pattern weighted by its copies, in which a rating that nobody gave is a 0,
and are then fitted, in turn with the coordinates of the patterns, to the ratings that there are; o_u = how much higher than others the user rates,
and x_u = the user's coordinates, by one ridge regression of the user's own ratings (`history`) on a constant and their factors.

A pattern of one rating tells nothing of how items hang together and would explain itself, so that factors are fitted to patterns of two or more.
Published users are nobody, so a prediction for somebody needs that person's own ratings: they stay with whoever asks, who need not be in the release.
Without any, the prediction is m_i, and so it is for `ItemAverage`, the baseline.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.utils.validation import check_is_fitted

from scumble.core.errors import InputError, ParameterError
from scumble.forms.tuples.record import TuplesRecord

Floats = npt.NDArray[np.float64]

_STEP = 1 << 16


class ItemAverage(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The baseline: an item's rating is its average.

    few   ratings of the average of all items that are added to each item's own
    """

    def __init__(self, few: float = 20.0) -> None:
        self.few = few

    def fit(self, release: Any, y: None = None) -> "ItemAverage":
        """From a columnized release of ratings, or from triples (user, item, value) of a table."""
        _, items, values, weights = triples(release)
        self._averages(items, values, weights)
        return self

    def _averages(self, items: Any, values: Floats, weights: Floats) -> npt.NDArray[np.int64]:
        if not len(items):
            raise InputError(
                "the release has no ratings to learn from; more budget, a smaller k or fewer columns publish some"
            )
        self.items_, places = np.unique(items, return_inverse=True)
        self.mean_ = float(np.average(values, weights=weights))
        sums = np.bincount(places, weights * (values - self.mean_), len(self.items_))
        self.averages_ = self.mean_ + sums / (np.bincount(places, weights, len(self.items_)) + self.few)
        return np.asarray(places)

    def predict(self, pairs: Any) -> Floats:
        """The averages of the items of (user, item) pairs."""
        check_is_fitted(self)
        return self._average(_pairs(pairs)[1])

    def _average(self, items: Any) -> Floats:
        places, known = self._places(items)
        return np.where(known, self.averages_[places], self.mean_)

    def _places(self, items: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        places = np.minimum(np.searchsorted(self.items_, items), len(self.items_) - 1)
        return places, np.asarray(self.items_[places] == items)


class ReleaseRecommender(ItemAverage):
    """Ratings by the singular value decomposition of a columnized release.

    n_factors   how many factors an item has
    ridge       how strongly a user's coordinates are drawn to 0, in squared ratings
    rounds      how often factors are fitted to the ratings that there are; 0: the plain decomposition
    few         ratings of the average of all items that are added to each item's own, and how strongly factors are drawn to 0
    own         average ratings that are added to a user's own, for how much higher than others the user rates
    """

    def __init__(
        self,
        n_factors: int = 4,
        ridge: float = 1.0,
        rounds: int = 5,
        few: float = 20.0,
        random_state: int = 0,
        own: float = 5.0,
    ) -> None:
        super().__init__(few)
        self.own = own
        self.n_factors = n_factors
        self.ridge = ridge
        self.rounds = rounds
        self.random_state = random_state

    def fit(self, release: Any, y: None = None) -> "ReleaseRecommender":
        """From a columnized release of ratings, or from triples (user, item, value) of a table."""
        users, items, values, weights = triples(release)
        places = self._averages(items, values, weights)
        rows = np.unique(users, return_inverse=True)[1]
        several = np.bincount(rows)[rows] > 1
        rest, rows = (values - self.averages_[places])[several], np.unique(rows[several], return_inverse=True)[1]
        places, weights = places[several], weights[several]
        shape = (int(rows.max(initial=-1)) + 1, len(self.items_))
        count = min(self.n_factors, min(shape) - 1)
        self.factors_ = np.zeros((len(self.items_), max(count, 0)))
        if count > 0:
            given = sparse.csr_array((np.sqrt(weights) * rest, (rows, places)), shape=shape)
            svd = TruncatedSVD(count, random_state=self.random_state).fit(given)
            seen = sparse.csr_array((np.sqrt(weights), (rows, places)), shape=shape)
            self.factors_ = svd.components_.T * svd.singular_values_ / _density(seen, svd.components_)
            self._refine(rows, places, rest, weights)
        return self

    def _refine(self, rows: Any, places: Any, rest: Floats, weights: Floats) -> None:
        """Coordinates and factors in turn, each by ridge regression on the ratings that there are; coordinates keep a mean square of 1."""
        copies = np.bincount(rows, weights) / np.bincount(rows)
        for _ in range(self.rounds):
            coordinates = _regress(rows, self.factors_[places], rest, np.ones(len(rest)), self.ridge)
            size = np.sqrt(np.average(coordinates**2, axis=0, weights=copies))
            coordinates /= np.where(size > 0, size, 1)
            self.factors_ = _regress(places, coordinates[rows], rest, weights, self.few, len(self.items_))

    def predict(self, pairs: Any, history: Any = None) -> Floats:
        """The ratings of (user, item) pairs, given what these users rated themselves: triples (user, item, value)."""
        check_is_fitted(self)
        users, items = _pairs(pairs)
        rating = self._average(items)
        if history is None:
            return rating
        people, coordinates = self._coordinates(*triples(history)[:3])
        if not len(people):
            return rating
        places, known = self._places(items)
        rows = np.minimum(np.searchsorted(people, users), len(people) - 1)
        terms = self._terms(places) * np.column_stack([np.ones_like(known), *[known] * self.factors_.shape[1]])
        return rating + np.where(people[rows] == users, (terms * coordinates[rows]).sum(axis=1), 0.0)

    def _terms(self, places: Any) -> Floats:
        """What a user's coordinates are multiplied by: a constant, for the user's own level, and the factors of items.

        The constant is so small that a level is drawn to 0 as if `own` more ratings were average, where all coordinates are drawn by `ridge`.
        """
        level = np.full((len(places), 1), np.sqrt(self.ridge / self.own))
        return np.hstack([level, self.factors_[places]])

    def _coordinates(self, users: Any, items: Any, values: Floats) -> tuple[Any, Floats]:
        """x = (T'T + ridge)^-1 T' (ratings - averages), T the terms of the items that the user rated."""
        places, known = self._places(items)
        users, places, values = users[known], places[known], values[known]
        people, rows = np.unique(users, return_inverse=True)
        rest = values - self.averages_[places]
        return people, _regress(rows, self._terms(places), rest, np.ones(len(rest)), self.ridge)


def _regress(rows: Any, known: Floats, rest: Floats, weights: Floats, ridge: float, size: int = 0) -> Floats:
    """For each row number the y of least sum of weight (rest - known y)^2 + ridge y^2 over its entries.

    size   how many row numbers there are, where the last of them may have no entry: its y is 0
    """
    size, count = max(size, int(rows.max(initial=-1)) + 1), known.shape[1]
    gram, right = np.zeros((size, count * count)), np.zeros((size, count))
    for start in range(0, len(rows), _STEP):
        part = slice(start, start + _STEP)
        some = known[part]
        pick = sparse.csr_array((weights[part], (rows[part], np.arange(len(some)))), shape=(size, len(some)))
        gram += pick @ (some[:, :, None] * some[:, None, :]).reshape(len(some), -1)
        right += pick @ (some * rest[part, None])
    square = gram.reshape(size, count, count) + ridge * np.eye(count)
    return np.asarray(np.linalg.solve(square, right[:, :, None])[:, :, 0], np.float64)


def _density(seen: sparse.csr_array, components: Floats) -> Floats:
    """What brings factors to the size of ratings: for each factor the root of the weight of the ratings that it is made of.

    A missing rating is a 0 in the decomposition, so a singular value grows with the number of ratings behind its items, not of users.
    """
    behind = np.asarray(seen.power(2).sum(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum((components**2) @ behind, 1e-12)))


def triples(source: Any) -> tuple[Any, Any, Floats, Floats]:
    """Users, items, values and weights: of a release its patterns, each with its copies as weight; of a table or array its first three columns."""
    if hasattr(source, "manifest"):
        return _released(source)
    if hasattr(source, "__arrow_c_stream__"):
        columns = [c.to_numpy() for c in pa.table(source).columns[:3]]
    else:
        columns = list(np.asarray(source).T[:3])
    if len(columns) != 3:
        raise ParameterError(f"ratings are triples (user, item, value), not {len(columns)} columns")
    users, items, values = columns
    return users, items, values.astype(np.float64), np.ones(len(users))


def _released(release: Any) -> tuple[Any, Any, Floats, Floats]:
    record = release.manifest.form
    roles = record.transactions if isinstance(record, TuplesRecord) else None
    if roles is None or "value" not in roles:
        raise InputError(
            "a recommender learns from a columnized release of ratings: transactions with a user, an item and a value"
        )
    users, items, values, weights, offset = [], [], [], [], 0
    for table in record.tables:
        rows = release.table(table.name)
        grouped = rows.group_by([roles["pattern"], roles["item"], roles["value"]]).aggregate([([], "count_all")])
        pattern = grouped[roles["pattern"]].to_numpy()
        users.append(pattern + offset)
        items.append(grouped[roles["item"]].to_numpy())
        values.append(grouped[roles["value"]].to_numpy().astype(np.float64))
        weights.append(grouped["count_all"].to_numpy().astype(np.float64))
        offset += int(pattern.max(initial=-1)) + 1
    return tuple(np.concatenate(part) for part in (users, items, values, weights))  # type: ignore[return-value]


def _pairs(pairs: Any) -> tuple[Any, Any]:
    given = (
        [c.to_numpy() for c in pa.table(pairs).columns] if hasattr(pairs, "__arrow_c_stream__") else np.asarray(pairs).T
    )
    if len(given) < 2:
        raise ParameterError("pairs are of a user and an item")
    return given[0], given[1]
