"""The models that the collections of a client share: embedders by their names, and the language model."""

import threading

from kgrag.models.embed import Embedder, load_embedder
from kgrag.models.openai_chat import OpenAIChat, load_chat
from kgrag.models.tasks import Tasks
from kgrag.settings import Settings


class Models:
    """Models of the settings, loaded when first asked for. Safe to share between threads; close it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedders: dict[str, Embedder] = {}
        self._chat: OpenAIChat | None = None
        self._tasks: Tasks | None = None
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the connections to the language model."""
        if self._chat is not None:
            self._chat.close()

    def tasks(self) -> Tasks | None:
        """The language model with its prompts; None when none is configured."""
        if self._settings.chat.model is None:
            return None
        with self._lock:
            if self._tasks is None:
                self._chat = load_chat(self._settings)
                chat = self._settings.chat
                self._tasks = Tasks(self._chat, chat.prompts, max_facts=chat.max_facts)
            return self._tasks

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names of the embedders that were asked for."""
        return tuple(self._embedders)

    def embedder(self, embedder: str | Embedder | None = None) -> Embedder:
        """An embedder by its name, by default that of the settings; loaded once, and one that is given is kept."""
        with self._lock:
            if embedder is not None and not isinstance(embedder, str):
                self._embedders[embedder.name] = embedder
                return embedder
            name = embedder or self._settings.embedder
            if name not in self._embedders:
                self._embedders[name] = load_embedder(name, self._settings.embedding)
            return self._embedders[name]
