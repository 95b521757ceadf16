"""The door of the command line: python -m scumble, and the script that is installed.

Loading takes a moment, and an interruption in that moment is one like any other.
"""

import signal
import sys
from types import FrameType

from scumble.core.failure import flush, leave, say, sentence, stand_anywhere


class Interrupted(BaseException):
    """Ctrl-C, or a request to end. Unlike KeyboardInterrupt it is no business of the parser of the command line."""


class Interruptions:
    """Turns signals into Interrupted, and remembers: libraries written in C may turn it into an error of their own."""

    def __init__(self) -> None:
        self.number = 0

    def install(self) -> None:
        """From now on; whoever started us with a signal ignored, as nohup does, wants it ignored."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._interrupt)

    def end(self) -> None:
        """The command is over and its code is known: a signal while Python ends would change nothing but what is printed."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) == self._interrupt:
                signal.signal(number, signal.SIG_IGN)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        raise Interrupted


def main() -> None:
    """Runs a command and exits with its code: 0, 1 a check that fails, 2 anything that went wrong, 130 interrupted, 143 asked to end."""
    interruptions = Interruptions()
    try:
        interruptions.install()
        stand_anywhere()
        from scumble.cli import run

        code = run()
        flush()
    except BaseException as error:  # noqa: BLE001  the last door: whatever comes here is told in a line
        leave(1)  # what is left of it would fail once more when Python ends
        if interruptions.number or isinstance(error, KeyboardInterrupt):
            say("scumble: interrupted; nothing half-written was left behind")
            code = 128 + (interruptions.number or signal.SIGINT)
        else:
            say(f"scumble: {sentence(error)}")
            code = 2
    interruptions.end()
    sys.exit(code)


if __name__ == "__main__":
    main()
