"""The contract of language models: messages in, a reply out. What it costs is counted by task.

A task is what a model is asked to do (extract, read, reason, rewrite, answer, ...): models are chosen, and prompts
and usage kept, by task.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Usage


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered; `cut`: whether it ended because it grew too long; `served`: as the server calls the model.

    `served` is empty where the server does not say.
    """

    text: str
    model: str
    usage: Usage
    cut: bool = False
    served: str = field(default="", compare=False)


class ChatModel(Protocol):
    """Anything that answers messages. Safe to share between threads."""

    def chat(
        self,
        messages: Sequence[Message],
        *,
        task: str,
        json: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
        fresh: bool = False,
    ) -> Reply:
        """Send messages and return the reply; with `json`, a JSON schema, the reply is to be an object of it.

        `on_text` is called with all that there is of the reply whenever it grows; it begins again when the reply is
        interrupted and asked for again. `fresh`: not from the cache. Raises ModelError when there is no reply after all
        retries, BudgetError when the call could cross the budget.
        """
        ...

    def name(self, task: str) -> str:
        """Return the model that answers a task."""
        ...


def no_model() -> ConfigurationError:
    """Return the error for a call without a configured language model."""
    return ConfigurationError(
        "No language model is configured.",
        "Set KGRAG_CHAT__MODEL=gpt-4o-mini and OPENAI_API_KEY=..., or for a model of your own, such as Ollama's, "
        "KGRAG_CHAT__MODEL=qwen3:8b and KGRAG_CHAT__BASE_URL=http://localhost:11434/v1.",
    )
