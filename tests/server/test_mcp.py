"""The collections as tools: the official client starts `kgrag mcp` and calls it over standard input and output."""

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.server.allowed_parts import check_asked_retriever, check_asked_system
from kgrag.server.mcp import Tools, mcp_server
from kgrag.values.documents import Document, Section
from kgrag.values.errors import KgragError

_SHIPS = "ships of the coast"
_SECRET = "letters"
_QUESTION = "Where was the captain of the Fjord Queen born?"
Calls = Callable[[Client], Awaitable[None]]
Serve = Callable[..., None]


@pytest.fixture(scope="module")
def collections(fill: Callable[..., str]) -> None:
    texts = {
        "Fjord Queen": "The Fjord Queen was a steamer. Her captain was Ole Brandvik.",
        "Ole Brandvik": "Ole Brandvik was born in Nordvika. " + "He wrote many long letters home. " * 60,
    }
    fill(_SHIPS, [Document(title, (Section(text),), title) for title, text in texts.items()])
    fill(_SECRET, [Document("Kari", (Section("Kari Aune keeps a secret."),), "Kari")])


@pytest.fixture
def serve(neo4j_env: dict[str, str], scripted: Scripted, collections: None) -> Serve:
    """Starts the server with some options, and runs calls on it."""
    environment = {**os.environ, **neo4j_env, **scripted.env()}

    def run(calls: Calls, *options: str) -> None:
        async def session() -> None:
            command = ["-m", "kgrag", "mcp", *options]
            async with Client(
                StdioServerParameters(command=sys.executable, args=command, env=environment), read_timeout_seconds=60
            ) as client:
                await calls(client)

        asyncio.run(session())

    return run


async def _call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def _refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return " ".join(getattr(part, "text", "") for part in result.content)


def test_tools_read_the_graph(kg: KnowledgeGraph, serve: Serve, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    kg[_SHIPS].set_fact_schema({"types": {"Seafarer": {}}, "predicates": {"BORN_IN": {"from": ["Seafarer"]}}})

    async def calls(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {
            "describe", "search", "ask", "look_up", "passage", "saved_query", "get-schema", "read-cypher"
        }  # fmt: skip
        assert len({tool.title for tool in tools.values()} - {None}) == len(tools)
        assert all(tool.output_schema is not None for tool in tools.values())
        offer = [tool.model_dump(mode="json", by_alias=True, include={"name", "description", "input_schema"})
                 for tool in tools.values()]  # fmt: skip
        assert len(json.dumps(offer)) < 5000  # the model reads it: about 1,200 tokens
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools.values())
        about = await _call(client, "describe")
        known = {c["name"]: c for c in about["collections"]}
        assert known[_SHIPS]["counts"]["Document"] == 2
        assert about["language_model"]
        queries = {query["name"]: query for query in about["saved_queries"]}
        assert {"names", "facts"} <= queries.keys()
        assert queries["changes"]["parameters"] == ["since: STRING = '2020-01-01'", "limit: INTEGER = 25"]

        found = await _call(client, "search", question=_QUESTION, collection=_SHIPS)
        first, second = (hit["passage"] for hit in found["hits"][:2])
        assert (first["title"], second["title"]) == ("Fjord Queen", "Ole Brandvik")
        assert "Ole Brandvik" in found["hits"][1]["trail"]
        assert second["cut"] and len(second["text"]) <= 600
        whole = await client.read_resource(f"kgrag://{second['collection']}/passage/{second['id']}")
        assert whole.contents[0].text.count("letters home") == 60  # type: ignore[union-attr]
        opened = await _call(client, "passage", id=first["id"])
        assert {"edge": "MENTIONS", "label": "Entity", "name": "Ole Brandvik"} in opened["neighbours"]

        answer = await _call(client, "ask", question=_QUESTION, collection=_SHIPS, system="single+pathrank")
        assert (answer["text"], answer["found"], answer["usage"]["calls"]) == ("In Nordvika [2].", True, 1)
        assert [(c["number"], c["passage"]["title"]) for c in answer["citations"]] == [(2, "Ole Brandvik")]
        assert not (await _call(client, "look_up", question=_QUESTION, collection=_SHIPS))["found"]

        both = await _call(client, "search", question="Kari Aune and Ole Brandvik", collection=f"{_SHIPS}, {_SECRET}")
        assert both["collection"] == f"{_SHIPS},{_SECRET}"
        assert {hit["passage"]["collection"] for hit in both["hits"]} == {_SHIPS, _SECRET}

        statement = (
            "MATCH (p:Passage {collection: $collection})-[m:MENTIONS]->(e) RETURN p, m, e, 1 AS one ORDER BY p.title"
        )
        rows = await _call(client, "read-cypher", query=statement, collection=_SHIPS)
        assert rows["columns"] == ["p", "m", "e", "one"] and "rows: more would be too long" in rows["cut"]
        assert rows["rows"][0]["p"]["labels"] == ["Passage"] and rows["rows"][0]["m"]["type"] == "MENTIONS"
        assert not {"embedding", "stems", "sentences"} & rows["rows"][0]["p"].keys()
        names = await _call(client, "saved_query", name="names", parameters={"name": "brandvik"}, collection=_SHIPS)
        assert "Ole Brandvik" in str(names["rows"])
        counted = await _call(client, "read-cypher", query="RETURN $one + 1 AS two", params={"one": 1})
        assert counted["rows"] == [{"two": 2}]
        schema = await client.read_resource("kgrag://schema")
        assert "MENTIONS" in schema.contents[0].text  # type: ignore[union-attr]
        described = await _call(client, "get-schema")
        assert described["result"] == schema.contents[0].text  # type: ignore[union-attr]
        assert f"In {_SHIPS}: By a schema of facts" in described["result"]
        assert "(:Seafarer)-[:BORN_IN]->(:Entity)" in described["result"]

    serve(calls, "--characters", "1000")
    kg[_SHIPS].set_fact_schema(None)


def test_what_goes_wrong_is_said_with_its_remedy(serve: Serve) -> None:
    async def calls(client: Client) -> None:
        said = await _refusal(client, "search", question=_QUESTION)
        assert "Which collection?" in said and _SHIPS in said
        assert "no collection 'ship'" in await _refusal(client, "search", question=_QUESTION, collection="ship")
        assert "pathrank" in await _refusal(
            client, "search", question=_QUESTION, collection=_SHIPS, retriever="pathrnk"
        )
        assert "k" in await _refusal(client, "search", question=_QUESTION, collection=_SHIPS, k=0)
        assert "only read" in await _refusal(client, "read-cypher", query="MATCH (n) DETACH DELETE n")
        assert "no collection 'ship'" in await _refusal(client, "read-cypher", query="RETURN 1", collection="ship")
        assert "kgrag cypher --list" in await _refusal(client, "saved_query", name="nothing", collection=_SHIPS)
        wrong = await _refusal(client, "saved_query", name="names", parameters={"embeddings": True}, collection=_SHIPS)
        assert "embeddings" in wrong
        assert "No passage" in await _refusal(client, "passage", id="nobody", collection=_SHIPS)
        with pytest.raises(MCPError, match="No passage"):
            await client.read_resource("kgrag://letters/passage/abcdef123456")

    serve(calls)


@pytest.mark.parametrize(
    "asked",
    [
        "rerank(pathrank, url='http://127.0.0.1:1/v1/rerank')", "rrf(bm25, rerank(bm25, url='http://127.0.0.1:1'))",
        "bm25 >> rerank(model='/tmp/model')", "gfm(weights='/tmp/weights.pt')",
        "bridges(pathrank, knowledge=('letters',))", "bridges(pathrank, knowledge=letters)",
        "sync-ge(bm25, link=https)",
    ],
)  # fmt: skip
def test_options_that_name_files_addresses_and_collections_are_refused(asked: str) -> None:
    with pytest.raises(KgragError, match="cannot be set here"):
        check_asked_retriever(asked)
    with pytest.raises(KgragError, match="cannot be set here"):
        check_asked_system(f"single+{asked}")


def test_the_logging_of_the_program_stays_as_it_is(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    mcp_server(Tools(kg, ()))
    assert logging.getLogger().handlers == []


def test_options_that_are_numbers_or_fixed_words_are_taken() -> None:
    for asked in ("pathrank(cap=20, pagerank_weight=0)", "sync-ge(bm25, link=hybrid)", "rrf(bm25, dense) % 5"):
        assert check_asked_retriever(asked) == asked
    assert check_asked_system("gear(first_read=expanded, steps=2)+pathrank(width=(5, 5))")
    with pytest.raises(KgragError, match="cannot be set here"):
        check_asked_system("gears(knowledge=(letters,))+hybrid")


@pytest.mark.long
def test_other_collections_stay_closed(serve: Serve, kg: KnowledgeGraph) -> None:
    secret = kg[_SECRET].search("Kari", k=1).hits[0].passage.id

    async def calls(client: Client) -> None:
        assert not {"get-schema", "read-cypher"} & {tool.name for tool in (await client.list_tools()).tools}
        about = await _call(client, "describe")
        assert [c["name"] for c in about["collections"]] == [_SHIPS]
        found = await _call(client, "search", question=_QUESTION)  # the only collection for this key
        assert found["collection"] == _SHIPS
        attempts: list[tuple[str, dict[str, Any]]] = [
            ("search", {"question": "Kari", "collection": _SECRET}),
            ("ask", {"question": "Kari", "collection": _SECRET}),
            ("look_up", {"question": "What is on page 1?", "collection": _SECRET}),
            ("passage", {"id": secret, "collection": _SECRET}), ("passage", {"id": secret}),
            ("search", {"question": "Kari", "retriever": f"bridges(bm25, knowledge=('{_SECRET}',))"}),
            ("saved_query", {"name": "names", "parameters": {"name": "kari"}, "collection": _SECRET}),
            ("saved_query", {"name": "names", "parameters": {"name": "kari", "collection": _SECRET}}),
            ("saved_query", {"name": "collections"}), ("read-cypher", {"query": "MATCH (p:Passage) RETURN p.text"}),
            ("cypher", {"statement": "MATCH (p:Passage) RETURN p.text"}),
        ]  # fmt: skip
        for tool, arguments in attempts:
            said = await _refusal(client, tool, **arguments)
            assert "keeps a secret" not in said
        for address in (f"kgrag://{_SECRET}/passage/{secret}", f"kgrag://ships of the coast/passage/{secret}"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(address)
            assert "keeps a secret" not in str(refused.value)

    serve(calls, "-c", _SHIPS)


def test_a_collection_that_does_not_exist_is_told_at_the_start(neo4j_env: dict[str, str], collections: None) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "kgrag", "mcp", "-c", "nothing"],
        env={**os.environ, **neo4j_env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode != 0
    assert "nothing" in ended.stderr and ended.stdout == ""
