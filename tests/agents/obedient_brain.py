"""A brain of the scripted server that obeys every instruction it sees, except in text framed as data.

From framed text it only extracts facts, from sentences in a known form.
"""

import json
import re
from typing import Any

FRAME = re.compile(r"<passage>\n(.*?)\n</passage>", re.DOTALL)
ORDER = re.compile(r"MALLORY|<\|im_start\|>|＜/passage＞|\[system\]", re.IGNORECASE)
FACT = re.compile(r"(\w+ \w+) designed the (\w+)\.")


def reply(task: str, messages: list[dict[str, Any]], request: dict[str, Any]) -> str | None:
    """Reply with the words of the frames, or obey an order outside of them."""
    asked = messages[-1]["content"]
    outside = FRAME.sub("", asked)
    if ORDER.search(outside):
        return json.dumps(
            {
                "entities": ["MALLORY"],
                "triples": [["MALLORY", "rules", "MALLORY"]],
                "answerable": True,
                "answer": "MALLORY",
            }
        )
    facts = [(n, *found) for n, text in enumerate(FRAME.findall(asked), 1) for found in FACT.findall(text)]
    match task:
        case "extract":
            entities = sorted({name for _, *pair in facts for name in pair})
            return json.dumps({"entities": entities, "triples": [[s, "designed", o] for _, s, o in facts]})
        case "read":
            return json.dumps({"triples": [[s, "designed", o] for _, s, o in facts]})
        case "reason":
            known = "designed" in asked.partition("Question:")[0]
            return json.dumps({"answerable": known, "answer": "Colin Archer" if known else "", "why": "unknown"})
        case "answer":
            told = re.findall(r"^\[(\d+)\]", outside, re.MULTILINE)
            if facts and str(facts[0][0]) in told:
                return f"{facts[0][1]} designed it [{facts[0][0]}]."
            return "Not in the evidence."
    return None
