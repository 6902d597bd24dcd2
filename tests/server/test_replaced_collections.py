"""A process that only asks keeps working while a collection is embedded again, or deleted and made again."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from letter_embedder import LetterEmbedder
from scripted import Scripted
from served import Served

from kgrag import AsyncKnowledgeGraph, KnowledgeGraph, RemoteKnowledgeGraph
from kgrag.server.mcp import Tools
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long

_NAME, _OTHER = "replaced", "replaced too"
_QUESTION = "Who designed the Fram?"
_SYSTEM = "single+hybrid"
_SHIPS = [Document(f"s{n}", (Section(f"Ship {n}, the Fram, was designed by Colin Archer."),)) for n in range(8)]


@pytest.fixture(scope="module")
def asking(graph_settings: Settings, scripted_server: Scripted) -> Iterator[KnowledgeGraph]:
    """A client that asks and never writes; another one writes."""
    with KnowledgeGraph.connect(
        settings=graph_settings.model_copy(update={"chat": scripted_server.settings()})
    ) as client:
        client.models._embedders["letters"] = LetterEmbedder()
        yield client


def _reembed(kg: KnowledgeGraph) -> None:
    kg[_NAME].reembed(LetterEmbedder())


def _made_again(**options: Any) -> Callable[[KnowledgeGraph], None]:
    def change(kg: KnowledgeGraph) -> None:
        kg[_NAME].delete()
        kg[_NAME].ingest(_SHIPS, **options)

    return change


def _doors(asking: KnowledgeGraph, served: Served, http: httpx.Client) -> dict[str, Callable[[], Any]]:
    """Return a question at each door; objects that users keep are made before the collection changes."""
    token = served.tokens["all"]
    collection, tools, remote = asking[_NAME], Tools(asking), RemoteKnowledgeGraph(served.url, token)
    twin = AsyncKnowledgeGraph(asking)[_NAME]
    system, retriever = collection.system(_SYSTEM), collection.retriever("pathrank")
    several = asking[_NAME, _OTHER].system(_SYSTEM)
    chat = {"model": f"{_NAME}:{_SYSTEM}", "messages": [{"role": "user", "content": _QUESTION}]}

    def rest(path: str, **body: Any) -> str:
        reply = http.post(path, json=body)
        assert reply.status_code == 200, reply.text
        return reply.text

    own = f"/api/v1/collections/{_NAME}"
    return {
        "REST ask": lambda: rest(f"{own}/ask", question=_QUESTION, system=_SYSTEM),
        "REST search": lambda: rest(f"{own}/search", question=_QUESTION, retriever="dense"),
        "REST look-up": lambda: rest(f"{own}/look-up", question="What does the section Ship 3 of s3 say?") and "Archer",
        "/v1": lambda: rest("/v1/chat/completions", **chat),
        "MCP ask": lambda: tools.ask(_QUESTION, _NAME, system=_SYSTEM),
        "MCP search": lambda: tools.search(_QUESTION, _NAME),
        "Python": lambda: collection.ask(_QUESTION, system=_SYSTEM),
        "a system of Python": lambda: system.ask(_QUESTION),
        "a retriever of Python": lambda: retriever.retrieve(_QUESTION),
        "ppr": lambda: collection.search(_QUESTION, retriever="ppr"),
        "two collections": lambda: several.ask(_QUESTION),
        "asyncio": lambda: asyncio.run(twin.ask(_QUESTION, system=_SYSTEM)),
        "remote": lambda: remote[_NAME].ask(_QUESTION, system=_SYSTEM),
    }


@pytest.mark.parametrize(
    ("change", "meanwhile"),
    [(_reembed, True), (_made_again(), False), (_made_again(language="de"), False)],
    ids=["embedded again", "made again", "made again in another language"],
)
def test_every_door_answers_after_a_change(
    change: Callable[[KnowledgeGraph], None], meanwhile: bool, kg: KnowledgeGraph, asking: KnowledgeGraph,
    scripted: Scripted, tmp_path: Path,
) -> None:  # fmt: skip
    scripted.say("answer", "Colin Archer [1] designed it.")
    for name in (_NAME, _OTHER):
        kg[name].ingest(_SHIPS)
    over, errors = threading.Event(), list[str]()

    def ask(name: str, door: Callable[[], Any], *, once: bool = False) -> None:
        last = once
        while not errors:
            last = last or over.is_set()
            try:
                reply = door()
                assert "Archer" in str(reply), reply
            except Exception as error:
                errors.append(f"{name}: {error!r}")
            if last:
                return

    with Served(asking, tmp_path) as served, served.client(served.key("all", "write")) as http:
        doors = _doors(asking, served, http)
        for name, door in doors.items():
            ask(name, door, once=True)
        threads = [threading.Thread(target=ask, args=each) for each in doors.items()]
        for thread in threads if meanwhile else ():
            thread.start()
        change(kg)
        over.set()
        for thread in threads:
            if not meanwhile:
                thread.start()
            thread.join()
    for name in (_NAME, _OTHER):
        kg[name].delete()
    assert not errors, errors
