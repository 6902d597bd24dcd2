"""Front matter of Markdown files: YAML's scalars and lists between `---`, or TOML between `+++`."""

import datetime as dt
import json
import re
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from kgrag.loaders.base import clean, clean_value, one_line

_YAML = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_STRING = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'"
_QUOTED = re.compile(rf"({_STRING})(?:\s+#.*)?")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|.)")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_FLOW = re.compile(r"\[(.*)\](?:\s+#.*)?")
_FLOW_MAP = re.compile(r"\{(.*)\}(?:\s+#.*)?")
_KEY = re.compile(rf"({_STRING}|[\w-]+):(?=\s|$)")
_MAX_DEPTH = 20  # nesting of lists and maps
_FLOW_ITEM = re.compile(r"\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^,\"'\[\]{}][^,\[\]{}]*)\s*(?:,|$)")
_BLOCK = re.compile(r"[|>][-+0-9]*(?:\s+#.*)?")
_BREAKS = re.compile(r"\n(\n*)")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the values of front matter, and the text after it.

    Values that parsing as a number would change, such as 1.10, stay strings.
    """
    if match := _TOML.match(text):
        try:
            values = tomllib.loads(match[1], parse_float=_number)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            return {}, text
        return {one_line(key): _plain(value) for key, value in values.items()}, text[match.end() :]
    match = _YAML.match(text)
    metadata = None if match is None else _yaml(match[1].splitlines())
    return ({}, text) if match is None or metadata is None else (metadata, text[match.end() :])


def _yaml(lines: Sequence[str], depth: int = 0) -> dict[str, Any] | None:
    """Return the values of YAML; None for text between two thematic breaks."""
    metadata: dict[str, Any] = {}
    for key, rest, inner in _entries(lines):
        if key is None:
            return None
        if rest and _BLOCK.fullmatch(rest):
            text = textwrap.dedent("\n".join(inner))
            value: Any = clean(text if rest[0] == "|" else _BREAKS.sub(lambda match: match[1] or " ", text)).strip()
        elif any(inner) and (not rest or rest.startswith("#")):
            value = _nested([line for line in inner if line], depth + 1)
        else:
            value = _value(_joined(rest, inner))
        if value is not None and value not in ([], {}):
            metadata[one_line(key)] = value
    return metadata


def _entries(lines: Sequence[str]) -> Iterator[tuple[str | None, str, list[str]]]:
    """Yield each key with its value, and the lines that belong to it; a key of None for other text."""
    key, rest, inner = "", "", list[str]()
    for line in lines:
        if line.startswith("#"):
            continue
        if not line.strip() or line.startswith((" ", "\t", "- ", "]", "}")):
            inner.append(line.rstrip())
            continue
        if key:
            yield key, rest, inner
        quoted = _KEY.match(line) if line[0] in "\"'" else None
        key, colon, rest = (_value(quoted[1]), ":", line[quoted.end() :]) if quoted else line.partition(":")
        if not colon or not key.strip() or rest[:1].strip():
            yield None, "", []
            return
        rest, inner = rest.strip(), []
    if key:
        yield key, rest, inner


def _nested(lines: Sequence[str], depth: int) -> Any:
    """Return the list, map or scalar on indented lines, or None if it is unreadable."""
    if depth > _MAX_DEPTH:
        return None
    if all(line.lstrip().startswith("- ") for line in lines):
        return [item for line in lines if (item := _item([line.lstrip()[2:]], depth)) is not None]
    lines = textwrap.dedent("\n".join(line.expandtabs() for line in lines)).split("\n")
    text, listed = _joined("", lines), lines[0].startswith("- ")
    if text[0] in "[{" or _QUOTED.fullmatch(text) or not (listed or re.search(r":(?:\s|$)", lines[0])):
        return _value(text)
    if not listed:
        return _yaml(lines, depth)
    items: list[list[str]] = []
    for line in lines:
        if line.startswith("- "):
            items.append([])
        elif not line.startswith(" "):
            return None
        items[-1].append(line[2:])
    return [item for lines in items if (item := _item(lines, depth)) is not None]


def _item(lines: Sequence[str], depth: int) -> Any:
    """Return a list item from its lines; the first line has lost its marker."""
    if _KEY.match(lines[0].strip()):
        return _nested([lines[0].strip(), *lines[1:]], depth + 1)
    return _value(_joined("", lines))


def _joined(first: str, lines: Sequence[str]) -> str:
    """Join a value that continues over several lines."""
    return " ".join(filter(None, (first, *(line.strip() for line in lines))))


def _value(text: str) -> Any:
    """Return the scalar, or the list or map, written on one line."""
    if match := _FLOW.fullmatch(text):
        return _flow(match[1])
    if match := _FLOW_MAP.fullmatch(text):
        pairs = [str(item).partition(": ") for item in _flow(match[1]) or ()]
        return {one_line(key): scalar for key, _, rest in pairs if (scalar := _scalar(rest.strip())) is not None}
    return _scalar(text)


def _flow(text: str) -> list[Any] | None:
    """Return the items inside "[a, b]", or None if there are maps or lists among them."""
    items: list[Any] = []
    place = 0
    text = text.strip()
    while place < len(text):
        match = _FLOW_ITEM.match(text, place)
        if match is None or match.end() == place:
            return None
        value = _scalar(match[1].strip())
        if value is not None:
            items.append(value)
        place = match.end()
    return items


def _scalar(text: str) -> str | int | float | bool | None:
    """Return a YAML scalar, or None for null and for anything else."""
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        inner = quoted[1][1:-1]
        return clean(_unescaped(inner) if text[0] == '"' else inner.replace("''", "'"))
    text = text.split(" #")[0].rstrip()
    if not text or text[0] in "[{|>&*!#" or text.lower() in ("null", "~"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return _number(text) if _NUMBER.fullmatch(text) and len(text) < 400 else text


def _unescaped(text: str) -> str:
    """Return the text of a string in double quotes, with the escapes of JSON and \\xe9."""
    try:
        json_text = _ESCAPE.sub(lambda match: f"\\u00{match[1]}" if match[1] else match[0], text)
        return str(json.loads(f'"{json_text}"', strict=False))
    except ValueError:  # YAML has further escapes
        return re.sub(r"\\([\"\\])", r"\1", text)


def _number(text: str) -> str | int | float:
    """Return a number, or its text if a number would be written differently: 1.10, a version."""
    try:
        number: str | int | float = clean_value(json.loads(text))
    except ValueError:  # TOML has other number formats than JSON
        return text
    return number if str(number) == text else text


def _plain(value: Any) -> Any:
    """Return a TOML value as metadata."""
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {one_line(key): _plain(item) for key, item in value.items()}
    return clean_value(value)
