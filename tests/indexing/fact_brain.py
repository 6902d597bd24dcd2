"""A brain of the scripted server that extracts offices with their times; for "wild" texts it ignores the schema."""

import json
import re
from typing import Any

_FACT = re.compile(r"(Office \d+) (is held by|has as holder) (Mr \w+) \(\w+\): ([\d-]+) to ([\d-]+)\.")
_LINE = re.compile(r"^(.+) ([A-Z_]{5,}) (.+): ([\d-]+) to ([\d-]+)$", re.MULTILINE)
_WILD = re.compile(r"wild (\d+)")


def reply(task: str, messages: list[dict[str, Any]], request: dict[str, Any]) -> str | None:
    """Return the facts of the passage; for a wild one, with types and predicates outside the schema."""
    if task != "extract":
        return None
    asked = next(m["content"] for m in messages if m["role"] == "user")
    entities: dict[str, str] = {}
    triples: list[list[Any]] = []
    for office, verb, holder, since, until in _FACT.findall(asked):
        entities |= {office: "Office", holder: "Person"}
        dates = [None if date == "-" else date for date in (since, until)]
        wild = _WILD.search(asked)
        predicate = ("HELD_BY", "is held by", "sat in")[int(wild[1]) % 3] if wild else "HELD_BY"
        held = [office, predicate, holder] if verb == "is held by" else [holder, "HAS_OFFICE", office]
        triples.append([*held, *dates])
    for subject, predicate, object, since, until in _LINE.findall(asked):
        kind = "Town" if predicate == "LOCATED_IN" else "Firm"
        entities |= {subject: "Firm" if kind == "Town" else "Person", object: kind}
        triples.append([subject, predicate, object, *(None if date == "-" else date for date in (since, until))])
    return json.dumps({"entities": [{"name": n, "type": t} for n, t in entities.items()], "triples": triples})
