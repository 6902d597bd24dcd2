import pytest

from kgrag import KnowledgeGraph
from kgrag.models.embed import load_embedder
from kgrag.retrieval.base import RETRIEVERS, check_defaults, check_retriever, make_retriever
from kgrag.retrieval.bm25 import Bm25
from kgrag.retrieval.compose import Hybrid, Rrf
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.dense import Dense
from kgrag.retrieval.expression import Expression, parse
from kgrag.retrieval.naive_ge import NaiveGe
from kgrag.retrieval.pathrank import PathRank
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, KgragError, NotFoundError


@pytest.mark.parametrize("name", RETRIEVERS)
def test_every_name_is_an_expression(name: str) -> None:
    assert check_retriever(name) == name


def test_nested_parts_and_options_are_read() -> None:
    assert parse(" rrf( hybrid,naive-ge(bm25, diverse=false), rrf=30 ) ") == Expression(
        "rrf",
        (Expression("hybrid"), Expression("naive-ge", (Expression("bm25"),), (("diverse", False),))),
        (("rrf", 30),),
    )


@pytest.mark.parametrize(
    "text", ["rrf(hybrid, pathrank(cap=20, width=(8, 8, 4)))", "pathrank(pagerank_weight=0.0)", "bm25"]
)
def test_the_standard_spelling_reads_as_itself(text: str) -> None:
    assert check_retriever(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "", "rrf(", "rrf(hybrid))", "1 + 1", "rrf(**x)", "bm25 + dense", "bm25 >> rrf(dense)", "a.b(c)",
        "rrf(" * 3000, "rrf('a')",
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"rrf\(hybrid, ppr\)"):
        check_retriever(text)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("rrf(hybrid, pathrnk)", NotFoundError, "Did you mean 'pathrank'"),
        ("bm25(dense)", ConfigurationError, "works on no other"),
        ("pathrank(capp=3)", ConfigurationError, "no option 'capp'.*\n.*cap,"),
        ("pathrank(cap=0)", ConfigurationError, "cap=0 is invalid"),
        ("pathrank(cap=many)", ConfigurationError, "cap='many' is invalid"),
        ("rrf(bm25, rrf=-1)", ConfigurationError, "rrf=-1 is invalid"),
    ],
)
def test_retriever_with_unknown_name_or_wrong_option_is_refused(
    text: str, error: type[KgragError], message: str
) -> None:
    with pytest.raises(error, match=message):
        check_retriever(text)


def test_options_reach_the_retriever_that_has_them(kg: KnowledgeGraph, collection_name: str) -> None:
    notes = kg[collection_name]
    notes.ingest([Document("a", (Section("Ada Lovelace wrote notes."),), title="Ada")])
    fused = notes.retriever("rrf(pathrank(cap=7), pathrank, rrf=5, depth=3)")
    assert isinstance(fused, Rrf)
    first, second = fused.parts
    assert isinstance(first, PathRank)
    assert isinstance(second, PathRank)
    assert (first.settings.cap, second.settings.cap) == (7, 50)
    assert (fused.settings.rrf, fused.settings.depth) == (5, 3)
    assert [hit.passage.title for hit in fused.retrieve("Ada Lovelace")] == ["Ada"]
    assert fused.retrieve("Ada Lovelace").retriever == "rrf(pathrank(cap=7), pathrank, rrf=5, depth=3)"


def test_constructors_make_what_the_notation_says(kg: KnowledgeGraph, collection_name: str) -> None:
    notes = kg[collection_name]
    notes.ingest([Document("a", (Section("Ada Lovelace wrote notes."),), title="Ada")])
    made = {
        "pathrank(cap=20)": PathRank(notes, cap=20), "rrf(bm25, dense)": Rrf(Bm25(notes), Dense(notes)),
        "naive-ge(bm25, diverse=false)": NaiveGe(Bm25(notes), diverse=False), "naive-ge": NaiveGe(notes),
        "top(bm25, k=3)": Bm25(notes) % 3, "rrf(bm25, dense, hybrid)": Bm25(notes) | Dense(notes) | Hybrid(notes),
        "common(bm25, dense)": Bm25(notes) & Dense(notes),
        "concat(top(pathrank, k=5), bm25)": (PathRank(notes) % 5) ^ Bm25(notes),
        "naive-ge(top(bm25, k=50), beams=3)": Bm25(notes) % 50 >> NaiveGe(notes, beams=3),
    }  # fmt: skip
    for name, retriever in made.items():
        assert retriever.name == name
        by_name = notes.retriever(name)
        assert type(by_name) is type(retriever)
        assert by_name.settings == retriever.settings
        assert by_name.retrieve("Ada Lovelace").hits == retriever.retrieve("Ada Lovelace").hits


@pytest.mark.parametrize(
    ("text", "standard"),
    [
        ("bm25 | dense | ppr", "rrf(bm25, dense, ppr)"),
        ("rrf(bm25, dense, rrf=3) | ppr", "rrf(rrf(bm25, dense, rrf=3), ppr)"),
        ("bm25 & dense", "common(bm25, dense)"),
        ("pathrank % 5 ^ bm25", "concat(top(pathrank, k=5), bm25)"),
        ("bm25 % 50 >> naive-ge(beams=3)", "naive-ge(top(bm25, k=50), beams=3)"),
    ],
)
def test_operators_are_a_way_of_writing(text: str, standard: str) -> None:
    assert check_retriever(text) == standard


def test_a_cut_and_a_concatenation(kg: KnowledgeGraph, collection_name: str) -> None:
    notes = kg[collection_name]
    notes.ingest([Document(f"d{n}", (Section("harbour " * (n + 1) + f"of town {n}"),), f"T{n}") for n in range(6)])
    bm25, dense = (notes.search("harbour of town 3", retriever=r, k=6) for r in ("bm25", "dense"))
    ids = [h.passage.id for h in (Bm25(notes) % 2).retrieve("harbour of town 3", 6)]
    assert ids == [h.passage.id for h in bm25][:2]
    joined = [h.passage.id for h in ((Bm25(notes) % 2) ^ Dense(notes)).retrieve("harbour of town 3", 6)]
    assert joined == ids + [h.passage.id for h in dense if h.passage.id not in ids]
    both = ((Bm25(notes) % 2) & (Dense(notes) % 3)).retrieve("harbour of town 3", 6)
    assert {h.passage.id for h in both} == set(ids) & {h.passage.id for h in dense.hits[:3]}


def test_settings_are_kept_where_an_option_says_nothing() -> None:
    context = SearchContext(None, load_embedder("wordllama"), {"pathrank": {"cap": 9}, "rrf": {"rrf": 30}})  # type: ignore[arg-type]
    retriever = make_retriever("pathrank(pagerank_weight=0)", context)
    assert isinstance(retriever, PathRank)
    assert retriever.settings.cap == 9
    fused = make_retriever("rrf(pathrank)", context)
    assert isinstance(fused, Rrf)
    assert fused.settings.rrf == 30


@pytest.mark.parametrize(
    ("defaults", "message"), [({"pathrnk": {"cap": 9}}, "pathrank"), ({"pathrank": {"capp": 9}}, "capp")]
)
def test_settings_that_name_nothing_are_refused(defaults: dict[str, dict[str, object]], message: str) -> None:
    with pytest.raises(KgragError, match=message):
        check_defaults(defaults)
