"""The five tasks with nano-graphrag, as far as possible without a language model."""

from pathlib import Path
from typing import Any

import tasks
from litellm.litellm_core_utils import default_encoding  # noqa: F401 - has the tokens that are otherwise downloaded
from nano_graphrag import GraphRAG
from nano_graphrag._utils import EmbeddingFunc


async def _embed(texts: list[str]) -> Any:
    return tasks.embed(texts)


def start(store: Path) -> GraphRAG:
    return GraphRAG(
        working_dir=str(store),
        enable_naive_rag=True,
        best_model_func=tasks.no_model,
        cheap_model_func=tasks.no_model,
        embedding_func=EmbeddingFunc(embedding_dim=256, max_token_size=8192, func=_embed),
    )


async def ingest(rag: GraphRAG, folder: Path) -> str:
    await rag.ainsert(list(tasks.documents(folder).values()))
    return "66 documents"


if __name__ == "__main__":
    tasks.main(globals())
