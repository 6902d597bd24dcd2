"""Names by a trained pipeline of spaCy."""

import pytest
import spacy

from kgrag import KnowledgeGraph
from kgrag.indexing.named_entities import named_entities
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError

TEXTS = {
    "a": "They varnish with tung oil every spring.",
    "b": "Coat it with tung oil.",
    "c": "Nothing on the river Boyne.",
}


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny pipeline that knows two names and a date, on disk."""
    folder = tmp_path_factory.mktemp("pipelines") / "tiny"
    made = spacy.blank("en")
    ruler = made.add_pipe("entity_ruler")
    ruler.add_patterns(  # type: ignore[attr-defined]
        [
            {"label": "PRODUCT", "pattern": "tung oil"},
            {"label": "LOC", "pattern": "the river Boyne"},
            {"label": "DATE", "pattern": "every spring"},
        ]
    )
    made.to_disk(folder)
    return str(folder)


def test_thai_is_ingested(kg: KnowledgeGraph, collection_name: str) -> None:
    text = "วัดพระแก้วตั้งอยู่ในกรุงเทพมหานคร สร้างขึ้นในปี พ.ศ. 2325 โดยพระบาทสมเด็จพระพุทธยอดฟ้าจุฬาโลกมหาราช " * 40
    report = kg[collection_name].ingest([Document("temple", (Section(text),), "วัดพระแก้ว")])
    assert report.added == 1 and not report.problems and report.passages > 1
    assert next(c for c in kg.records() if c.name == collection_name).language.code == "th"
    assert kg[collection_name].search("วัดพระแก้ว").hits


def test_names_of_a_pipeline(pipeline: str) -> None:
    """A pipeline's names come without articles, dates and numbers; without a pipeline there are none."""
    assert named_entities(TEXTS["a"], pipeline) == {"tung oil": "tung oil"}
    assert named_entities(TEXTS["c"], pipeline) == {"river boyne": "river Boyne"}
    assert named_entities(TEXTS["a"], None) == {}
    with pytest.raises(ConfigurationError, match="no_such_pipeline"):
        named_entities("Tar.", "no_such_pipeline")


def test_they_are_mentioned(graph_settings: Settings, pipeline: str) -> None:
    """The names are mentioned even in lower case and by a single passage, and removed with their passages."""
    indexing = IndexingSettings(pipeline=pipeline)
    documents = [Document(key, (Section(text),), key) for key, text in TEXTS.items()]
    mentions = """MATCH (p:Passage {collection: 'spacy'})-[m:MENTIONS {via: 'spacy'}]->(e:Entity)
        RETURN p.title AS title, e.name AS name, e.df AS df ORDER BY title"""
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"indexing": indexing})) as kg:
        try:
            kg["spacy"].ingest(documents)
            assert [tuple(row.values()) for row in kg.cypher(mentions)] == [
                ("a", "tung oil", 2),
                ("b", "tung oil", 2),
                ("c", "river Boyne", 1),
            ]
            kg["spacy"].delete(documents=["a"])
            kg["spacy"].ingest(documents[1:])
            assert [tuple(row.values()) for row in kg.cypher(mentions)] == [
                ("b", "tung oil", 1),
                ("c", "river Boyne", 1),
            ]
        finally:
            kg["spacy"].delete()
