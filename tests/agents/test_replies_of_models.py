"""Real replies of small models: which of them answer, and which say that the evidence lacks the answer."""

import json
from pathlib import Path

from kgrag.agents.replies import read_reply
from kgrag.values.results import Passage

_KEPT = json.loads(Path(__file__).with_name("replies.json").read_text(encoding="utf-8"))
"""Replies to questions on the demo's corpus, which can answer ten; `answers`: a human judgement of the reply."""
_UNCITED = 4
"""Replies that begin with "Not in the evidence." but paraphrase a passage without citing it."""


def test_replies_are_read_as_a_person_reads_them() -> None:
    passages = [Passage(f"p{number}", "d", title, text) for number, (title, text) in enumerate(_KEPT["passages"])]
    misread, unmarked = [], []
    for row in _KEPT["replies"]:
        items = [[passages[number]] for number in row["passages"]]
        answer = read_reply(row["reply"], items, row["question"])
        if answer.found != row["answers"]:
            misread.append((row["question"], row["reply"], answer.found))
        if answer.found and not answer.unsupported and "1957" in row["question"] + answer.text:
            unmarked.append(answer.text)
    assert len(_KEPT["replies"]) == 60
    assert not [one for one in misread if one[2]], "what says nothing is never taken for an answer"
    assert len(misread) <= _UNCITED + 3, misread
    assert not unmarked
