"""Real Spark for the tests: a server on this machine, started at the first call, ended with the process.

Where pyspark or Java is missing a test is skipped and says so; `make spark-tests` installs pyspark, and sets SCUMBLE_SPARK=required, so that it fails.
"""

import os
import shutil
from importlib.util import find_spec

import pytest

REQUIRED = os.environ.get("SCUMBLE_SPARK") == "required"
MASTER = "local[2]"


def master() -> str:
    """What `engine=` is given, once there is all that it needs."""
    missing = "pyspark" if find_spec("pyspark") is None else None if _java() else "Java"
    if missing and REQUIRED:
        pytest.fail(
            f"{missing} is missing; make spark-tests installs pyspark, and Java is Debian's openjdk-17-jre-headless"
        )
    if missing:
        pytest.skip(
            f"{missing} is missing; make spark-tests installs pyspark, and Java is Debian's openjdk-17-jre-headless"
        )
    os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # up in half the time
    return MASTER


def _java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java") is not None
