"""A collection with a history has the same nodes and rankings as one made at once from the same documents."""

import os
import random
from collections.abc import Iterable

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.indexing import pipeline
from kgrag.values.documents import Document, Section, Triple

_RETRIEVERS = ("bm25", "hybrid", "dense", "ppr", "knn", "pathrank")
_PEOPLE = ("Anna Berg", "George H W Vane", "George Vane", "Ole Brandvik", "Mary K. Stone", "Mary Stone", "C. S. Holm")
_PLACES = ("East London", "Nordvika", "Saint Hal", "Qt 5.1", "Qt 51", "Malmö", "Malmo", "West Fjord", "Kilnmere")
_THINGS = ("IBM", "Ibm", "Fjord Queen", "fjord queen", "Kiln Notes", "Gale of 1921", "C++", "C#")
_WORDS = "captain harbour kiln oven lantern gull storm ledger anchor quartz slate letter winter bell rope tide".split()
_QUESTIONS = (
    "Who was captain of the Fjord Queen?",
    "quartz and slate near Nordvika",
    "What did George Vane write in C++?",
)

_CLOSE = 1e-6
_MANY = int(os.environ.get("HISTORIES", "6"))  # more take hours


def _document(key: int, chance: random.Random) -> Document:
    """Return a document of one to three sections, with names, a few words, and sometimes a fact."""

    def sentence() -> str:
        names = chance.sample(_PEOPLE + _PLACES + _THINGS, 2)
        words = " ".join(chance.choices(_WORDS, k=chance.randint(2, 8)))
        form = chance.choice(("{} {} {}.", "In the East. London {2} and {0} {1}.", "{0} was at {2} when the {1} came."))
        return form.format(names[0], words, names[1])

    sections = tuple(
        Section(" ".join(sentence() for _ in range(chance.randint(1, 4))), chance.choice(("", "Kiln Notes", "Harbour")))
        for _ in range(chance.randint(1, 3))
    )
    title = chance.choice(_PEOPLE + _PLACES + _THINGS + ("", f"Report {key}"))
    facts = (Triple(chance.choice(_PEOPLE), "wrote of", chance.choice(_THINGS)),) if chance.random() < 0.3 else ()
    return Document(f"d{key}", sections, title, triples=facts)


def _lived(kg: KnowledgeGraph, name: str, chance: random.Random) -> dict[str, Document]:
    """Add, change and delete documents; return the remaining ones."""
    there: dict[str, Document] = {}
    for _ in range(chance.randint(2, 5)):
        written = [_document(key, chance) for key in chance.sample(range(30), chance.randint(1, 20))]
        kg[name].ingest(written)
        there |= {document.key: document for document in written}
        if len(there) > 4 and chance.random() < 0.7:
            removed = chance.sample(sorted(there), chance.randint(1, len(there) // 2))
            kg[name].delete(documents=removed)
            for key in removed:
                del there[key]
    return there


Hits = list[tuple[float, str, int]]


def _state(kg: KnowledgeGraph, name: str) -> tuple[dict[str, str], dict[str, Hits]]:
    """Return a digest of each label, and the rankings of all retrievers."""

    def hits(question: str, retriever: str) -> Hits:
        ranking = kg[name].search(question, retriever=retriever, k=10)
        return [(hit.score, hit.passage.document, hit.passage.ordinal) for hit in ranking]

    rankings = {f"{r}: {question}": hits(question, r) for r in _RETRIEVERS for question in _QUESTIONS}
    return digest(kg.graph, name), rankings


def _same(one: Hits, other: Hits) -> bool:
    """Return whether two rankings have the same scores to 1e-6, and the same passages except for the order of ties."""

    def is_tied(score: float) -> bool:
        return sum(abs(score - hit[0]) < _CLOSE for hit in one) > 1 or abs(score - one[-1][0]) < _CLOSE

    return len(one) == len(other) and all(
        abs(a[0] - b[0]) < _CLOSE and (a[1:] == b[1:] or is_tied(a[0])) for a, b in zip(one, other, strict=True)
    )


def differences(kg: KnowledgeGraph, name: str, documents: Iterable[Document]) -> list[str]:
    """Make the collection anew from its documents, and return the differences from before."""
    lived = _state(kg, name)
    kg[name].delete()
    kg[name].ingest(documents)
    fresh = _state(kg, name)
    labels = [label for label, value in fresh[0].items() if lived[0][label] != value]
    return labels + [search for search, hits in fresh[1].items() if not _same(lived[1][search], hits)]


@pytest.mark.parametrize("seed", range(_MANY))
def test_a_history_leaves_no_trace(kg: KnowledgeGraph, collection_name: str, seed: int) -> None:
    chance = random.Random(seed)
    documents = list(_lived(kg, collection_name, chance).values())
    chance.shuffle(documents)
    assert differences(kg, collection_name, documents) == []


@pytest.mark.parametrize("seed", range(_MANY // 2))
def test_documents_come_in_any_order(kg: KnowledgeGraph, collection_name: str, seed: int) -> None:
    chance = random.Random(100 + seed)
    documents = [_document(key, chance) for key in range(25)]
    shuffled = chance.sample(documents, 25)
    for start in range(0, 25, 7):
        kg[collection_name].ingest(shuffled[start : start + 7])
    assert differences(kg, collection_name, documents) == []


def test_a_name_with_initials_is_mentioned_whenever_its_title_comes(kg: KnowledgeGraph, collection_name: str) -> None:
    text = Document("t", (Section("In that year George H W Vane was sworn in."),))
    titled = Document("v", (Section("He came from Nordvika."),), "George Vane")
    kg[collection_name].ingest([text])
    kg[collection_name].ingest([titled])
    assert differences(kg, collection_name, [text, titled]) == []


def test_a_name_is_shown_as_what_is_left_writes_it(kg: KnowledgeGraph, collection_name: str) -> None:
    def told(key: str, name: str, title: str = "") -> Document:
        return Document(key, (Section(f"At the pier {name} kept a ledger and {name} kept a bell."),), title)

    texts = [told("a", "IBM"), told("b", "Ibm"), told("c", "Ibm"), told("d", "QUAY Works", "QUAY Works")]
    texts += [told("e", "Quay Works", "Quay Works"), told("f", "QUAY Works"), told("g", "Kiln WORKS", "Kiln Works")]
    texts += [told("h", "Kiln WORKS")]
    kg[collection_name].ingest(texts)
    kg[collection_name].delete(documents=["a", "d", "g"])
    shown = {row["content"][1] for row in kg.graph.run("digest/entities", collection=collection_name)}
    assert {"Ibm", "Quay Works", "Kiln WORKS"} <= shown and not {"IBM", "QUAY Works", "Kiln Works"} & shown
    assert differences(kg, collection_name, [texts[i] for i in (1, 2, 4, 5, 7)]) == []


def test_a_changed_document_leaves_others_unvisited(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New and old words and names are counted in one transaction, so no count falls and no other passage is visited."""
    same = "In Nordvika the Fjord Queen took quartz and slate aboard. Bell"
    changed = Document("d0", (Section(f"{same} 0. Then came the Fjord Queen again, with a kiln."),))
    kg[collection_name].ingest([Document("d0", (Section(f"{same} 0."),)), other := Document("d1", (Section(same),))])
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "run_corpus_stages", lambda *args, **options: None)
        assert kg[collection_name].ingest([changed]).changed == 1
    read = "MATCH (n {collection: $name}) UNWIND n.todo AS stage RETURN labels(n)[0] + ' ' + stage AS mark"
    marks = [row["mark"] for row in kg.graph.driver.execute_query(read, name=collection_name).records]
    assert marks.count("Passage mentions") == marks.count("Passage keywords") == 1
    assert not {*marks} & {"Passage words", "Word spread", "Word case", "Entity spread"}
    kg[collection_name].ingest([changed])
    assert differences(kg, collection_name, [changed, other]) == []
