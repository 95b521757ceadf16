"""A screen a column: the arrow keys move among the roles, Enter takes one."""

from collections.abc import Callable

from prompt_toolkit import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import FormattedTextControl, Layout, Window

from scumble.spec.interview import KEYS, MEANINGS, Question, Step
from scumble.spec.spec import Role

STEPS: dict[str, Step] = {"b": "back", "left": "back", "backspace": "back", "w": "rest", "q": "quit"}


class Screen:
    """What stands on it, and where the mark is: at the role as it stands, so that Enter alone changes nothing."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.roles = list(MEANINGS)
        self.place = self.roles.index(question.chosen)

    def text(self) -> StyleAndTextTuples:
        """All of it."""
        head, *facts = self.question.lines
        lines: StyleAndTextTuples = [("bold", f"{head}\n"), *(("", f"{fact}\n") for fact in facts), ("", "\n")]
        for place, role in enumerate(self.roles):
            here = place == self.place
            line = f"{'>' if here else ' '} {role:<11} {self.question.meaning(role)}\n"
            lines.append(("reverse" if here else "", line))
        return [*lines, ("", f"\nup, down: move   Enter: choose\n{KEYS}")]

    def keys(self) -> KeyBindings:
        """What each key does."""
        bindings = KeyBindings()
        bindings.add("up")(lambda event: self._move(-1))
        bindings.add("down")(lambda event: self._move(1))
        bindings.add("enter")(lambda event: event.app.exit(result=self.roles[self.place]))
        for key, step in STEPS.items():
            bindings.add(key)(_leaving(step))
        bindings.add("c-c")(_interrupted)
        return bindings

    def _move(self, by: int) -> None:
        self.place = (self.place + by) % len(self.roles)


def _leaving(step: Step) -> Callable[[KeyPressEvent], None]:
    return lambda event: event.app.exit(result=step)


def _interrupted(event: KeyPressEvent) -> None:
    event.app.exit(exception=KeyboardInterrupt())


def by_keys(question: Question) -> Role | Step:
    """Shows a column, and waits for a role or a step."""
    screen = Screen(question)
    window = Window(FormattedTextControl(screen.text, show_cursor=False), wrap_lines=True)
    app: Application[Role | Step] = Application(Layout(window), key_bindings=screen.keys(), full_screen=True)
    return app.run()
