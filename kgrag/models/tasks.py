"""What a language model is asked to do: a task is a prompt with values, and the form of the reply."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from kgrag import limits
from kgrag.errors import ModelError
from kgrag.events import Called, Event
from kgrag.models.chat import ChatModel, Message, Reply
from kgrag.models.prompts import Prompt, load_prompt

Listener = Callable[[Event], None]
Shape = TypeVar("Shape", bound=BaseModel)

_FENCE = re.compile(r"```(?:json)?\s*(?=[{[])", re.IGNORECASE)
_THINKING = re.compile(r"\A\s*<think>.*?(</think>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tasks:
    """A model with its prompts. `listener` hears of every call, so that it can be counted where it belongs."""

    model: ChatModel
    prompts: Path | None = None
    listener: Listener | None = None

    def with_listener(self, listener: Listener | None) -> Self:
        """The same, whose calls another listener hears of; None: as it is."""
        return self if listener is None else replace(self, listener=listener)

    def prompt(self, name: str) -> Prompt:
        """The prompt of that name; the user's own, if there is one."""
        return load_prompt(name, self.prompts)

    def text(
        self, task: str, *, prompt: str | None = None, on_text: Callable[[str], None] | None = None, **values: str
    ) -> str:
        """What the model says, without what it thought aloud before. Raises ModelError, also for an empty reply.

        `on_text` is called with all that there is of it whenever it grows.
        """
        messages = self.prompt(prompt or task).messages(**values)
        reply = self._chat(messages, task=task, on_text=_unless_thinking(on_text))
        said = plain(reply.text)
        if not said:
            said = plain(self._chat(messages, task=task, fresh=True).text)
        if not said:
            raise ModelError(f"The model {reply.model!r} replied nothing to {task!r}.", "Try another model.")
        return said

    def structured(self, task: str, shape: type[Shape], *, prompt: str | None = None, **values: str) -> Shape:
        """What the model says as an object of a shape; what is none is asked for once more.

        Raises ModelError when the second reply is none either.
        """
        messages = self.prompt(prompt or task).messages(**values)
        reply = self._chat(messages, task=task, json=True)
        try:
            return shape.model_validate(json_of(reply.text))
        except ValueError as error:
            problem = _complaint(error, reply)
        repair = f"This cannot be used: {problem}. Answer again, with nothing but the JSON object that was asked for."
        said = [Message("assistant", reply.text)] if reply.text.strip() else []
        messages = [*messages, *said, Message("user", repair)]
        again = self._chat(messages, task=task, json=True)
        if again.usage.cached and not _fits(again, shape):
            again = self._chat(messages, task=task, json=True, fresh=True)  # what failed in an earlier run is not final
        try:
            return shape.model_validate(json_of(again.text))
        except ValueError as error:
            raise ModelError(
                f"The model {again.model!r} gave no usable JSON for {task!r}, twice: {_complaint(error, again)}",
                "Try another model for this task, for example KGRAG_CHAT__MODELS='{\"" + task + '": "MODEL"}\'.',
            ) from error

    def _chat(self, messages: list[Message], *, task: str, **options: Any) -> Reply:
        limits.remaining()
        limits.check_budget()
        started = time.perf_counter()
        reply = self.model.chat(messages, task=task, **options)
        limits.spend(reply.usage.cost)
        if self.listener is not None:
            seconds = time.perf_counter() - started
            self.listener(Called(task=task, model=reply.model, usage=reply.usage, seconds=seconds))
        return reply


def plain(text: str) -> str:
    """A reply without what a thinking model says before it."""
    return _THINKING.sub("", text).strip()


def json_of(text: str) -> Any:
    """The JSON in a reply, which may stand in a fence or between words. Raises ValueError when there is none."""
    said = plain(text)
    fenced = None if said.startswith(("{", "[")) else _FENCE.search(said)
    if fenced:
        said = said[fenced.end() :]
    starts = [i for i in (said.find("{"), said.find("[")) if i >= 0]
    if not starts:
        raise ValueError("there is no JSON in it" if said else "it is empty")
    value, _ = json.JSONDecoder(strict=False).raw_decode(said[min(starts) :])
    return value


def _unless_thinking(on_text: Callable[[str], None] | None) -> Callable[[str], None] | None:
    if on_text is None:
        return None

    def heard(text: str) -> None:
        said = plain(text)
        if said and not "<think>".startswith(said):
            on_text(said)

    return heard


def _fits(reply: Reply, shape: type[BaseModel]) -> bool:
    try:
        shape.model_validate(json_of(reply.text))
    except ValueError:
        return False
    return True


def _complaint(error: ValueError, reply: Reply) -> str:
    if reply.cut:
        return "it was cut off because it grew too long"
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return f"{place}: {first['msg']}" if place else first["msg"]
    return str(error)
