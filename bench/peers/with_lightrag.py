"""The five tasks with LightRAG, without a language model: only passages (process option "!"), mode "naive"."""

from pathlib import Path
from typing import Any

import tasks
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer

LACKS = {"explain": "no: passages alone have no score and no path", "only": "no: queries take no filter"}


async def _embed(texts: list[str], **_: Any) -> Any:
    return tasks.embed(texts)


async def start(store: Path) -> LightRAG:
    rag = LightRAG(
        working_dir=str(store),
        llm_model_func=tasks.no_model,
        tokenizer=Tokenizer("local", tasks.Tokens()),  # the default one is downloaded
        embedding_func=EmbeddingFunc(embedding_dim=256, max_token_size=8192, func=_embed),
    )
    await rag.initialize_storages()
    return rag


async def ingest(rag: LightRAG, folder: Path) -> str:
    texts = tasks.documents(folder)
    await rag.apipeline_enqueue_documents(
        list(texts.values()), ids=list(texts), file_paths=list(texts), process_options="!"
    )
    await rag.apipeline_process_enqueue_documents()
    return f"{len(texts)} documents"


async def ask(rag: LightRAG, question: str) -> list[str]:
    found = await rag.aquery_data(question, QueryParam(mode="naive", chunk_top_k=5, enable_rerank=False))
    return [chunk["content"] for chunk in found["data"]["chunks"]]


async def change(rag: LightRAG, folder: Path, file: Path) -> None:
    key = file.relative_to(folder).as_posix()
    await rag.adelete_by_doc_id(key)
    await rag.apipeline_enqueue_documents(file.read_text(), ids=[key], file_paths=[key], process_options="!")
    await rag.apipeline_process_enqueue_documents()


async def delete(rag: LightRAG, folder: Path, file: Path) -> None:
    await rag.adelete_by_doc_id(file.relative_to(folder).as_posix())


async def stop(rag: LightRAG) -> None:
    await rag.finalize_storages()


if __name__ == "__main__":
    tasks.main(globals())
