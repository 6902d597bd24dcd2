"""REST routes of the pages besides search and answers: names, name pairs, documents, keys, estimates, examples."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import Served

from kgrag import KnowledgeGraph, RemoteKnowledgeGraph
from kgrag.graph.reader import begun_words
from kgrag.indexing.resolution.resolve import sentence
from kgrag.server.jobs import Jobs
from kgrag.settings import IndexingSettings
from kgrag.text.languages import STEMMER
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import NotFoundError

_NAME, _OTHER = "names of pages", "letters of pages"
_C = f"/api/v1/collections/{_NAME}"
_TEXTS = {
    "Ada Maria Lund": "Ada Maria Lund was a maker of maps. She went to school in Trondheim, Norway.",
    "Hvalvik": "Hvalvik is a harbour of Norway. It was calm. Its chart was drawn by Ada M. Lund for the navy. End.",
    "The Norwegian Sea": "The Norwegian Sea lies west of Norway. Ólafur Jónsson sailed it.",
    "Two captains": "Kari Berg and Nils Berg were captains. It is said that Berg could not swim.",
    "Warner": "Warner Brothers printed charts. Warner Bros. of Bergen printed the others.",
}
_FACTS = {
    "Hvalvik": (Triple("Hvalvik", "was charted by", "Ada Maria Lund"),),
    "Ada Maria Lund": (Triple("Ada Maria Lund", "went to school in", "Trondheim"),),
}


@pytest.fixture(scope="module")
def served(
    asking: KnowledgeGraph, fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    fill(_NAME, [Document(key, (Section(text),), key, triples=_FACTS.get(key, ())) for key, text in _TEXTS.items()])
    fill(_OTHER, [Document("Kari", (Section("Kari was a keeper. She was born in Larvik."),), "Kari")])
    with Served(asking, tmp_path_factory.mktemp("keys"), job_workers=1) as server:
        yield server


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as its:
        yield its


# ----- names


def _names(client: httpx.Client, q: str, **more: Any) -> list[str]:
    return [its["name"] for its in client.get(f"{_C}/names", params={"q": q, **more}).json()["names"]]


def test_names_are_found_while_somebody_types(client: httpx.Client) -> None:
    found = client.get(f"{_C}/names", params={"q": "norw"}).json()["names"]
    assert found[0] == {"name": "Norway", "passages": 3} and "Norwegian Sea" in str(found[1:])
    assert _names(client, "NORWAY")[0] == "Norway"
    assert _names(client, "jonsso") == _names(client, "JÓNSS") == ["Ólafur Jónsson"]
    assert _names(client, "maria lu") == ["Ada Maria Lund"] and _names(client, "maria berg") == []
    assert _names(client, "orway") == []  # no word has this prefix
    assert len(_names(client, "b", limit=1)) == 1


@pytest.mark.parametrize(
    "q",
    [
        "", "*", "norwax~", "norway~ OR *:*", '"', "name:Norway", "/.*/", "(", "\\", "no?way",
        "Norway AND wind", "[a TO z]",
    ],
)  # fmt: skip
def test_what_is_typed_is_no_query_of_lucene(client: httpx.Client, q: str) -> None:
    reply = client.get(f"{_C}/names", params={"q": q})
    assert reply.status_code == 200 and reply.json() == {"names": []}
    assert _names(client, "trondheim)") == ["Trondheim"]


def test_words_of_which_the_last_is_begun() -> None:
    assert begun_words("Roald, amu") == '+("Roald") +("amu" amu*)'
    assert begun_words("Sjæl") == '+("Sjæl" sjæl* sjael*)'
    assert begun_words("x~ OR (y)") == '+("x") +("or") +("y" y*)'
    assert begun_words("the Málaga club") == '+("Málaga" "Malaga") +("club" club*)'
    assert begun_words(" *") == ""


def test_the_clients_find_names_too(served: Served, kg: KnowledgeGraph) -> None:
    with RemoteKnowledgeGraph(served.url) as there:
        assert there[_NAME].names("norw", limit=3) == kg[_NAME].names("norw", limit=3)
        assert there[_NAME].example_questions() == kg[_NAME].example_questions()
        assert there[_NAME].documents(search="hval") == kg[_NAME].documents(search="hval")


# ----- pairs of names


def _pairs(client: httpx.Client, **params: Any) -> dict[str, Any]:
    reply = client.get(f"{_C}/name-pairs", params=params)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def test_pairs_of_names_with_a_sentence_of_each(client: httpx.Client, served: Served, kg: KnowledgeGraph) -> None:
    found = _pairs(client, kind="same", filter="lund")
    assert found["number"] == 1 and found["names"] == kg[_NAME].resolve().names
    (pair,) = found["pairs"]
    said = dict(zip((pair["one"], pair["other"]), pair["contexts"], strict=True))
    assert said == {
        "Ada Maria Lund": "Ada Maria Lund was a maker of maps.",
        "Ada M. Lund": "Its chart was drawn by Ada M. Lund for the navy.",
    }
    assert pair["by"] == "rules" and pair["score"] >= 0.8 and pair["evidence"] and pair["kind"]
    doubtful = _pairs(client)
    assert doubtful["number"] == len(kg[_NAME].resolve().doubtful) >= 2
    one, rest = _pairs(client, limit=1), _pairs(client, limit=50, offset=1)
    assert one["pairs"] + rest["pairs"] == doubtful["pairs"] and one["number"] == doubtful["number"]
    assert _pairs(client, filter="no such name")["pairs"] == []


def test_the_sentences_of_a_page_are_read_at_once(kg: KnowledgeGraph, served: Served) -> None:
    found = kg[_NAME].resolve()
    asked: list[str] = []
    with kg.graph.listening(lambda name, _: asked.append(name)):
        said = kg[_NAME].name_contexts([*found.same, *found.doubtful])
    assert asked == ["resolve/texts"] and len(said) == len(found.same) + len(found.doubtful)


def test_decisions_on_pairs_are_kept(client: httpx.Client, kg: KnowledgeGraph) -> None:
    try:
        doubtful = _pairs(client)["pairs"]
        tied, parted = doubtful[0], doubtful[1]
        unknown = {"one": "Norway", "other": "Hvalvik", "same": True}
        first = {"one": tied["other"], "other": tied["one"], "same": True}  # in either order
        refused = client.post(f"{_C}/name-pairs", json={"decisions": [first, unknown]})
        assert refused.status_code == 404 and "'Norway' and 'Hvalvik'" in refused.json()["error"]
        assert _pairs(client)["pairs"] == doubtful  # nothing was written
        second = {"one": parted["one"], "other": parted["other"], "same": False}
        done = client.post(f"{_C}/name-pairs", json={"decisions": [first, second]})
        assert done.json() == {"decided": 2}
        left = [(pair["one"], pair["other"]) for pair in _pairs(client)["pairs"]]
        assert (tied["one"], tied["other"]) not in left and (parted["one"], parted["other"]) not in left
        same = _pairs(client, kind="same")["pairs"]
        assert [(x["one"], x["other"]) for x in same if x["by"] == "person"] == [(tied["one"], tied["other"])]
        apart = _pairs(client, kind="apart")["pairs"]
        assert [(x["one"], x["other"], x["by"]) for x in apart] == [(parted["one"], parted["other"], "decided")]
        back = [{**first, "same": None}, {**second, "same": None}]
        assert client.post(f"{_C}/name-pairs", json={"decisions": back}).json() == {"decided": 2}
        assert _pairs(client)["pairs"] == doubtful and _pairs(client, kind="apart")["pairs"] == []
        assert client.post(f"{_C}/name-pairs", json={"decisions": []}).status_code == 422
        assert client.post(f"{_C}/name-pairs", json={"decisions": [first] * 501}).status_code == 422
    finally:
        untie = "MATCH (e:Entity {collection: $c}) REMOVE e.apart WITH e MATCH (e)-[s:SAME_AS]->() DELETE s"
        kg.graph.driver.execute_query(untie, c=_NAME)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("Berg", "Bergen is far. In it Berg lived! He died.", "In it Berg lived!"),
        ("Dr Vik", "The book of Dr. Vik is lost.", "The book of Dr. Vik is lost."),
        ("Dr. Vik", "One. The book of Dr. Vik is lost. Two.", "The book of Dr. Vik is lost."),
        ("berg", "First Berg\ncame.", "First Berg came."),
        ("Vik", "x" * 300 + " Vik " + "y" * 300, "x" * 159 + " Vik " + "y" * 159),
        ("Vik", "Viken.", ""),
    ],
)
def test_the_sentence_of_a_name(name: str, text: str, said: str) -> None:
    assert sentence(name, ["Nothing here.", text]) == said


# ----- documents


def test_documents_are_found_by_words(client: httpx.Client) -> None:
    def keys(search: str, **more: Any) -> list[str]:
        reply = client.get(f"{_C}/documents", params={"search": search, **more}).json()
        return [its["key"] for its in reply["documents"]]

    assert keys("norweg") == ["The Norwegian Sea"] and keys("SEA the") == ["The Norwegian Sea"]
    assert keys("sea hvalvik") == [] and len(keys("")) == len(_TEXTS)
    first = client.get(f"{_C}/documents", params={"search": "a", "limit": 2}).json()
    assert first["after"] == first["documents"][-1]["key"]
    assert keys("a", after=first["after"]) == [key for key in keys("a") if key > first["after"]]
    (one,) = client.get(f"{_C}/documents", params={"search": "hval"}).json()["documents"]
    assert (one["passages"], one["pages"], one["tables"], one["held"], one["file"]) == (1, 0, 0, False, "")
    assert one["problems"] == []


def test_documents_say_whether_their_file_is_held(
    client: httpx.Client, served: Served, kg: KnowledgeGraph, collection_name: str
) -> None:
    place = f"/api/v1/collections/{collection_name}"
    files = [
        ("files", ("a/boat.md", b"# Boat\n\nA boat.")),
        ("files", ("ship.csv", b"id,text\n1,A ship.\n2,A sloop.\n")),
    ]
    _wait(client, client.post(f"{place}/documents", files=files).json()["id"])

    def held() -> dict[str, tuple[str, bool]]:
        rows = client.get(f"{place}/documents").json()["documents"]
        return {its["key"]: (its["file"], its["held"]) for its in rows}

    found = held()
    assert found["a/boat.md"] == ("a/boat.md", True)
    assert [its for key, its in found.items() if key != "a/boat.md"] == [("ship.csv", True)] * 2
    original = client.get(f"{place}/original", params={"key": "a/boat.md"})
    assert original.content == b"# Boat\n\nA boat." and original.headers["content-type"] == "application/octet-stream"
    assert original.headers["content-disposition"] == 'attachment; filename="boat.md"'
    Jobs(kg, workers=0).uploads.remove(collection_name, "ship.csv")
    assert set(held().values()) == {("a/boat.md", True), ("ship.csv", False)}


def _wait(client: httpx.Client, id: str) -> dict[str, Any]:
    with client.stream("GET", f"/api/v1/jobs/{id}/events") as events:
        return dict([json.loads(line[6:]) for line in events.iter_lines() if line.startswith("data: ")][-1])


def test_a_delete_that_waits_can_be_undone_and_begins_then(
    client: httpx.Client, kg: KnowledgeGraph, collection_name: str
) -> None:
    kg[collection_name].ingest([Document("one", (Section("One boat."),)), Document("two", (Section("Two boats."),))])
    place = f"/api/v1/collections/{collection_name}"
    asked = client.delete(f"{place}/documents", params={"key": "one", "seconds": 600}).json()
    assert asked["state"] == "queued" and asked["begins"] > asked["created"]
    other = client.post(f"{place}/jobs", json={"kind": "resolve"}).json()
    assert other["begins"] == ""
    assert _wait(client, other["id"])["state"] == "done"  # a waiting job does not block others
    assert client.get(f"/api/v1/jobs/{asked['id']}").json()["state"] == "queued"
    assert client.delete(f"/api/v1/jobs/{asked['id']}").json()["state"] == "cancelled"
    assert [its.key for its in kg[collection_name].documents()] == ["one", "two"]
    again = client.post(f"/api/v1/jobs/{asked['id']}/retry").json()
    assert again["begins"] == ""  # a second request does not wait
    assert _wait(client, asked["id"])["state"] == "done"
    assert [its.key for its in kg[collection_name].documents()] == ["two"]
    began = time.monotonic()
    then = client.delete(f"{place}/documents", params={"key": "two", "seconds": 3}).json()
    done = _wait(client, then["id"])
    assert done["state"] == "done" and done["started"] >= done["begins"] == then["begins"]
    assert time.monotonic() - began >= 2.5 and kg[collection_name].documents() == []
    assert client.delete(f"{place}/documents", params={"key": "two", "seconds": 3601}).status_code == 422


# ----- keys


def test_keys_are_listed_made_and_removed(kg: KnowledgeGraph, tmp_path: Path) -> None:
    server = Served(kg, tmp_path, job_workers=1)
    server.key("ruler", "admin")
    with server, server.client("ruler") as client:
        made = client.post("/api/v1/keys", json={"name": "a/guest", "role": "read", "collections": [_NAME]})
        assert made.status_code == 201 and made.json()["name"] == "a/guest"
        token = made.json()["token"]
        listed = client.get("/api/v1/keys").json()["keys"]
        assert [(its["name"], its["role"], its["collections"]) for its in listed] == [
            ("a/guest", "read", [_NAME]),
            ("ruler", "admin", []),
        ]
        assert all(set(its) == {"name", "role", "collections", "created"} for its in listed)
        with server.client(token) as guest:
            assert guest.get("/api/v1/me").json()["collections"] == [_NAME]
            assert guest.get("/api/v1/keys").status_code == 403
        taken = client.post("/api/v1/keys", json={"name": "ruler", "role": "read"})
        own = client.delete("/api/v1/keys/ruler")
        assert taken.json()["kind"] == own.json()["kind"] == "InputError"
        assert taken.status_code == own.status_code == 400
        assert own.json()["remedy"] == "Use another admin key or `kgrag keys remove`."
        assert client.delete("/api/v1/keys/a%2Fguest").json() == {"name": "a/guest"}
        assert client.delete("/api/v1/keys/a%2Fguest").status_code == 404
        with server.client(token) as guest:
            assert guest.get("/api/v1/me").status_code == 401
        assert [key.name for key in server.keys.all()] == ["ruler"]


def test_a_first_key_that_is_made_locks_the_server(kg: KnowledgeGraph, tmp_path: Path) -> None:
    with Served(kg, tmp_path, job_workers=1) as server, server.client() as client:
        assert client.get("/api/v1/keys").json() == {"keys": []}
        assert client.delete("/api/v1/keys/local").status_code == 404
        made = client.post("/api/v1/keys", json={"name": "first", "role": "admin"})
        assert made.status_code == 201
        assert client.get("/api/v1/keys").status_code == 401
        with server.client(made.json()["token"]) as ruler:
            assert [its["name"] for its in ruler.get("/api/v1/keys").json()["keys"]] == ["first"]
        server.keys.path.write_text("{")  # an unreadable file admits nobody
        assert client.get("/api/v1/me").status_code == 400
        assert server.client(made.json()["token"]).get("/api/v1/me").status_code == 400


# ----- estimates


def test_what_a_model_would_take(client: httpx.Client, kg: KnowledgeGraph) -> None:
    here = kg[_NAME].estimate_extraction()
    there = client.get(f"{_C}/estimates/extract").json()
    assert there["kind"] == "extract" and there["calls"] == here.calls == len(_TEXTS)
    assert there["tokens"] == here.prompt_tokens[1] + here.completion_tokens[1] > 500
    assert there["lines"][0].startswith(f"{len(_TEXTS)} calls of ") and len(there["lines"]) == 3
    assert client.get(f"{_C}/estimates/resolve").json()["calls"] == 1  # ten pairs a call
    tree = client.get(f"{_C}/estimates/tree").json()
    assert (tree["calls"], tree["tokens"]) == (0, 0) and "make it first" in tree["lines"][0]
    assert client.get(f"{_C}/estimates/communities").json()["calls"] == 0
    assert client.get(f"{_C}/estimates/tag").status_code == 422


def test_an_estimate_of_what_is_laid_counts_it(client: httpx.Client, kg: KnowledgeGraph) -> None:
    kg[_NAME].build_tree(size=2)
    try:
        tree = client.get(f"{_C}/estimates/tree").json()
        assert tree["calls"] == kg[_NAME].info().counts["Summary"] > 0 and tree["tokens"] > 0
    finally:
        kg[_NAME].remove_tree()


def test_an_estimate_takes_a_model(kg: KnowledgeGraph, served: Served, tmp_path: Path) -> None:
    with Served(kg, tmp_path, job_workers=1) as server, server.client() as client:
        job = client.post(f"{_C}/jobs", json={"kind": "extract"})
        estimate = client.get(f"{_C}/estimates/extract")
        assert estimate.status_code == job.status_code == 400 and estimate.json() == job.json()


# ----- examples


def test_example_questions_are_of_facts_and_names(client: httpx.Client, kg: KnowledgeGraph) -> None:
    found = client.get(f"{_C}/examples").json()["questions"]
    assert found[:2] == ["How are Hvalvik and Trondheim connected?", "What is known about Norway?"]
    assert len(found) == 3 and found == client.get(f"{_C}/examples").json()["questions"]
    assert client.get(f"/api/v1/collections/{_OTHER}/examples").json()["questions"] == [
        "Who was Kari?",
        "What is known about Larvik?",
    ]


@pytest.mark.parametrize("begun", [True, False])
def test_a_collection_without_documents_is_no_fault(
    client: httpx.Client, kg: KnowledgeGraph, collection_name: str, begun: bool
) -> None:
    """Its documents may have been deleted, or the first ingest may have ended before it made an index."""
    if begun:
        made = {"embedder": "wordllama", "dimension": 256, "embedding": "embedding_b", "language": "en"}
        made |= {"settings": IndexingSettings().model_dump_json(), "stemmer": STEMMER}
        kg.graph.run("write/create_collection", name=collection_name, properties=made, unused_seconds=0.0, ahead=0)
    else:
        kg[collection_name].ingest([Document("one", (Section("One boat."),), "one")])
        kg[collection_name].delete(["one"])
    place = f"/api/v1/collections/{collection_name}"
    assert client.get(f"{place}/examples").json() == {"questions": []}
    assert client.get(f"{place}/names", params={"q": "boat"}).json() == {"names": []}
    for query in ("passages", "names", "evidence", "nearest-triples", "map"):
        assert client.post(f"{place}/queries/{query}", json={}).json()["rows"] == []
    refused = client.post("/api/v1/turns", json={"collections": [collection_name], "question": "Which boat?"})
    assert refused.status_code == 404 and refused.json()["error"].endswith("holds no documents yet.")
    searched = client.post(f"{place}/search", json={"question": "Which boat?", "retriever": "bm25"})
    assert (searched.status_code, searched.json().get("hits")) == ((404, None) if begun else (200, []))
    both = {"collections": [collection_name, _OTHER], "question": "Who was Kari?", "retriever": "bm25"}
    turn = client.post("/api/v1/turns", json=both).json()["id"]
    client.get(f"/api/v1/turns/{turn}/events")
    assert client.get(f"/api/v1/turns/{turn}").json()["sources"][0]["passage"]["title"] == "Kari"
    with pytest.raises(NotFoundError):
        kg["no such collection"].example_questions()


# ----- connections


def test_a_connection_is_told_in_sentences(client: httpx.Client) -> None:
    told = client.get(f"{_C}/drawings/connection", params={"name": "hvalvik", "other": "Trondheim"}).json()
    assert [(tie["one"], tie["other"], tie["sentence"]) for tie in told["ties"]] == [
        ("Hvalvik", "Norway", "Hvalvik is a harbour of Norway."),
        ("Norway", "Trondheim", "She went to school in Trondheim, Norway."),
    ]
    last = told["ties"][-1]
    marks = [last["sentence"][start:end] for start, end in last["marks"]]
    assert (last["title"], marks) == ("Ada Maria Lund", ["Trondheim", "Norway"])
    opened = client.get(f"{_C}/passage", params={"id": last["passage"]}).json()["passage"]
    assert last["sentence"] in opened["text"]
    assert told["ways"] >= 1 and {"Hvalvik", "Trondheim"} <= {node["caption"] for node in told["nodes"]}


def test_names_that_nothing_connects(client: httpx.Client) -> None:
    told = client.get(f"{_C}/drawings/connection", params={"name": "Hvalvik", "other": "Zanzibar"})
    assert told.json() == {"nodes": [], "edges": [], "ways": 0, "ties": []}
    assert client.get("/api/v1/collections/none/drawings/connection?name=a&other=b").status_code == 404
