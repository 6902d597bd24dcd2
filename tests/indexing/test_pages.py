"""Pages and tables of documents in the graph: written once, changed, removed, and shown with hits."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from click.testing import CliRunner
from graph_rows import rows

from kgrag import KnowledgeGraph
from kgrag.cli import main
from kgrag.graph.connection import Graph
from kgrag.graph.contents import digest
from kgrag.indexing import document_writer as writer
from kgrag.indexing.chunking import chunk
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document, Page, Section, Table
from kgrag.values.identity import content_hash

pytestmark = pytest.mark.long

NAMES = [f"{a}{b}" for a in ("Ban", "Dur", "Kel", "Lom", "Mir") for b in ("or", "im", "ak", "es", "ol", "und")]


def report(pages: int = 6, tables: int = 2, word: str = "harbour", key: str = "report.pdf") -> Document:
    """Return a document whose text runs over its pages; each page has sentences about a different name."""
    text, breaks, made = "", [], []
    for n in range(1, pages + 1):
        part = " ".join(f"{NAMES[n]} is the {word} number {i} of page {n}." for i in range(12))
        breaks.append((len(text) + (n > 1), n))
        text += f" {part}" if text else part
        made.append(Page(n, part, "iv" if n == 1 else ""))
    head = ("Ship", "Length", "Remarks")
    held = tuple(
        Table(
            n,
            (head, *((f"Ship{n}{i}", f"{i} m", "seen near " + NAMES[i % 30]) for i in range(40))),
            f"Table {n}: Fleet of {NAMES[n]}" if n == 1 else "",
            n + 1,
            n + 2,
        )
        for n in range(1, tables + 1)
    )
    return Document(key, (Section(text, "", tuple(breaks)),), "Harbour Report", pages=tuple(made), tables=held)


def state(kg: KnowledgeGraph, name: str) -> tuple[dict[str, str], dict[str, int]]:
    return digest(kg.graph, name), dict(next(c for c in kg.collections() if c.name == name).counts)


def test_chunks_know_their_pages() -> None:
    document = report()
    chunks = chunk(document, IndexingSettings())
    texts = [c for c in chunks if c.table is None]
    assert len(texts) == 3
    for part in texts:
        told = [n for n in range(1, 7) if f"of page {n}." in part.text]
        assert (part.page, part.last_page) == (told[0], told[-1])
    assert any(part.page != part.last_page for part in texts)
    assert max(c.tokens for c in chunks) <= 256
    tabled = [c for c in chunks if c.table == 1]
    assert len(tabled) > 1
    assert all(c.text.startswith(f"Table 1: Fleet of {NAMES[1]}\nShip: Ship1") for c in tabled)
    lines = [line for c in tabled for line in c.text.splitlines()[1:]]
    assert lines[3] == f"Ship: Ship13; Length: 3 m; Remarks: seen near {NAMES[3]}."
    assert len(lines) == 40
    assert {(c.page, c.last_page) for c in tabled} == {(2, 3)}


def test_a_passage_can_be_a_sentence() -> None:
    """Each sentence is a passage with its heading and page, and none is dropped (KGP, appendix A.1.1)."""
    one = "The Fram sailed. She was strong!\n\nWho built her? Archer did."
    sections = (Section(one, "Ship", ((0, 1), (33, 2))), Section("word " * 20 + "end.", "Ship > Crew"))
    chunks = chunk(Document("a", sections, "A"), IndexingSettings(unit="sentence", passage_tokens=8))
    assert [c.text for c in chunks[:4]] == ["The Fram sailed.", "She was strong!", "Who built her?", "Archer did."]
    assert [c.page for c in chunks[:4]] == [1, 1, 2, 2]
    assert {c.section for c in chunks[:4]} == {"Ship"}
    assert [c.tokens for c in chunks[4:]] == [8, 8, 6]  # a sentence that is too long is cut
    tabled = chunk(report(tables=1), IndexingSettings(unit="sentence"))
    assert any(c.table == 1 for c in tabled)
    assert all(c.text.count(". ") == 0 for c in tabled if c.table is None)


def test_headings_do_not_move_pages() -> None:
    sections = (
        Section("of the of the of. " * 200 + "End of one.", "The of", ((0, 1), (2000, 2))),
        Section("Short.", "Next", ((0, 3),)),
    )
    chunks = chunk(Document("a", sections, "A"), IndexingSettings())
    assert [(c.page, c.last_page) for c in chunks][:2] == [(1, 1), (1, 1)]
    assert (chunks[-1].page, chunks[-1].last_page) in ((2, 3), (3, 3))
    assert sorted({c.page for c in chunks} - {3}) == [1, 2]


def test_without_pages_nothing_changes() -> None:
    document = Document("a", (Section("Text.", "Heading"),), "A", "src", {"x": 1})
    assert content_hash(document) == "9ddc5a87d3974aafb06961e501b158d8"  # unchanged since before pages existed
    assert content_hash(document) == content_hash(replace(document, pages=(), tables=()))
    assert content_hash(document) != content_hash(replace(document, pages=(Page(1, "Text."),)))
    assert content_hash(report()) != content_hash(report(tables=1))
    one = report()
    moved = replace(one, sections=(replace(one.sections[0], breaks=((0, 1), (700, 2))),))
    assert content_hash(one) != content_hash(moved)


def test_the_graph_of_a_document_with_pages(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([report()])
    counts = state(kg, collection_name)[1]
    assert (counts["Page"], counts["Table"], counts["HAS_PAGE"], counts["HAS_TABLE"]) == (6, 2, 6, 2)
    pages = rows(
        kg,
        """MATCH (:Document {collection: $name})-[:HAS_PAGE]->(p:Page)
           RETURN p.name AS name, p.number AS number, p.label AS label, p.text AS text, p.collection AS collection,
                  [(p)-[:NEXT]->(q:Page) | q.number] AS next ORDER BY number""",
        name=collection_name,
    )
    assert [(p["name"], p["next"]) for p in pages] == [
        ("p. 1 (iv)", [2]), ("p. 2", [3]), ("p. 3", [4]), ("p. 4", [5]), ("p. 5", [6]), ("p. 6", []),
    ]  # fmt: skip
    assert [p["text"] for p in pages] == [p.text for p in report().pages]
    assert {p["collection"] for p in pages} == {collection_name}
    tables = rows(
        kg,
        """MATCH (t:Table {collection: $name})
           RETURN t.name AS name, t.number AS number, t.markdown AS markdown,
                  COLLECT { MATCH (p:Page)-[:CONTAINS]->(t) RETURN p.number ORDER BY p.number } AS pages,
                  COLLECT { MATCH (t)<-[:OF_TABLE]-(p:Passage) RETURN p.page ORDER BY p.ordinal } AS passages
           ORDER BY number""",
        name=collection_name,
    )
    assert [(t["name"], t["pages"]) for t in tables] == [(f"Table 1: Fleet of {NAMES[1]}", [2, 3]), ("Table 2", [3, 4])]
    assert all(len(t["passages"]) > 1 and set(t["passages"]) == {n} for n, t in zip((2, 3), tables, strict=True))
    assert tables[0]["markdown"] == report().tables[0].markdown
    on = rows(
        kg,
        """MATCH (p:Passage {collection: $name})
           RETURN p.page AS page, p.last_page AS last,
                  COLLECT { MATCH (g:Page)-[:CONTAINS]->(p) RETURN g.number ORDER BY g.number } AS pages""",
        name=collection_name,
    )
    assert all(p["pages"] == list(range(p["page"], p["last"] + 1)) for p in on)


def test_search_and_show_tell_the_page(kg: KnowledgeGraph, collection_name: str, neo4j_env: dict[str, str]) -> None:
    kg[collection_name].ingest([report()])
    hit = kg[collection_name].search("Ship27 Length", retriever="bm25").hits[0].passage
    assert (hit.page, hit.last_page, hit.place) == (3, 4, "pp. 3-4")
    assert "Ship: Ship27; Length: 7 m" in hit.text
    run = CliRunner(env=neo4j_env)
    found = run.invoke(main, ["search", f"{NAMES[5]} harbour", "-c", collection_name, "-r", "bm25", "-k", "1"])
    assert "Harbour Report, p" in found.output
    shown = run.invoke(main, ["show", hit.id, "-c", collection_name])
    assert "Harbour Report, pp. 3-4" in shown.output
    assert "report.pdf (pp. 3-4, passage" in shown.output
    assert "OF_TABLE" in shown.output


CHANGES = [
    report(pages=3, tables=0),
    report(word="quay"),
    report(pages=8, tables=3),
    replace(report(), tables=()),
    Document("report.pdf", (Section("All is gone."),), "Harbour Report"),
    replace(report(), sections=(replace(report().sections[0], breaks=((0, 1), (700, 2), (1500, 5))),)),
]


@pytest.mark.parametrize("number", [n if n in (1, 4) else pytest.param(n, marks=pytest.mark.slow) for n in range(6)])
def test_a_changed_document_is_as_if_it_had_always_been_so(
    kg: KnowledgeGraph, collection_name: str, number: int
) -> None:
    kg[collection_name].ingest([CHANGES[number]])
    expected = state(kg, collection_name)
    kg[collection_name].delete()
    kg[collection_name].ingest([report()])
    assert state(kg, collection_name) != expected
    assert kg[collection_name].ingest([CHANGES[number]]).changed == 1
    assert state(kg, collection_name) == expected
    assert kg[collection_name].ingest([CHANGES[number]]).unchanged == 1


def test_removed_with_the_document_and_the_collection(kg: KnowledgeGraph, collection_name: str) -> None:
    other = report(pages=2, tables=1, key="other.pdf")
    kg[collection_name].ingest([other])
    expected = state(kg, collection_name)
    kg[collection_name].ingest([report()])
    kg[collection_name].delete(documents=["report.pdf"])
    assert state(kg, collection_name) == expected
    kg[collection_name].delete()
    left = rows(kg, "MATCH (n {collection: $name}) RETURN count(n) AS n", name=collection_name)
    assert left == [{"n": 0}]


def test_broken_off_at_every_batch(kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [report(pages=20, tables=3), report(pages=4, tables=1, word="quay", key="b.pdf")]
    settings = kg.settings.model_copy(update={"batch_passages": 4})
    there = [report(pages=1, tables=0, word="mast", key="c.pdf")]  # so that the next ingest is not a first load
    kg[collection_name].ingest([*there, *documents])
    expected = state(kg, collection_name)
    kg[collection_name].delete()
    written: list[int] = []

    def fail(graph: Graph, collection: object, batch: writer.Batch, stop: Sequence[int]) -> None:
        written.append(1)
        if len(written) in stop:
            raise RuntimeError("killed")
        writer.write_batch(graph, collection, batch)  # type: ignore[arg-type]

    with KnowledgeGraph(kg.graph, settings) as small:
        monkeypatch.setattr(small.graph, "close", lambda: None)
        small[collection_name].ingest(there)
        for stop in (1, 3, 5):
            with monkeypatch.context() as patch:
                written.clear()
                patch.setattr("kgrag.indexing.pipeline.write_batch", lambda *a, stop=stop: fail(*a, stop=[stop]))
                with pytest.raises(RuntimeError):
                    small[collection_name].ingest(documents)
        small[collection_name].ingest(documents)
        assert state(kg, collection_name) == expected
