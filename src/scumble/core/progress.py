"""How work that lasts tells how far it is."""

from collections.abc import Callable

Progress = Callable[[int, int | None], None]
"""progress(done, of): so much is done of so much; None where nobody knows how much there is."""


def stage(progress: Progress, number: int, stages: int) -> Progress:
    """The progress of one of several stages that follow each other, each a like part of the whole, counted from 0.

    >>> stage(lambda done, of: print(f"{done} of {of}"), 1, 2)(30, 100)
    130 of 200
    """

    def report(done: int, of: int | None) -> None:
        if of is None:
            progress(done, None)
        else:
            progress(number * of + done, stages * of)

    return report
