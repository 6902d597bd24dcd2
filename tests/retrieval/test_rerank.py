"""Reranking: by a cross-encoder made on the spot, and by a server that speaks the protocol of Jina, Cohere and vLLM."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from made_models import pair_scorer, sentence_encoder

from kgrag.client import KnowledgeGraph
from kgrag.retrieval import PathRank, Rerank
from kgrag.retrieval.registry import RETRIEVERS, check_retriever
from kgrag.text.tokens import words_of
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, ModelError, UnavailableError
from kgrag.values.results import Filter

_NAME = "rerank"
_TEXTS = {
    "Fram": "The Fram was designed by Colin Archer for the polar ice.",
    "Colin Archer": "Colin Archer was a naval architect born in Larvik.",
    "Larvik": "Larvik is a town on the coast of Norway.",
    "Salmon": "Salmon swim up the rivers in autumn.",
}
_QUESTION = "Where was the designer of the Fram born?"


@pytest.fixture(scope="module")
def ships(kg: KnowledgeGraph) -> Iterator[str]:
    documents = [
        Document(title, (Section(text),), title, metadata={"letter": title[0]}) for title, text in _TEXTS.items()
    ]
    kg[_NAME].ingest(documents)
    yield _NAME
    kg[_NAME].delete()


class Judge(ThreadingHTTPServer):
    """A server that finds the passages most relevant that say least; `status` and `said` make it fail."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[dict[str, Any], str | None]] = []
        self.statuses: list[int] = []
        self.said = ""
        self.url = f"http://127.0.0.1:{self.server_port}/v1/rerank"


class _Handler(BaseHTTPRequestHandler):
    server: Judge

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((body, self.headers["Authorization"]))
        results = [{"index": i, "relevance_score": 1 / len(words_of(text))} for i, text in enumerate(body["documents"])]
        results.sort(key=lambda r: -r["relevance_score"])
        reply = (self.server.said or json.dumps({"results": results})).encode()
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def judge() -> Iterator[Judge]:
    with Judge() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_server_orders_the_best_of_another(
    kg: KnowledgeGraph, ships: str, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RERANK_API_KEY", "a-key-of-tests")
    made = Rerank(PathRank(kg[ships]), model="judge", url=judge.url, top=3)
    ranking = made.retrieve(_QUESTION, k=2)
    base = kg[ships].search(_QUESTION, k=3)
    shortest = sorted(base, key=lambda hit: len(words_of(f"{hit.passage.title} {hit.passage.text}")))
    assert [hit.passage.title for hit in ranking] == [hit.passage.title for hit in shortest[:2]]
    assert all(0 < hit.score <= 1 for hit in ranking)
    assert made.scale == "relevance"
    assert [step.via.split()[0] for step in ranking.hits[0].why][-1] == "rerank"
    assert len(ranking.hits[0].why) > 1  # how the base came to it
    [(asked, key)] = judge.requests  # one call a question
    assert (asked["model"], asked["query"], len(asked["documents"])) == ("judge", _QUESTION, len(base))
    assert asked["documents"][0].startswith(f"{base.hits[0].passage.title}\n")
    assert key == "Bearer a-key-of-tests"
    assert "a-key-of-tests" not in repr(made) + made.name
    text = f"rerank(pathrank, model='judge', url='{judge.url}', top=3)"
    assert kg[ships].search(_QUESTION, retriever=text, k=2).hits == ranking.hits
    only = kg[ships].search(_QUESTION, retriever=f"bm25 >> rerank(url='{judge.url}')", filter=Filter({"letter": "L"}))
    assert {hit.passage.title for hit in only} <= {"Larvik"}


def test_what_goes_wrong_with_a_server_is_told(
    kg: KnowledgeGraph, ships: str, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RERANK_API_KEY", "a-key-of-tests")
    text = f"rerank(dense, url='{judge.url}')"
    judge.statuses = [503, 429]  # a busy one is asked again
    assert len(kg[ships].search("Fram", retriever=text)) == 4
    judge.statuses, judge.said = [401], "bad key a-key-of-tests"
    with pytest.raises(UnavailableError, match="RERANK_API_KEY") as refused:
        kg[ships].search("Fram", retriever=text)
    assert "a-key-of-tests" not in str(refused.value)
    for said in ("no JSON", '{"results": [{"index": 9, "relevance_score": 1}]}', '{"results": [{"index": 0}]}'):
        judge.said = said
        with pytest.raises(ModelError, match="nothing that can be used"):
            kg[ships].search("Fram", retriever=text)
    judge.statuses, judge.said = [404], "no such path"
    with pytest.raises(ModelError, match="404"):
        kg[ships].search("Fram", retriever=text)
    judge.server_close()
    with pytest.raises(UnavailableError, match="No reply from"):
        kg[ships].search("Fram", retriever=f"rerank(dense, url='{judge.url}', retries=0)")
    with pytest.raises(ConfigurationError, match="no address"):
        kg[ships].search("Fram", retriever="rerank(dense, url='nowhere')")


def test_without_the_package_it_says_how_to_install_it(
    kg: KnowledgeGraph, ships: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'kgrag\[sbert\]'"):
        kg[ships].search("Fram", retriever="rerank(model='some/other-model')")


def test_a_reranker_is_written_as_others_are() -> None:
    text = "rerank(rrf(bm25, dense), model='BAAI/bge-reranker-base', top=20)"
    assert check_retriever(text) == text
    assert RETRIEVERS["rerank"].needs


@pytest.mark.models
def test_a_cross_encoder_reads_each_passage_beside_the_question(kg: KnowledgeGraph, ships: str, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder
    from torch.nn import Sigmoid

    folder = pair_scorer(tmp_path / "pairs", [_QUESTION, *_TEXTS, *_TEXTS.values()])
    ranking = kg[ships].search(_QUESTION, retriever=f"rerank(dense, model='{folder}', batch=2)", k=3)
    texts = [f"{title}\n{text}" for title, text in _TEXTS.items()]
    given = CrossEncoder(str(folder)).predict([(_QUESTION, text) for text in texts], activation_fn=Sigmoid())
    scores = dict(zip(_TEXTS, map(float, given), strict=True))
    best = sorted(scores, key=lambda title: -scores[title])[:3]
    assert [hit.passage.title for hit in ranking] == best
    assert [hit.score for hit in ranking] == pytest.approx([scores[title] for title in best], abs=1e-5)
    with pytest.raises(ConfigurationError, match="is no cross-encoder"):
        encoder = sentence_encoder(tmp_path / "encoder", _TEXTS.values())
        kg[ships].search("Fram", retriever=f"rerank(dense, model='{encoder}')")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        kg[ships].search("Fram", retriever=f"rerank(dense, model='{tmp_path / 'nothing'}')")
