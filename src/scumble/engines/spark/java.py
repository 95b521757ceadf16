"""Which Java there is, where Spark is started here."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from scumble.core.errors import InputError

OLDEST = 17
SECONDS = 60
WAY = f"install Java {OLDEST} (Debian: apt install openjdk-17-jre-headless) and point JAVA_HOME to it, or use a cluster's sc:// address"


def demand_java() -> None:
    """Refuses a machine without Java, or with one that Spark does not run on."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        where = f"none is where JAVA_HOME points to ({home})" if home else "there is none on this machine"
        raise InputError(f"Spark runs on Java, and {where}; {WAY}")
    found = version_of(_said(java))
    if found is None or found < OLDEST:
        what = "does not say which it is" if found is None else f"is version {found}"
        raise InputError(f"Spark needs Java {OLDEST} or newer, and {java} {what}; {WAY}")


def _said(java: str) -> str:
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def version_of(said: str) -> int | None:
    """The version that Java says it is; before 9 it called itself 1.8.

    >>> version_of('openjdk version "17.0.15" 2025-04-15'), version_of('java version "1.8.0_292"'), version_of("what?")
    (17, 8, None)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else None
