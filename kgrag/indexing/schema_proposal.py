"""A schema of facts, proposed by a language model from a sample of a collection's passages."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ValidationError

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.indexing.ask_each import passage_sources
from kgrag.indexing.fact_schema import FactSchema
from kgrag.models.prompted import PromptedModel, framed, harmless, object_schema, titled
from kgrag.values.errors import InputError, ModelError

TASK = "fact-schema"
_SHOWN = 1_000  # characters of a passage
_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": _TEXT}


def _parts(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "array", "items": object_schema(properties)}


class Proposal(BaseModel):
    """The reply: types and predicates as lists."""

    REPLY: ClassVar[Mapping[str, Any]] = object_schema({
        "types": _parts({"name": _TEXT, "description": _TEXT}),
        "predicates": _parts(
            {"name": _TEXT, "from": _TEXTS, "to": _TEXTS, "one": {"type": "boolean"}, "synonyms": _TEXTS}
        ),
    })  # fmt: skip

    types: list[dict[str, Any]]
    predicates: list[dict[str, Any]]


def propose(graph: Graph, collection: Collection, llm: PromptedModel, sample: int) -> FactSchema:
    """Return a schema for `sample` passages of a collection, spread evenly over it.

    Raises InputError for an empty collection, ModelError when the proposal holds nothing that can be used.
    """
    ids = [row["id"] for row in graph.run("look_up/sample", collection=collection.name, number=sample)]
    if not ids:
        raise InputError(f"Collection {collection.name!r} has no passages.", "Ingest documents first.")
    texts = (f"Title: {titled(s['title'] or '')}\n{harmless(s['text'][:_SHOWN])}" for s in passage_sources(graph, ids))
    passages = "\n\n".join(f"[{n}]\n{framed(text)}" for n, text in enumerate(texts, 1))
    return usable(llm.structured(TASK, Proposal, passages=passages))


def usable(proposal: Proposal) -> FactSchema:
    """Return the parts of a proposal that make a valid schema. Raises ModelError if no part is valid."""
    types: dict[str, Any] = {}
    predicates: dict[str, Any] = {}
    for part in proposal.types:
        name = "".join(word[:1].upper() + word[1:] for word in _name(part))
        longer = {**types, name: {"description": str(part.get("description") or "")}}
        if _schema(types=longer, predicates={"OF": {}}):  # any predicate: there is no schema without one
            types = longer
    for part in proposal.predicates:
        name = "_".join(_name(part)).upper()
        ends = {key: [end for end in map(str, part.get(key) or ()) if end in types] for key in ("from", "to")}
        entry = {**ends, "one": part.get("one") is True}
        for synonyms in (list(map(str, part.get("synonyms") or ())), []):  # another predicate may be called so
            longer = {**predicates, name: {**entry, "synonyms": synonyms}}
            if name not in predicates and _schema(types=types, predicates=longer):
                predicates = longer
    schema = _schema(types=types, predicates=predicates)
    if schema is None:
        raise ModelError(
            "The model proposed no schema that can be used.",
            "Run it again with a larger sample or another model for the task fact-schema, or write the file by hand.",
        )
    return schema


def _schema(**parts: Any) -> FactSchema | None:
    try:
        return FactSchema.model_validate(parts)
    except ValidationError:
        return None


def _name(part: Mapping[str, Any]) -> list[str]:
    return re.findall(r"[A-Za-z0-9]+", str(part.get("name") or ""))
