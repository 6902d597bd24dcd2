"""An answer while it is being made: its events one by one, then the answer."""

import contextvars
import queue
import threading
from collections.abc import Callable, Iterator

from kgrag.models.tasks import Listener
from kgrag.runtime import limits
from kgrag.values.events import Answer, Event


class Stream:
    """Iterates over the events of a question as they happen; `answer` is there at the end.

    >>> stream = kg["notes"].ask("Who designed the Fram?", stream=True)
    >>> for event in stream:
    ...     print(event)
    >>> print(stream.answer.text)

    Closing it, or leaving the loop, cancels the question at its next step.
    """

    def __init__(
        self,
        ask: Callable[[Listener], Answer],
        deadline: float | None = None,
        budget: float | None = None,
        listener: Listener | None = None,
    ) -> None:
        self._ask = ask
        self._limits = (deadline, budget)
        self._listener = listener
        self._cancelled = threading.Event()
        self._answer: Answer | None = None

    @property
    def answer(self) -> Answer:
        """The answer; events that were not iterated over yet are passed over."""
        if self._answer is None:
            for _ in self:
                pass
        assert self._answer is not None
        return self._answer

    def __iter__(self) -> Iterator[Event]:
        """Yield the events; none once the answer is there.

        Raises the error that the question raises.
        """
        if self._answer is not None:
            return
        events: queue.Queue[Event | Answer | BaseException] = queue.Queue()

        def hear(event: Event) -> None:
            events.put(event)
            if self._listener is not None:
                self._listener(event)

        def work() -> None:
            try:
                with limits.limited(*self._limits, cancelled=self._cancelled):
                    events.put(self._ask(hear))
            except BaseException as error:  # raised where the events are iterated over
                events.put(error)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(work,), name="kgrag-ask", daemon=True).start()
        try:
            while True:
                item = events.get()
                if isinstance(item, Answer):
                    self._answer = item
                    return
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self._cancelled.set()

    def close(self) -> None:
        """Cancel the question at its next step."""
        self._cancelled.set()
