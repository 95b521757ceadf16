"""A Spark Connect server that this process starts and ends: for `local[*]`, `local-cluster[...]` and `spark://host:port`.

It listens on this machine alone and takes a token that nobody else has, because whoever reaches it reads what it reads. What it puts aside lies in
the private folder of this process.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from multiprocessing.util import Finalize
from pathlib import Path

from scumble.core.entropy import fresh_bytes
from scumble.core.errors import InputError
from scumble.core.extras import need
from scumble.core.scratch import private_folder
from scumble.core.stopping import look
from scumble.engines.spark.java import demand_java

SECONDS = 300.0
"""How long it may take to start."""
LOOK = 0.1
MAIN = "org.apache.spark.sql.connect.service.SparkConnectServer"
LOCAL = "127.0.0.1"


class Server:
    """A server with a master of its own, until this process ends or it is closed."""

    def __init__(self, master: str) -> None:
        home = Path(need("pyspark", "spark").__path__[0])
        demand_java()
        self.folder = Path(tempfile.mkdtemp(prefix="spark-", dir=private_folder(os.getpid())))
        self.log = self.folder / "server.log"
        self._token, self._port = fresh_bytes(16).hex(), _free_port()
        environment = os.environ | {
            "SPARK_HOME": str(home),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_CONNECT_AUTHENTICATE_TOKEN": self._token,
        }
        environment |= {"SPARK_LOCAL_IP": LOCAL} if master.startswith("local") else {}
        command = [str(home / "bin" / "spark-submit"), "--master", master, "--class", MAIN]
        command += [part for key, value in self._settings().items() for part in ("--conf", f"{key}={value}")]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "scumble.engines.spark.holder", *command, "spark-internal"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=self.folder,
                start_new_session=True,  # the keys of a terminal are not meant for it
            )
        self._end = Finalize(self, _end, (self.process,), exitpriority=10)  # before the private folder is removed
        try:
            self._demand_started(master)
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """Where it is reached. By this name of the machine a token is taken without a certificate."""
        return f"sc://localhost:{self._port}/;token={self._token}"

    def close(self) -> None:
        """Ends it."""
        self._end()

    def _settings(self) -> dict[str, str]:
        return {
            "spark.connect.grpc.binding.address": LOCAL,
            "spark.connect.grpc.binding.port": str(self._port),
            "spark.ui.enabled": "false",
            "spark.local.dir": str(self.folder),
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
        }

    def _demand_started(self, master: str) -> None:
        end = time.monotonic() + SECONDS
        while not _answers(self._port):
            look()
            if self.process.poll() is not None or time.monotonic() > end:
                raise InputError(f"Spark cannot be started with the master {master!r}: {_complaint(self.log)}")
            time.sleep(LOOK)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """The end of its input is the end of what it runs."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()


def _free_port() -> int:
    with socket.socket() as trial:
        trial.bind((LOCAL, 0))
        return int(trial.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        socket.create_connection((LOCAL, port), LOOK).close()
    except OSError:
        return False
    return True


def _complaint(log: Path) -> str:
    """The last line that names an error, or the last there is."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    told = [line for line in lines if "Exception" in line or "ERROR" in line or "rror:" in line]
    return (told or lines or ["it says nothing"])[-1][:300]
