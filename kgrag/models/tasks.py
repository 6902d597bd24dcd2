"""What a language model is asked to do: a task is a prompt with values, and the form of the reply."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from kgrag.models.chat import ChatModel, Message, Reply
from kgrag.models.prompts import Prompt, load_prompt
from kgrag.models.reply_text import json_in, spoken
from kgrag.models.shown import fewer, passages_in
from kgrag.runtime import limits
from kgrag.values.errors import ModelError, TooLongError
from kgrag.values.events import Called, Event
from kgrag.values.results import Usage

Listener = Callable[[Event], None]
Shape = TypeVar("Shape", bound=BaseModel)

_LOG = logging.getLogger(__name__)
_SURELY = 0.95
"""Part of what a context is said to have room for that is used: tokens are estimated by characters."""
LONGER = "Raise KGRAG_CHAT__MAX_TOKENS, or switch off the model's thinking by KGRAG_CHAT__EXTRA_BODY."
"""What to do about replies that were cut off because they grew too long."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """A model with its prompts. `listener` hears of every call, so that it can be counted where it belongs.

    `max_facts`: how many facts are taken from one reply.
    """

    model: ChatModel
    prompts: Path | None = None
    listener: Listener | None = None
    max_facts: int = 100

    def with_listener(self, listener: Listener | None) -> Self:
        """Return the same tasks with another listener; None: unchanged."""
        return self if listener is None else replace(self, listener=listener)

    def prompt(self, name: str) -> Prompt:
        """Return the prompt of that name; the user's own, if there is one."""
        return load_prompt(name, self.prompts)

    def text(
        self, task: str, *, prompt: str | None = None, on_text: Callable[[str], None] | None = None, **values: str
    ) -> str:
        """Return the model's text, without thoughts and preamble. Raises ModelError, also for an empty reply.

        `on_text` is called with all that there is of it whenever it grows.
        """
        messages, reply = self._first(prompt or task, values, task=task, on_text=_unless_thinking(on_text))
        said = spoken(reply.text)
        if not said:
            reply = self.chat(messages, task=task, on_text=_unless_thinking(on_text), fresh=True)
            said = spoken(reply.text)
        if not said:
            raise ModelError(
                f"The model {reply.model!r} replied nothing to {task!r}.",
                LONGER if reply.cut else "Try another model.",
            )
        return said

    def structured(self, task: str, shape: type[Shape], *, prompt: str | None = None, **values: str) -> Shape:
        """Return the model's reply as an object of a shape; an invalid one is requested once more.

        Raises ModelError when the second reply is none either.
        """
        schema = reply_schema(shape)
        messages, reply = self._first(prompt or task, values, task=task, json=schema)
        found, problem = shaped(reply, shape)
        if found is not None:
            return found
        repair = f"This cannot be used: {problem}. Answer again, with nothing but the JSON object that was asked for."
        said = [Message("assistant", reply.text)] if reply.text.strip() else []
        messages = [*messages, *said, Message("user", repair)]
        again = self.chat(messages, task=task, json=schema)
        found, problem = shaped(again, shape)
        if found is None and again.usage.cached:
            again = self.chat(messages, task=task, json=schema, fresh=True)  # an earlier run's failure is not final
            found, problem = shaped(again, shape)
        if found is None:
            raise ModelError(
                f"The model {again.model!r} gave no usable JSON for {task!r}, twice: {problem}.",
                LONGER
                if again.cut
                else "Try another model for this task, for example KGRAG_CHAT__MODELS='{\"" + task + '": "MODEL"}\'.',
            )
        return found

    def _first(self, prompt: str, values: dict[str, str], **options: Any) -> tuple[list[Message], Reply]:
        """Return a filled-in prompt, and the first reply to it, without passages that a short context has no room for.

        These are the last ones, which are the least of a ranking.
        """
        while True:
            messages = self.prompt(prompt).messages(**values)
            try:
                return messages, self.chat(messages, **options)
            except TooLongError as error:
                size = sum(len(message.content) for message in messages)
                shown = fewer(values.get("passages", ""), round(size * (1 - error.share * _SURELY)))
                if not shown:
                    raise
                _LOG.warning(
                    "%s: of %d passages %d fit into the context of %r",
                    *(options["task"], len(passages_in(values["passages"])), len(passages_in(shown))),
                    self.model.name(options["task"]),
                )
                values = {**values, "passages": shown}

    def chat(self, messages: list[Message], *, task: str, **options: Any) -> Reply:
        """Send messages within the limits of the call; `options` are those of ChatModel.chat."""
        limits.remaining()
        limits.check_budget()
        started = time.perf_counter()
        try:
            reply = self.model.chat(messages, task=task, **options)
        except ModelError as error:
            if any(error.lost):
                self._tell(task, self.model.name(task), Usage(0, 0, *error.lost), started)
            raise
        self._tell(task, reply.model, reply.usage, started)
        return reply

    def _tell(self, task: str, model: str, usage: Usage, started: float) -> None:
        limits.spend(usage.cost)
        if self.listener is not None:
            seconds = time.perf_counter() - started
            self.listener(Called(task=task, model=model, usage=usage, seconds=seconds))


def reply_schema(shape: type[BaseModel]) -> Mapping[str, Any]:
    """Return the JSON schema of the replies for a shape: its `REPLY`, or that of its fields, all of them required."""
    own: Mapping[str, Any] | None = getattr(shape, "REPLY", None)
    if own is not None:
        return own
    schema = shape.model_json_schema()
    return {
        "type": "object",
        "properties": {
            name: {key: value for key, value in field.items() if key in ("type", "enum", "anyOf")}
            for name, field in schema["properties"].items()
        },
        "required": list(schema["properties"]),
        "additionalProperties": False,
    }


def _unless_thinking(on_text: Callable[[str], None] | None) -> Callable[[str], None] | None:
    if on_text is None:
        return None

    def heard(text: str) -> None:
        said = spoken(text)
        if said and not "<thinking>".startswith(said.split()[0].lower()):
            on_text(said)

    return heard


def shaped(reply: Reply, shape: type[Shape]) -> tuple[Shape | None, str]:
    """Return the first object of a reply that has the shape, or None and the fault of the first object.

    The context of the validators of the shape says whether the reply was `cut` off.
    """
    problem = ""
    try:
        for value in json_in(reply.text):
            try:
                found = shape.model_validate(value, context={"cut": reply.cut})
            except ValidationError as error:
                problem = problem or _complaint(error)
            else:
                if reply.cut:
                    _LOG.warning("A reply of %r was cut off; what is whole of it is used", reply.model)
                return found, ""
    except (ValueError, RecursionError) as error:
        problem = str(error)
    return None, "it was cut off because it grew too long" if reply.cut else problem


def _complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
