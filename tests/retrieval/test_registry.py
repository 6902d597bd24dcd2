import pytest

from kgrag.client import KnowledgeGraph
from kgrag.errors import ConfigurationError, NotFoundError
from kgrag.retrieval.base import Index
from kgrag.retrieval.expression import Expression, parse
from kgrag.retrieval.fusion import Fusion
from kgrag.retrieval.pathrank import PathRank
from kgrag.retrieval.registry import RETRIEVERS, check_retriever, make_retriever
from kgrag.settings import RetrievalSettings
from kgrag.types import Document, Section


@pytest.mark.parametrize("name", RETRIEVERS)
def test_every_name_is_an_expression(name: str) -> None:
    assert check_retriever(name) == name


def test_nested_parts_and_options_are_read() -> None:
    assert parse(" rrf( hybrid,naive-ge(bm25, diverse=false), rrf=30 ) ") == Expression(
        "rrf",
        (Expression("hybrid"), Expression("naive-ge", (Expression("bm25"),), (("diverse", False),))),
        (("rrf", 30),),
    )


@pytest.mark.parametrize("text", ["rrf(hybrid, pathrank(cap=20, width=(8, 8, 4)))", "pathrank(omega=0.0)", "bm25"])
def test_the_standard_spelling_reads_as_itself(text: str) -> None:
    assert check_retriever(text) == text


@pytest.mark.parametrize("text", ["", "rrf(", "rrf(hybrid))", "1 + 1", "rrf(**x)", "a.b(c)", "rrf(" * 3000, "rrf('a')"])
def test_what_is_no_expression_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"rrf\(hybrid, ppr\)"):
        check_retriever(text)


def test_an_unknown_name_is_refused_wherever_it_stands() -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'pathrank'"):
        check_retriever("rrf(hybrid, pathrnk)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bm25(dense)", "works on no other"),
        ("pathrank(capp=3)", "no option 'capp'.*\n.*cap,"),
        ("pathrank(cap=0)", "cap=0 will not do"),
        ("pathrank(cap=many)", "cap='many' will not do"),
        ("rrf(bm25, rrf=-1)", "rrf=-1 will not do"),
    ],
)
def test_a_wrong_option_is_refused_with_what_there_is(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        check_retriever(text)


def test_options_reach_the_retriever_and_its_parts_alone(kg: KnowledgeGraph, collection_name: str) -> None:
    kg.ingest([Document("a", (Section("Ada Lovelace wrote notes."),), title="Ada")], collection_name)
    index = kg.retriever("bm25", collection_name).index
    fused = make_retriever("rrf(pathrank(cap=7), pathrank, rrf=5, depth=3)", index)
    assert isinstance(fused, Fusion)
    assert [p.index.settings.pathrank.cap for p in fused.parts] == [7, 50]
    assert [p.index.settings.depth for p in fused.parts] == [3, 3]
    assert isinstance(fused.parts[0], PathRank)
    assert index.settings.rrf == 60
    assert [hit.passage.title for hit in fused.retrieve("Ada Lovelace")] == ["Ada"]
    assert fused.retrieve("Ada Lovelace").retriever == "rrf(pathrank(cap=7), pathrank, rrf=5, depth=3)"


def test_settings_from_the_environment_are_kept_where_an_option_says_nothing(kg: KnowledgeGraph) -> None:
    settings = RetrievalSettings.model_validate({"pathrank": {"cap": 9}})
    index = Index(None, None, settings)  # type: ignore[arg-type]
    assert make_retriever("pathrank(omega=0)", index).index.settings.pathrank.cap == 9
