"""An answer that is not whole says so, at every door."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI
from scripted import Scripted
from served import Served

from kgrag import AsyncKnowledgeGraph, KnowledgeGraph, RemoteKnowledgeGraph
from kgrag.server.mcp import Tools
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section

_NAME = "cut answers"
_QUESTION = "What burned in Oslo?"
_TEXT = "The kiln of Oslo burned [1] in the year of the great fire [1]."
_SYSTEM = "single+bm25"
_SAID = "not whole"


@pytest.fixture(scope="module")
def asking(graph_settings: Settings, scripted_server: Scripted) -> Iterator[KnowledgeGraph]:
    settings = graph_settings.model_copy(update={"chat": scripted_server.settings()})
    with KnowledgeGraph.connect(settings=settings) as client:
        client[_NAME].ingest([Document("kiln", (Section("The kiln of Oslo burned in the year of the great fire."),))])
        yield client
        client[_NAME].delete()


@pytest.fixture
def cut(scripted: Scripted) -> Scripted:
    """A model whose texts reach its limit; its JSON does not."""
    scripted.say("read", {"triples": [["kiln", "of", "Oslo"]]})
    scripted.say("reason", {"answerable": True})
    for task in ("answer", "think", "retgen", "final-answer", "sub-question", "sub-answer"):
        scripted.say(task, _TEXT)
        scripted.fail(*["truncated"] * 8, task=task)
    return scripted


@pytest.mark.parametrize("options", [{}, {"short": True}, {"stream": True}, {"choices": ("The kiln", "The pier")}])
@pytest.mark.parametrize(
    "system",
    [
        *(_SYSTEM, "auto(then=ircot)+bm25", "gear(steps=1)+bm25", "ircot(steps=1)+bm25", "closed-book"),
        *("iter-retgen(rounds=1, answer=own)+bm25", "rgnn(steps=1)+bm25"),
    ],
)
def test_strategies(asking: KnowledgeGraph, cut: Scripted, system: str, options: dict[str, Any]) -> None:
    reply = asking[_NAME].ask(_QUESTION, system=system, **options)
    answer = reply.answer if "stream" in options else reply
    assert answer.cut
    assert _SAID in answer.problem


def test_whole_answers_are_not_cut(asking: KnowledgeGraph, scripted: Scripted) -> None:
    scripted.say("answer", _TEXT)
    answer = asking[_NAME].ask(_QUESTION, system=_SYSTEM)
    assert (answer.cut, answer.problem) == (False, "")


def test_doors(asking: KnowledgeGraph, cut: Scripted, neo4j_env: dict[str, str], tmp_path: Path) -> None:
    chat: dict[str, Any] = {"model": f"{_NAME}:{_SYSTEM}", "messages": [{"role": "user", "content": _QUESTION}]}
    body = {"question": _QUESTION, "system": _SYSTEM}
    path = f"/api/v1/collections/{_NAME}/ask"
    with Served(asking, tmp_path) as served, served.client(served.key("all", "write")) as http:
        reply = http.post(path, json=body | {"save": True}).json()
        assert reply["cut"] and _SAID in reply["problem"]
        (run,) = asking[_NAME].runs()
        assert _SAID in run.problem
        events = http.post(path, json=body, headers={"Accept": "text/event-stream"}).text.split("event: Answer\n")
        assert json.loads(events[-1].partition("data: ")[2])["cut"]
        with OpenAI(base_url=f"{served.url}/v1", api_key=served.tokens["all"], max_retries=0) as client:
            (choice,) = client.chat.completions.create(**chat).choices
            assert choice.finish_reason == "length"
            assert _SAID in (choice.message.content or "")
            chunks = [chunk.choices[0] for chunk in client.chat.completions.create(stream=True, **chat)]
            assert chunks[-1].finish_reason == "length"
            assert _SAID in "".join(chunk.delta.content or "" for chunk in chunks)
        with RemoteKnowledgeGraph(served.url, served.tokens["all"]) as remote:
            assert remote[_NAME].ask(_QUESTION, system=_SYSTEM).cut
    assert _SAID in Tools(asking).ask(_QUESTION, _NAME, system=_SYSTEM).problem
    assert asyncio.run(AsyncKnowledgeGraph(asking)[_NAME].ask(_QUESTION, system=_SYSTEM)).cut
    command = [sys.executable, "-m", "kgrag", "ask", _QUESTION, "-c", _NAME, "--system", _SYSTEM]
    environment = {**os.environ, **neo4j_env, **cut.env()}
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert _SAID in shown.stderr + shown.stdout
    assert "A step failed" not in shown.stderr + shown.stdout


def test_a_cut_question_is_not_asked(asking: KnowledgeGraph, scripted: Scripted, tmp_path: Path) -> None:
    scripted.say("follow-up", "What burned in Oslo in the year of the great fire?")
    scripted.fail("truncated", task="follow-up")
    turns = [("user", "Hello"), ("assistant", "Ask."), ("user", "What burned there?")]
    messages = [{"role": role, "content": text} for role, text in turns]
    with Served(asking, tmp_path) as served, served.client(served.key("all")) as http:
        reply = http.post("/v1/chat/completions", json={"model": _NAME, "messages": messages})
    assert reply.status_code >= 500
    assert _SAID in reply.text
