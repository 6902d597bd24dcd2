"""Several collections searched and asked as one, of one database and of several."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from scripted import Scripted

from kgrag.client import KnowledgeGraph
from kgrag.client.federation import Federation
from kgrag.graph.local import LocalServer
from kgrag.settings import Settings
from kgrag.values.documents import Document, Page, Section
from kgrag.values.errors import ConfigurationError, DatabaseError, NotFoundError

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
def names(kg: KnowledgeGraph) -> Iterator[tuple[str, str]]:
    """A collection of ships, and one of bread."""
    kg["our ships"].ingest(documents(SHIPS))
    kg["our bakery"].ingest(documents(BAKERY))
    yield "our ships", "our bakery"
    kg["our ships"].delete()
    kg["our bakery"].delete()


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


def test_several_are_asked_and_cited(graph_settings: Settings, scripted: Scripted, names: tuple[str, str]) -> None:
    scripted.say("answer", "Larvik [1], and near Hamar.")
    settings = graph_settings.model_copy(update={"chat": scripted.settings()})
    with KnowledgeGraph.connect(settings=settings) as kg:
        both = kg[names]
        answer = both.ask("Where were the designer of the Fram and the baker Ada Holm born?", k=6)
        assert answer.system == "single+pathrank" and answer.text.startswith("Larvik")
        assert {hit.passage.collection for hit in answer.ranking} == {*names}
        assert answer.citations[0].passage.collection in names
        with pytest.raises(ConfigurationError, match="gear walks the graph of one collection"):
            both.ask("Where?", system="gear+pathrank")
        with pytest.raises(ConfigurationError, match="within one collection"):
            both.search("Where?", knowledge=["facts"])
        with pytest.raises(NotFoundError, match="missing"):
            kg["our ships", "missing"].search("Where?")


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


def login(settings: Settings) -> str:
    assert settings.neo4j_uri is not None and settings.neo4j_password is not None
    scheme, host = settings.neo4j_uri.split("://")
    return f"{scheme}://{settings.neo4j_user}:{settings.neo4j_password.get_secret_value()}@{host}/neo4j"


def routed(settings: Settings, **routes: str) -> Settings:
    return settings.model_copy(update={"routes": {name.replace("_", "*"): SecretStr(a) for name, a in routes.items()}})


@pytest.mark.alone
def test_a_route_leads_to_the_database_of_a_collection(
    kg: KnowledgeGraph, graph_settings: Settings, names: tuple[str, str]
) -> None:
    settings = routed(graph_settings, our_=login(graph_settings))
    secret = graph_settings.neo4j_password
    assert secret is not None and secret.get_secret_value() not in repr(settings)
    with KnowledgeGraph.connect(settings=settings) as client:
        assert client.database_for("our ships") is client.database_for("our bakery") is not client
        assert client.database_for("others") is client and client["our ships"].kg is client.database_for("our ships")
        assert found(client[names], "the Fram and rye bread") == found(kg[names], "the Fram and rye bread")
        assert {*names} <= {info.name for info in client.collections()}
        assert len({info.name for info in client.collections()}) == len(client.collections())
        passage = client.passage("fram", "our ships")
        assert client.passage(passage.id[:12]) == passage and client.neighbourhood(passage.id)


def test_a_route_that_leads_nowhere_says_so(graph_settings: Settings, names: tuple[str, str]) -> None:
    settings = routed(graph_settings, our_="bolt://me:hidden@127.0.0.1:9/neo4j", odd_="127.0.0.1")
    with KnowledgeGraph.connect(settings=settings) as client:
        with pytest.raises(DatabaseError, match=r"127\.0\.0\.1:9 does not answer") as problem:
            client[names].search("Fram")
        assert "hidden" not in str(problem.value)
        with pytest.raises(ConfigurationError, match="is no address"):
            client["odd one"].search("Fram")


@pytest.mark.long
def test_two_servers_give_what_one_gives(
    kg: KnowledgeGraph, graph_settings: Settings, names: tuple[str, str], tmp_path: Path
) -> None:
    server = LocalServer(Settings(_env_file=None, home=tmp_path / "second"))  # type: ignore[call-arg]
    second = server.ensure_running()
    secret = second.password.get_secret_value()
    there = {"our bakery": SecretStr(second.uri.replace("://", f"://{second.user}:{secret}@"))}
    try:
        with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"routes": there})) as client:
            client["our bakery"].ingest(documents(BAKERY))
            for question in (*SHIPS.values(), *BAKERY.values(), "Which towns have a lake or a harbour?"):
                ours, theirs = kg[names].search(question), client[names].search(question)
                assert [(h.passage, h.score, h.why) for h in ours] == [(h.passage, h.score, h.why) for h in theirs]
    finally:
        server.stop()
