"""Shorten values to replies of tools that fit into the context of a model."""

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from kgrag.graph.description import visible
from kgrag.graph.queries import Parameter, Query
from kgrag.values.forms import plain, schema
from kgrag.values.rows import Edge, Node, Path, Rows
from kgrag.wire import form

_LEAST = 200  # characters that each text keeps at least
_VALUE = 1000  # maximum characters of a value in a row
_OMITTED = frozenset(
    "query question why trace by_task ranking passages places content document ordinal metadata figures start end "
    "embedder dimension schema_version finished".split()
)
"""Fields that repeat the request, repeat another field at length, or hold details of the graph."""
_LISTS = ("hits", "citations")  # kept even if empty

Json = dict[str, Any]


def shortened(value: Any, characters: int, **more: Any) -> Json:
    """Return the JSON form of a value for a model, without empty fields and details and with its texts cut.

    `characters`: limit of all texts together; an object with a cut text has `cut`. `more`: keys to put first.
    """
    if isinstance(value, Rows):
        return _listed(value, characters)
    short: Json = _brief(plain(form(value)))
    holders = list(_holders(short.values())) or [short]
    room = (characters - (0 if holders[0] is short else len(short.get("text", "")))) // len(holders)
    for holder in holders:
        text = _cut(holder.get("text", ""), max(_LEAST, room))
        if text != holder.get("text", ""):
            holder |= {"text": text, "cut": True}
    return {**more, **short}


def reply_schema(kind: Any) -> Json:
    """Return the JSON schema of the results of `shortened` for a type: every field is optional."""
    reply: Json = _optional(schema(kind))
    parts = reply["$defs"]
    while unused := [name for name in parts if f'#/$defs/{name}"' not in json.dumps(reply)]:
        for name in unused:
            del parts[name]
    return reply


def open_parameters(query: Query) -> list[Parameter]:
    """Return the parameters of a saved query that the caller sets: without the collection and a vector of words."""
    return [p for p in query.parameters if p.name not in ("collection", "vector")]


def saved(name: str, query: Query) -> Json:
    """Return a saved query with its open parameters as "name: TYPE = default"; those without a default are required."""
    parameters = [
        f"{p.name}: {p.type}" if p.default is None else f"{p.name}: {p.type} = {p.default}"
        for p in open_parameters(query)
    ]
    return {"name": name, "purpose": query.purpose, "parameters": parameters}


def _brief(form: Any) -> Any:
    """Return a form without omitted and most empty fields, with rounded floats and documents instead of copies."""
    if isinstance(form, dict):
        fields = {key: _brief(item) for key, item in form.items() if key not in _OMITTED and key != "copies"}
        fields["copies"] = [copy["document"] for copy in form.get("copies", ())]
        return {key: item for key, item in fields.items() if key in _LISTS or item not in (None, "", [], {})}
    if isinstance(form, list):
        return [_brief(item) for item in form]
    return round(form, 4) if isinstance(form, float) else form


def _optional(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_optional(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {key: _optional(item) for key, item in schema.items() if key not in ("required", "description", "title")}
    if isinstance(fields := rest.get("properties"), dict):
        fields = {key: item for key, item in fields.items() if key not in _OMITTED}
        rest["properties"] = fields | ({"copies": {"type": "array"}} if "copies" in fields else {})
    return rest


def _holders(values: Any) -> Iterator[Json]:
    """Yield the objects with a text below a form."""
    for value in values:
        if isinstance(value, dict):
            if "text" in value:
                yield value
            yield from _holders(value.values())
        elif isinstance(value, list):
            yield from _holders(value)


def _listed(rows: Rows, characters: int) -> Json:
    """Return as many rows as fit, with long texts cut."""
    result: list[Json] = []
    left, cut = characters, rows.cut or ""
    for row in rows:
        values = {column: _value(value) for column, value in row.items()}
        left -= len(json.dumps(values, ensure_ascii=False))
        if left < 0 and result:
            cut = f"{len(result)} of {len(rows)} rows: more would be too long. Return less, or LIMIT and SKIP."
            break
        result.append(values)
    return {"columns": list(rows.columns), "rows": result, "cut": cut}


def _cut(text: str, characters: int) -> str:
    """Return the beginning of a text, cut between words, its lines unchanged."""
    if len(text) <= characters:
        return text
    head = text[: characters - 2]
    words = head.rsplit(maxsplit=1)
    return f"{words[0] if len(words) > 1 else head} …"


def _value(value: Any) -> Any:
    """Return a plain value of a row: nodes and edges as label and properties, without internal ones; long texts cut."""
    if isinstance(value, str):
        return _cut(value, _VALUE)
    if isinstance(value, Node):
        return {"labels": list(value.kinds), **_value(visible(value))}
    if isinstance(value, Edge):
        return {"type": value.type, **_value(visible(value))}
    if isinstance(value, Path):
        return [_value(part) for pair in zip_longest(value.nodes, value.edges) for part in pair if part is not None]
    if isinstance(value, Mapping):
        return {key: _value(item) for key, item in value.items()}
    return [_value(item) for item in value] if isinstance(value, list | tuple) else plain(value)
