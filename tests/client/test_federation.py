"""Several collections searched and asked as one."""

from collections.abc import Callable

import pytest
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.client.federation import Federation
from kgrag.values.documents import Document, Page, Section
from kgrag.values.errors import ConfigurationError, NotFoundError

SHIPS = {
    "Fram": "The Fram was a wooden ship, designed by Colin Archer for Nansen's drift through the ice.",
    "Colin Archer": "Colin Archer was a naval architect, born in Larvik.",
    "Larvik": "Larvik is a harbour town at the mouth of the Lågen.",
}
BAKERY = {
    "Rye bread": "Rye bread is baked from sourdough for four hours. The baker Ada Holm of Vinter gave it its name.",
    "Ada Holm": "Ada Holm kept the bakery of Vinter, and was born on a farm near Hamar.",
    "Hamar": "Hamar is a town on the lake Mjøsa, with a tall cathedral in ruins.",
}


def documents(texts: dict[str, str]) -> list[Document]:
    return [Document(title.lower(), (Section(text),), title) for title, text in texts.items()]


@pytest.fixture(scope="module")
def names(fill: Callable[..., str]) -> tuple[str, str]:
    """A collection of ships, and one of bread."""
    fill("our ships", documents(SHIPS))
    fill("our bakery", documents(BAKERY))
    return "our ships", "our bakery"


def found(federation: Federation, question: str, **options: object) -> list[tuple[str, str]]:
    return [(hit.passage.collection, hit.passage.title) for hit in federation.search(question, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize("retriever", ["pathrank", "hybrid", "rrf(bm25, dense)", "naive-ge(bm25)"])
def test_the_collection_that_a_question_is_about_comes_first(
    kg: KnowledgeGraph, names: tuple[str, str], retriever: str
) -> None:
    both = kg[names]
    ships = found(both, "Where was the designer of the Fram born?", retriever=retriever)
    bread = found(both, "Where was the baker who gave rye bread its name born?", retriever=retriever)
    assert ships[0] == ("our ships", "Fram") and bread[0] == ("our bakery", "Rye bread")
    assert both.search("the Fram and rye bread", retriever=retriever).retriever == retriever
    assert {collection for collection, _ in found(both, "the Fram and rye bread", retriever=retriever)} == {*names}


def test_each_collections_own_order_is_kept_and_a_name_said_twice_counts_once(
    kg: KnowledgeGraph, names: tuple[str, str]
) -> None:
    both = kg[(*names, names[0])]
    assert both.name == "our ships,our bakery"
    ranking = both.search("Where was Colin Archer of the Fram born?", k=20)
    assert len({hit.passage.id for hit in ranking}) == len(ranking)
    assert [hit.score for hit in ranking] == sorted((hit.score for hit in ranking), reverse=True)
    for name in names:
        own = [hit.passage.title for hit in kg[name].search("Where was Colin Archer of the Fram born?", k=20)]
        assert [hit.passage.title for hit in ranking if hit.passage.collection == name] == own
    assert len(both.search("Where was Colin Archer of the Fram born?", k=2)) == 2
    assert not both.search("qqqq", retriever="bm25")


def test_several_are_asked_and_cited(talking: KnowledgeGraph, scripted: Scripted, names: tuple[str, str]) -> None:
    scripted.say("answer", "Larvik [1], and near Hamar.")
    both = talking[names]
    answer = both.ask("Where were the designer of the Fram and the baker Ada Holm born?", k=6)
    assert answer.system == "single+pathrank" and answer.text.startswith("Larvik")
    assert {hit.passage.collection for hit in answer.ranking} == {*names}
    assert answer.citations[0].passage.collection in names
    with pytest.raises(ConfigurationError, match="gear walks the graph of one collection"):
        both.ask("Where?", system="gear+pathrank")
    with pytest.raises(ConfigurationError, match="within one collection"):
        both.search("Where?", knowledge=["facts"])
    with pytest.raises(NotFoundError, match="missing"):
        talking["our ships", "missing"].search("Where?")


def test_names_with_commas_are_taken_apart_unless_they_are_one(
    kg: KnowledgeGraph, names: tuple[str, str], collection_name: str
) -> None:
    assert kg.select("our ships, our bakery").name == "our ships,our bakery"
    assert kg.select(" our ships").name == " our ships"
    one = f"{collection_name}, our ships"
    kg[one].ingest(documents({"Egg": "An egg."}))
    try:
        assert [hit.passage.title for hit in kg.select(one).search("an egg")] == ["Egg"]
    finally:
        kg[one].delete()


def test_a_page_is_looked_up_in_whichever_collection_holds_it(
    kg: KnowledgeGraph, names: tuple[str, str], collection_name: str
) -> None:
    first, second = "Ice on the first day.", "Fog on the second."
    text = Section(f"{first} {second}", breaks=((0, 1), (len(first) + 1, 2)))
    logbook = Document("logbook.pdf", (text,), "logbook.pdf", pages=(Page(1, first), Page(2, second)))
    kg[collection_name].ingest([logbook])
    place = kg[(*names, collection_name)].look_up("What does page 2 of logbook.pdf say?")
    assert place is not None and "Fog on the second" in place.text
    assert kg[names].look_up("What does page 2 of logbook.pdf say?") is None
