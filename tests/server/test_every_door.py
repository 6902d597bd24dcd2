"""Rules of every interface: input is used or refused, truncated answers say so, replaced collections are read."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from letter_embedder import LetterEmbedder
from mcp import Client
from scripted import Scripted
from served import Served

from kgrag import AsyncKnowledgeGraph, KnowledgeGraph, RemoteKnowledgeGraph
from kgrag.agents.strategy import Strategy
from kgrag.retrieval.base import Retriever
from kgrag.server.mcp import Tools, mcp_server
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Filter

pytestmark = pytest.mark.long

_NAME, _REPLACED, _SYSTEM = "given", "replaced", "single+hybrid"
_METADATA: dict[str, dict[str, Any]] = {
    "a": {"tags": ["x", "y z"], "meta": {"author": "Per"}, "date": "2026-11-30T23:30:00-08:00"},
    "b": {"tags": ["y z"], "meta.author": "Ada", "date": "2026-12-01T00:30+09:00"},
    "c": {"tags": ["x"], "date": "2026-12-01"},
}
_DOCUMENTS = [
    Document(key, (Section(f"The pier {key} was designed by Colin Archer."),), key, metadata=its)
    for key, its in _METADATA.items()
]
_QUESTION = "Who designed the pier?"
_TEXT = "Colin Archer designed the pier [1] in the year of the great fire [1]."
_TASKS = ("answer", "think", "retgen", "final-answer", "sub-question", "sub-answer")
Door = Callable[[], Any]


@pytest.fixture(scope="module")
def asking(graph_settings: Settings, scripted_server: Scripted) -> Iterator[KnowledgeGraph]:
    """A client with a model; another client replaces the collections."""
    settings = graph_settings.model_copy(update={"chat": scripted_server.settings()})
    with KnowledgeGraph.connect(settings=settings) as client:
        client.models._embedders["letters"] = LetterEmbedder()
        client[_NAME].ingest(_DOCUMENTS)
        yield client
        client[_NAME].delete()


@pytest.fixture(scope="module")
def http(asking: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with Served(asking, tmp_path_factory.mktemp("keys")) as served, served.client(served.key("all", "write")) as client:
        yield client


@pytest.fixture
def cut(scripted: Scripted) -> Scripted:
    """A model whose text replies reach its limit, but not its JSON replies."""
    scripted.say("read", {"triples": [["pier", "of", "Oslo"]]})
    scripted.say("reason", {"answerable": True})
    for task in _TASKS:
        scripted.say(task, _TEXT)
        scripted.fail(*["truncated"] * 20, task=task)
    return scripted


def _kgrag(environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "-m", "kgrag", *arguments]
    shown = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    return shown.stdout + shown.stderr


def _called(asking: KnowledgeGraph, tool: str, **arguments: Any) -> Any:
    async def call() -> Any:
        async with Client(mcp_server(Tools(asking))) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(call())


def _remote(http: httpx.Client) -> RemoteKnowledgeGraph:
    return RemoteKnowledgeGraph(str(http.base_url), http.headers["Authorization"].partition(" ")[2])


def _asks(asking: KnowledgeGraph, http: httpx.Client, name: str) -> dict[str, Door]:
    """Return a question at each interface; long-lived systems are made before anything changes."""
    path, chat = f"/api/v1/collections/{name}/ask", {"messages": [{"role": "user", "content": _QUESTION}]}
    body, model = {"question": _QUESTION, "system": _SYSTEM}, {"model": f"{name}:{_SYSTEM}"}
    system, several, stream = asking[name].system(_SYSTEM), asking[name, _NAME], {"Accept": "text/event-stream"}
    return {
        "REST": lambda: http.post(path, json=body).text,
        "REST, streamed": lambda: http.post(path, json=body, headers=stream).text,
        "/v1": lambda: http.post("/v1/chat/completions", json=chat | model).text,
        "/v1, streamed": lambda: http.post("/v1/chat/completions", json=chat | model | {"stream": True}).text,
        "MCP": lambda: Tools(asking).ask(_QUESTION, name, system=_SYSTEM),
        "Python": lambda: asking[name].ask(_QUESTION, system=_SYSTEM),
        "Python, streamed": lambda: asking[name].ask_stream(_QUESTION, system=_SYSTEM).answer,
        "a system of Python": lambda: system.ask(_QUESTION),
        "several collections": lambda: several.ask(_QUESTION, system=_SYSTEM),
        "asyncio": lambda: asyncio.run(AsyncKnowledgeGraph(asking)[name].ask(_QUESTION, system=_SYSTEM)),
        "remote": lambda: _remote(http)[name].ask(_QUESTION, system=_SYSTEM),
    }


def _searches(asking: KnowledgeGraph, http: httpx.Client, name: str) -> dict[str, Door]:
    retriever, path = asking[name].retriever("pathrank"), f"/api/v1/collections/{name}"
    return {
        "REST search": lambda: http.post(f"{path}/search", json={"question": _QUESTION, "retriever": "dense"}).text,
        "MCP search": lambda: Tools(asking).search(_QUESTION, name),
        "ppr": lambda: asking[name].search(_QUESTION, retriever="ppr"),
        "a retriever of Python": lambda: retriever.retrieve(_QUESTION),
    }


def _reembed(kg: KnowledgeGraph) -> None:
    kg[_REPLACED].reembed(LetterEmbedder())


def _made_again(**options: Any) -> Callable[[KnowledgeGraph], None]:
    def change(kg: KnowledgeGraph) -> None:
        kg[_REPLACED].delete()
        kg[_REPLACED].ingest(_DOCUMENTS, **options)

    return change


@pytest.mark.parametrize(
    ("change", "meanwhile"),
    [(_reembed, True), (_made_again(), False), (_made_again(language="de"), False)],
    ids=["embedded again", "made again", "made again in another language"],
)
def test_doors_answer_after_a_collection_is_replaced(
    change: Callable[[KnowledgeGraph], None], meanwhile: bool, kg: KnowledgeGraph, asking: KnowledgeGraph,
    http: httpx.Client, scripted: Scripted,
) -> None:  # fmt: skip
    scripted.say("answer", _TEXT)
    kg[_REPLACED].ingest(_DOCUMENTS)
    over, errors = threading.Event(), list[str]()

    def ask(name: str, door: Door) -> None:
        while not errors:
            last = over.is_set() or not meanwhile
            try:
                reply = str(door())
                assert "Archer" in reply, reply
            except Exception as error:
                errors.append(f"{name}: {error!r}")
            if last:
                return

    doors = _asks(asking, http, _REPLACED) | _searches(asking, http, _REPLACED)
    threads = [threading.Thread(target=ask, args=each) for each in doors.items()]
    for name, door in () if meanwhile else doors.items():
        ask(name, door)
    for thread in threads if meanwhile else ():
        thread.start()
    change(kg)
    over.set()
    for thread in threads:
        if not meanwhile:
            thread.start()
        thread.join()
    kg[_REPLACED].delete()
    assert not errors, errors


@pytest.mark.parametrize("options", [{}, {"short": True}, {"choices": ("The kiln", "The pier")}])
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "system",
    [
        *(_SYSTEM, "auto(then=ircot)+bm25", "gear(steps=1)+bm25", "ircot(steps=1)+bm25", "closed-book"),
        *("iter-retgen(rounds=1, answer=own)+bm25", "rgnn(steps=1)+bm25"),
    ],
)
def test_strategies_say_that_an_answer_is_cut(
    asking: KnowledgeGraph, cut: Scripted, system: str, options: dict[str, Any], streamed: bool
) -> None:
    stream = asking[_NAME].ask_stream(_QUESTION, system=system, **options)
    answer = stream.answer if streamed else stream.tell(None)
    assert answer.cut
    assert "not whole" in answer.problem


def test_doors_call_the_client(
    asking: KnowledgeGraph, http: httpx.Client, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.say("answer", _TEXT)
    callers, ask, retrieve = set[str](), Strategy.ask, Retriever.retrieve

    def heard(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **options: Any) -> Any:
            callers.add(sys._getframe(1).f_globals["__name__"])
            return call(*args, **options)

        return called

    monkeypatch.setattr(Strategy, "ask", heard(ask))
    monkeypatch.setattr(Retriever, "retrieve", heard(retrieve))
    for name, door in (_asks(asking, http, _NAME) | _searches(asking, http, _NAME)).items():
        callers.clear()
        assert "Archer" in str(door())
        assert callers == {__name__ if name.endswith("of Python") else "kgrag.client.searching"} or callers == {
            "kgrag.client.connection"
        }, (name, callers)


def test_doors_say_that_an_answer_is_cut(
    asking: KnowledgeGraph, http: httpx.Client, cut: Scripted, neo4j_env: dict[str, str]
) -> None:
    doors = _asks(asking, http, _NAME)
    replies = {name: str(door()) for name, door in doors.items()}
    assert [name for name, reply in replies.items() if "not whole" not in reply] == []
    for name, sign in (("REST", '"cut": true'), ("/v1", '"finish_reason": "length"')):
        assert all(sign in reply for door, reply in replies.items() if door.startswith(name))
    shown = _kgrag({**neo4j_env, **cut.env()}, "ask", _QUESTION, "-c", _NAME, "-s", _SYSTEM)
    assert "not whole" in shown and "A step failed" not in shown
    kept = asking[_NAME].save(asking[_NAME].ask(_QUESTION, system=_SYSTEM))
    assert "not whole" in next(run.problem for run in asking[_NAME].runs() if run.id == kept)
    cut.reset()
    cut.say("answer", _TEXT)
    answer = asking[_NAME].ask(_QUESTION, system=_SYSTEM)
    assert (answer.cut, answer.problem) == (False, "")
    cut.say("follow-up", "Who designed the pier of Oslo?")
    cut.fail("truncated", task="follow-up")
    turns = [{"role": "user", "content": "Hello"}, {"role": "user", "content": _QUESTION}]
    reply = http.post("/v1/chat/completions", json={"model": _NAME, "messages": turns})
    assert reply.status_code >= 500 and "not whole" in reply.text


_FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"where": [["tags", "x"], ["tags", "y z"]]}, {"a"}), ({"where": [["tags", "y z"], ["tags", "x"]]}, {"a"}),
    ({"where": [["meta.author", "Per"]]}, {"a"}), ({"where": [["meta.author", "Ada"]]}, {"b"}),
    ({"since": "2026-12-01T00:00Z"}, {"a", "c"}), ({"since": "2026-12-01T09:00+09:00"}, {"a", "c"}),
    ({"since": "2026-12-01"}, {"a", "c"}), ({"since": "2026-12"}, {"a", "c"}), ({"since": "2026"}, {"a", "b", "c"}),
]  # fmt: skip


@pytest.mark.parametrize("door", ["REST", "MCP", "command line", "remote", "Python", "asyncio"])
def test_filters(asking: KnowledgeGraph, http: httpx.Client, neo4j_env: dict[str, str], door: str) -> None:
    def reply(only: dict[str, Any]) -> str:
        given = Filter(tuple(map(tuple, only.get("where", []))), since=only.get("since"))
        options = [part for key, value in only.get("where", []) for part in ("--where", f"{key}={value}")]
        options += ["--since", only["since"]] if "since" in only else []
        body, arguments = {"question": "pier", "filter": only}, only | {"where": dict(only.get("where", []))}
        replies: dict[str, Door] = {
            "REST": lambda: http.post(f"/api/v1/collections/{_NAME}/search", json=body).text,
            "MCP": lambda: _called(asking, "search", question="pier", collection=_NAME, **arguments).structured_content,
            "command line": lambda: _kgrag(neo4j_env, "search", "pier", "-c", _NAME, *options),
            "remote": lambda: _remote(http)[_NAME].search("pier", filter=given),
            "Python": lambda: asking[_NAME].search("pier", filter=given),
            "asyncio": lambda: asyncio.run(AsyncKnowledgeGraph(asking)[_NAME].search("pier", filter=given)),
        }
        return str(replies[door]()).replace("\\", "")

    for only, documents in _FILTERS:
        if door == "MCP" and len(only.get("where", [])) > 1:
            continue  # an object has each key once
        shown = reply(only)
        assert {key for key in _METADATA if f"pier {key} was" in shown} == documents, (only, shown)
    said = "No document has metadata with the key 'writer'. There are: date, meta.author, tags."
    assert said in reply({"where": [["writer", "Per"]]})


def test_metadata_and_dates_of_python(asking: KnowledgeGraph) -> None:
    ranking = asking[_NAME].search("pier", filter=Filter({"meta.author": "Per"}))
    assert ranking.hits[0].passage.metadata == _METADATA["a"]
    with pytest.raises(ConfigurationError, match="since is invalid: '05/03/2024' is not a date"):
        asking[_NAME].search("pier", filter=Filter(since="05/03/2024"))


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        ("documents?limit=1&limit=2", "", "'limit' is given twice"),
        ("documents?limits=1", "", "Did you mean limit?"),
        ("search", '{"question": "a", "question": "b"}', "'question' is given twice"),
        ("ask", '{"question": "a", "filter": {"source": "a", "source": "b"}}', "'source' is given twice"),
        ("search", '{"question": "a", "filter": {"wher": {}}}', "wher"),
        ("search", '{"question": "a", "filter": {"since": "05/03/2024"}}', "is not a date"),
        ("search", '{"question": "a", "top_k": 3}', "top_k"),
        ("/v1/chat/completions", '{"model": "a", "model": "b", "messages": []}', "'model' is given twice"),
    ],
)
def test_requests_are_refused_by_name(http: httpx.Client, path: str, content: str, says: str) -> None:
    address = path if path.startswith("/") else f"/api/v1/collections/{_NAME}/{path}"
    method, headers = "POST" if content else "GET", {"Content-Type": "application/json"}
    reply = http.request(method, address, content=content, headers=headers)
    assert reply.status_code in (400, 422)
    assert says in reply.text


def test_tools_take_null_and_refuse_by_name(asking: KnowledgeGraph) -> None:
    given = {"question": "pier", "collection": _NAME}
    assert not _called(asking, "search", **given, k=None, retriever=None, where=None, since=None, as_of=None).is_error
    for arguments, says in (
        ({"top_k": 3}, "search has no argument 'top_k'. Did you mean k?"),
        ({"filter": {}}, "no argument 'filter'"),
        ({"k": "many"}, "The arguments of search are invalid. k: "),
        ({"where": {"a": {"b": 1}}}, "The arguments of search are invalid. where.a"),
        ({"since": "05/03/2024"}, "is not a date"),
    ):
        result = _called(asking, "search", **given, **arguments)
        assert result.is_error
        assert says in result.content[0].text and "pydantic" not in result.content[0].text


def test_a_picture_in_an_earlier_message_is_left_out(http: httpx.Client, scripted: Scripted) -> None:
    scripted.say("follow-up", "What is a pier?")
    scripted.say("answer", _TEXT)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    turns = [("user", [{"type": "text", "text": "Look."}, picture]), ("user", "And what is that?")]
    body = {"model": f"{_NAME}:{_SYSTEM}", "messages": [{"role": role, "content": text} for role, text in turns]}
    assert http.post("/v1/chat/completions", json=body).status_code == 200
    body["messages"] = body["messages"][:1]
    assert "image_url" in http.post("/v1/chat/completions", json=body).text
