"""Reranking by a generated cross-encoder, and by a server."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from coast import SHIPS
from made_models import pair_scorer, sentence_encoder
from pydantic import SecretStr
from reranking import Judge

from kgrag import KnowledgeGraph, PathRank, Rerank
from kgrag.lab.records import in_force
from kgrag.retrieval.base import RETRIEVERS, check_retriever
from kgrag.text.tokens import words_of
from kgrag.values.errors import ConfigurationError, ModelError, UnavailableError
from kgrag.values.installing import install_hint
from kgrag.values.results import Filter

_KEY = "a-key-of-tests"
_QUESTION = "Where was the designer of the Fram born?"


@pytest.fixture
def judge() -> Iterator[Judge]:
    with Judge() as server:
        yield server


@pytest.fixture
def served(kg: KnowledgeGraph, ships: str, judge: Judge) -> Iterator[KnowledgeGraph]:
    """A client whose settings name the server."""
    settings = kg.settings.model_copy(update={"reranker": judge.settings(model="judge", api_key=SecretStr(_KEY))})
    with KnowledgeGraph.connect(settings=settings) as client:
        yield client


def test_a_server_orders_the_best_of_another(served: KnowledgeGraph, ships: str, judge: Judge) -> None:
    made = Rerank(PathRank(served[ships]), top=3)
    ranking = made.retrieve(_QUESTION, k=2)
    base = served[ships].search(_QUESTION, k=3)
    shortest = sorted(base, key=lambda hit: len(words_of(f"{hit.passage.title} {hit.passage.text}")))
    assert [hit.passage.title for hit in ranking] == [hit.passage.title for hit in shortest[:2]]
    assert all(0 < hit.score <= 1 for hit in ranking)
    assert made.scale == "relevance"
    assert [step.via.split()[0] for step in ranking.hits[0].why][-1] == "rerank"
    assert len(ranking.hits[0].why) > 1  # the trail of the base
    [asked] = judge.requests  # one call per question
    assert (asked["model"], asked["query"], len(asked["documents"])) == ("judge", _QUESTION, len(base))
    assert asked["documents"][0].startswith(f"{base.hits[0].passage.title}\n")
    assert judge.headers[0]["authorization"] == f"Bearer {_KEY}"
    assert _KEY not in repr(made) + made.name + str(in_force(made))
    assert in_force(made)["settings"] | {"top": 3} == made.settings.model_dump()  # records depend on these
    assert (made.settings.model, made.settings.url) == ("judge", f"{judge.address}/v1")
    assert served[ships].search(_QUESTION, retriever="rerank(pathrank, top=3)", k=2).hits == ranking.hits
    only = served[ships].search(_QUESTION, retriever="bm25 >> rerank", filter=Filter({"letter": "L"}))
    assert {hit.passage.title for hit in only} <= {"Larvik"}


def test_ties_stay_in_the_order_of_the_base(served: KnowledgeGraph, ships: str, judge: Judge) -> None:
    base = served[ships].search(_QUESTION, retriever="dense", k=4)
    scores = [{"index": place, "relevance_score": 1.0} for place in (3, 1, 0, 2)]
    judge.said = json.dumps({"results": scores})
    ranking = served[ships].search(_QUESTION, retriever="rerank(dense)", k=4)
    assert [hit.passage.id for hit in ranking] == [hit.passage.id for hit in base]
    assert {hit.score for hit in ranking} == {1.0}


def test_an_option_names_another_server_which_gets_no_key_of_the_first(
    served: KnowledgeGraph, ships: str, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RERANK_API_KEY", raising=False)
    with Judge("texts") as other:
        text = f"rerank(dense, url='{other.address}', model='another')"
        found = served[ships].search(_QUESTION, retriever=text, k=4)
        assert found.hits[0].passage.title == "Salmon"
        assert not judge.requests
        assert _KEY not in str(other.headers)
        monkeypatch.setenv("RERANK_API_KEY", "a-key-of-another")
        served[ships].search(_QUESTION, retriever=f"rerank(bm25, url='{other.address}/rerank')")
        assert other.headers[-1]["authorization"] == "Bearer a-key-of-another"
    with pytest.raises(ConfigurationError, match="no address"):
        served[ships].search("Fram", retriever="rerank(dense, url='nowhere')")


def test_what_goes_wrong_with_a_server_is_raised(served: KnowledgeGraph, ships: str, judge: Judge) -> None:
    judge.said = "no JSON"
    with pytest.raises(ModelError, match="nothing that can be used"):
        served[ships].search("Fram", retriever="rerank(dense)")
    judge.refusals = [(401, f"bad key {_KEY}")]
    with pytest.raises(UnavailableError, match="bad key") as refused:
        served[ships].search("Fram", retriever="rerank(dense)")
    assert _KEY not in str(refused.value)


def test_without_the_package_it_says_how_to_install_it(
    kg: KnowledgeGraph, ships: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigurationError, match=re.escape(install_hint("sbert"))):
        kg[ships].search("Fram", retriever="rerank(model='some/other-model')")


def test_a_reranker_is_written_as_others_are() -> None:
    text = "rerank(rrf(bm25, dense), model='BAAI/bge-reranker-base', top=20)"
    assert check_retriever(text) == text
    assert RETRIEVERS["rerank"].needs


@pytest.mark.models
def test_a_cross_encoder_reads_each_passage_beside_the_question(kg: KnowledgeGraph, ships: str, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder
    from torch.nn import Sigmoid

    folder = pair_scorer(tmp_path / "pairs", [_QUESTION, *SHIPS, *SHIPS.values()])
    ranking = kg[ships].search(_QUESTION, retriever=f"rerank(dense, model='{folder}', batch=2)", k=3)
    texts = [f"{title}\n{text}" for title, text in SHIPS.items()]
    given = CrossEncoder(str(folder)).predict([(_QUESTION, text) for text in texts], activation_fn=Sigmoid())
    scores = dict(zip(SHIPS, map(float, given), strict=True))
    best = sorted(scores, key=lambda title: -scores[title])[:3]
    assert [hit.passage.title for hit in ranking] == best
    assert [hit.score for hit in ranking] == pytest.approx([scores[title] for title in best], abs=1e-5)
    with pytest.raises(ConfigurationError, match="is no cross-encoder"):
        encoder = sentence_encoder(tmp_path / "encoder", SHIPS.values())
        kg[ships].search("Fram", retriever=f"rerank(dense, model='{encoder}')")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        kg[ships].search("Fram", retriever=f"rerank(dense, model='{tmp_path / 'nothing'}')")
