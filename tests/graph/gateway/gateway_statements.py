"""Statements of the files in `data`: each with its expected rows, or the message that refuses it to a guest.

`attacks.json`: malicious statements, by kind. `honest.json` and `analyst.json`: statements that only read.
`limits.json`: statements at a limit of the guests' grammar, and beyond it. A long text is a list of texts, and of pairs
of a text and its number of repetitions.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

SECRET = "the-planted-secret"
PARAMETERS: dict[str, Any] = {
    "c": "gateway", "p": "Fr.*", "names": ["Fram", "Nobody"], "label": "Document", "key": "name", "k": 4,
    "v": [0.5] * 64, "options": {"limit": 3}, "words": "node", "url": "file:///secret.csv",
}  # fmt: skip


class Asked(NamedTuple):
    """A statement, its parameters, its rows (or their number) if known, and how a guest's refusal begins."""

    kind: str
    text: str
    parameters: dict[str, Any]
    rows: list[list[Any]] | int | None
    refused: str | None

    def __str__(self) -> str:
        return self.text[:60]


def statements(file: str, *kinds: str) -> list[Asked]:
    """Return the statements of a file, or only those of some kinds."""
    rows = json.loads((Path(__file__).parent / "data" / f"{file}.json").read_text(encoding="utf-8"))
    found = [
        Asked(
            row.get("kind", ""),
            text_of(row["ask"]),
            {**PARAMETERS, **{name: _value(value) for name, value in row.get("with", {}).items()}},
            row.get("rows"),
            row.get("refused"),
        )
        for row in rows
    ]
    return [one for one in found if not kinds or one.kind in kinds]


def limits() -> list[tuple[str, str, str]]:
    """Return statements at a limit, beyond it, and the expected error."""
    rows = json.loads((Path(__file__).parent / "data" / "limits.json").read_text(encoding="utf-8"))
    return [(text_of(passes), text_of(refused), said) for passes, refused, said in rows]


def text_of(parts: str | list[Any]) -> str:
    """Assemble a text from its parts."""
    return parts if isinstance(parts, str) else "".join(p if isinstance(p, str) else p[0] * p[1] for p in parts)


def _value(value: Any) -> Any:
    match value:
        case {"text": parts}:
            return text_of(parts)
        case {"range": number}:
            return list(range(number))
        case {"list": [item, number]}:
            return [_value(item)] * number
        case {"map": [item, number]}:
            return {str(i): _value(item) for i in range(number)}
    return value
