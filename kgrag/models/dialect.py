"""What a server takes of the chat protocol: learnt from what it refuses, so that any OpenAI-compatible server works."""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

_LOG = logging.getLogger(__name__)

LIMITS = ("max_tokens", "max_completion_tokens")
_FORMATS = ("json_schema", "json_object")
_FORMAT = re.compile(r"response.?format|json|schema|structured|guided|grammar", re.IGNORECASE)
_FORMAT_NAME = re.compile(r"response_format|json_schema|json_object")
_ROLES = re.compile(
    r"system.{0,20}(role|message|prompt|instruction)|roles?\b.{0,40}(system|alternat|user)", re.IGNORECASE
)
_LONG = re.compile(
    r"context.{0,20}(length|window|size)|too (long|large|big|many tokens)|(at most|maximum).{0,30}\btokens",
    re.IGNORECASE,
)
_CONTEXT = re.compile(r"n_ctx\W+(\d+)|context (?:length|window|size)(?: is| of)?\D{0,3}(\d+)", re.IGNORECASE)
_TO_READ = re.compile(
    r"n_prompt_tokens\W+(\d+)|(\d+)(?: tokens)? in (?:the|your) (?:messages|prompt|input)|(\d+) input tokens"
    r"|requested tokens \((\d+)\)|at least (\d+) input tokens",
    re.IGNORECASE,
)
"""How long a context is, and how much of it a request takes, as llama.cpp, llama-cpp-python, vLLM and OpenAI say it."""
_FIXED = ("model", "messages")
_OWN = (*LIMITS, *_FORMATS, "schema", "temperature", "stream", "stream_options", "roles")
_LEAST = 128
"""Tokens of a reply that are asked for at least where a model's context is short."""
_ROOM = 512
"""Tokens of a reply that there is room for where less is read."""


class Dialect:
    """What one model of a server does not take. Safe to share between threads."""

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def form(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request in the server's dialect."""
        sent = dict(request)
        if "roles" in self._refused:
            sent["messages"] = _alternating(request["messages"])
        mode = (sent.get("response_format") or {}).get("type")
        if mode == "json_schema" and mode in self._refused:
            schema, mode = request["response_format"]["json_schema"]["schema"], "json_object"
            beside = {} if "schema" in self._refused else {"schema": schema}  # llama-cpp-python, Together, Fireworks
            sent["response_format"] = {"type": mode, **beside}
        if mode in self._refused:
            del sent["response_format"]
        for name, other in (LIMITS, LIMITS[::-1]):
            if name in self._refused and name in sent:
                value = sent.pop(name)
                if other not in self._refused:
                    sent[other] = value
        if "stream" in self._refused:
            sent.pop("stream_options", None)
        return {name: value for name, value in sent.items() if name in LIMITS or name not in self._refused}

    def learn(self, body: str, sent: Mapping[str, Any], *, limited: bool, sure: bool = True) -> bool:
        """Return whether a refusal names something that the request can do without, which the next ones then leave out.

        `body`: what the server said; `sent`: the request in the form that it had; `limited`: the length of replies must
        be limited, under one name or the other, since a budget depends on it. Unless it is `sure` that this is a
        refusal, and no failure of another kind, the parameter must be called by its name.
        """
        name = _named(body, sent, sure)
        if name is None or (name in LIMITS and _LONG.search(body)):
            return False
        if limited and {name, *self._refused}.issuperset(LIMITS):
            return False
        if name not in self._refused:
            level = logging.INFO if name in _OWN else logging.WARNING  # what the user set is missed
            _LOG.log(level, "%s does not take %s; it is left out or renamed from now on", sent["model"], name)
        self._refused.add(name)
        return True

    def json_form(self, mode: str) -> str:
        """Return the parameters that request a reply in JSON, where `mode` is the intended one."""
        if mode == "json_schema" and mode in self._refused:
            mode = "json_object" if "schema" in self._refused else "json_object and a schema"
        return "the prompt alone" if mode == "none" or mode.split()[0] in self._refused else mode

    def give_up(self, name: str) -> None:
        """Do without a parameter from now on."""
        self._refused.add(name)


def shorter(body: str, sent: Mapping[str, Any]) -> int | None:
    """Return fewer tokens for a reply, where the server refuses a request as too long; None where that cannot help."""
    limit = next((sent[name] for name in LIMITS if name in sent), 0)
    if not _LONG.search(body):
        return None
    context, to_read = _number(_CONTEXT, body), _number(_TO_READ, body)
    fewer = context - to_read if context and to_read else limit // 2
    return fewer if _LEAST <= fewer < limit else None


def share_that_fits(body: str) -> tuple[float, int] | None:
    """Return the share of a request refused as too long that fits, with room for a reply.

    None: it is not that.

    The second is how many tokens the context has, 0 where the server does not say.
    """
    if not _LONG.search(body):
        return None
    context, to_read = _number(_CONTEXT, body), _number(_TO_READ, body)
    return (max(0.0, context - _ROOM) / to_read if context and to_read else 0.5), context


def _number(pattern: re.Pattern[str], body: str) -> int:
    found = pattern.search(body)
    return int(next(filter(None, found.groups()))) if found else 0


def _named(body: str, sent: Mapping[str, Any], sure: bool) -> str | None:
    """Return the parameter that a refusal names: in its field for that, else first in its text."""
    fixed, form = (_FIXED, _FORMAT) if sure else ((*_FIXED, "stream"), _FORMAT_NAME)
    for text in (*_places(body), body):
        found: list[tuple[int, str]] = []
        for name in sent:
            if name not in fixed and name != "response_format" and (at := re.search(rf"\b{re.escape(name)}\b", text)):
                found.append((at.start(), name))
        if "response_format" in sent and (at := form.search(text)):
            beside = "schema" in sent["response_format"]
            found.append((at.start(), "schema" if beside else sent["response_format"]["type"]))
        if "stream" in sent and (at := re.search(r"\bstreaming\b", text, re.IGNORECASE)):
            found.append((at.start(), "stream"))
        if _alternating(sent["messages"]) != sent["messages"] and (at := _ROLES.search(text)):
            found.append((at.start(), "roles"))
        if found:
            return min(found)[1]
    return None


def _places(body: str) -> list[str]:
    """Return the parameters that an error's own fields name: `param` (OpenAI), `loc` of each `detail` (FastAPI)."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return []
    found = []
    error = value.get("error") if isinstance(value, dict) else None
    if isinstance(error, dict) and isinstance(error.get("param"), str):
        found.append(error["param"])
    details = value.get("detail") if isinstance(value, dict) else None
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and isinstance(detail.get("loc"), list):
            found.append(" ".join(map(str, detail["loc"])))
    return found


def _alternating(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the messages without a system role, and never two of a role in a row."""
    roles = ({**m, "role": "user" if m["role"] == "system" else m["role"]} for m in messages)
    return [
        {"role": role, "content": "\n\n".join(m["content"] for m in together)}
        for role, together in groupby(roles, key=lambda m: m["role"])
    ]
