"""Compare the searches of kgrag, LangChain and neo4j-graphrag: the same passages, vectors and server, by turns.

    kgrag up
    python bench/peers/searches.py SET [--rounds 3] [--limit 100] [--threads 8]

Needs langchain-neo4j and neo4j-graphrag beside kgrag. SET: a folder with corpus.jsonl and queries.jsonl. kgrag ingests
it once; the passages with their vectors are copied to nodes :Peer with a vector index and a full-text index, which all
peers read. Each question goes to every search in turn before the next question. Prints milliseconds (median, 95th
percentile), the ratio of medians to LangChain's search of the same kind, the share of gold among the first five, and
questions a second.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

import neo4j
from langchain_core.embeddings import Embeddings
from langchain_neo4j import Neo4jVector
from neo4j_graphrag.embeddings.base import Embedder
from neo4j_graphrag.retrievers import HybridRetriever, VectorRetriever
from neo4j_graphrag.types import RetrieverResultItem
from tasks import embed

from kgrag import KnowledgeGraph

TOP = 5
VECTORS, WORDS = "peer_vectors", "peer_words"
_COPY = """UNWIND $rows AS row CREATE (p:Peer {id: row.id, text: row.text}) WITH p, row
CALL db.create.setNodeVectorProperty(p, 'embedding', row.vector)"""
Search = Callable[[str], list[str]]


class Shared(Embeddings, Embedder):
    """kgrag's default embedder, for LangChain and for neo4j-graphrag."""

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = embed([text])[0].tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = embed(texts).tolist()
        return vectors


def copy(driver: neo4j.Driver, corpus: list[dict[str, str]]) -> None:
    """Write the passages and their vectors once, with both indexes."""
    (count,) = driver.execute_query("MATCH (p:Peer) RETURN count(p)").records[0]
    if count != len(corpus):
        driver.execute_query("MATCH (p:Peer) DETACH DELETE p")
        texts = [f"{row['title']}\n{row['text']}" for row in corpus]
        rows = [
            {"id": row["id"], "text": text, "vector": vector.tolist()}
            for row, text, vector in zip(corpus, texts, embed(texts), strict=True)
        ]
        for start in range(0, len(rows), 1000):
            driver.execute_query(_COPY, rows=rows[start : start + 1000])
    driver.execute_query(f"CREATE FULLTEXT INDEX {WORDS} IF NOT EXISTS FOR (p:Peer) ON EACH [p.text]")
    driver.execute_query(
        f"CREATE VECTOR INDEX {VECTORS} IF NOT EXISTS FOR (p:Peer) ON (p.embedding) "
        "OPTIONS {indexConfig: {`vector.dimensions`: 256, `vector.similarity_function`: 'cosine'}}"
    )
    driver.execute_query("CALL db.awaitIndexes(600)")


def searches(kg: KnowledgeGraph, name: str, driver: neo4j.Driver, login: dict[str, str]) -> dict[str, Search]:
    """Return the searches by name; each returns the ids or texts of five passages."""
    shared = Shared()
    names = {"index_name": VECTORS, "keyword_index_name": WORDS, "embedding": shared, "text_node_property": "text"}
    made = {kind: Neo4jVector.from_existing_index(**login, **names, search_type=kind) for kind in ("vector", "hybrid")}

    def text(record: neo4j.Record) -> RetrieverResultItem:
        return RetrieverResultItem(content=record["node"]["text"])

    near = VectorRetriever(driver, VECTORS, shared, result_formatter=text)
    both = HybridRetriever(driver, VECTORS, WORDS, shared, result_formatter=text)
    return {
        "LangChain vector": lambda q: [d.page_content for d in made["vector"].similarity_search(q, k=TOP)],
        "neo4j-graphrag vector": lambda q: [i.content for i in near.search(query_text=q, top_k=TOP).items],
        "kgrag dense": lambda q: [h.passage.text for h in kg[name].search(q, retriever="dense", k=TOP)],
        "LangChain hybrid": lambda q: [d.page_content for d in made["hybrid"].similarity_search(_plain(q), k=TOP)],
        "neo4j-graphrag hybrid": lambda q: [i.content for i in both.search(query_text=_plain(q), top_k=TOP).items],
        "kgrag hybrid": lambda q: [h.passage.text for h in kg[name].search(q, retriever="hybrid", k=TOP)],
        "kgrag pathrank": lambda q: [h.passage.text for h in kg[name].search(q, retriever="pathrank", k=TOP)],
    }


def _plain(question: str) -> str:
    """Return a question without the signs that Lucene reads as operators, which the peers do not escape."""
    return "".join(letter if letter.isalnum() else " " for letter in question)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=100, help="questions")
    parser.add_argument("--threads", type=int, default=8)
    options = parser.parse_args()
    corpus, queries = (
        [json.loads(line) for line in (options.set / f"{name}.jsonl").read_text("utf-8").splitlines()]
        for name in ("corpus", "queries")
    )
    texts, questions = {row["id"]: row["text"] for row in corpus}, queries[: options.limit]
    with KnowledgeGraph.local() as kg:
        name, settings = options.set.name, kg.settings
        kg[name].ingest(options.set / "corpus.jsonl")
        assert settings.neo4j_uri is not None and settings.neo4j_password is not None
        login = {"url": settings.neo4j_uri, "username": settings.neo4j_user,
                 "password": settings.neo4j_password.get_secret_value()}  # fmt: skip
        with neo4j.GraphDatabase.driver(login["url"], auth=(login["username"], login["password"])) as driver:
            copy(driver, corpus)
            made = searches(kg, name, driver, login)
            for search in made.values():
                for query in questions[:20]:
                    search(query["question"])
            seconds: dict[str, list[float]] = {each: [] for each in made}
            gold = dict.fromkeys(made, 0.0)
            for _ in range(options.rounds):
                for query in questions:
                    for each, search in made.items():
                        begun = time.perf_counter()
                        found = search(query["question"])
                        seconds[each].append(time.perf_counter() - begun)
                        hits = sum(
                            any(texts[id] in text or text in texts[id] for text in found) for id in query["gold"]
                        )
                        gold[each] += hits / len(query["gold"])
            print(f"{'':24}{'p50 ms':>8}{'p95 ms':>8}{'ratio':>8}{'R@5':>8}{'per s':>8}")
            for each, search in made.items():
                base = seconds["LangChain vector" if each.endswith(("vector", "dense")) else "LangChain hybrid"]
                begun = time.perf_counter()
                with ThreadPoolExecutor(options.threads) as pool:
                    list(pool.map(search, [query["question"] for query in questions]))
                rate = len(questions) / (time.perf_counter() - begun)
                mid, late = 1000 * median(seconds[each]), 1000 * quantiles(seconds[each], n=20)[-1]
                share = 100 * gold[each] / options.rounds / len(questions)
                print(f"{each:24}{mid:8.1f}{late:8.1f}{mid / 1000 / median(base):8.2f}{share:8.1f}{rate:8.0f}")
        print(f"memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB at most")


if __name__ == "__main__":
    main()
