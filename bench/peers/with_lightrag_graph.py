"""The five tasks with LightRAG, without a language model: a graph made by hand (`ainsert_custom_kg`), mode "mix".

The graph comes from titles: an entity for each article, and a relation to each article whose title it contains.
"""

import re
from pathlib import Path
from typing import Any

import tasks
from lightrag import LightRAG, QueryParam
from with_lightrag import start, stop

LACKS = {"only": "no: queries take no filter"}


def _custom_kg(texts: dict[str, str], keys: list[str]) -> dict[str, Any]:
    titles = {key: Path(key).stem for key in texts}
    names = {key: re.sub(r" \(.*\)", "", title) for key, title in titles.items()}
    return {
        "chunks": [{"content": texts[key], "source_id": key, "file_path": key} for key in keys],
        "entities": [
            {"entity_name": titles[key], "description": texts[key], "source_id": key, "file_path": key} for key in keys
        ],
        "relationships": [
            {"src_id": titles[key], "tgt_id": titles[other], "keywords": "names", "source_id": key, "file_path": key,
             "description": f"{titles[key]} names {titles[other]}"}
            for key in keys for other in texts if other != key and names[other] in texts[key]
        ],
    }  # fmt: skip


async def ingest(rag: LightRAG, folder: Path) -> str:
    texts = tasks.documents(folder)
    await rag.ainsert_custom_kg(_custom_kg(texts, list(texts)))
    return f"{len(texts)} documents"


async def _data(rag: LightRAG, question: str) -> Any:
    names = re.findall(r"(?<=\s)[A-ZÖ][\w.]*(?: [A-Z]\w*)*", question)  # usually a model finds names
    parameters = QueryParam(
        mode="mix", chunk_top_k=5, enable_rerank=False, hl_keywords=[question], ll_keywords=names or [question]
    )
    return (await rag.aquery_data(question, parameters))["data"]


async def ask(rag: LightRAG, question: str) -> list[str]:
    return [chunk["content"] for chunk in (await _data(rag, question))["chunks"]]


async def change(rag: LightRAG, folder: Path, file: Path) -> None:
    key = file.relative_to(folder).as_posix()
    await rag.ainsert_custom_kg(_custom_kg(tasks.documents(folder), [key]))


async def delete(rag: LightRAG, folder: Path, file: Path) -> None:
    await rag.adelete_by_entity(file.stem)


async def explain(rag: LightRAG, question: str) -> str:
    found = await _data(rag, question)
    return "; ".join(f"{r['src_id']} - {r['tgt_id']}" for r in found["relationships"][:3])


__all__ = ["start", "stop"]

if __name__ == "__main__":
    tasks.main(globals())
