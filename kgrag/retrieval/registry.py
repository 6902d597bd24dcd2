"""The retrievers by name: adding one is a module and a line here."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError

from kgrag.errors import ConfigurationError, NotFoundError
from kgrag.retrieval.base import Index, Retriever
from kgrag.retrieval.bm25 import Bm25
from kgrag.retrieval.colbert import Colbert
from kgrag.retrieval.dense import Dense
from kgrag.retrieval.expression import Expression, parse
from kgrag.retrieval.fusion import Fusion, hybrid
from kgrag.retrieval.gnn_ret import GnnRet
from kgrag.retrieval.kgp import Kgp
from kgrag.retrieval.knn import Knn
from kgrag.retrieval.mdr import Mdr
from kgrag.retrieval.naive_ge import NaiveGe
from kgrag.retrieval.pathrank import PathRank
from kgrag.retrieval.ppr import Ppr
from kgrag.retrieval.sync_ge import SyncGe
from kgrag.retrieval.tfidf import TfIdf
from kgrag.settings import RetrievalSettings

Parts = tuple[Retriever, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """How to make a retriever, and what to say of it in a list.

    `settings`: the group of RetrievalSettings whose fields are its options. `over`: what it works on when an
    expression does not say, empty when it works on no other; `several`: whether it takes any number of them.
    `needs`: what it cannot do without besides the graph, such as an optional package.
    """

    make: Callable[[Index, Parts], Retriever]
    summary: str
    settings: str = ""
    over: tuple[str, ...] = ()
    several: bool = False
    needs: str = ""


RETRIEVERS: dict[str, Entry] = {
    "pathrank": Entry(
        lambda index, _: PathRank(index),
        "walks from the question's names over the names that passages mention; multi-hop, no model",
        settings="pathrank",
    ),
    "bm25": Entry(lambda index, _: Bm25(index), "words shared with the question: full-text index, English stemming"),
    "tfidf": Entry(
        lambda index, _: TfIdf(index),
        "words shared with the question, by cosine of TF-IDF, among bm25's best",
        settings="tfidf",
    ),
    "dense": Entry(lambda index, _: Dense(index), "nearest embeddings: vector index, scored again exactly"),
    "knn": Entry(
        lambda index, _: Knn(index),
        "dense, fused with the passages whose wording is most like the question (Levenshtein)",
        settings="knn",
    ),
    "mdr": Entry(
        lambda index, _: Mdr(index),
        "chains of passages, each nearest to the question and those before it; MDR",
        settings="mdr",
        needs="an encoder of `kgrag train next-fact`",
    ),
    "hybrid": Entry(lambda index, _: hybrid(index), "reciprocal rank fusion of bm25 and dense"),
    "ppr": Entry(
        lambda index, _: Ppr(index),
        "personalised PageRank from the nearest triples, named entities and nearest passages; HippoRAG 2",
        settings="ppr",
    ),
    "gnn-ret": Entry(
        lambda index, _: GnnRet(index),
        "dense, passed on to passages that are adjacent or share names; GNN-Ret",
        settings="gnn_ret",
    ),
    "kgp": Entry(
        lambda index, _: Kgp(index),
        "breadth-first from bm25's passages over shared keywords and names, guided by words, the embedder or a "
        "language model; KGP",
        settings="kgp",
    ),
    "naive-ge": Entry(
        lambda index, parts: NaiveGe(index, *parts),
        "another's passages, and those that chains of triples lead to from them; GEAR without a language model",
        settings="naive_ge",
        over=("hybrid",),
    ),
    "sync-ge": Entry(
        lambda index, parts: SyncGe(index, *parts),
        "the same from the triples like the facts that a language model reads there; GEAR's retriever",
        settings="sync_ge",
        over=("hybrid",),
        needs="a language model",
    ),
    "colbert": Entry(
        lambda index, parts: Colbert(index, *parts),
        "another's best passages, ranked anew by late interaction (extra: colbert)",
        settings="colbert",
        over=("hybrid",),
        needs="kgrag[colbert] and a model",
    ),
    "rrf": Entry(
        Fusion, "reciprocal rank fusion of any others: rrf(hybrid, pathrank)", over=("bm25", "dense"), several=True
    ),
}
DEFAULT_RETRIEVER = "pathrank"


def make_retriever(expression: str, index: Index) -> Retriever:
    """The retriever that an expression describes: a name, or a composition such as `rrf(hybrid, pathrank(cap=20))`.

    Raises NotFoundError for a name that does not exist, ConfigurationError for an expression or option that is none.
    """
    return _make(parse(expression), index)


def check_retriever(expression: str) -> str:
    """The expression in its standard spelling. Raises as `make_retriever` does, without a graph."""
    parsed = parse(expression)
    _check(parsed, RetrievalSettings())
    return str(parsed)


def _make(expression: Expression, index: Index) -> Retriever:
    entry = _entry(expression)
    index = replace(index, settings=_configured(expression, entry, index.settings))
    parts = expression.parts or tuple(Expression(name) for name in entry.over)
    retriever = entry.make(index, tuple(_make(part, index) for part in parts))
    retriever.name = str(expression)
    return retriever


def _check(expression: Expression, settings: RetrievalSettings) -> None:
    settings = _configured(expression, _entry(expression), settings)
    for part in expression.parts:
        _check(part, settings)


def _entry(expression: Expression) -> Entry:
    entry = RETRIEVERS.get(expression.name)
    if entry is None:
        near = difflib.get_close_matches(expression.name, RETRIEVERS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise NotFoundError(
            f"There is no retriever {expression.name!r}.", f"{hint}Choose one of: {', '.join(RETRIEVERS)}."
        )
    given = len(expression.parts)
    if given and not entry.over:
        raise ConfigurationError(
            f"{expression.name!r} works on no other retriever.",
            f"Leave out what stands in its parentheses: {expression}",
        )
    if given > len(entry.over) and not entry.several:
        raise ConfigurationError(
            f"{expression.name!r} works on {len(entry.over)} other retriever, not {given}.",
            f"Fuse them: {expression.name}(rrf({', '.join(map(str, expression.parts))})).",
        )
    return entry


def _configured(expression: Expression, entry: Entry, settings: RetrievalSettings) -> RetrievalSettings:
    """The settings with an expression's options in place of those of its group, or of those that all share."""
    for key, value in expression.options:
        group: Any = getattr(settings, entry.settings) if entry.settings else None
        try:
            if group is not None and key in type(group).model_fields:
                settings = settings.model_copy(update={entry.settings: _changed(group, key, value)})
            elif key in _shared(settings):
                settings = _changed(settings, key, value)
            else:
                known = [*(type(group).model_fields if group is not None else ()), *_shared(settings)]
                raise ConfigurationError(f"{expression.name!r} has no option {key!r}.", f"It has: {', '.join(known)}.")
        except ValidationError as error:
            problem = error.errors()[0]
            raise ConfigurationError(
                f"{expression.name}: {key}={value!r} will not do: {problem['msg']}.", "See kgrag/settings/."
            ) from error
    return settings


def _shared(settings: RetrievalSettings) -> list[str]:
    """The settings that belong to no group."""
    return [key for key in type(settings).model_fields if not isinstance(getattr(settings, key), BaseModel)]


def _changed(model: Any, key: str, value: Any) -> Any:
    return type(model).model_validate({**model.model_dump(), key: value})
