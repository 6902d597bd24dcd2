"""Ctrl-C that is not lost."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN = 0.7  # seconds


@contextmanager
def interruptible() -> Iterator[None]:
    """Repeat a Ctrl-C until the block has ended.

    Python raises KeyboardInterrupt wherever the program happens to be. In a finaliser, a callback of the garbage
    collector, or the code of some extension modules, it is printed and dropped, and the program would go on. What
    tidies up in the block must stand being interrupted itself.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    ended = threading.Event()
    again = threading.Event()  # the next signal is ours
    lock = threading.Lock()

    def repeat() -> None:
        while not ended.wait(_AGAIN):
            with lock:
                if not ended.is_set():
                    again.set()
                    _send()

    def interrupt(number: int, frame: FrameType | None) -> None:
        ours = again.is_set()
        again.clear()
        if ours and _tidying_up():
            return
        if not repeating.is_alive() and not ended.is_set():
            repeating.start()
        raise KeyboardInterrupt

    repeating = threading.Thread(target=repeat, name="kgrag-interrupt", daemon=True)
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        with lock:
            ended.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _tidying_up() -> bool:
    """Return whether an interrupt runs this code: in an `except`, `finally` or `__exit__`."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _send() -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # it ends a wait, too
    else:
        signal.raise_signal(signal.SIGINT)
