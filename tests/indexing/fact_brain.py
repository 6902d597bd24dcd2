"""A brain of the scripted server: it reads offices with their times; where a text is wild, as it likes."""

import json
import re
from typing import Any

_FACT = re.compile(r"(Office \d+) is held by (Mr \w+) \(\w+\): ([\d-]+) to ([\d-]+)\.")
_WILD = re.compile(r"wild (\d+)")


def reply(task: str, messages: list[dict[str, Any]], request: dict[str, Any]) -> str | None:
    """The facts of the passage; where it is wild, with types and predicates of its own."""
    if task != "extract":
        return None
    asked = next(m["content"] for m in messages if m["role"] == "user")
    entities: dict[str, str] = {}
    triples: list[list[Any]] = []
    for office, holder, since, until in _FACT.findall(asked):
        entities |= {office: "Office", holder: "Person"}
        dates = [None if date == "-" else date for date in (since, until)]
        wild = _WILD.search(asked)
        predicate = ("HELD_BY", "is held by", "sat in")[int(wild[1]) % 3] if wild else "HELD_BY"
        triples.append([office, predicate, holder, *dates])
    return json.dumps({"entities": [{"name": n, "type": t} for n, t in entities.items()], "triples": triples})
