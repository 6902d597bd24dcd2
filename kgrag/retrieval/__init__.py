"""Questions -> rankings: one retriever a module, and what they are composed of.

The classes are here by their names: `from kgrag.retrieval import PathRank`; each is imported when it is asked for.
"""

from typing import TYPE_CHECKING

from kgrag.runtime.lazy import offered

if TYPE_CHECKING:
    from kgrag.retrieval.base import Query as Query
    from kgrag.retrieval.base import Retriever as Retriever
    from kgrag.retrieval.base import Scored as Scored
    from kgrag.retrieval.bm25 import Bm25 as Bm25
    from kgrag.retrieval.bridges import Bridges as Bridges
    from kgrag.retrieval.colbert import Colbert as Colbert
    from kgrag.retrieval.communities import Communities as Communities
    from kgrag.retrieval.compose import Common as Common
    from kgrag.retrieval.compose import Concat as Concat
    from kgrag.retrieval.compose import Hybrid as Hybrid
    from kgrag.retrieval.compose import Rrf as Rrf
    from kgrag.retrieval.compose import Top as Top
    from kgrag.retrieval.dense import Dense as Dense
    from kgrag.retrieval.gfm import Gfm as Gfm
    from kgrag.retrieval.gnn_ret import GnnRet as GnnRet
    from kgrag.retrieval.hipporag import HippoRag as HippoRag
    from kgrag.retrieval.hipporag import HippoRag2 as HippoRag2
    from kgrag.retrieval.kgp import Kgp as Kgp
    from kgrag.retrieval.knn import Knn as Knn
    from kgrag.retrieval.mdr import Mdr as Mdr
    from kgrag.retrieval.naive_ge import NaiveGe as NaiveGe
    from kgrag.retrieval.pathrank import PathRank as PathRank
    from kgrag.retrieval.ppr import Ppr as Ppr
    from kgrag.retrieval.raptor import Raptor as Raptor
    from kgrag.retrieval.rerank import Rerank as Rerank
    from kgrag.retrieval.sync_ge import SyncGe as SyncGe
    from kgrag.retrieval.tfidf import TfIdf as TfIdf
else:
    __all__, __getattr__, __dir__ = offered(
        __name__,
        {
            "base": "Query Retriever Scored",
            "bm25": "Bm25",
            "bridges": "Bridges",
            "colbert": "Colbert",
            "communities": "Communities",
            "compose": "Common Concat Hybrid Rrf Top",
            "dense": "Dense",
            "gfm": "Gfm",
            "gnn_ret": "GnnRet",
            "hipporag": "HippoRag HippoRag2",
            "kgp": "Kgp",
            "knn": "Knn",
            "mdr": "Mdr",
            "naive_ge": "NaiveGe",
            "pathrank": "PathRank",
            "ppr": "Ppr",
            "raptor": "Raptor",
            "rerank": "Rerank",
            "sync_ge": "SyncGe",
            "tfidf": "TfIdf",
        },
    )
