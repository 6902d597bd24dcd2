"""What spaCy does: sentences of other languages than English, and names by a trained pipeline."""

import time

import pytest
import spacy

from kgrag.client import KnowledgeGraph
from kgrag.indexing.language import _sentencizer, named_entities, sentences
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


def test_sentences_follow_the_language() -> None:
    text = "Der Kahn war u.a. mit Teer gestrichen. Er lag in Kiel."
    assert list(sentences(text, "de")) == ["Der Kahn war u.a. mit Teer gestrichen.", "Er lag in Kiel."]
    assert list(sentences("船在港口。他来了。", "zh")) == ["船在港口。", "他来了。"]
    with pytest.raises(ConfigurationError, match="qq"):
        list(sentences(text, "qq"))


@pytest.mark.parametrize("sign", ["[", "(", "'", "_", "=", ".", "…", "─", "🙂", "'s", "é's", "(a", "A.B.", "。", "ä-"])
def test_runs_of_signs_take_no_longer_than_words(sign: str) -> None:
    """spaCy parts a token sign by sign: 30 KB of brackets took it two minutes."""
    run = sign * (60_000 // len(sign))
    began = time.monotonic()
    found = list(sentences(f"The boat sank. Then {run} came. It was late.", "en"))
    assert time.monotonic() - began < 10
    assert (found[0], found[-1]) == ("The boat sank.", "It was late.")
    assert "".join(found).replace(" ", "") == f"The boat sank. Then {run} came. It was late.".replace(" ", "")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("th", "วัดพระแก้วตั้งอยู่ในกรุงเทพมหานคร. สร้างขึ้นในปี พ.ศ. 2325."),
        ("ko", "그 배는 항구에 있다. 그는 왔다."),
        ("ja", "船は港にある。彼は来た。"),
        ("vi", "Con tàu ở cảng. Anh ấy đã đến."),
    ],
)
def test_a_language_without_its_helper_is_read_by_the_rules_for_several(
    language: str, text: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    blank = spacy.blank

    def without_helpers(name: str) -> spacy.Language:
        if name == language:
            raise ImportError(f"{name} needs another library")
        return blank(name)

    monkeypatch.setattr(spacy, "blank", without_helpers)
    _sentencizer.cache_clear()
    for _ in range(2):
        assert "".join(sentences(text, language)).replace(" ", "") == text.replace(" ", "")
    _sentencizer.cache_clear()
    (said,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert repr(language) in said and "needs another library" in said


def test_thai_is_ingested(kg: KnowledgeGraph, collection_name: str) -> None:
    text = "วัดพระแก้วตั้งอยู่ในกรุงเทพมหานคร สร้างขึ้นในปี พ.ศ. 2325 โดยพระบาทสมเด็จพระพุทธยอดฟ้าจุฬาโลกมหาราช " * 40
    report = kg[collection_name].ingest([Document("temple", (Section(text),), "วัดพระแก้ว")])
    assert report.added == 1 and not report.problems and report.passages > 1
    assert next(c for c in kg.records() if c.name == collection_name).language.code == "th"
    assert kg[collection_name].search("วัดพระแก้ว").hits


def test_names_of_a_pipeline(pipeline: str) -> None:
    """Without articles, dates and numbers; nothing without a pipeline."""
    assert named_entities(TEXTS["a"], pipeline) == {"tung oil": "tung oil"}
    assert named_entities(TEXTS["c"], pipeline) == {"river boyne": "river Boyne"}
    assert named_entities(TEXTS["a"], None) == {}
    with pytest.raises(ConfigurationError, match="no_such_pipeline"):
        named_entities("Tar.", "no_such_pipeline")


def test_they_are_mentioned(graph_settings: Settings, pipeline: str) -> None:
    """Though written in small letters, even by one passage alone; and gone with the passages that hold them."""
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
