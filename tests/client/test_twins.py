"""The asynchronous and the remote clients have the methods of the local one, with the same parameters."""

import inspect

import pytest

from kgrag import (
    AsyncCollection,
    AsyncKnowledgeGraph,
    Collection,
    KnowledgeGraph,
    RemoteCollection,
    RemoteKnowledgeGraph,
)
from kgrag.client.aio import AsyncSearching
from kgrag.client.remote import RemoteSearching
from kgrag.client.searching import LocalSearching as Searching
from kgrag.client.verbs import operations

HERE = "concerns the database or the models of this machine; a server has its own"
MADE_HERE = "an object of this process; a server is told its name with each call"
NO_ROUTE = "the server has no route for it"
PAGES = "the server's route has a form of its own, as pages need it"
PER_COLLECTION = "the server's route is one of a collection: kg[NAME] has it"
ROWS = "the server sends rows as JSON, without embeddings and plans"
GUEST = "the server runs every statement of a client as a guest's"
COMMANDS = "is run by whoever keeps the server"
BOTH = "a context that retrievers are made over: use .sync"

MISSING = {
    AsyncSearching: {"rankings": "kept results, for the client itself"},
    AsyncCollection: {"rankings": "kept results, for the client itself", "context": BOTH},
    AsyncKnowledgeGraph: {"__contains__": "`in` cannot be awaited", "__iter__": "`async for` takes its place"},
    RemoteSearching: {"rankings": MADE_HERE, "retriever": MADE_HERE, "system": MADE_HERE},
    RemoteCollection: {
        **dict.fromkeys("ask_cypher export fact_schema propose_fact_schema set_fact_schema".split(), NO_ROUTE),
        **dict.fromkeys("question_parameters remove_communities remove_tree save unresolve untagged".split(), NO_ROUTE),
        **dict.fromkeys("attach reembed relanguage repair".split(), COMMANDS),
        **dict.fromkeys("context rankings retriever system".split(), MADE_HERE),
        **dict.fromkeys("decide estimate_communities estimate_extraction estimate_resolution".split(), PAGES),
        **dict.fromkeys("estimate_tree name_contexts rate".split(), PAGES),
    },
    RemoteKnowledgeGraph: {
        **dict.fromkeys("connect embedder language_model local".split(), HERE),
        **dict.fromkeys("delete_runs neighbourhood passage runs".split(), PER_COLLECTION),
        **dict.fromkeys(
            "import_export import_knowledge load_in_bulk propose_attachment write_bulk_files".split(), COMMANDS
        ),
        "records": "collections() tells the same, and more",
    },
}
"""Methods that a twin lacks, and the reason."""
FEWER = {
    (RemoteCollection, "cypher"): {"embeddings": ROWS, "plan": ROWS, "trust": GUEST},
    (RemoteKnowledgeGraph, "cypher"): {"embeddings": ROWS, "plan": ROWS, "trust": GUEST},
    (RemoteCollection, "saved_query"): {"embeddings": ROWS, "plan": ROWS},
    (RemoteKnowledgeGraph, "saved_query"): {"embeddings": ROWS, "plan": ROWS},
    (RemoteCollection, "inspect"): {"near": "the server's route has no parameters"},
    (RemoteCollection, "delete"): {"missing_ok": "a job that is done again passes over what is gone by itself"},
    (RemoteCollection, "ingest"): {
        "columns": "a job has no options but the language", "embedder": "that of the server's settings",
        "force": "prune of a folder", "names": "files are sent under their names",
        "prune": "a job of its own: submit('prune')", "settle": "files are sent when they are asked to be",
    },
}  # fmt: skip
"""Parameters that a twin's method lacks, and the reason."""
PAIRS = [
    (AsyncSearching, Searching), (AsyncCollection, Collection), (AsyncKnowledgeGraph, KnowledgeGraph),
    (RemoteSearching, Searching), (RemoteCollection, Collection), (RemoteKnowledgeGraph, KnowledgeGraph),
]  # fmt: skip
_SPOKEN = ("__contains__", "__getitem__", "__iter__")
every_pair = pytest.mark.parametrize(("twin", "original"), PAIRS, ids=lambda kind: kind.__name__)


def public(kind: type) -> set[str]:
    its = (base for base in kind.__mro__ if base.__module__.startswith("kgrag."))
    found = {name for base in its for name in vars(base) if not name.startswith("_") or name in _SPOKEN}
    found -= {verb.method.__name__ for verb in operations().values()}  # tests/client/test_operations.py
    return {name for name in found if callable(getattr(kind, name)) or isinstance(getattr(kind, name), property)}


@every_pair
def test_a_twin_lacks_only_what_is_told(twin: type, original: type) -> None:
    assert public(original) - public(twin) == MISSING[twin].keys()


@every_pair
def test_parameters_have_the_same_names(twin: type, original: type) -> None:
    for name in public(original) & public(twin):
        own, its = (_parameters(kind, name) for kind in (twin, original))
        lacking = its - own
        if "options" in own:  # options are passed on
            lacking = set()
        assert lacking == FEWER.get((twin, name), {}).keys(), f"{twin.__name__}.{name}"


def _parameters(kind: type, name: str) -> set[str]:
    method = getattr(kind, name)
    return set(inspect.signature(method).parameters) - {"self"} if callable(method) else set()


@pytest.mark.parametrize("twin", [AsyncSearching, AsyncCollection, AsyncKnowledgeGraph])
def test_what_may_take_long_is_awaited_and_says_what_it_does(twin: type) -> None:
    for name in public(twin) - {"__getitem__", "ask_many", "ask_stream"}:
        method = getattr(twin, name)
        assert inspect.iscoroutinefunction(method) and method.__doc__, name
