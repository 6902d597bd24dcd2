"""Whatever a user gives is used or refused by name, at every door."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from mcp import Client
from scripted import Scripted
from served import Served

from kgrag import AsyncKnowledgeGraph, KnowledgeGraph, RemoteKnowledgeGraph
from kgrag.server.mcp import Tools, mcp_server
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Filter

_NAME = "given"
_PATH = f"/api/v1/collections/{_NAME}"
_METADATA: dict[str, dict[str, Any]] = {
    "a": {"tags": ["x", "y z"], "meta": {"author": "Per"}, "date": "2026-11-30T23:30:00-08:00"},
    "b": {"tags": ["y z"], "meta.author": "Ada", "date": "2026-12-01T00:30+09:00"},
    "c": {"tags": ["x"], "date": "2026-12-01"},
}
_FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"where": [["tags", "x"], ["tags", "y z"]]}, {"a"}),
    ({"where": [["tags", "y z"], ["tags", "x"]]}, {"a"}),
    ({"where": [["meta.author", "Per"]]}, {"a"}),
    ({"where": [["meta.author", "Ada"]]}, {"b"}),
    ({"since": "2026-12-01T00:00Z"}, {"a", "c"}),
    ({"since": "2026-12-01T09:00+09:00"}, {"a", "c"}),
    ({"since": "2026-12-01"}, {"a", "c"}),
    ({"since": "2026-12"}, {"a", "c"}),
    ({"since": "2026"}, {"a", "b", "c"}),
]
Door = Callable[[dict[str, Any]], tuple[set[str], str]]


@pytest.fixture(scope="module")
def asking(graph_settings: Settings, scripted_server: Scripted) -> Iterator[KnowledgeGraph]:
    settings = graph_settings.model_copy(update={"chat": scripted_server.settings()})
    with KnowledgeGraph.connect(settings=settings) as client:
        client[_NAME].ingest(
            Document(key, (Section(f"The pier {key}."),), key, metadata=its) for key, its in _METADATA.items()
        )
        yield client
        client[_NAME].delete()


@pytest.fixture(scope="module")
def http(asking: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with Served(asking, tmp_path_factory.mktemp("keys")) as served, served.client(served.key("all", "write")) as client:
        yield client


def _kgrag(neo4j_env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **neo4j_env}
    command = [sys.executable, "-m", "kgrag", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _called(asking: KnowledgeGraph, tool: str, **arguments: Any) -> Any:
    async def call() -> Any:
        async with Client(mcp_server(Tools(asking))) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(call())


def _text(result: Any) -> str:
    return " ".join(part.text for part in result.content)


@pytest.fixture
def doors(asking: KnowledgeGraph, http: httpx.Client, neo4j_env: dict[str, str]) -> dict[str, Door]:
    """Each searches with a filter, and returns the keys of documents, and the remarks."""

    def rest(only: dict[str, Any]) -> tuple[set[str], str]:
        reply = http.post(f"{_PATH}/search", json={"question": "pier", "filter": only}).json()
        return {hit["passage"]["document"] for hit in reply["hits"]}, str(reply["notes"])

    def tool(only: dict[str, Any]) -> tuple[set[str], str]:
        given = only | {"where": dict(only.get("where", []))}
        reply = _called(asking, "search", question="pier", collection=_NAME, **given).structured_content
        return {hit["title"] for hit in reply["hits"]}, str(reply["notes"])

    def line(only: dict[str, Any]) -> tuple[set[str], str]:
        options = [part for key, value in only.get("where", []) for part in ("--where", f"{key}={value}")]
        options += ["--since", only["since"]] if "since" in only else []
        shown = _kgrag(neo4j_env, "search", "pier", "-c", _NAME, *options)
        assert not shown.returncode, shown.stderr
        return {key for key in _METADATA if f"pier {key}." in shown.stdout}, shown.stderr

    def remote(only: dict[str, Any]) -> tuple[set[str], str]:
        token = http.headers["Authorization"].partition(" ")[2]
        with RemoteKnowledgeGraph(str(http.base_url), token) as kg:
            ranking = kg[_NAME].search(
                "pier", filter=Filter(tuple(map(tuple, only.get("where", []))), since=only.get("since"))
            )
        return {hit.passage.document for hit in ranking}, str(ranking.notes)

    def twin(only: dict[str, Any]) -> tuple[set[str], str]:
        given = Filter(only.get("where", []), since=only.get("since"))
        ranking = asyncio.run(AsyncKnowledgeGraph(asking)[_NAME].search("pier", filter=given))
        return {hit.passage.document for hit in ranking}, str(ranking.notes)

    return {"REST": rest, "MCP": tool, "command line": line, "remote": remote, "asyncio": twin}


@pytest.mark.parametrize("door", ["REST", "MCP", "command line", "remote", "asyncio"])
def test_filters(doors: dict[str, Door], door: str) -> None:
    for only, documents in _FILTERS:
        if door == "MCP" and len(only.get("where", [])) > 1:
            continue  # an object has a key once
        assert doors[door](only)[0] == documents, only
    documents, notes = doors[door]({"where": [["writer", "Per"]]})
    assert not documents
    assert "No document has metadata with the key 'writer'. There are: date, meta.author, tags." in notes


def test_metadata_comes_back_as_it_was_given(asking: KnowledgeGraph) -> None:
    ranking = asking[_NAME].search("pier", filter=Filter({"meta.author": "Per"}))
    assert ranking.hits[0].passage.metadata == _METADATA["a"]


def test_since_that_is_no_date_is_refused(asking: KnowledgeGraph) -> None:
    assert len(asking[_NAME].search("pier", filter=Filter(since="2026-12"))) == 2
    with pytest.raises(ConfigurationError, match="since is invalid: '05/03/2024' is not a date"):
        asking[_NAME].search("pier", filter=Filter(since="05/03/2024"))


@pytest.mark.parametrize(
    ("method", "path", "content", "says"),
    [
        ("GET", f"{_PATH}/documents?limit=1&limit=2", "", "'limit' is given twice"),
        ("GET", f"{_PATH}/documents?limits=1", "", "Did you mean limit?"),
        ("GET", "/api/v1/jobs?state=done&state=failed", "", "'state' is given twice"),
        ("POST", f"{_PATH}/search", '{"question": "a", "question": "b"}', "'question' is given twice"),
        ("POST", f"{_PATH}/ask", '{"question": "a", "filter": {"source": "a", "source": "b"}}', "'source' is given tw"),
        ("POST", f"{_PATH}/search", '{"question": "a", "filter": {"wher": {}}}', "wher"),
        ("POST", f"{_PATH}/search", '{"question": "a", "filter": {"since": "05/03/2024"}}', "is not a date"),
        ("POST", f"{_PATH}/search", '{"question": "a", "top_k": 3}', "top_k"),
        ("POST", "/v1/chat/completions", '{"model": "a", "model": "b", "messages": []}', "'model' is given twice"),
    ],
)
def test_requests_are_refused_by_name(http: httpx.Client, method: str, path: str, content: str, says: str) -> None:
    reply = http.request(method, path, content=content, headers={"Content-Type": "application/json"})
    assert reply.status_code in (400, 422)
    assert says in reply.text.replace("\\", "")


def test_tools(asking: KnowledgeGraph) -> None:
    given = {"question": "pier", "collection": _NAME}
    assert not _called(asking, "search", **given, k=None, retriever=None, where=None, as_of=None).is_error
    for arguments, says in (
        ({"top_k": 3}, "search has no argument 'top_k'. Did you mean k?"),
        ({"filter": {}}, "no argument 'filter'"),
        ({"k": "many"}, "The arguments of search are invalid. k: "),
        ({"since": "05/03/2024"}, "is not a date"),
    ):
        result = _called(asking, "search", **given, **arguments)
        assert result.is_error
        assert says in _text(result)
        assert "pydantic" not in _text(result)


def test_a_picture_in_an_earlier_message_is_left_out(http: httpx.Client, scripted: Scripted) -> None:
    scripted.say("follow-up", "What is a pier?")
    scripted.say("answer", "The pier a [1].")
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    look = [{"type": "text", "text": "Look."}, picture]
    turns = [("user", look), ("assistant", "A pier."), ("user", "And what is that?")]
    body = {"model": f"{_NAME}:single+bm25", "messages": [{"role": role, "content": text} for role, text in turns]}
    assert http.post("/v1/chat/completions", json=body).status_code == 200
    body["messages"] = body["messages"][:1]
    assert "image_url" in http.post("/v1/chat/completions", json=body).text
