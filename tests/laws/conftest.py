"""The toys are registered while the laws run; so the laws hold for them too."""

from collections.abc import Iterator

import pytest
from laws.registered import toys


@pytest.fixture(scope="module", autouse=True)
def _toys() -> Iterator[None]:
    with toys():
        yield
