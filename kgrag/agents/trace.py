"""The trace of one question: its events by step, and the usage of the language model."""

from dataclasses import dataclass, field, replace

from kgrag.models.prompted import Listener
from kgrag.values.events import Called, Event
from kgrag.values.results import Usage


@dataclass(slots=True)
class Trace:
    """Collects events. `step` is the current step of the loop; `listener` receives every event as it happens."""

    listener: Listener | None = None
    step: int = 0
    events: list[Event] = field(default_factory=list)

    def add(self, event: Event) -> None:
        """Add an event to the current step and notify the listener."""
        placed = replace(event, step=self.step)
        if event.in_trace:
            self.events.append(placed)
        if self.listener is not None:
            self.listener(placed)

    def by_task(self) -> dict[str, Usage]:
        """Return task -> usage of its calls."""
        usages: dict[str, Usage] = {}
        for event in self.events:
            if isinstance(event, Called):
                usages[event.task] = usages.get(event.task, Usage()) + event.usage
        return usages
