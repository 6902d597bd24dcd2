"""The graph records the progress of an ingest: the same documents give the same graph, whatever the path."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from neighbours import overlap, similar
from queries_run import queries_run

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.models.embed import Vectors, WordLlamaEmbedder
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]


class CountingEmbedder(WordLlamaEmbedder):
    """An embedder that counts the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return super().embed(texts)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


def _state(kg: KnowledgeGraph, name: str) -> dict[str, str]:
    """Return the digest independent of the collection's name: ids differ between collections, so counts stand in."""
    info = next(c for c in kg.collections() if c.name == name)
    assert info.finished
    return digest(kg.graph, name)


@pytest.mark.parametrize(("first", "then"), [(slice(120, 240), slice(0, 120)), (slice(0, 195), slice(195, 200))])
def test_documents_added_in_two_parts_give_the_same_graph(
    kg: KnowledgeGraph, collection_name: str, make_documents: Make, first: slice, then: slice
) -> None:
    """A small addition takes the path by phrases, which visits only passages with a new name or word."""
    documents = make_documents(0, max(first.stop, then.stop))
    kg[collection_name].ingest(documents)
    whole, near = _state(kg, collection_name), similar(kg.graph, collection_name)
    kg[collection_name].delete()
    kg[collection_name].ingest(documents[first])
    kg[collection_name].ingest(documents[then])
    assert _state(kg, collection_name) == whole
    assert overlap(similar(kg.graph, collection_name), near) > 0.99


def test_deleting_is_never_having_had(kg: KnowledgeGraph, collection_name: str, make_documents: Make) -> None:
    documents = make_documents(0, 120)
    kg[collection_name].ingest(documents[:100])
    before, near = _state(kg, collection_name), similar(kg.graph, collection_name)
    kg[collection_name].ingest(documents[100:])
    assert _state(kg, collection_name) != before
    kg[collection_name].delete(documents=[d.key for d in documents[100:]])
    assert _state(kg, collection_name) == before
    assert overlap(similar(kg.graph, collection_name), near) > 0.99


def test_unchanged_input_writes_nothing(kg: KnowledgeGraph, collection_name: str, make_documents: Make) -> None:
    documents = make_documents(0, 60)
    kg[collection_name].ingest(documents)
    with queries_run() as run:
        report = kg[collection_name].ingest(documents)
    assert (report.unchanged, report.added, report.changed, report.embedded) == (60, 0, 0, 0)
    assert {query.mode for query in run.values()} == {"read"}


def test_a_changed_document_keeps_its_unchanged_passages(
    kg: KnowledgeGraph, collection_name: str, embedder: CountingEmbedder
) -> None:
    parts = [" ".join(f"Sentence {i} of part {n} speaks of the Rhine." for i in range(20)) for n in range(6)]
    document = Document("long", tuple(Section(p, f"Part {n}") for n, p in enumerate(parts)), "Long Story")
    kg[collection_name].ingest([document], embedder=embedder)
    first = embedder.texts
    ids = set(similar(kg.graph, collection_name))
    changed = replace(
        document,
        sections=(*document.sections[:3], Section(parts[3].replace("Rhine", "Main"), "New"), *document.sections[4:]),
    )
    report = kg[collection_name].ingest([changed], embedder=embedder)
    assert report.changed == 1
    assert 0 < embedder.texts - first < first
    kept = set(similar(kg.graph, collection_name)) & ids
    assert len(kept) == len(ids) - 1
    again = _state(kg, collection_name)
    kg[collection_name].delete()
    kg[collection_name].ingest([changed])
    assert _state(kg, collection_name) == again


def test_a_changed_title_renames_everywhere(kg: KnowledgeGraph, collection_name: str) -> None:
    old = Document("a", (Section("It lies on a river."),), "Old Town")
    other = Document("b", (Section("People came from Old Town and from New Town."),), "Travellers")
    kg[collection_name].ingest([old, other])
    kg[collection_name].ingest([replace(old, title="New Town")])
    state = _state(kg, collection_name)
    kg[collection_name].delete()
    kg[collection_name].ingest([replace(old, title="New Town"), other])
    assert _state(kg, collection_name) == state


def test_headings_follow_their_document(kg: KnowledgeGraph, collection_name: str) -> None:
    """Headings name passages of a document with several, or without a title; obsolete heading names are removed."""
    filler = " ".join(f"Ropes and tar were bought for ship {i}." for i in range(80))
    sections = (Section(f"Built in Larvik. {filler}", "Fram Museum"), Section(f"Lost. {filler}", "Terror Bay"))
    long = Document("a", sections)
    other = Document("b", (Section("The way led from Fram Museum to Terror Bay."),), "Ways")
    short = Document("a", (Section("Built in Larvik.", "Fram Museum"),))
    states = []
    for steps in ([long, other], [short], [long]):
        kg[collection_name].ingest(steps)
        states.append(_state(kg, collection_name))
    assert states[0] == states[2] != states[1]
    kg[collection_name].delete()
    kg[collection_name].ingest([other, short])
    assert _state(kg, collection_name) == states[1]


@pytest.mark.parametrize("between", [0, 10, 300])
def test_the_last_of_several_versions_stays(
    kg: KnowledgeGraph, collection_name: str, make_documents: Make, between: int
) -> None:
    """The last document with a key alone decides the graph, however many documents lie in between."""
    versions = [Document("a", (Section(f"Version {n} speaks of the Rhine."),), "Notes") for n in range(3)]
    others = make_documents(0, between)
    kg[collection_name].ingest([versions[0], *others, versions[1], versions[2]])
    state = _state(kg, collection_name)
    kg[collection_name].delete()
    kg[collection_name].ingest([*others, versions[2]])
    assert _state(kg, collection_name) == state
    (info,) = [c for c in kg.collections() if c.name == collection_name]
    assert info.counts["Document"] == between + 1


def test_repeated_boilerplate_stays_apart(kg: KnowledgeGraph, collection_name: str) -> None:
    text = " ".join(["All rights reserved by the Company."] * 100)
    document = Document("a", (Section(text, "One"), Section(text, "Two"), Section(text, "Two")), "Notice")
    report = kg[collection_name].ingest([document])
    assert report.passages == len(similar(kg.graph, collection_name)) > 3


def test_a_document_longer_than_a_batch(kg: KnowledgeGraph, collection_name: str) -> None:
    text = "\n\n".join(f"Paragraph {i} tells of the city of Lübeck and its {i} towers. " * 6 for i in range(400))
    small = kg.settings.model_copy(update={"batch_passages": 16})
    with KnowledgeGraph.connect(settings=small) as client:
        report = client[collection_name].ingest([Document("big", (Section(text),), "Big Book")])
    assert report.embedded_batches > 3
    whole = _state(kg, collection_name)
    kg[collection_name].delete()
    kg[collection_name].ingest([Document("big", (Section(text),), "Big Book")])
    assert _state(kg, collection_name) == whole


def test_vectors_are_unit_rows(embedder: CountingEmbedder) -> None:
    vectors = embedder.embed(["", " ", "a word", "Ünïcödé 文字"])
    assert vectors.shape == (4, 256)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
