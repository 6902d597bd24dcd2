"""Questions -> rankings: one retriever a module, and what they are composed of.

The classes are here by their names: `from kgrag.retrieval import PathRank`; each is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.retrieval.bm25 import Bm25
    from kgrag.retrieval.bridges import Bridges
    from kgrag.retrieval.colbert import Colbert
    from kgrag.retrieval.compose import Common, Concat, Hybrid, Rrf, Top
    from kgrag.retrieval.dense import Dense
    from kgrag.retrieval.gfm import Gfm
    from kgrag.retrieval.gnn_ret import GnnRet
    from kgrag.retrieval.hipporag import HippoRag, HippoRag2
    from kgrag.retrieval.kgp import Kgp
    from kgrag.retrieval.knn import Knn
    from kgrag.retrieval.mdr import Mdr
    from kgrag.retrieval.naive_ge import NaiveGe
    from kgrag.retrieval.pathrank import PathRank
    from kgrag.retrieval.ppr import Ppr
    from kgrag.retrieval.rerank import Rerank
    from kgrag.retrieval.sync_ge import SyncGe
    from kgrag.retrieval.tfidf import TfIdf

__all__ = [
    "Bm25",
    "Bridges",
    "Colbert",
    "Common",
    "Concat",
    "Dense",
    "Gfm",
    "GnnRet",
    "HippoRag",
    "HippoRag2",
    "Hybrid",
    "Kgp",
    "Knn",
    "Mdr",
    "NaiveGe",
    "PathRank",
    "Ppr",
    "Rerank",
    "Rrf",
    "SyncGe",
    "TfIdf",
    "Top",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from kgrag.retrieval.registry import RETRIEVERS

        return RETRIEVERS.class_named(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
