"""The Python user of soak.py: searches directly and through a server until standard input closes; prints JSON lines.

python bench/soak_reader.py URL KEY SEED        questions, one a line, then an empty line, on standard input
"""

import json
import random
import sys
import threading
import time

from kgrag import KnowledgeGraph, RemoteKnowledgeGraph
from kgrag.values.errors import KgragError

COLLECTION = "searched"
RETRIEVERS = ("pathrank", "hybrid", "bm25", "dense", "ppr", "knn", "naive-ge")
THINK = 1.0  # seconds between two searches, on average
REMOTE = 0.3  # share of searches that go through the server


def search(
    here: KnowledgeGraph, there: RemoteKnowledgeGraph, question: str, chance: random.Random
) -> dict[str, object]:
    """Search once; return the question and the outcome."""
    remote, retriever = chance.random() < REMOTE, chance.choice(RETRIEVERS)
    kg = there if remote else here
    error = remedy = ""
    begun = time.perf_counter()
    try:
        outcome = "ok" if kg[COLLECTION].search(question, k=5, retriever=retriever).hits else "nothing found"
    except KgragError as failed:
        outcome, error, remedy = type(failed).__name__, failed.message, failed.remedy
    except Exception as failed:
        outcome, error = f"unexpected {type(failed).__name__}", str(failed)
    seconds = time.perf_counter() - begun
    kind = f"search {'remotely' if remote else retriever}"
    return {"kind": kind, "outcome": outcome, "seconds": seconds, "error": error, "remedy": remedy}


def main() -> None:
    """Search until the parent process closes standard input."""
    url, key, seed = sys.argv[1:]
    questions = [line.strip() for line in iter(sys.stdin.readline, "\n")]
    chance, over = random.Random(int(seed)), threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    with KnowledgeGraph.connect() as here, RemoteKnowledgeGraph(url, key) as there:
        while not over.wait(chance.expovariate(1 / THINK)):
            print(json.dumps(search(here, there, chance.choice(questions), chance)), flush=True)


if __name__ == "__main__":
    main()
