"""The language model of soak.py. Its replies depend on the text alone, so the same work has the same result."""

import json
import re
from itertools import pairwise
from typing import Any

_NAME = re.compile(r"[A-Z]\w+(?: [A-Z\d][\w-]*)+")


def reply(task: str, messages: list[dict[str, Any]], request: dict[str, Any]) -> str | None:
    """Return an extraction that ties each name to the next one in its sentence, or an answer for other tasks."""
    if task != "extract":
        return "The Fram was designed by Colin Archer [1]. So the answer is: Colin Archer."
    asked = next(m["content"] for m in messages if m["role"] == "user")
    sentences = [_NAME.findall(sentence) for sentence in re.split(r"[.\n]", asked.split("\n", 2)[-1])]
    triples = [[one, "is named with", other] for names in sentences for one, other in pairwise(names) if one != other]
    entities = sorted({name for names in sentences for name in names})
    return json.dumps({"entities": [{"name": name, "aliases": []} for name in entities], "triples": triples})
