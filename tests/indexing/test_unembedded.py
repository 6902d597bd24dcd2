"""A passage that an embedder refuses is written without a vector and reported; the rest is complete."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run_kgrag
from embedding_habits import BAD, HABITS, EmbeddingHabits, spoils

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.indexing.bulk import write_files
from kgrag.models.embed import OpenAIEmbedder
from kgrag.retrieval.base import RETRIEVERS
from kgrag.settings import EmbeddingSettings, Settings
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.results import Filter

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingHabits]:
    with EmbeddingHabits() as habits:
        yield habits


@pytest.fixture
def client(kg: KnowledgeGraph, server: EmbeddingHabits) -> Iterator[KnowledgeGraph]:
    given = {"base_url": server.base_url, "api_key": "test", "retries": 1}
    settings = kg.settings.model_copy(update={"embedding": EmbeddingSettings.model_validate(given)})
    with KnowledgeGraph.connect(settings=settings) as client:
        yield client


def documents() -> list[Document]:
    made = [
        Document(f"d{n}", (Section(f"The Fram sailed past cape {n} with {n} men. It was cold there."),), f"Cape {n}")
        for n in range(39)
    ]
    stated = (Triple("Fram", "anchored in", f"{BAD} beds"), Triple("Fram", "anchored off", "Larvik"))
    return [
        *made,
        Document("bed", (Section(f"A bed of {BAD} off Larvik held the Fram."),), "Bed", "bed.txt", {}, stated),
    ]


def having(kg: KnowledgeGraph, name: str, label: str) -> tuple[int, int]:
    slot = open_collection(kg.graph, name).embedding
    row = kg.graph.run("inspect/count_vectors", label=label, collection=name, embedding=slot)[0]
    return row["having"], row["number"]


@pytest.mark.parametrize("habit", ["not a number", "zeros"])
def test_an_ingest_names_it_and_a_repair_makes_it_whole(
    client: KnowledgeGraph, server: EmbeddingHabits, collection_name: str, habit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = client[collection_name]
    report = collection.ingest(documents(), embedder=f"openai:{habit}")
    assert (report.added, report.passages, report.embedded) == (40, 40, 40)  # 39 passages and a triple
    passage, triple = report.problems
    assert passage.place == triple.place == "bed.txt"
    assert f"A bed of {BAD} off Larvik" in passage.message and "kgrag db repair" in passage.message
    assert f"{BAD} beds" in triple.message
    assert having(client, collection_name, "Passage") == (39, 40)
    assert having(client, collection_name, "Triple") == (1, 2)
    found = {finding.name: finding.number for finding in collection.inspect().findings}
    assert found["passages without a vector"] == found["triples without a vector"] == 1
    assert "unfinished" not in found
    assert collection.ingest(documents(), embedder=f"openai:{habit}").unchanged == 40
    again = collection.repair()
    assert [BAD in problem.message for problem in again.problems] == [True, True]
    assert not again.vectors.get("passages")

    monkeypatch.setitem(HABITS, habit, spoils(list))  # the server is repaired
    assert collection.repair().vectors == {"passages": 1, "triples": 1, "names": 1}
    assert having(client, collection_name, "Passage") == (40, 40)
    assert not [f for f in collection.inspect().findings if "vector" in f.name or f.name == "unfinished"]
    assert "bed" in {hit.passage.document for hit in collection.search("bed", retriever="dense", k=40).hits}


def test_searches_and_summaries_go_on_without_it(
    client: KnowledgeGraph, server: EmbeddingHabits, collection_name: str
) -> None:
    collection = client[collection_name]
    collection.ingest(documents(), embedder="openai:null")
    collection.build_tree(size=4)
    collection.build_communities()
    assert "bed" in {hit.passage.document for hit in collection.search("bed off Larvik", retriever="bm25").hits}
    for name in (name for name, entry in RETRIEVERS.items() if not entry.needs):
        for where in (None, Filter(source="b")):
            hits = collection.search("Who anchored off Larvik?", retriever=name, filter=where).hits
            assert all(hit.score is not None for hit in hits), name


def test_the_command_line_names_it(
    client: KnowledgeGraph, collection_name: str, server: EmbeddingHabits, neo4j_env: dict[str, str]
) -> None:
    client[collection_name].ingest(documents(), embedder="openai:too long")
    env = neo4j_env | {"KGRAG_EMBEDDING__BASE_URL": server.base_url, "KGRAG_EMBEDDING__API_KEY": "test"}
    said = run_kgrag(env, "db", "repair", collection_name)
    assert "vectors of" not in said.output
    assert "Passage Bed" in said.output and "KGRAG_INDEXING__PASSAGE_TOKENS" in said.output


def test_files_for_a_bulk_load_leave_its_vector_empty(server: EmbeddingHabits, tmp_path: Path) -> None:
    given = EmbeddingSettings.model_validate({"base_url": server.base_url, "api_key": "test"})
    model = OpenAIEmbedder("openai:zeros", given)
    report = write_files(documents(), "bulk", model, Settings(), tmp_path / "files", lambda *_: None)
    assert [BAD in problem.message for problem in report.problems] == [True, True]
    assert (report.added, report.embedded) == (40, 40)
    columns = (tmp_path / "files" / "Passage-header.csv").read_text().strip().split(",")
    place = next(n for n, column in enumerate(columns) if column.startswith("embedding:"))
    with (tmp_path / "files" / "Passage.csv").open(newline="") as file:
        without = [row for row in csv.reader(file) if len(row) <= place or not row[place]]
    assert len(without) == 1 and BAD in "".join(without[0])
    near = (tmp_path / "files" / "SIMILAR.csv").read_text()
    assert near and without[0][0] not in near
