"""python -m faults.collector: answers that are acknowledged are in the release, each once, whoever is killed meanwhile.

Clients answer a survey, each as one person with a store of its own. The server, or its database, is killed at random moments and started
again. Clients whose answer is not acknowledged send it again; some never look at the reply. In the end the survey is closed. Each person has
a serial number, a public question, so that everybody is found again in the release, or is not.
"""

import argparse
import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from faults.zygote import Zygote
from scumble.collect import client
from scumble.collect.closing import close_survey
from scumble.collect.coding import write_codes
from scumble.collect.making import make_survey

ILLNESSES = ["none", "flu", "asthma", "diabetes"]
SHARES = [0.6, 0.2, 0.15, 0.05]
AT_ONCE = 12
"""Clients that answer at the same time."""
PATIENCE = 120.0
"""Seconds after which a client, a server or a database is given up."""
CARELESS = 20
"""One in so many clients never looks at the reply, and does not send again."""

SPEC = """
title = "Faults"
collector = "A test"
until = 2999-12-31
tokens = "{tokens}"
live = {{ batch = 50, readers = "public" }}
[privacy]
epsilon = 3
[columns.serial]
role = "public"
low = 0
high = {last}
[columns.illness]
role = "sensitive"
values = ["none", "flu", "asthma", "diabetes"]
"""


class File:
    """A store that nobody can kill."""

    def __init__(self, folder: Path) -> None:
        self.address = str(folder / "answers.db")

    def kill(self) -> bool:
        """There is no process."""
        return False

    def stop(self) -> None:
        """Nothing runs."""


class Cluster:
    """A PostgreSQL server of its own."""

    def __init__(self, folder: Path) -> None:
        import pgserver

        self._folder = folder / "pg"
        self._server = pgserver.get_server(self._folder)
        uri = self._server.get_uri()
        self.address = f"{uri}{'&' if '?' in uri else '?'}store=faults"

    def kill(self) -> bool:
        """All its processes, as if the machine had lost them; then it comes back."""
        end = time.monotonic() + PATIENCE
        self._lose(end)
        while time.monotonic() < end:
            time.sleep(0.2)
            self._server._postmaster_info = None
            with suppress(subprocess.CalledProcessError, AssertionError, subprocess.TimeoutExpired):
                self._server.ensure_postgres_running()
                return True
        raise TimeoutError("PostgreSQL does not come back")

    def _lose(self, end: float) -> None:
        """Nobody is left, also where nobody buries the dead; and what they locked is free."""
        import psutil

        first = psutil.Process(self._server.get_pid())
        first.suspend()  # it starts no other meanwhile
        lost = [first, *first.children(recursive=True)]
        for process in lost:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        while any(Zygote.alive(process.pid) for process in lost) and time.monotonic() < end:
            time.sleep(0.02)
        for lock in (self._folder / "postmaster.pid", *self._folder.glob(".s.PGSQL.*")):
            lock.unlink(missing_ok=True)

    def stop(self) -> None:
        """For good."""
        self._server.cleanup()


class Storm:
    """A server, its clients, and who kills it."""

    def __init__(self, folder: Path, store: File | Cluster, clients: int, seed: int, tokens: str = "open") -> None:
        self.folder, self.clients, self.draw = folder, clients, random.Random(seed)
        self.store = store
        (folder / "s.toml").write_text(SPEC.format(last=clients - 1, tokens=tokens))
        self._asked = make_survey(folder / "s.toml", folder / "s.json", None, None).survey
        self.codes = [""] * clients
        if tokens != "open":
            write_codes(folder / "s.json", self.store.address, clients, folder / "codes")
            self.codes = (folder / "codes").read_text().split()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.truth = [self.draw.choices(ILLNESSES, SHARES)[0] for _ in range(clients)]
        self.acknowledged: set[int] = set()
        self.careless: set[int] = set()
        self.kills: Counter[str] = Counter()
        self._zygote = Zygote(folder / "s.json")
        self._server = 0
        self._over = threading.Event()

    def run(self, kills: int, limit: float) -> None:
        """All clients answer, and the server or its database is killed so often; all that in so many seconds."""
        self._start()
        killer = threading.Thread(target=self._killing, args=(kills, time.monotonic() + limit), daemon=True)
        killer.start()
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            for failure in pool.map(self._client, range(self.clients), timeout=limit):
                if failure:
                    raise AssertionError(failure)
        finally:
            self._over.set()
            pool.shutdown(cancel_futures=True)
            killer.join(2 * PATIENCE)
        self._kill()

    def _client(self, serial: int) -> str:
        """One person: answers, and sends until it is acknowledged."""
        record = {"serial": serial, "illness": self.truth[serial]}
        device = self.folder / f"device-{serial}"
        person = client.Client(self._asked, device, server=self.url, token=self.codes[serial])
        if serial % CARELESS == CARELESS - 1:
            self.careless.add(serial)
            self._throw(person.message(record))
            return ""
        if person.answer(record).state != "taken" and not person.flush(PATIENCE):
            return f"client {serial} was not acknowledged"
        self.acknowledged.add(serial)
        device.unlink()
        return ""

    def _throw(self, body: bytes) -> None:
        """Sends a message and does not look back."""
        head = f"POST /answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(head.encode() + body)

    def _killing(self, kills: int, end: float) -> None:
        """One kill after each share of the clients, and a random moment later."""
        for i in range(kills):
            while len(self.acknowledged) < (i + 0.5) * 0.9 * self.clients / kills:
                if self._over.wait(0.005) or time.monotonic() > end:
                    return
            time.sleep(self.draw.random() * 0.2)
            if isinstance(self.store, Cluster) and i % 2:
                self.kills["database"] += self.store.kill()
            else:
                self._kill()
                self._start()
                self.kills["server"] += 1

    @property
    def url(self) -> str:
        """Where the server is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def _survey(self) -> str:
        return str(self.folder / "s.json")

    def _start(self) -> None:
        arguments = ["collect", "serve", self._survey, "--store", self.store.address, "--port", str(self.port)]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:  # its database may be down at this moment
            self._server = self._zygote.start(arguments, self.folder / "log")
            while Zygote.alive(self._server):
                with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    return
                time.sleep(0.02)
            self._kill()
        raise TimeoutError("the server does not start")

    def _kill(self) -> None:
        self._zygote.kill(self._server)

    def stop(self) -> None:
        """Ends all servers."""
        self._zygote.stop()

    def close(self) -> dict[str, Any]:
        """The release, and what is in it."""
        closed = close_survey(self.store.address, self.folder / "r")
        if not closed.sound:
            raise AssertionError(
                f"the release does not verify: {[check for check in closed.checks if not check.passed]}"
            )
        release = closed.release
        serials = Counter(release.table().column("serial").to_pylist())
        answer = release.query("SELECT illness, COUNT(*) AS n FROM release GROUP BY illness", level=LEVEL)
        return {"serials": serials, "estimates": {row["illness"]: row for row in answer}}

    def problems(self, found: dict[str, Any]) -> list[str]:
        """What does not hold."""
        serials: Counter[int] = found["serials"]
        lost = sorted(self.acknowledged - set(serials))
        twice = [serial for serial, times in serials.items() if times > 1]
        strange = sorted(set(serials) - self.acknowledged - self.careless)
        there = Counter(self.truth[serial] for serial in serials)
        missed = [
            f"{value}: {row['n_low']:.0f} to {row['n_high']:.0f} for a true {there[value]}"
            for value, row in found["estimates"].items()
            if not row["n_low"] <= there[value] <= row["n_high"]
        ]
        named = {"lost": lost, "twice": twice, "never sent": strange, "missed": missed}
        return [f"{what}: {which[:5]}" for what, which in named.items() if which]


LEVEL = 0.9999999
"""Of the four intervals that must hold the truth: one run in 2.5 million is accused falsely."""


def main() -> int:
    """0 where every promise held."""
    arguments = argparse.ArgumentParser(prog="python -m faults.collector")
    arguments.add_argument("--clients", type=int, default=10_000)
    arguments.add_argument("--kills", type=int, default=200)
    arguments.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    arguments.add_argument("--tokens", choices=["open", "codes"], default="open")
    arguments.add_argument("--seed", type=int, default=18)
    arguments.add_argument("--limit", type=float, default=3600.0, help="seconds after which clients are given up")
    given = arguments.parse_args()
    client.FIRST_WAIT, client.LONGEST_WAIT = 0.05, 1.0
    started = time.monotonic()
    with ExitStack() as ends:
        folder = Path(tempfile.mkdtemp(prefix="faults-"))
        ends.callback(shutil.rmtree, folder, ignore_errors=True)
        store = File(folder) if given.store == "sqlite" else Cluster(folder)
        ends.callback(store.stop)
        storm = Storm(folder, store, given.clients, given.seed, given.tokens)
        ends.callback(storm.stop)
        storm.run(given.kills, given.limit)
        found = storm.close()
        broken = storm.problems(found)
    told = {
        "store": given.store,
        "clients": given.clients,
        "kills": dict(storm.kills),
        "acknowledged": len(storm.acknowledged),
        "in the release": sum(found["serials"].values()),
        "broken promises": len(broken),
        "seconds": round(time.monotonic() - started),
    }
    print(json.dumps(told))
    for problem in broken:
        print(f"BROKEN {problem}")
    return 1 if broken or sum(storm.kills.values()) < given.kills else 0


if __name__ == "__main__":
    sys.exit(main())
