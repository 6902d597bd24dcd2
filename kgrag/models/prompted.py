"""Tasks of a language model: a prompt with values and passages, and the form of its reply."""

import json
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from kgrag.models.chat import ChatModel, Message, Reply
from kgrag.models.prompts import Prompt, load_prompt
from kgrag.runtime import limits
from kgrag.values.errors import ModelError, TooLongError
from kgrag.values.events import Called, Event
from kgrag.values.results import Item, Passage, Summary, Usage

_TAGS = "think|thinking|thought|thoughts|reasoning|reflection"
_THOUGHT = re.compile(
    rf"""\A\s*<({_TAGS})>.*?(?:</\1>|\Z)
    |\A(?:(?!<(?:{_TAGS})>).)*?(?:^[ \t]*</({_TAGS})>|(?<=[.!?…。"')])</({_TAGS})>(?=[ \t]*\n))
    |\A\s*(?:<\|.*?)?<\|channel\|>final<\|message\|>""",
    re.DOTALL | re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""A thought at the beginning: between tags; up to a closing tag at the start or end of a line, if the prompt has the
opening one; or up to the last channel. Tags inside an answer are part of it."""
_PREAMBLE = re.compile(
    r"""\A\W*(?:
        (?:sure|certainly|of\ course|absolutely|okay|ok|alright|gerne|natürlich|bien\ sûr|claro)[!.,:]
        |(?:here\ (?:is|are)|here's|this\ is|below\ is|hier\ ist|voici|aquí\ está)\b[^\n:]{0,80}:
        |(?:so,?\ )?(?:the\ )?(?:next|rewritten|following|new)\ (?:question|query|sentence)(?:\ is)?\s*\**\s*:
        )\**\s*(?=\S)""",
    re.IGNORECASE | re.VERBOSE,
)
_QUOTES = {'"': '"', "“": "”", "«": "»", "„": "“", "`": "`"}
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n?(.*?)(?:```(?!\w)|\Z)", re.DOTALL)
_START = re.compile(r"""\{(?=\s*(?:["'“„}/]|\w+\s*:))|\[(?=\s*[\[{"'“„\]/])""")
_BRACKETS = re.compile(r"""\\.|["{}\[\]]""", re.DOTALL)
_BY_NAME = ("entities", "named_entities")
"""Keys whose value may be an object with names as keys."""
_DECODER = json.JSONDecoder(strict=False)


def plain(text: str) -> str:
    """Return a reply without the leading thoughts of a reasoning model."""
    return _THOUGHT.sub("", text, count=1).strip()


def spoken(text: str) -> str:
    """Return a reply without thoughts, enclosing quotation marks and a preamble such as "Sure! Here it is:"."""
    reply = plain(text)
    for _ in range(3):  # "Sure! Here it is: Next question: ..."
        reply = _PREAMBLE.sub("", reply, count=1).strip()
    if len(reply) > 1 and _QUOTES.get(reply[0]) == reply[-1] and not set(reply[1:-1]) & {reply[0], reply[-1]}:
        reply = reply[1:-1].strip()
    return reply


def json_in(text: str) -> Iterator[Any]:
    """Yield the objects and lists of JSON in a reply, the likeliest first; keys are in lower case.

    Reads JSON in a fence or between words, with single quotes, comments and trailing commas. Of truncated JSON it reads
    the complete part. Raises ValueError for a reply without JSON.
    """
    reply = plain(text)
    if not reply:
        raise ValueError("it is empty")
    if reply.startswith('"'):  # the JSON as a string of JSON
        with suppress(ValueError):
            reply = str(json.loads(reply))
    fenced = [] if _START.match(reply) else [match[1] for match in _FENCE.finditer(reply)]
    values = [value for part in (*fenced, reply) for value in _values(part)]
    if not values:
        raise ValueError("there is no JSON in it")
    for value in sorted(values, key=lambda value: not isinstance(value, dict)):
        lowered = _lowered(value)
        yield lowered
        while isinstance(lowered, dict | list) and len(lowered) == 1:  # an object around the object, a list of one
            (lowered,) = lowered.values() if isinstance(lowered, dict) else lowered
            yield lowered


def _values(reply: str) -> Iterator[Any]:
    at = 0
    while start := _START.search(reply, at):
        try:
            value, at = _DECODER.raw_decode(reply, start.start())
        except (ValueError, RecursionError):
            at = _end(reply, start.start())
            yield from _repaired(reply[start.start() : at])
            continue
        yield value


def _end(reply: str, start: int) -> int:
    """Return the end of a damaged object or list if another one follows, or else the end of the text.

    json_repair would return only the last of several.
    """
    closing = {"{": "}", "[": "]"}[reply[start]]
    depth, quoted = 0, False
    for match in _BRACKETS.finditer(reply, start):
        sign = match[0]
        if sign == '"':
            quoted = not quoted
        elif not quoted and len(sign) == 1:
            depth = depth + 1 if sign in "{[" else depth - 1
            if not depth and sign == closing:
                return match.end() if _START.search(reply, match.end()) else len(reply)
            depth = max(depth, 1)
    return len(reply)


def _repaired(part: str) -> Iterator[Any]:
    """Yield a repaired object or list, up to the end of its last complete part."""
    import json_repair

    end = max(part.rfind("}"), part.rfind("]")) + 1
    try:
        value = json_repair.loads(part[:end], skip_json_loads=True) if end else None
    except (ValueError, RecursionError):
        return
    if part.startswith("{") and isinstance(value, list):  # text after the object was parsed as JSON
        value = next((item for item in value if isinstance(item, dict)), None)
    if isinstance(value, dict | list) and value:
        yield value


def _lowered(value: Any) -> Any:
    """Return the value with its keys in lower case, since models write "Triples", too. Keys that are names stay."""
    if isinstance(value, dict):
        lowered = {str(key).strip().lower(): item for key, item in value.items()}
        return {
            key: item if key in _BY_NAME and isinstance(item, dict) else _lowered(item) for key, item in lowered.items()
        }
    return [_lowered(item) for item in value] if isinstance(value, list) else value


_TAG = re.compile(r"[<＜﹤](?=\s*/?\s*(?:passage|text)\b)|<(?=\|)|(?<=\|)>", re.IGNORECASE)
"""Characters that could end the frame around a passage, or belong to a chat template."""
_NUMBER = re.compile(r"^([ \t]*)\[(\d+)\]", re.MULTILINE)
_NEXT = re.compile(r"(?<=</passage>)\n\n(?=\[\d+\]\n<passage>)")


def numbered(passages: Iterable[Passage | Item]) -> str:
    """Format passages for a model: numbered from 1, with titles and texts in frames that they cannot end.

    A path of several passages has one number, as has a summary.
    """
    return "\n\n".join(f"[{n}]\n{_as_text(item)}" for n, item in enumerate(passages, 1))


def framed(text: str) -> str:
    """Return a harmless text between <passage> and </passage>, whose content the prompts call data."""
    return f"<passage>\n{text}\n</passage>"


def harmless(text: str) -> str:
    """Break up the marks in a text that end its frame, begin another passage, or belong to a chat template.

    The text stays readable.
    """
    return _NUMBER.sub(r"\1(\2)", _TAG.sub("‹", text))


def titled(*titles: str) -> str:
    """Format titles of a document for a model: harmless, and on one line."""
    return harmless(": ".join(" ".join(title.split()) for title in titles if title))


def passages_in(text: str) -> list[str]:
    """Return the passages of a text by `numbered`, each with its number; text before the first is part of it."""
    return _NEXT.split(text)


def fewer(text: str, letters: int) -> str:
    """Omit the last passages, at least one, until the text is so many letters shorter; empty if there is only one."""
    passages = passages_in(text)
    if len(passages) == 1:
        return ""
    letters -= len(passages.pop()) + 2
    while len(passages) > 1 and letters > 0:
        letters -= len(passages.pop()) + 2
    return "\n\n".join(passages)


def _as_text(item: Passage | Item) -> str:
    path = [item] if isinstance(item, Passage | Summary) else item
    return "\n".join(framed(f"{_heading(p)}{harmless(p.text)}") for p in path)


def _heading(text: Passage | Summary) -> str:
    title = titled("Summary", text.title) if isinstance(text, Summary) else titled(text.title, text.section)
    return f"Title: {title}\n" if title else ""


Listener = Callable[[Event], None]
Shape = TypeVar("Shape", bound=BaseModel)

_LOG = logging.getLogger(__name__)
_SURELY = 0.95
"""Share of the context that is used, since tokens are estimated from characters."""
LONGER = "Raise KGRAG_CHAT__MAX_TOKENS, or switch off the model's thinking by KGRAG_CHAT__EXTRA_BODY."
"""The remedy for replies that reached their limit."""
MOST_FACTS = 100
"""Maximum facts of a reply; a model that repeats itself gives more."""
_CUT = "it was cut off because it grew too long"


@dataclass(frozen=True, slots=True)
class PromptedModel:
    """A model with its prompts. `listener` receives every call, for the usage by task."""

    model: ChatModel
    prompts: Path | None = None
    listener: Listener | None = None

    def with_listener(self, listener: Listener | None) -> Self:
        """Return the same model with another listener; None returns it unchanged."""
        return self if listener is None else replace(self, listener=listener)

    def prompt(self, name: str) -> Prompt:
        """Return a prompt by its name: the user's own, if there is one."""
        return load_prompt(name, self.prompts)

    def text(
        self,
        task: str,
        *,
        prompt: str | None = None,
        on_text: Callable[[str], None] | None = None,
        picture: str = "",
        whole: bool = False,
        **values: str,
    ) -> str:
        """Return the model's text, without thoughts and preamble. Raises ModelError, also for an empty reply.

        `on_text` is called with the whole text so far whenever it grows. `picture`: a data URL to send, too. `whole`: a
        reply that was cut off is an error.
        """
        messages, reply = self._first(
            prompt or task, values, task=task, picture=picture, on_text=_unless_thinking(on_text)
        )
        text = spoken(reply.text)
        if not text:
            reply = self.chat(messages, task=task, on_text=_unless_thinking(on_text), fresh=True)
            text = spoken(reply.text)
        if not text:
            raise ModelError(
                f"The model {reply.model!r} replied nothing to {task!r}.", LONGER if reply.cut else "Try another model."
            )
        if whole and reply.cut:
            raise ModelError(f"The reply of the model {reply.model!r} to {task!r} is not whole: {_CUT}.", LONGER)
        return text

    def structured(self, task: str, shape: type[Shape], *, prompt: str | None = None, **values: str) -> Shape:
        """Return the reply of the model as an object of a shape; an invalid one is requested once more.

        Raises ModelError if the second reply is invalid, too.
        """
        schema = reply_schema(shape)
        messages, reply = self._first(prompt or task, values, task=task, json=schema)
        result, problem = shaped(reply, shape)
        if result is not None:
            return result
        repair = f"This cannot be used: {problem}. Answer again, with nothing but the JSON object that was asked for."
        turn = [Message("assistant", reply.text)] if reply.text.strip() else []
        messages = [*messages, *turn, Message("user", repair)]
        again = self.chat(messages, task=task, json=schema)
        result, problem = shaped(again, shape)
        if result is None and again.usage.cached:
            again = self.chat(messages, task=task, json=schema, fresh=True)  # a failure of an earlier run is not final
            result, problem = shaped(again, shape)
        if result is None:
            raise ModelError(
                f"The model {again.model!r} gave no usable JSON for {task!r}, twice: {problem}.",
                LONGER
                if again.cut
                else "Try another model for this task, for example KGRAG_CHAT__MODELS='{\"" + task + '": "MODEL"}\'.',
            )
        return result

    def _first(
        self, prompt: str, values: dict[str, str], *, picture: str = "", **options: Any
    ) -> tuple[list[Message], Reply]:
        """Return the filled-in prompt and its first reply; a short context gets fewer passages.

        The last ones are omitted, which rank lowest.
        """
        while True:
            messages = self.prompt(prompt).messages(**values)
            messages[-1] = replace(messages[-1], picture=picture)
            try:
                return messages, self.chat(messages, **options)
            except TooLongError as error:
                size = sum(len(message.content) for message in messages)
                passages = fewer(values.get("passages", ""), round(size * (1 - error.share * _SURELY)))
                if not passages:
                    raise
                _LOG.warning(
                    "%s: of %d passages %d fit into the context of %r",
                    *(options["task"], len(passages_in(values["passages"])), len(passages_in(passages))),
                    self.model.name(options["task"]),
                )
                values = {**values, "passages": passages}

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
        self._tell(task, reply.model, reply.usage, started, cut=reply.cut)
        return reply

    def _tell(self, task: str, model: str, usage: Usage, started: float, *, cut: bool = False) -> None:
        limits.spend(usage.cost)
        if self.listener is not None:
            seconds = time.perf_counter() - started
            self.listener(Called(task=task, model=model, usage=usage, seconds=seconds, cut=cut))


def reply_schema(shape: type[BaseModel]) -> Mapping[str, Any]:
    """Return the JSON schema of the replies of a shape: its `REPLY`, or all its fields as required."""
    own: Mapping[str, Any] | None = getattr(shape, "REPLY", None)
    if own is not None:
        return own
    fields = shape.model_json_schema()["properties"]
    names = ("type", "enum", "anyOf")
    return object_schema({name: {key: f[key] for key in f if key in names} for name, f in fields.items()})


def object_schema(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON schema of an object with these properties, each required."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _unless_thinking(on_text: Callable[[str], None] | None) -> Callable[[str], None] | None:
    if on_text is None:
        return None

    def heard(text: str) -> None:
        reply = spoken(text)
        if reply and not "<thinking>".startswith(reply.split()[0].lower()):
            on_text(reply)

    return heard


def shaped(reply: Reply, shape: type[Shape]) -> tuple[Shape | None, str]:
    """Return the first object of a reply that has the shape, or None and the error of the first object.

    The context of the shape's validators tells whether the reply was `cut` off. A shape with `WHOLE`, whose texts go to
    the graph, is not read from such a reply.
    """
    problem = ""
    if reply.cut and getattr(shape, "WHOLE", False):
        return None, _CUT
    try:
        for value in json_in(reply.text):
            try:
                result = shape.model_validate(value, context={"cut": reply.cut})
            except ValidationError as error:
                problem = problem or _complaint(error)
            else:
                if reply.cut:
                    _LOG.warning("A reply of %r was cut off; its complete items are used", reply.model)
                return result, ""
    except (ValueError, RecursionError) as error:
        problem = str(error)
    return None, _CUT if reply.cut else problem


def _complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
