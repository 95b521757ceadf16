"""What the tests of questions share."""

import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES

import scumble


@pytest.fixture(scope="session")
def kept(patients: pa.Table) -> scumble.Release:
    """Everything as it was: retention 1."""
    domains = {"disease": DISEASES, "smoker": [False, True], "visits": {"low": 0, "high": 10}}
    with pytest.warns(UserWarning, match="nothing of"):
        return publish_openly(patients, sensitive=list(domains), drop="name", domains=domains, retain=1, seed=1)
