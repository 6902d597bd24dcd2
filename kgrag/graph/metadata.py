"""The metadata of a document as properties of its node: what filters look at as meta_KEY, the rest as JSON."""

import json
from collections.abc import Mapping
from typing import Any

from kgrag.text.tokens import iso_moment

_PREFIX = "meta_"
_DATES = ("date", "published", "publication_date", "created")
_SCALAR = str | bool | int | float


def to_properties(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return single values, and lists of one type, unchanged; a list of several types as texts, and as JSON."""
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
    """Return the property with a document's date: the first of `_DATES` that is a date in ISO form."""
    said = {key.casefold(): str(value) for key, value in metadata.items()}
    moment = next(filter(None, (iso_moment(said[key]) for key in _DATES if key in said)), None)
    if moment is None:
        return {}
    return {"dated": moment.replace(tzinfo=None, microsecond=0).isoformat().removesuffix("T00:00:00")}


def from_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata in the properties of a Document node."""
    single = {key.removeprefix(_PREFIX): value for key, value in properties.items() if key.startswith(_PREFIX)}
    rest: dict[str, Any] = json.loads(properties.get("metadata") or "{}")
    return single | rest


def as_text(value: object) -> str:
    """Return a value as text: truth values as in Cypher, numbers as in Python."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
