"""Limits of requests: how many a server is sent in a minute, by all threads of this process, and how many at once."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kgrag.runtime import limits


class Place:
    """A call under way: whether no other was meanwhile; `wave`: how often the limit had been halved when it began."""

    alone = True
    wave = 0


class Slots:
    """Calls under way, bounded by what the server shows that it serves. Safe to share between threads.

    A server that ends a reply when another request comes is sent one at a time; one that lets calls wait until they are
    late is sent half as many, and one more again after as many good replies as are under way at once.
    """

    def __init__(self, most: int) -> None:
        self._most = self._limit = most
        self._good = self._wave = 0
        self._held: set[Place] = set()
        self._changed = threading.Condition()

    @contextmanager
    def one(self) -> Iterator["Place"]:
        """Wait for a place, and hold it."""
        place = Place()
        with self._changed:
            self._changed.wait_for(lambda: len(self._held) < self._limit)
            place.wave = self._wave
            self._held.add(place)
            if len(self._held) > 1:
                for held in self._held:
                    held.alone = False
        try:
            yield place
        finally:
            with self._changed:
                self._held.remove(place)
                self._changed.notify_all()

    @property
    def limit(self) -> int:
        """How many there may be now."""
        return self._limit

    def one_at_a_time(self) -> None:
        """Send one request at a time from now on: the server ends a reply when another request comes."""
        with self._changed:
            self._most = self._limit = 1

    def late(self, place: "Place") -> None:
        """Record a call that was not answered in time."""
        with self._changed:
            if place.wave == self._wave:  # those that were under way together count once
                self._wave, self._limit, self._good = self._wave + 1, max(1, self._limit // 2), 0

    def good(self) -> None:
        """Record a call that was answered."""
        with self._changed:
            self._good += 1
            if self._good >= self._limit and self._limit < self._most:
                self._limit, self._good = self._limit + 1, 0
                self._changed.notify_all()


_WINDOW = 61.0
"""Seconds of a minute, and one more: requests do not arrive exactly as far apart as they were sent."""


@dataclass(slots=True)
class Turn:
    """A request that was let through; `tokens` is what it may take, later what it took."""

    at: float
    tokens: int


class Pace:
    """Lets requests through so that no minute has more of them, or of their tokens, than it may."""

    def __init__(self, requests: int | None, tokens: int | None) -> None:
        """Set the most calls of a minute; None: any number."""
        self._requests, self._tokens = requests, tokens
        self._turns: deque[Turn] = deque()
        self._not_before = 0.0
        self._changed = threading.Condition()

    def turn(self, tokens: int) -> Turn:
        """Wait for room for a request of so many tokens; one of more than a minute may have gets a minute of its own.

        Raises DeadlineError or CancelledError when the caller's limits end the wait.
        """
        with self._changed:
            while True:
                left = limits.remaining()
                wait = self._wait(tokens)
                if wait <= 0:
                    turn = Turn(time.monotonic(), tokens)
                    if self._requests is not None or self._tokens is not None:
                        self._turns.append(turn)
                    return turn
                self._changed.wait(min(wait, 1.0, left if left is not None else wait))  # a second: it may be cancelled

    def settle(self, turn: Turn, tokens: int) -> None:
        """Tell what a request took in the end."""
        with self._changed:
            turn.tokens = tokens
            self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Let nothing through for so long: the server asked for it."""
        with self._changed:
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def _wait(self, tokens: int) -> float:
        """Return seconds until there may be room."""
        now = time.monotonic()
        while self._turns and self._turns[0].at <= now - _WINDOW:
            self._turns.popleft()
        wait = self._not_before - now
        used = sum(turn.tokens for turn in self._turns)
        many = self._requests is not None and len(self._turns) >= self._requests
        much = self._tokens is not None and bool(self._turns) and used + tokens > self._tokens
        if many or much:
            wait = max(wait, self._turns[0].at + _WINDOW - now)
        return wait
