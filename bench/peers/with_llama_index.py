"""The five tasks with LlamaIndex, without a language model: a VectorStoreIndex in a folder, fused with BM25."""

from pathlib import Path
from typing import Any

import tasks
from llama_index.core import Document, SimpleDirectoryReader, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from llama_index.retrievers.bm25 import BM25Retriever

LACKS = {"explain": "a score alone: what is found is near, there is no path"}


class Embedding(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return tasks.embed([text])[0].tolist()

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return tasks.embed(texts).tolist()

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def start(store: Path) -> dict[str, Any]:
    return {"store": str(store), "embedding": Embedding()}


def _read(folder: Path) -> list[Document]:
    reader = SimpleDirectoryReader(
        folder, recursive=True, filename_as_id=True, file_metadata=lambda path: {"kind": Path(path).parent.name}
    )
    return reader.load_data()


def ingest(system: dict[str, Any], folder: Path) -> str:
    index = VectorStoreIndex.from_documents(_read(folder), embed_model=system["embedding"])
    index.storage_context.persist(system["store"])
    return f"{len(index.ref_doc_info)} documents"


def _load(system: dict[str, Any]) -> VectorStoreIndex:
    if "index" not in system:
        kept = StorageContext.from_defaults(persist_dir=system["store"])
        system["index"] = load_index_from_storage(kept, embed_model=system["embedding"])
    return system["index"]


def ask(system: dict[str, Any], question: str) -> list[str]:
    index = _load(system)
    parts = [index.as_retriever(similarity_top_k=20), BM25Retriever.from_defaults(index=index, similarity_top_k=20)]
    both = QueryFusionRetriever(parts, llm=MockLLM(), mode="reciprocal_rerank", num_queries=1, similarity_top_k=5)
    return [node.get_content() for node in both.retrieve(question)]


def change(system: dict[str, Any], folder: Path, file: Path) -> None:
    index = _load(system)
    index.refresh_ref_docs(_read(folder), delete_kwargs={"delete_from_docstore": True})
    index.storage_context.persist(system["store"])


def delete(system: dict[str, Any], folder: Path, file: Path) -> None:
    index = _load(system)
    gone = set(index.ref_doc_info) - {document.id_ for document in _read(folder)}
    for key in gone:
        index.delete_ref_doc(key, delete_from_docstore=True)
    index.storage_context.persist(system["store"])


def only(system: dict[str, Any], question: str, kind: str) -> list[str]:
    filters = MetadataFilters(filters=[MetadataFilter(key="kind", value=kind)])
    return [n.get_content() for n in _load(system).as_retriever(similarity_top_k=5, filters=filters).retrieve(question)]


if __name__ == "__main__":
    tasks.main(globals())
