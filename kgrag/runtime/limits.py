"""Limits of a call: a deadline, a budget for language models, and cancellation.

They apply to everything within `limited(...)`, and to threads that copy the context of their caller.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from kgrag.values.errors import BudgetError, CancelledError, DeadlineError


@dataclass(slots=True)
class Limits:
    """`until`: the deadline by time.monotonic(); `budget` and `spent`, None if unknown: costs of language models.

    `cancelled`: any of these flags cancels the call; `outer`: the limits of the call around this one.
    """

    until: float | None = None
    budget: float | None = None
    spent: float | None = 0.0
    cancelled: tuple[threading.Event, ...] = ()
    outer: "Limits | None" = None


_LOOK = 0.2
"""Seconds between two checks for cancellation."""
_LIMITS: ContextVar[Limits | None] = ContextVar("kgrag_limits", default=None)
_RETRIES: ContextVar[Callable[[int], None] | None] = ContextVar("kgrag_retries", default=None)


@contextmanager
def limited(
    deadline: float | None = None, budget: float | None = None, cancelled: threading.Event | None = None
) -> Iterator[None]:
    """Limit the `with` block by a deadline (seconds from now), a budget, and a flag that cancels it.

    In nested blocks the outer limits apply, too.
    """
    if deadline is None and budget is None and cancelled is None:
        yield
        return
    outer = _LIMITS.get()
    limits = Limits(None if deadline is None else time.monotonic() + deadline, budget, outer=outer)
    limits.cancelled = (*(outer.cancelled if outer else ()), *([cancelled] if cancelled else ()))
    if outer is not None and outer.until is not None:
        limits.until = min(outer.until, limits.until or outer.until)
    token = _LIMITS.set(limits)
    try:
        yield
    finally:
        _LIMITS.reset(token)


def remaining() -> float | None:
    """Return the seconds until the deadline, or None without one.

    Raises DeadlineError if it has passed, CancelledError if the call was cancelled.
    """
    limits = _LIMITS.get()
    if limits is None:
        return None
    if any(flag.is_set() for flag in limits.cancelled):
        raise CancelledError("The call was cancelled.")
    if limits.until is None:
        return None
    left = limits.until - time.monotonic()
    if left <= 0:
        raise passed()
    return left


@contextmanager
def ending(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` from another thread if the call is cancelled during the `with` block."""
    limits = _LIMITS.get()
    if limits is None or not limits.cancelled:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_LOOK):
            if any(flag.is_set() for flag in limits.cancelled):
                stop()
                return

    threading.Thread(target=watch, name="kgrag-cancel", daemon=True).start()
    try:
        yield
    finally:
        over.set()


@contextmanager
def retries_heard(hear: Callable[[int], None]) -> Iterator[None]:
    """Call `hear` with the number of attempts before each retry within the `with` block."""
    token = _RETRIES.set(hear)
    try:
        yield
    finally:
        _RETRIES.reset(token)


def report_retry(tries: int) -> None:
    """Report that a service has failed so many times, and will be tried again."""
    if (hear := _RETRIES.get()) is not None:
        hear(tries)


def passed() -> DeadlineError:
    """Return the error for a passed deadline."""
    return DeadlineError("The deadline of this call has passed.", "Give it more time: deadline=SECONDS.")


def _in_force() -> Iterator[Limits]:
    """Yield the limits of the call, then the limits of the outer calls."""
    limits = _LIMITS.get()
    while limits is not None:
        yield limits
        limits = limits.outer


def spend(cost: float | None) -> None:
    """Add the cost of a call of a language model; None if its price is unknown."""
    for limits in _in_force():
        limits.spent = None if cost is None or limits.spent is None else limits.spent + cost


def budget_left() -> float | None:
    """Return the rest of the budget, or None without one."""
    left = [each.budget - (each.spent or 0.0) for each in _in_force() if each.budget is not None]
    return max(0.0, min(left)) if left else None


def check_budget() -> None:
    """Raise BudgetError if a budget of the call is spent, or the cost so far is unknown."""
    for limits in _in_force():
        if limits.budget is None:
            continue
        if limits.spent is None:
            raise BudgetError("The budget of this call cannot be kept: a price is unknown.", "Set KGRAG_CHAT__PRICES.")
        if limits.spent >= limits.budget:
            raise BudgetError(
                f"The budget of this call ({limits.budget:g}) is spent.",
                "Give it more: budget=COST; see KGRAG_CHAT__PRICES.",
            )
