"""What a model means, out of a reply as models really write it: thoughts, preambles and damaged JSON around it."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

_TAGS = "think|thinking|thought|thoughts|reasoning|reflection"
_THOUGHT = re.compile(
    rf"""\A\s*<({_TAGS})>.*?(?:</\1>|\Z)
    |\A(?:(?!<(?:{_TAGS})>).)*?(?:^[ \t]*</({_TAGS})>|(?<=[.!?…。"')])</({_TAGS})>(?=[ \t]*\n))
    |\A\s*(?:<\|.*?)?<\|channel\|>final<\|message\|>""",
    re.DOTALL | re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""A thought at the beginning: between tags; up to a closing tag that begins or ends a line, where the opening one is in
the prompt; or up to the last channel. Tags that an answer speaks of are part of it."""
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
"""Keys of what may be an object whose keys are names."""
_DECODER = json.JSONDecoder(strict=False)


def plain(text: str) -> str:
    """Return a reply without the thoughts of a thinking model before it."""
    return _THOUGHT.sub("", text, count=1).strip()


def spoken(text: str) -> str:
    """Return a reply without thoughts, quotation marks around it, and a preamble such as "Sure! Here it is:"."""
    said = plain(text)
    for _ in range(3):  # "Sure! Here it is: Next question: ..."
        said = _PREAMBLE.sub("", said, count=1).strip()
    if len(said) > 1 and _QUOTES.get(said[0]) == said[-1] and not set(said[1:-1]) & {said[0], said[-1]}:
        said = said[1:-1].strip()
    return said


def json_in(text: str) -> Iterator[Any]:
    """Yield the objects and lists of JSON in a reply, the likeliest first; keys are in lower case.

    They may stand in a fence or between words, in single quotes, with comments and trailing commas; of one that was cut
    off there is what is whole. Raises ValueError when there is none.
    """
    said = plain(text)
    if not said:
        raise ValueError("it is empty")
    if said.startswith('"'):  # the JSON as a string of JSON
        with suppress(ValueError):
            said = str(json.loads(said))
    fenced = [] if _START.match(said) else [match[1] for match in _FENCE.finditer(said)]
    found = [value for part in (*fenced, said) for value in _values(part)]
    if not found:
        raise ValueError("there is no JSON in it")
    for value in sorted(found, key=lambda value: not isinstance(value, dict)):
        lowered = _lowered(value)
        yield lowered
        while isinstance(lowered, dict | list) and len(lowered) == 1:  # an object around the object, a list of one
            (lowered,) = lowered.values() if isinstance(lowered, dict) else lowered
            yield lowered


def _values(said: str) -> Iterator[Any]:
    at = 0
    while start := _START.search(said, at):
        try:
            value, at = _DECODER.raw_decode(said, start.start())
        except (ValueError, RecursionError):
            at = _end(said, start.start())
            yield from _repaired(said[start.start() : at])
            continue
        yield value


def _end(said: str, start: int) -> int:
    """Return the end of a damaged object or list, if another one follows it; else the end of the text.

    Of several in one text json_repair gives the last.
    """
    closing = {"{": "}", "[": "]"}[said[start]]
    depth, quoted = 0, False
    for match in _BRACKETS.finditer(said, start):
        sign = match[0]
        if sign == '"':
            quoted = not quoted
        elif not quoted and len(sign) == 1:
            depth = depth + 1 if sign in "{[" else depth - 1
            if not depth and sign == closing:
                return match.end() if _START.search(said, match.end()) else len(said)
            depth = max(depth, 1)
    return len(said)


def _repaired(said: str) -> Iterator[Any]:
    """Yield a damaged object or list, up to the end of its last complete part."""
    import json_repair

    end = max(said.rfind("}"), said.rfind("]")) + 1
    try:
        value = json_repair.loads(said[:end], skip_json_loads=True) if end else None
    except (ValueError, RecursionError):
        return
    if said.startswith("{") and isinstance(value, list):  # what stood after it was taken for JSON, too
        value = next((item for item in value if isinstance(item, dict)), None)
    if isinstance(value, dict | list) and value:
        yield value


def _lowered(value: Any) -> Any:
    """Return the value with all keys in lower case, but for those that are names: models write "Triples" as well."""
    if isinstance(value, dict):
        lowered = {str(key).strip().lower(): item for key, item in value.items()}
        return {
            key: item if key in _BY_NAME and isinstance(item, dict) else _lowered(item) for key, item in lowered.items()
        }
    return [_lowered(item) for item in value] if isinstance(value, list) else value
