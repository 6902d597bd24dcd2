"""Ingest a synthetic corpus here and on two Ray nodes, one of which is killed: with_ray.py COLLECTION."""

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
from ray.cluster_utils import Cluster

from kgrag import KnowledgeGraph
from kgrag.engines import Ray
from kgrag.graph.contents import digest
from kgrag.settings import EngineSettings, Settings
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import KgragError

_PASSAGES = 400


def documents() -> list[Document]:
    names = [f"Ship {chr(65 + i % 26)}{chr(97 + i // 26)}rna" for i in range(_PASSAGES)]
    return [
        Document(
            f"d{i}",
            (Section(f"{name} sailed with {names[i * 7 % _PASSAGES]} to harbour {i % 9}. " * 3),),
            name,
            triples=(Triple(name, "sailed with", names[i * 7 % _PASSAGES]),) if i % 4 == 0 else (),
        )
        for i, name in enumerate(names)
    ]


def ingested(collection: str, engine: EngineSettings, kill: Callable[[], None] | None = None) -> dict[str, str]:
    """Return the digest of the collection, which is deleted again; `kill` is called in the middle."""

    def progress(stage: str, done: int, total: int | None) -> None:
        nonlocal kill
        if kill is not None and done > _PASSAGES // 4:
            kill, its = None, kill
            its()

    settings = Settings().model_copy(update={"engine": engine, "batch_passages": 16})
    with KnowledgeGraph.connect(settings=settings) as kg:
        report = kg[collection].ingest(documents(), progress=progress)
        assert report.added == report.embedded - _PASSAGES // 4 == _PASSAGES and kill is None, report
        found = digest(kg.graph, collection)
        kg[collection].delete()
    return found


def refuse(number: int) -> int:
    from kgrag.values.errors import InputError

    if number == 3:
        raise InputError("Three is not read.", "Leave it out.")
    if number == 33:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def error_of(engine: EngineSettings, items: list[int]) -> KgragError:
    import with_ray  # Ray sends functions by module name, for which __main__ is unsuitable

    try:
        with Ray(engine) as ray:
            list(ray.each(with_ray.refuse, items, models=True))
    except KgragError as error:
        return error
    raise AssertionError("no error")


def main(collection: str) -> None:
    found: dict[str, Any] = {"here": ingested(collection, EngineSettings())}
    found["nowhere"] = str(error_of(EngineSettings(name="ray", address="127.0.0.1:9"), [1]))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        other = cluster.add_node(num_cpus=1)
        engine = EngineSettings(name="ray", address=cluster.address)
        found["ray"] = ingested(collection, engine)
        refused = error_of(engine, [1, 2, 3])
        found["refused"] = [refused.message, refused.remedy]
        found["lost"] = str(error_of(engine, [33]))
        found["roomless"] = str(error_of(engine.model_copy(update={"gpus": 1.0}), [1]))
        found["killed"] = ingested(collection, engine, lambda: cluster.remove_node(other, allow_graceful=False))
        found["nodes"] = len(cluster.list_all_nodes())
    finally:
        cluster.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
