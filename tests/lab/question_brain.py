"""The scripted model that makes questions: the longest sentence of each text, without its last word."""

import json
import re
from typing import Any

_TEXT = re.compile(r"\[(\d+)\]\n<passage>\n(?:Title: ([^\n]*)\n)?(.*?)\n</passage>", re.DOTALL)


def reply(task: str, messages: list[dict[str, Any]], request: dict[str, Any]) -> str | None:
    texts = _TEXT.findall(messages[-1]["content"])
    if task == "make-question":
        said = [max(re.split(r"(?<=\.)\s", text), key=len) for _, _, text in texts]
        question = " And ".join(
            f"{title}: {' '.join(s.split()[:-1])} ..?" for (_, title, _), s in zip(texts, said, strict=True)
        )
        answer = "; ".join(s.split()[-1].strip(".") for s in said)
        return json.dumps({"question": question, "answer": answer, "supports": said})
    if task == "check-question":
        return json.dumps({"sound": True, "needed": [int(number) for number, _, _ in texts], "reason": ""})
    return None
