"""Let LightRAG's Neo4JStorage write the entities and relations of a collection, as a baseline.

kgrag never depends on LightRAG: `compare` runs this file in a separate environment, build/lightrag, which it makes.
LightRAG keeps vectors, passages and keywords outside Neo4j, so they are not part of the comparison.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.settings import Settings

ENVIRONMENT = Path(__file__).parent.parent / "build" / "lightrag"
PACKAGES = ("lightrag-hku", "neo4j", "neo4j-rust-ext")
BATCH = 2000
WORKSPACE = "LightRAGBench"


def compare(
    entities: Iterable[str], relations: Iterable[tuple[str, str, str]], settings: "Settings", seconds: float
) -> str:
    """Return lines with LightRAG's cost for names and triples (name, predicate, name) on the server of the settings.

    `seconds`: the time that plain writes of kgrag's own rows for them took on that server.
    """
    taken = measure(list(entities), list(relations), settings)
    if isinstance(taken, str):
        return f"LightRAG     {taken}"
    return (
        f"LightRAG     {taken['seconds']:.1f} s for {taken['nodes']:,} names and {taken['relations']:,} triples as "
        "relationships, without vectors\n"
        f"  the same   {seconds:.1f} s as plain writes of kgrag's rows, triples as nodes with vectors: "
        f"{seconds / taken['seconds']:.2f} times as long"
    )


def measure(entities: list[str], relations: list[tuple[str, str, str]], settings: "Settings") -> Any:
    """Return the output of the child process, or the reason why there is none."""
    assert settings.neo4j_uri is not None and settings.neo4j_password is not None
    server = {"URI": settings.neo4j_uri, "USERNAME": settings.neo4j_user, "DATABASE": settings.neo4j_database}
    server["PASSWORD"] = settings.neo4j_password.get_secret_value()
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        print("installing LightRAG into build/lightrag ...", file=sys.stderr)
        made = subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=False).returncode == 0
        command = [str(python), "-m", "pip", "install", "-q", *PACKAGES]
        if not made or subprocess.run(command, check=False, stdout=sys.stderr).returncode:
            return f"skipped: {', '.join(PACKAGES)} cannot be installed"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        file.write_text(json.dumps([entities, relations]))
        child = subprocess.run(
            [str(python), __file__, str(file)],
            env={"PATH": os.environ["PATH"], "HOME": folder} | {f"NEO4J_{key}": value for key, value in server.items()},
            cwd=folder,
            capture_output=True,
            text=True,
        )
    if child.returncode:
        return f"skipped: {(child.stderr.strip().splitlines() or ['no reason given'])[-1]}"
    return json.loads(child.stdout.splitlines()[-1])


async def _write(entities: list[str], relations: list[tuple[str, str, str]]) -> dict[str, Any]:
    from lightrag.kg.neo4j_impl import Neo4JStorage
    from lightrag.kg.shared_storage import initialize_share_data

    initialize_share_data()
    storage = Neo4JStorage("bench", {}, None, workspace=WORKSPACE)
    await storage.initialize()
    nodes = [(e, {"entity_id": e, "entity_type": "entity", "description": e}) for e in entities]
    edges = [(s, o, {"description": f"{s} {p} {o}", "keywords": p, "weight": "1"}) for s, p, o in relations]
    try:
        await storage.upsert_nodes_batch([("warm up", {"entity_id": "warm up"})])
        begun = time.monotonic()
        for start in range(0, len(nodes), BATCH):
            await storage.upsert_nodes_batch(nodes[start : start + BATCH])
        between = time.monotonic()
        for start in range(0, len(edges), BATCH):
            await storage.upsert_edges_batch(edges[start : start + BATCH])
        ended = time.monotonic()
    finally:
        await storage.drop()
        await storage.finalize()
    return {"seconds": ended - begun, "node_seconds": between - begun, "nodes": len(nodes), "relations": len(edges)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_write(*json.loads(Path(sys.argv[1]).read_text())))))
