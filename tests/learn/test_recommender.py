"""Recommending from a columnized release: factors of what was published, and a person's own ratings."""

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble.core.errors import InputError, ParameterError
from scumble.learn import ItemAverage, ReleaseRecommender

pytestmark = pytest.mark.slow

USERS, ITEMS = 30_000, 6
SCHEMA = [[0, 1, 2], [3, 4, 5]]


def tastes(seed: int, users: int) -> np.ndarray:
    """Users like items 0-2 (or 3-5) all or none of them, 1 or 5 stars, with an item in ten rated at random; they rate 2 or 3 of a kind."""
    draw = np.random.default_rng(seed)
    lines = []
    for user in range(users):
        for kind in (0, 3):
            likes = 5 if draw.random() < 0.5 else 1
            for item in draw.permutation(3)[: draw.integers(2, 4)].tolist():
                stars = likes if draw.random() < 0.9 else int(draw.choice([1, 5]))
                lines.append((user, kind + item, stars))
    return np.array(lines)


@pytest.fixture(scope="module")
def release() -> scumble.Release:
    users, items, values = tastes(1, USERS).T
    table = pa.table({"user": users, "item": items, "stars": values})
    settings = {"k": 10, "delta": 1e-5, "user": "user", "item": "item", "value": "stars", "schema": SCHEMA}
    return publish_openly(table, mechanism="columnized", drop="user", epsilon=2, settings=settings, seed=1)


def halves() -> tuple[np.ndarray, np.ndarray]:
    """One rating of each user to predict, and the others as history."""
    rows = tastes(2, 2000)
    last = np.concatenate([rows[1:, 0] != rows[:-1, 0], [True]])
    return rows[last], rows[~last]


def rmse(predicted: np.ndarray, rows: np.ndarray) -> float:
    return float(np.sqrt(((predicted - rows[:, 2]) ** 2).mean()))


def test_a_persons_own_ratings_predict_the_others(release: scumble.Release) -> None:
    """2,000 people who are not in the release: the baseline errs by 2 stars, the release brings it below 1.5."""
    asked, history = halves()
    baseline = rmse(ItemAverage().fit(release).predict(asked[:, :2]), asked)
    recommender = ReleaseRecommender().fit(release)
    assert baseline == pytest.approx(2, abs=0.1)
    assert rmse(recommender.predict(asked[:, :2], history), asked) < 1.5
    assert rmse(recommender.predict(asked[:, :2]), asked) == pytest.approx(baseline)


def test_the_release_is_nearly_as_good_as_the_table(release: scumble.Release) -> None:
    asked, history = halves()
    raw = ReleaseRecommender().fit(tastes(1, USERS)).predict(asked[:, :2], history)
    released = ReleaseRecommender().fit(release).predict(asked[:, :2], history)
    assert abs(rmse(released, asked) - rmse(raw, asked)) < 0.1


def test_a_persons_level_is_learnt_without_factors() -> None:
    """Patterns of one rating have no factors; who rates a star above the average elsewhere is predicted above it, drawn to 0 by 5 ratings."""
    rows = [(user, user % 3, 3 + user % 2) for user in range(600)]
    recommender = ReleaseRecommender().fit(np.array(rows))
    assert recommender.factors_.shape == (3, 0)
    history = [(9000, 0, 4.5), (9000, 1, 4.5)]
    assert recommender.predict([(9000, 2), (9001, 2)], history) == pytest.approx([3.5 + 2 / 7, 3.5])


def test_an_item_that_is_only_rated_alone_has_no_factors() -> None:
    """Also where it is the last of all items; whoever rated it is asked about all the same."""
    rows = tastes(3, 500)
    alone = np.array([(1000 + user, ITEMS, 4) for user in range(50)])
    recommender = ReleaseRecommender().fit(np.concatenate([rows, alone]))
    assert recommender.factors_.shape == (ITEMS + 1, recommender.n_factors)
    assert not recommender.factors_[ITEMS].any()
    assert np.isfinite(recommender.predict([(1, 0), (1, ITEMS)], [(1, ITEMS, 5), (1, 1, 5)])).all()


def test_unknown_items_and_people_get_the_average(release: scumble.Release) -> None:
    recommender = ReleaseRecommender().fit(release)
    predicted = recommender.predict([(1, 99), (7, 0)], [(1, 0, 5)])
    assert recommender.mean_ < predicted[0] < recommender.mean_ + (5 - recommender.averages_[0]) / 6
    assert predicted[1] == recommender.averages_[0]


def test_conventions_of_scikit_learn(release: scumble.Release) -> None:
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError

    recommender = ReleaseRecommender(n_factors=2)
    assert clone(recommender).get_params()["n_factors"] == 2
    with pytest.raises(NotFittedError):
        recommender.predict([(1, 1)])
    assert recommender.fit(release) is recommender
    assert recommender.factors_.shape == (ITEMS, 2)


def test_what_is_no_rating_is_refused(release: scumble.Release) -> None:
    with pytest.raises(ParameterError, match="triples"):
        ReleaseRecommender().fit(np.zeros((4, 2)))
    other = publish_openly(
        pa.table({"a": [1] * 100}), mechanism="noisy_counts", epsilon=1, settings={"k": 5, "delta": 1e-3}, seed=1
    )
    with pytest.raises(InputError, match="columnized release of ratings"):
        ReleaseRecommender().fit(other)
