"""Ratings to publish and to predict: real ones, and a synthetic table as large as the paper's."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import scumble
from scumble.learn import ItemAverage, ReleaseRecommender

MOVIETWEETINGS = Path(__file__).parents[2] / "shared" / "data" / "movietweetings_100k.parquet"
GENRES = 10


@dataclass(frozen=True)
class Ratings:
    """Triples of people to learn from; and of others, one rating each to predict and the rest as their history."""

    train: np.ndarray
    asked: np.ndarray
    history: np.ndarray

    @property
    def items(self) -> np.ndarray:
        return np.unique(self.train[:, 1])

    def rmse(self, predicted: np.ndarray) -> float:
        return float(np.sqrt(((predicted - self.asked[:, 2]) ** 2).mean()))

    def baseline(self) -> float:
        """Movie averages of the raw data."""
        return self.rmse(ItemAverage().fit(self.train).predict(self.asked[:, :2]))

    def raw(self) -> float:
        """The same recommender on the raw data."""
        return self.rmse(ReleaseRecommender().fit(self.train).predict(self.asked[:, :2], self.history))

    def released(
        self, schema: list[list[int]], c_star: int, epsilon: float, delta: float, k: int, **more: object
    ) -> tuple[float, int]:
        """RMSE on a columnized release, and how many ratings it has."""
        table = pa.table(dict(zip(("user", "item", "value"), self.train.T, strict=True)))
        roles = {"user": "user", "item": "item", "value": "value", "k": k, "delta": delta, "c_star": c_star}
        how = {"schema": schema} if "columns" not in more else {}
        release = scumble.publish(
            table, mechanism="columnized", drop="user", epsilon=epsilon, settings={**roles, **how, **more}, seed=1
        )
        if not release.manifest.rows:
            return float("nan"), 0
        found = ReleaseRecommender().fit(release).predict(self.asked[:, :2], self.history)
        return self.rmse(found), release.manifest.rows


def movietweetings(movies: int) -> np.ndarray:
    """The triples of the most rated movies."""
    rows = np.stack([c.to_numpy().astype(np.int64) for c in pq.read_table(MOVIETWEETINGS).columns], axis=1)
    listed, counts = np.unique(rows[:, 1], return_counts=True)
    return rows[np.isin(rows[:, 1], listed[np.argsort(-counts)[:movies]])]


def synthetic(users: int, movies: int, seed: int) -> np.ndarray:
    """Movies of 10 genres; a user likes or dislikes a genre as a whole, mostly sees one or two of them, and the most popular movies far more than others."""
    draw = np.random.default_rng(seed)
    genre = np.arange(movies) % GENRES
    quality = np.random.default_rng(0).normal(3.4, 0.4, movies)
    liked = draw.choice([-1.3, 1.0], (users, GENRES), p=[0.4, 0.6])
    seen = 1 + np.minimum(draw.geometric(0.2, users), 60)
    user = np.repeat(np.arange(users), seen)
    home = draw.integers(0, GENRES, (users, 2))[user, draw.integers(0, 2, len(user))]
    kind = np.where(draw.random(len(user)) < 0.85, home, draw.integers(0, GENRES, len(user)))
    rank = ((movies // GENRES) * draw.random(len(user)) ** 5).astype(int)
    pairs = np.unique(user * movies + rank * GENRES + kind)
    user, item = pairs // movies, pairs % movies
    value = quality[item] + liked[user, genre[item]] + draw.normal(0, 0.4, len(user))
    return np.stack([user, item, np.clip(np.rint(value), 1, 5).astype(np.int64)], axis=1)


def split(rows: np.ndarray, share: float = 0.2, seed: int = 3) -> Ratings:
    """Some people are asked about and are not in the release: one rating of each is to be predicted, from their others."""
    draw = np.random.default_rng(seed)
    people = np.unique(rows[:, 0])
    chosen = np.isin(rows[:, 0], people[draw.random(len(people)) < share])
    test = rows[chosen][draw.permutation(int(chosen.sum()))]
    test = test[np.argsort(test[:, 0], kind="stable")]
    last = np.concatenate([test[1:, 0] != test[:-1, 0], [True]])
    several = np.isin(test[:, 0], test[~last, 0])
    return Ratings(rows[~chosen], test[last & several], test[~last])


def fraction(rows: np.ndarray, share: float) -> np.ndarray:
    """The ratings of that share of the users."""
    return rows[np.random.default_rng(5).random(int(rows[:, 0].max()) + 1)[rows[:, 0]] < share]
