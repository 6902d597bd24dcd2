"""The five tasks with neo4j-graphrag, without a language model: documents and chunks in Neo4j, a hybrid retriever."""

from pathlib import Path
from typing import Any

import neo4j
import tasks
from neo4j_graphrag.components.embedder import TextChunkEmbedder
from neo4j_graphrag.components.kg_writer import Neo4jWriter
from neo4j_graphrag.components.lexical_graph import LexicalGraphBuilder
from neo4j_graphrag.components.text_splitters.fixed_size_splitter import FixedSizeSplitter
from neo4j_graphrag.components.types import DocumentInfo
from neo4j_graphrag.embeddings.base import Embedder
from neo4j_graphrag.indexes import create_fulltext_index, create_vector_index
from neo4j_graphrag.retrievers import HybridRetriever, VectorRetriever
from neo4j_graphrag.types import RetrieverResultItem

LACKS = {"explain": "a score alone; a path is what the Cypher of a HybridCypherRetriever asks for"}


class Embedding(Embedder):
    def embed_query(self, text: str) -> list[float]:
        return tasks.embed([text])[0].tolist()


def start(store: Path) -> neo4j.Driver:
    driver = tasks.driver()
    create_vector_index(driver, "vectors", "Chunk", "embedding", 256, "cosine")
    create_fulltext_index(driver, "words", "Chunk", ["text"])
    return driver


def stop(driver: neo4j.Driver) -> None:
    driver.close()


async def _write(driver: neo4j.Driver, key: str, text: str) -> None:
    chunks = await FixedSizeSplitter().run(text=text)
    for chunk in chunks.chunks:
        chunk.metadata = {"kind": Path(key).parent.name}
    chunks = await TextChunkEmbedder(Embedding()).run(text_chunks=chunks)
    built = await LexicalGraphBuilder().run(text_chunks=chunks, document_info=DocumentInfo(path=key))
    await Neo4jWriter(driver).run(graph=built.graph, lexical_graph_config=built.config)


async def ingest(driver: neo4j.Driver, folder: Path) -> str:
    texts = tasks.documents(folder)
    for key, text in texts.items():
        await _write(driver, key, text)
    driver.execute_query("CALL db.awaitIndexes()")
    return f"{len(texts)} documents"


def _text(record: neo4j.Record) -> RetrieverResultItem:
    return RetrieverResultItem(content=record["node"]["text"])


def ask(driver: neo4j.Driver, question: str) -> list[str]:
    retriever = HybridRetriever(driver, "vectors", "words", Embedding(), result_formatter=_text)
    return [item.content for item in retriever.search(query_text=question, top_k=5).items]


async def change(driver: neo4j.Driver, folder: Path, file: Path) -> None:
    delete(driver, folder, file)
    await _write(driver, file.relative_to(folder).as_posix(), file.read_text())


def delete(driver: neo4j.Driver, folder: Path, file: Path) -> None:
    driver.execute_query(
        "MATCH (d:Document {path: $path}) OPTIONAL MATCH (c)-[:FROM_DOCUMENT]->(d) DETACH DELETE c, d",
        path=file.relative_to(folder).as_posix(),
    )


def only(driver: neo4j.Driver, question: str, kind: str) -> list[str]:
    retriever = VectorRetriever(driver, "vectors", Embedding(), result_formatter=_text)
    found: Any = retriever.search(query_text=question, top_k=5, filters={"kind": kind})
    return [item.content for item in found.items]


if __name__ == "__main__":
    tasks.main(globals())
