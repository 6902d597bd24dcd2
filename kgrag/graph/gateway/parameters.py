"""How much parameters hold."""

from collections.abc import Iterator, Mapping
from typing import Any

from kgrag.settings import GatewaySettings
from kgrag.values.errors import RefusedError


def check_parameters(parameters: Mapping[str, Any], limits: GatewaySettings) -> None:
    """Check that the server accepts the values, and that they are within the limits. Raises RefusedError."""
    for value in _values_in(dict(parameters)):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise RefusedError(
                f"{value:,} is beyond the whole numbers of Neo4j (64 bits).",
                "Give it as text, or with a decimal point.",
            )
        if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
            raise RefusedError("A parameter has half a character (a lone surrogate).", "Write whole characters.")
    items, characters = items_in(dict(parameters)), _characters_in(dict(parameters))
    if items > limits.parameter_items or characters > limits.parameter_characters:
        raise RefusedError(
            f"The parameters hold {items:,} values and {characters:,} characters.",
            f"At most {limits.parameter_items:,} and {limits.parameter_characters:,} are taken.",
        )


def _values_in(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value
        for item in value.values():
            yield from _values_in(item)
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from _values_in(item)
    else:
        yield value


def items_in(value: Any) -> int:
    """Return how many values lie in lists and maps, at any depth."""
    if isinstance(value, Mapping):
        return sum(1 + items_in(v) for v in value.values())
    if isinstance(value, list | tuple | set):
        return sum(1 + items_in(v) for v in value)
    return 0


def texts_in(value: Any) -> list[str]:
    """Return every text in a value, at any depth."""
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in texts_in(item)]
    if isinstance(value, list | tuple | set):
        return [text for item in value for text in texts_in(item)]
    return [value] if isinstance(value, str) else []


def _characters_in(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(len(str(k)) + _characters_in(v) for k, v in value.items())
    if isinstance(value, list | tuple | set):
        return sum(_characters_in(v) for v in value)
    return len(value) if isinstance(value, str | bytes) else 0
