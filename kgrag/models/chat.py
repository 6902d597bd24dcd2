"""The contract of language models: messages in, a reply out. What it costs is counted by task.

A task is what a model is asked to do (extract, read, reason, rewrite, answer, ...): models are chosen, and prompts
and usage kept, by task.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from kgrag.types import Usage


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered; `cut`: whether it ended because it grew too long."""

    text: str
    model: str
    usage: Usage
    cut: bool = False


class ChatModel(Protocol):
    """Anything that answers messages. Safe to share between threads."""

    def chat(
        self,
        messages: Sequence[Message],
        *,
        task: str,
        json: bool = False,
        on_text: Callable[[str], None] | None = None,
        fresh: bool = False,
    ) -> Reply:
        """The reply to messages; with `json` the model is told to answer with a JSON object.

        `on_text` is called with each piece of the reply as it comes in. `fresh`: not from the cache. Raises ModelError
        when there is no reply after all retries, BudgetError when the call could cross the budget.
        """
        ...

    def name(self, task: str) -> str:
        """The model that answers a task."""
        ...
