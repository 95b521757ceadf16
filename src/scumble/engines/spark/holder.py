"""Runs a command until the input ends, so that what a process started is gone when that process is, however it ended.

python -m scumble.engines.spark.holder COMMAND ...
"""

import os
import signal
import subprocess
import sys
import threading

SECONDS = 10.0
"""How long the command may take to end when it is asked to."""


def main() -> int:
    """The command's own exit code, or 0 where the input ended before. Nothing else ends it: who ends with Ctrl-C closes the input, too."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    running = subprocess.Popen(
        sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_heeding
    )  # no thread runs yet
    threading.Thread(target=_until_the_end, args=(running,), daemon=True).start()
    return running.wait()


def _heeding() -> None:
    """The command itself ends when it is asked to: what is ignored is inherited."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_DFL)


def _until_the_end(running: "subprocess.Popen[bytes]") -> None:
    sys.stdin.buffer.read()
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(running.pid, sign)
            running.wait(SECONDS)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            break
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
