"""kgrag: documents become a graph in Neo4j; questions are answered by walking it.

What users import is here by its name, and nowhere else is it promised to stay: `from kgrag import KnowledgeGraph`.
Each is imported when it is asked for.
"""

import logging
from typing import TYPE_CHECKING

from kgrag.runtime.lazy import offered

if TYPE_CHECKING:
    from kgrag.agents import Auto as Auto
    from kgrag.agents import Bdtr as Bdtr
    from kgrag.agents import ClosedBook as ClosedBook
    from kgrag.agents import Conclusion as Conclusion
    from kgrag.agents import Episode as Episode
    from kgrag.agents import Gcot as Gcot
    from kgrag.agents import Gear as Gear
    from kgrag.agents import Gears as Gears
    from kgrag.agents import GlobalSearch as GlobalSearch
    from kgrag.agents import Inquiry as Inquiry
    from kgrag.agents import Ircot as Ircot
    from kgrag.agents import IterRetgen as IterRetgen
    from kgrag.agents import Rgnn as Rgnn
    from kgrag.agents import Search as Search
    from kgrag.agents import SelfAsk as SelfAsk
    from kgrag.agents import Single as Single
    from kgrag.agents import Strategy as Strategy
    from kgrag.agents import Tog as Tog
    from kgrag.client import AsyncCollection as AsyncCollection
    from kgrag.client import AsyncKnowledgeGraph as AsyncKnowledgeGraph
    from kgrag.client import Collection as Collection
    from kgrag.client import KnowledgeGraph as KnowledgeGraph
    from kgrag.client import RemoteCollection as RemoteCollection
    from kgrag.client import RemoteKnowledgeGraph as RemoteKnowledgeGraph
    from kgrag.evaluation import Experiment as Experiment
    from kgrag.evaluation import read_dataset as read_dataset
    from kgrag.retrieval import Bm25 as Bm25
    from kgrag.retrieval import Bridges as Bridges
    from kgrag.retrieval import Colbert as Colbert
    from kgrag.retrieval import Common as Common
    from kgrag.retrieval import Communities as Communities
    from kgrag.retrieval import Concat as Concat
    from kgrag.retrieval import Dense as Dense
    from kgrag.retrieval import Gfm as Gfm
    from kgrag.retrieval import GnnRet as GnnRet
    from kgrag.retrieval import HippoRag as HippoRag
    from kgrag.retrieval import HippoRag2 as HippoRag2
    from kgrag.retrieval import Hybrid as Hybrid
    from kgrag.retrieval import Kgp as Kgp
    from kgrag.retrieval import Knn as Knn
    from kgrag.retrieval import Mdr as Mdr
    from kgrag.retrieval import NaiveGe as NaiveGe
    from kgrag.retrieval import PathRank as PathRank
    from kgrag.retrieval import Ppr as Ppr
    from kgrag.retrieval import Query as Query
    from kgrag.retrieval import Raptor as Raptor
    from kgrag.retrieval import Rerank as Rerank
    from kgrag.retrieval import Retriever as Retriever
    from kgrag.retrieval import Rrf as Rrf
    from kgrag.retrieval import Scored as Scored
    from kgrag.retrieval import SyncGe as SyncGe
    from kgrag.retrieval import TfIdf as TfIdf
    from kgrag.retrieval import Top as Top
    from kgrag.runtime.options import Options as Options
    from kgrag.settings import Settings as Settings
    from kgrag.values.documents import Document as Document
    from kgrag.values.documents import Page as Page
    from kgrag.values.documents import Problem as Problem
    from kgrag.values.documents import Section as Section
    from kgrag.values.documents import Table as Table
    from kgrag.values.documents import Triple as Triple
    from kgrag.values.errors import AccessError as AccessError
    from kgrag.values.errors import BudgetError as BudgetError
    from kgrag.values.errors import BusyError as BusyError
    from kgrag.values.errors import CancelledError as CancelledError
    from kgrag.values.errors import ConfigurationError as ConfigurationError
    from kgrag.values.errors import DatabaseError as DatabaseError
    from kgrag.values.errors import DeadlineError as DeadlineError
    from kgrag.values.errors import EngineError as EngineError
    from kgrag.values.errors import FullError as FullError
    from kgrag.values.errors import InputError as InputError
    from kgrag.values.errors import KgragError as KgragError
    from kgrag.values.errors import LocalServerError as LocalServerError
    from kgrag.values.errors import MismatchError as MismatchError
    from kgrag.values.errors import ModelError as ModelError
    from kgrag.values.errors import NotFoundError as NotFoundError
    from kgrag.values.errors import RefusedError as RefusedError
    from kgrag.values.errors import ServerError as ServerError
    from kgrag.values.errors import StatementError as StatementError
    from kgrag.values.errors import TooLargeError as TooLargeError
    from kgrag.values.errors import TooLongError as TooLongError
    from kgrag.values.errors import UnavailableError as UnavailableError
    from kgrag.values.errors import UnreachableError as UnreachableError
    from kgrag.values.events import Answer as Answer
    from kgrag.values.events import Citation as Citation
    from kgrag.values.events import Event as Event
    from kgrag.values.results import CollectionInfo as CollectionInfo
    from kgrag.values.results import DocumentInfo as DocumentInfo
    from kgrag.values.results import Filter as Filter
    from kgrag.values.results import Hit as Hit
    from kgrag.values.results import IngestReport as IngestReport
    from kgrag.values.results import Passage as Passage
    from kgrag.values.results import Ranking as Ranking
    from kgrag.values.results import RepairReport as RepairReport
    from kgrag.values.results import Step as Step
    from kgrag.values.results import Summary as Summary
    from kgrag.values.results import Usage as Usage
    from kgrag.values.rows import Edge as Edge
    from kgrag.values.rows import Node as Node
    from kgrag.values.rows import Path as Path
    from kgrag.values.rows import Rows as Rows
else:
    __all__, __getattr__, __dir__ = offered(  # `kgrag --help` must not wait for the driver
        __name__,
        {
            "agents": (
                "Auto Bdtr ClosedBook Conclusion Episode Gcot Gear Gears GlobalSearch Inquiry Ircot IterRetgen Rgnn "
                "Search SelfAsk Single Strategy Tog"
            ),
            "client": (
                "AsyncCollection AsyncKnowledgeGraph Collection KnowledgeGraph RemoteCollection RemoteKnowledgeGraph"
            ),
            "values.errors": (
                "AccessError BudgetError BusyError CancelledError ConfigurationError DatabaseError DeadlineError "
                "EngineError FullError InputError KgragError LocalServerError MismatchError ModelError "
                "NotFoundError RefusedError ServerError StatementError TooLargeError TooLongError UnavailableError "
                "UnreachableError"
            ),
            "evaluation": "Experiment read_dataset",
            "values.events": "Answer Citation Event",
            "runtime.options": "Options",
            "retrieval": (
                "Bm25 Bridges Colbert Common Communities Concat Dense Gfm GnnRet HippoRag HippoRag2 Hybrid Kgp Knn "
                "Mdr NaiveGe PathRank Ppr Query Raptor Rerank Retriever Rrf Scored SyncGe TfIdf Top"
            ),
            "values.rows": "Edge Node Path Rows",
            "settings": "Settings",
            "values.documents": "Document Page Problem Section Table Triple",
            "values.results": (
                "CollectionInfo DocumentInfo Filter Hit IngestReport Passage Ranking RepairReport Step Summary Usage"
            ),
        },
        "__version__",
    )

__version__ = "0.2.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # whoever wants to read the log adds one
