"""A model that asks a tool for passages, and answers from its reply."""

import json
import re
from typing import Any

QUESTION = "Which river runs through the home town of the designer of the Fram?"


def reply(task: str, messages: list[dict[str, Any]], request: dict[str, Any]) -> str:
    """Return a call of the search tool; after the tool's reply, the river in its passages."""
    results = [str(message["content"]) for message in messages if message["role"] == "tool"]
    if results:
        river = re.search(r"The river (\w+) runs through", results[-1])
        return f"It is the {river[1]}." if river else f"No passage says so: {results[-1]}"
    names = [tool["function"]["name"] for tool in request["tools"]]
    search = next(name for name in names if name == "search" or name.endswith("_search"))
    return f"=> {search} {json.dumps({'question': QUESTION, 'k': 3})}"
