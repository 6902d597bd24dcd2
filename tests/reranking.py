"""A reranking server that scores the shortest texts as most relevant, in a chosen protocol."""

import json
import threading
from collections.abc import Mapping
from http.server import ThreadingHTTPServer
from typing import Any, Self

from in_thread import Handler

from kgrag.settings import RerankerSettings
from kgrag.text.tokens import words_of


class Judge(ThreadingHTTPServer):
    """`speaks`: documents (Cohere, Jina, vLLM), logits (llama.cpp) or texts (Text Embeddings Inference).

    `most`: limit of texts per call; `longest`: characters of a text above which it needs a request to truncate.
    `refusals`: statuses and messages of its first replies; `said`: replaces its scores.
    """

    daemon_threads = True

    def __init__(self, speaks: str = "documents", most: int = 1_000, longest: int = 100_000) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.speaks, self.most, self.longest = speaks, most, longest
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.refusals: list[tuple[int, str]] = []
        self.said = ""
        self.address = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def settings(self, **more: Any) -> RerankerSettings:
        """Return the settings of a client."""
        base = self.address if self.speaks == "texts" else f"{self.address}/v1"
        return RerankerSettings(**{"base_url": base, **more})

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Return the reply of a server of its kind."""
        tei = self.speaks == "texts"
        if path not in (("/rerank",) if tei else ("/v1/rerank", "/rerank")):
            return 404, {"detail": "Not Found"}
        if tei and "texts" not in body:
            return 422, "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1"
        texts = body["texts" if tei else "documents"]
        if len(texts) > self.most:
            return 413, {"error": f"batch size {len(texts)} > maximum allowed batch size {self.most}"}
        if max(map(len, texts)) > self.longest and not (body.get("truncate") or "truncate_prompt_tokens" in body):
            return 400, {"error": {"message": f"This model's maximum context length is {self.longest} tokens."}}
        scores = [1 / max(1, len(words_of(text))) for text in texts]
        if self.speaks == "logits":
            scores = [20 * score - 5 for score in scores]
        ranked = sorted(enumerate(scores), key=lambda pair: -pair[1])
        if tei:
            return 200, [{"index": place, "score": score} for place, score in ranked]
        return 200, {"results": [{"index": place, "relevance_score": score} for place, score in ranked]}


class _Handler(Handler):
    server: Judge
    protocol_version = "HTTP/1.1"

    def post(self) -> None:
        body = self.body()
        its = self.server
        its.requests.append(body)
        its.paths.append(self.path)
        its.headers.append({name.lower(): value for name, value in self.headers.items()})
        if its.refusals:
            status, said = its.refusals.pop(0)
        else:
            status, answered = its.answer(self.path, body)
            said = answered if isinstance(answered, str) else json.dumps(answered)
            said = its.said or said
        self.say(status, said.encode(), **({"Retry-After": "0.01"} if status in (429, 503) else {}))
