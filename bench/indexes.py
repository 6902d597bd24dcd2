"""Measure bm25, dense and hybrid with passages in Neo4j, in LanceDB and in an OpenSearch that this script starts.

    python bench/indexes.py bench/musique bench/2wiki bench/hotpotqa        recall and p50 of each, side by side

The questions are those of `kgrag lab eval`, on the same graph; KGRAG_HOME and the like apply. OpenSearch comes from
Maven's artifacts, as in the tests.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "passages"))
from opensearch_server import VERSION, OpenSearchServer, install

from kgrag.settings import Settings

RETRIEVERS = ("bm25", "dense", "hybrid")
MEASURES = ("R@2", "R@5", "R@10", "R@15", "perfect@8", "p50_ms")


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--index", dest="indexes", action="append", choices=("neo4j", "lancedb", "opensearch"))
    arguments = parser.parse_args()
    indexes = arguments.indexes or ["neo4j", "lancedb", "opensearch"]
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ)
        server = None
        if "opensearch" in indexes:
            files = Settings().cache / f"opensearch-{VERSION}"
            install(files)
            server = OpenSearchServer(files, Path(home) / "server")
            server.start()
            environment["KGRAG_OPENSEARCH_URI"] = server.uri
        try:
            print(f"| set | retriever | passages in | {' | '.join(MEASURES)} |\n|---|---|---|{'---:|' * len(MEASURES)}")
            for dataset in arguments.datasets:
                rows = {index: _measure(dataset, environment | {"KGRAG_PASSAGE_INDEX": index}) for index in indexes}
                for retriever in RETRIEVERS:
                    for index in indexes:
                        cells = " | ".join(
                            f"{rows[index][retriever][m]:.{2 if m == 'perfect@8' else 1}f}" for m in MEASURES
                        )
                        print(f"| {dataset.name} | `{retriever}` | {index} | {cells} |", flush=True)
        finally:
            if server is not None:
                server.stop()


def _measure(dataset: Path, environment: dict[str, str]) -> dict[str, dict[str, float]]:
    """Return the figures of `kgrag lab eval` by retriever; make the collection and its index if they are missing."""
    command = [sys.executable, "-m", "kgrag", "lab", "eval", str(dataset), "--json"]
    for name in RETRIEVERS:
        command += ["-r", name]
    run = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, dict[str, float]] = json.loads(run.stdout)["systems"]
    return found


if __name__ == "__main__":
    main()
