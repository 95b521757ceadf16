"""How `scumble init` asks on a terminal: a screen a column with arrow keys, or numbers to type where prompt_toolkit is not installed."""

import os
from importlib.util import find_spec

from scumble.core.failure import say
from scumble.spec.interview import KEYS, MEANINGS, Ask, Question, Step
from scumble.spec.spec import Role

WORDS: dict[str, Step] = {"b": "back", "w": "rest", "q": "quit"}


def asker() -> Ask:
    """The screen, or numbers where it is not installed or the terminal cannot move its cursor."""
    if find_spec("prompt_toolkit") is None or os.environ.get("TERM") == "dumb":
        return by_number
    from scumble.cli.screen import by_keys

    return by_keys


def by_number(question: Question) -> Role | Step:
    """Asks by plain lines, until one is understood. The end of the input is a wish to quit."""
    roles = list(MEANINGS)
    print("\n".join(["", *question.lines, ""]))
    for number, role in enumerate(roles, 1):
        print(f"  {number}  {role:<11} {question.meaning(role)}")
    print(f"\n{KEYS}")
    while True:
        try:
            typed = input(f"role (1 to {len(roles)}; Enter: {question.chosen}): ").strip()
        except EOFError:
            return "quit"
        if not typed:
            return question.chosen
        if typed in WORDS:
            return WORDS[typed]
        if typed.isdecimal() and 1 <= int(typed) <= len(roles):
            return roles[int(typed) - 1]
        say(f"{typed!r} is none of them")
