"""How many calls a server is sent at once: as many as the settings allow, and fewer where it cannot serve them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
        """From now on, for good: the server ends a reply when another request comes."""
        with self._changed:
            self._most = self._limit = 1

    def late(self, place: "Place") -> None:
        """A call was not answered in time."""
        with self._changed:
            if place.wave == self._wave:  # those that were under way together count once
                self._wave, self._limit, self._good = self._wave + 1, max(1, self._limit // 2), 0

    def good(self) -> None:
        """A call was answered."""
        with self._changed:
            self._good += 1
            if self._good >= self._limit and self._limit < self._most:
                self._limit, self._good = self._limit + 1, 0
                self._changed.notify_all()
