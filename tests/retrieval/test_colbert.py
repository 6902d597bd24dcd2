"""Late interaction: MaxSim by hand on a generated model, and the error without a model."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from coast import SHIPS
from made_models import late_interaction

from kgrag import KnowledgeGraph
from kgrag.retrieval.base import RETRIEVERS, check_retriever
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import install_hint
from kgrag.values.results import Filter


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A late-interaction model with random weights: a tiny BERT, its tokenizer and a projection to 16 numbers."""
    target = tmp_path_factory.mktemp("model")
    late_interaction(target, SHIPS.values())
    return target


@pytest.mark.models
def test_the_score_is_max_sim(kg: KnowledgeGraph, ships: str, folder: Path) -> None:
    from sentence_transformers import MultiVectorEncoder

    question = "Where was Colin Archer born?"
    ranking = kg[ships].search(question, retriever=f"colbert(dense, model='{folder / 'colbert'}')", k=3)
    model = MultiVectorEncoder(str(folder / "colbert"))
    asked = model.encode_query([question], convert_to_numpy=True)[0]
    scores = {}
    for title, text in SHIPS.items():
        tokens = model.encode_document([f"{title}\n{text}"], convert_to_numpy=True)[0]
        assert tokens.shape[1] == asked.shape[1] == 16
        scores[title] = sum(max(float(a @ b) for b in tokens) for a in asked)
    best = sorted(scores, key=lambda title: -scores[title])[:3]
    assert [hit.passage.title for hit in ranking] == best
    assert [hit.score for hit in ranking] == pytest.approx([scores[title] for title in best], abs=1e-4)
    assert [step.via.split()[0] for step in ranking.hits[0].why] == ["dense", "colbert"]


@pytest.mark.models
def test_depth_and_filter_are_those_of_the_base(kg: KnowledgeGraph, ships: str, folder: Path) -> None:
    model = f"model='{folder / 'colbert'}'"
    first = kg[ships].search("salmon in rivers", retriever="dense", k=1).hits[0].passage.id
    ranking = kg[ships].search("salmon in rivers", retriever=f"colbert(dense, {model}, depth=1)", k=3)
    assert [hit.passage.id for hit in ranking] == [first]
    only = Filter(where={"letter": "L"})
    ranking = kg[ships].search("salmon in rivers", retriever=f"colbert(dense, {model})", filter=only)
    assert [hit.passage.title for hit in ranking] == ["Larvik"]


@pytest.mark.models
def test_a_whole_collection_is_ranked(
    kg: KnowledgeGraph, collection_name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MaxSim with every passage; the vectors on disk follow the collection, and only new passages are encoded."""
    from sentence_transformers import MultiVectorEncoder

    encoded: list[int] = []
    real = MultiVectorEncoder.encode_document

    def counted(self: Any, texts: list[str], **options: Any) -> Any:
        encoded.append(len(texts))
        return real(self, texts, **options)

    monkeypatch.setattr(MultiVectorEncoder, "encode_document", counted)
    expression, question = f"colbert(depth=none, model='{folder / 'colbert'}')", "Where was Colin Archer born?"
    collection = kg[collection_name]
    documents = [Document(t, (Section(text),), t, metadata={"letter": t[0]}) for t, text in SHIPS.items()]
    collection.ingest(documents[:3])
    collection.context.cache = tmp_path
    assert len(collection.search(question, retriever=expression, k=9)) == 3
    collection.ingest(documents[3:])
    collection.context.cache = tmp_path
    ranking = collection.search(question, retriever=expression, k=9)
    assert encoded == [3, 1]
    again = collection.search(question, retriever=f"colbert(bm25, depth=9, model='{folder / 'colbert'}')", k=9)
    scores = {hit.passage.title: hit.score for hit in ranking}
    assert len(scores) == 4
    for hit in again:
        assert scores[hit.passage.title] == pytest.approx(hit.score, abs=0.02)  # half floats on disk
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    only = collection.search(question, retriever=expression, filter=Filter(where={"letter": "L"}))
    assert [hit.passage.title for hit in only] == ["Larvik"]
    encoded.clear()
    collection.delete(["Salmon"])
    assert len(collection.search(question, retriever=expression, k=9)) == 3
    assert encoded == []
    assert len(list((tmp_path / "late-interaction").glob("*/*.npy"))) == 1
    with pytest.raises(ConfigurationError, match="2 at most"):
        collection.search(question, retriever=expression.replace("depth", "most=2, depth"))


@pytest.mark.models
def test_what_is_no_late_interaction_model_is_refused(kg: KnowledgeGraph, ships: str, folder: Path) -> None:
    """A plain BERT is rejected, since the library would add a random projection and rank by chance."""
    with pytest.raises(ConfigurationError, match="not trained for late interaction"):
        kg[ships].search("Fram", retriever=f"colbert(dense, model='{folder / 'bert'}')")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        kg[ships].search("Fram", retriever=f"colbert(dense, model='{folder / 'nothing'}')")


def test_without_the_package_it_says_how_to_install_it(
    kg: KnowledgeGraph, ships: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigurationError, match=re.escape(install_hint("colbert"))):
        kg[ships].search("Fram", retriever="colbert(model='some/other-model')")


def test_a_model_is_named_in_quotes() -> None:
    text = "colbert(bm25, model='colbert-ir/colbertv2.0', depth=20)"
    assert check_retriever(text) == text
    assert check_retriever(text.replace("'", '"')) == text
    assert RETRIEVERS["colbert"].needs
