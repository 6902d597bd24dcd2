"""A brain of the scripted server that extracts the facts in sentences of the synthetic corpus."""

import json
import re
from typing import Any

_FACT = re.compile(r"(\w+ \w+) (was built near|came to rule) (\w+ \w+|it)\.")


def reply(task: str, messages: list[dict[str, Any]], request: dict[str, Any]) -> str | None:
    """Return the triples of the last passage, with its title in place of pronouns."""
    if task != "extract":
        return None
    asked = next(m["content"] for m in messages if m["role"] == "user")
    title = asked.split("\n", 2)[1].removeprefix("Title: ")
    triples = [[title if part == "it" else part for part in found] for found in _FACT.findall(asked)]
    names = sorted({end for triple in triples for end in (triple[0], triple[2])})
    entities = [{"name": name, "aliases": [name.split()[1]] if name == title else []} for name in names]
    return json.dumps({"entities": entities, "triples": triples})
