"""Property values as text and back, without loss: what Neo4j can hold, in the types of its import tool's CSV headers.

Dates and times are ISO 8601 with the name of the zone in brackets, durations too, points as Cypher writes them.
"""

import base64
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytz  # type: ignore[import-untyped]
from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time

from kgrag.graph.schema import SLOTS
from kgrag.text.tokens import iso_moment

_PREFIX = "meta_"
_DATES = ("date", "published", "publication_date", "created")
_SCALAR = str | bool | int | float


def to_properties(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return single values, and lists of one type, unchanged; a list of several types as texts, and as JSON.

    Values of nested metadata have keys with points, such as "meta.author", by which filters reach them.
    """
    properties: dict[str, Any] = {}
    rest = {}
    for key, value in _flat(metadata):
        value = _plain(value)
        listed = list(map(_plain, value)) if isinstance(value, list | tuple) else []
        types = set(map(type, listed))
        if isinstance(value, _SCALAR) or (listed and all(isinstance(one, _SCALAR) for one in listed)):
            properties[_PREFIX + key] = list(map(as_text, listed)) if len(types) > 1 else listed or value
        if key in metadata and value is not None and (_PREFIX + key not in properties or len(types) > 1):
            rest[key] = value
    if rest:
        properties["metadata"] = json.dumps(rest, ensure_ascii=False, sort_keys=True, default=str)
    return properties


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python, and a day or a moment, such as a Timestamp of pandas, as text."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, datetime):
        return day_or_moment(value) if value == value else None  # NaT equals nothing
    return value.isoformat() if isinstance(value, date) else value


def _flat(metadata: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key with its value, and after a mapping its entries, with the keys that lead to them."""
    for key, value in metadata.items():
        yield f"{before}{key}", value
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")


def day_or_moment(time: datetime) -> str:
    """Return a day, or a moment to the second: in UTC if it has an offset, else as it stands."""
    with suppress(OverflowError):
        time = time.astimezone(UTC) if time.tzinfo is not None else time
    return time.replace(tzinfo=None, microsecond=0).isoformat().removesuffix("T00:00:00")


def dated(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the property with a document's date: the first of `_DATES` that is a date in ISO form."""
    values = {key.casefold(): str(value) for key, value in metadata.items()}
    moment = next(filter(None, (iso_moment(values[key]) for key in _DATES if key in values)), None)
    return {} if moment is None else {"dated": day_or_moment(moment)}


def from_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata in the properties of a Document node."""
    single = {key.removeprefix(_PREFIX): value for key, value in properties.items() if key.startswith(_PREFIX)}
    rest: dict[str, Any] = json.loads(properties.get("metadata") or "{}")
    nested = {key for key, _ in _flat(rest)} - rest.keys()
    return {key: value for key, value in single.items() if key not in nested} | rest


def as_text(value: object) -> str:
    """Return a value as text: truth values as in Cypher, numbers as in Python."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


VECTOR = "float[]"
JSON = "json"
_SYSTEMS: dict[str, tuple[type[Point], int]] = {
    "cartesian": (CartesianPoint, 2),
    "cartesian-3d": (CartesianPoint, 3),
    "wgs-84": (WGS84Point, 2),
    "wgs-84-3d": (WGS84Point, 3),
}
_PLAIN: dict[type, str] = {str: "string", bool: "boolean", int: "long", float: "double", bytes: "byte[]"}
_POINT = re.compile(r"\{x: (\S+), y: (\S+)(?:, z: (\S+))?, crs: (\S+)\}")


def kind(key: str, value: object) -> str:
    """Return the type of a property's value, "json" for an empty list. Raises ValueError if there is none."""
    if isinstance(value, list):
        if key in SLOTS and value and isinstance(value[0], float):
            return VECTOR
        return f"{kind('', value[0])}[]" if value else JSON
    plain = _PLAIN.get(type(value))
    if plain is not None:
        return plain
    if isinstance(value, DateTime):
        return "localdatetime" if value.tzinfo is None else "datetime"
    if isinstance(value, Time):
        return "localtime" if value.tzinfo is None else "time"
    for temporal, name in ((Date, "date"), (Duration, "duration"), (Point, "point")):
        if isinstance(value, temporal):
            return name
    raise ValueError(f"a value of type {type(value).__name__}")


def text(value: Any) -> str:
    """Return a single value as text, whatever its type."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, DateTime | Time):
        zone = getattr(value.tzinfo, "zone", None)
        return str(value.iso_format()) + (f"[{zone}]" if zone and zone != "UTC" else "")
    if isinstance(value, Date | Duration):
        return str(value.iso_format())
    if isinstance(value, Point):
        system = next(name for name, form in _SYSTEMS.items() if form == (type(value), len(value)))
        return f"{{{', '.join(f'{axis}: {n!r}' for axis, n in zip('xyz', value, strict=False))}, crs: {system}}}"
    return base64.b64encode(value).decode() if isinstance(value, bytes) else repr(value)


def parsed(of: str, literal: str) -> Any:
    """Return the value of a type that `text` wrote. Raises ValueError."""
    reader = _READERS.get(of)
    if reader is None:
        raise ValueError(f"there is no type {of!r}")
    return reader(literal)


def vector_text(vector: Sequence[float]) -> str:
    """Return the numbers of a vector, each of nine digits: exact for float32."""
    return ", ".join(["%.9g"] * len(vector)) % tuple(vector)


def vector(numbers: Sequence[float]) -> list[float]:
    """Return numbers as float32 holds them."""
    rounded: list[float] = np.asarray(numbers, np.float32).astype(np.float64).tolist()
    return rounded


def to_json(value: Any) -> Any:
    """Return a value as JSON can hold it: a type that JSON lacks is an object with one key, its name."""
    if type(value) in (str, bool, int):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"double": text(value)}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    return {kind("", value): text(value)}


def from_json(key: str, value: Any) -> Any:
    """Return the value that `to_json` wrote. Raises ValueError."""
    if isinstance(value, list):
        if key in SLOTS and value and all(type(item) in (float, int) for item in value):
            return vector(value)
        return [from_json("", item) for item in value]
    if isinstance(value, dict):
        if len(value) != 1 or not all(isinstance(part, str) for part in value.values()):
            raise ValueError(f"{json.dumps(value)[:60]} is no value of a property")
        return parsed(*next(iter(value.items())))
    if value is None:
        raise ValueError("null is no value of a property")
    return value


def _boolean(literal: str) -> bool:
    if literal not in ("true", "false"):
        raise ValueError(f"{literal[:60]!r} is neither true nor false")
    return literal == "true"


def _datetime(literal: str) -> DateTime:
    stated, _, zone = literal.removesuffix("]").partition("[")
    value = DateTime.from_iso_format(stated)
    if zone:  # as the driver does; the zones of zoneinfo crash when they meet a DateTime
        return value.astimezone(pytz.timezone(zone))
    # an offset of zero must not become the zone "UTC", as which the driver would send it
    return value if value.utcoffset() else value.replace(tzinfo=UTC)


def _point(literal: str) -> Point:
    match = _POINT.fullmatch(literal)
    if not match or match[4] not in _SYSTEMS:
        raise ValueError(f"{literal[:60]!r} is not a point")
    return _SYSTEMS[match[4]][0]([float(n) for n in match.groups()[:3] if n is not None])


_READERS: dict[str, Callable[[str], Any]] = {
    "string": str, "boolean": _boolean, "long": int, "double": float, "byte[]": base64.b64decode, "datetime": _datetime,
    "localdatetime": DateTime.from_iso_format, "time": Time.from_iso_format, "localtime": Time.from_iso_format,
    "date": Date.from_iso_format, "duration": Duration.from_iso_format, "point": _point,
}  # fmt: skip
