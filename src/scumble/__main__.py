"""The door of the command line: python -m scumble, and the script that is installed.

Loading takes a moment, and an interruption in that moment is one like any other.
"""

import sys


def main() -> None:
    """Runs a command and exits with its code: 0, 1 a check that fails, 2 wrong use or input, 130 interrupted."""
    try:
        from scumble.cli import run

        code = run()
    except KeyboardInterrupt:
        print("scumble: interrupted; nothing half-written was left behind", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has seen enough
        code = 0
    sys.exit(code)


if __name__ == "__main__":
    main()
