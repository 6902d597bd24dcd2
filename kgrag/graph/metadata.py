"""The metadata of a document as properties of its node: what filters look at as meta_KEY, the rest as JSON."""

import json
from collections.abc import Mapping
from typing import Any

from kgrag.text.tokens import iso_moment

_PREFIX = "meta_"
_DATES = ("date", "published", "publication_date", "created")
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


def dated(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The property that says when a document was written, as the first of `_DATES` that is a date in ISO form does."""
    said = {key.casefold(): str(value) for key, value in metadata.items()}
    moment = next(filter(None, (iso_moment(said[key]) for key in _DATES if key in said)), None)
    if moment is None:
        return {}
    return {"dated": moment.replace(tzinfo=None, microsecond=0).isoformat().removesuffix("T00:00:00")}


def from_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that the properties of a Document node hold."""
    single = {key.removeprefix(_PREFIX): value for key, value in properties.items() if key.startswith(_PREFIX)}
    rest: dict[str, Any] = json.loads(properties.get("metadata") or "{}")
    return single | rest


def as_text(value: object) -> str:
    """A value as text: of truth values as Cypher writes them, of numbers as Python does."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
