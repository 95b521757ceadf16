"""Many repetitions on all processors: the same results whatever their number, and Ctrl-C ends them all."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from scumble.core.errors import ParameterError
from scumble.core.undisturbed import undisturbed

Task = TypeVar("Task")
Result = TypeVar("Result")

Progress = Callable[[int, int | None], None]

WORTHWHILE = 4
"""Tasks for each process, below which starting it (about a second) costs more than it saves."""


def demand(repetitions: int, processes: int | None) -> None:
    """Numbers that work can begin with; asked before anything that takes time."""
    for name, value in (("repetitions", repetitions), ("processes", processes)):
        if value is not None and value < 1:
            raise ParameterError(f"{name} is a number of at least 1, not {value}")


def run(
    work: Callable[[Any, Task], Result],
    shared: Any,
    tasks: Sequence[Task],
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """work(shared, task) for each task, in the order of the tasks.

    work       a function of a module, so that other processes find it
    shared     what all tasks need; sent to each process once
    processes  how many; as many as there are processors when absent, and 1 stays in this one
    """
    wanted = min(processes or os.cpu_count() or 1, max(1, len(tasks) // WORTHWHILE))
    report = progress or (lambda done, of: None)
    if wanted == 1:
        return [_counted(work(shared, task), i, len(tasks), report) for i, task in enumerate(tasks, 1)]
    others = set(active_children())
    pool = ProcessPoolExecutor(wanted, get_context("spawn"), _begin, (work, shared))
    try:
        with undisturbed(), _unheard(signal.SIGINT):  # a process that is just being started would be forgotten
            futures = [pool.submit(_work, task) for task in tasks]
        for done, future in enumerate(as_completed(futures), 1):
            future.result()  # the first failure ends all
            report(done, len(tasks))
        return [future.result() for future in futures]
    except BrokenProcessPool:
        raise ParameterError(
            "a process of the repetitions ended early: in a script, call this below `if __name__ == '__main__':`, or say processes=1"
        ) from None
    except BaseException:
        _end(others)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _unheard(number: signal.Signals) -> Iterator[None]:
    """A signal waits, and processes that begin meanwhile never hear it: they would print what they were just loading."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(others: set[BaseProcess]) -> None:
    """Ends the processes that were started here in the middle of their work: nothing of it is wanted any more."""
    for process in set(active_children()) - others:
        process.terminate()


def _counted(result: Result, done: int, of: int, report: Progress) -> Result:
    report(done, of)
    return result


_state: list[Any] = []
"""What this process was given when it began."""


def _begin(work: Callable[..., Any], shared: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process hears Ctrl-C, and ends the others
    _state[:] = [work, shared]


def _work(task: Any) -> Any:
    work, shared = _state
    return work(shared, task)
