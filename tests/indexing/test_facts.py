"""Names known only from triples are mentioned only by the passages that state them; and the ABOUT flags of triples."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from graph_rows import rows

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.indexing.mentions import Facts
from kgrag.values.documents import Document, Section, Triple


def _document(title: str, text: str, *triples: tuple[str, str, str]) -> Document:
    return Document(title, (Section(text),), title, triples=tuple(Triple(*t) for t in triples))


_YARD = _document(
    "Larvik Yard",
    "The Larvik Yard was run by Colin Archer. It lies in Larvik, said a man from Bergen.",
    ("Larvik Yard", "lies in", "the town of Larvik"),
    ("Larvik Yard", "run by", "Mayor of Bergen"),
    ("Larvik Yard", "opened", "June 1870"),
)
_BERGEN = _document("Bergen", "Bergen is a city. Colin Archer came by ship.", ("Colin Archer", "reached", "Bergen"))
_LETTER = _document("Letter", "To the Mayor of Bergen: Colin Archer asks for timber from Larvik in June 1870.")
_LARVIK = _document("Larvik", "Larvik is a town.")
_ALL = [_YARD, _BERGEN, _LETTER, _LARVIK]


@pytest.fixture(scope="module")
def stated(fill: Callable[..., str]) -> str:
    return fill("facts", _ALL)


def _mentions(kg: KnowledgeGraph, collection: str, title: str) -> dict[str, Mapping[str, Any]]:
    query = (
        "MATCH (:Passage {collection: $collection, title: $title})-[m:MENTIONS]->(e) RETURN e.normal AS name, "
        "m {.via, .stated, .about} AS mention"
    )
    return {row["name"]: row["mention"] for row in rows(kg, query, collection=collection, title=title)}


def test_the_longest_name_wins_among_those_of_texts_alone(kg: KnowledgeGraph, stated: str) -> None:
    letter = _mentions(kg, stated, "Letter")
    assert letter.keys() >= {"bergen", "colin archer", "larvik"}  # "mayor of bergen" does not hide "bergen"
    assert "june 1870" not in letter
    yard = _mentions(kg, stated, "Larvik Yard")
    assert yard["june 1870"]["via"] == "triple"
    assert yard["bergen"]["via"] == "local"


def test_a_mention_says_what_the_triples_are_about(kg: KnowledgeGraph, stated: str) -> None:
    yard = _mentions(kg, stated, "Larvik Yard")
    flags = {name: (mention["stated"], mention["about"]) for name, mention in yard.items()}
    assert flags["bergen"] == (True, True)  # contained in "mayor of bergen"
    assert flags["larvik"] == (True, True)  # "the town of larvik"
    assert flags["larvik yard"] == (None, True)  # the passage's own name
    assert flags["colin archer"] == (None, None)
    assert _mentions(kg, stated, "Bergen")["colin archer"]["stated"]
    assert not any(mention["about"] for mention in _mentions(kg, stated, "Letter").values())


def test_a_part_of_the_own_name_is_stated_only_by_itself() -> None:
    source = {"title": "Johnnycake, West Virginia", "text": "It is a place."}
    inside = Facts.of(source | {"stated": ["johnnycake west virginia", "mcdowell county"]})
    assert inside.about("west virginia")
    assert not inside.stated("west virginia")
    assert inside.stated("mcdowell county")
    assert not inside.about("dowell county")  # whole words
    assert Facts.of(source | {"stated": ["hills of west virginia"]}).stated("west virginia")


def test_density_without_what_triples_alone_name(kg: KnowledgeGraph, stated: str) -> None:
    (record,) = kg.graph.run("look_up/collections", name=stated)
    collection = record["collection"]
    assert 0 < collection["density0"] <= collection["density"] <= 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([_YARD, _LETTER], _ALL),  # "bergen" becomes a title, which all texts are searched for
        ([_YARD, _LETTER, replace(_BERGEN, triples=()), _LARVIK], _ALL),  # triples come later
        (_ALL, [replace(_YARD, triples=_YARD.triples[:1]), *_ALL[1:]]),  # triples are removed
        (_ALL, [_YARD, replace(_BERGEN, title="Bergenhus"), _LETTER, _LARVIK]),  # no longer a title, but still stated
    ],
    ids=["a title", "more triples", "fewer triples", "another title"],
)
def test_however_it_came_about_the_graph_is_the_same(
    kg: KnowledgeGraph, collection_name: str, before: list[Document], after: list[Document]
) -> None:
    kg[collection_name].ingest(before)
    kg[collection_name].ingest(after)
    gradually = digest(kg.graph, collection_name)
    kg[collection_name].delete()
    kg[collection_name].ingest(after)
    assert digest(kg.graph, collection_name) == gradually
