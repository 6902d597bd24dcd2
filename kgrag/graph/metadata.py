"""The metadata of a document as properties of its node: what filters look at as meta_KEY, the rest as JSON."""

import json
from collections.abc import Mapping
from typing import Any

_PREFIX = "meta_"
_SCALAR = str | bool | int | float


def to_properties(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Single values, and lists of one type, as they are; a list of several types as texts, and in the JSON as it is."""
    properties: dict[str, Any] = {}
    rest = {}
    for key, value in metadata.items():
        listed = list(value) if isinstance(value, list | tuple) else []
        types = set(map(type, listed))
        if isinstance(value, _SCALAR) or (listed and all(isinstance(one, _SCALAR) for one in listed)):
            properties[_PREFIX + key] = list(map(as_text, listed)) if len(types) > 1 else listed or value
        if value is not None and (_PREFIX + key not in properties or len(types) > 1):
            rest[key] = value
    if rest:
        properties["metadata"] = json.dumps(rest, ensure_ascii=False, sort_keys=True, default=str)
    return properties


def from_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that the properties of a Document node hold."""
    single = {key.removeprefix(_PREFIX): value for key, value in properties.items() if key.startswith(_PREFIX)}
    rest: dict[str, Any] = json.loads(properties.get("metadata") or "{}")
    return single | rest


def as_text(value: object) -> str:
    """A value as Cypher's toString() writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
