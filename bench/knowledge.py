"""Measure linking and beams over collections of facts made up by bench/wikidata.py, each in a server of its own.

    python bench/knowledge.py HOME [HOME ...] --questions 200          the homes in turn, question by question
    python bench/knowledge.py HOME --links 3 --length 2

Each question begins at paraphrased facts on entities of the dump. Every fourth begins at an entity whose class is a hub
that most statements share. The timed work is linking the facts by words, and the diverse beams from there; vectors of
new texts are computed within. KGRAG_LOCAL__HEAP and the like apply.
"""

import argparse
import random
import statistics
import time
from pathlib import Path

from wikidata import CLASSES, OBJECTS, PREDICATES, name_of

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.reader import Reader
from kgrag.retrieval.base import Query
from kgrag.retrieval.beam import Link
from kgrag.retrieval.bridges import Knowledge, KnowledgeOptions, TextVectors
from kgrag.settings import LocalSettings, Settings
from kgrag.values.documents import Triple

WARM_UP = 20
Case = tuple[str, list[Triple]]


def cases(count: int, entities: int, links: int, seed: int) -> list[Case]:
    """Return questions, each with facts as a model might extract them."""
    chance = random.Random(seed)
    made: list[Case] = []
    for number in range(count):
        names = [name_of(len(CLASSES) + 1 + chance.randrange(entities)) for _ in range(links)]
        facts = [Triple(name, f"was {chance.choice(PREDICATES[1:-1])}", "something") for name in names]
        if number % 4 == 0:
            facts[0] = Triple(names[0], "is an instance of", CLASSES[0])
        made.append((f"Who designed the {CLASSES[0]} {names[0]}, and where was it built?", facts))
    return made


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", nargs="+", type=Path, metavar="HOME")
    parser.add_argument("--collection", default="wikidata")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--links", type=int, default=3, help="facts of a question")
    parser.add_argument("--length", type=int, default=2)
    arguments = parser.parse_args()
    graphs = []
    for number, home in enumerate(arguments.homes):
        local = LocalSettings(bolt_port=17700 + number, http_port=17800 + number)
        kg = KnowledgeGraph.local(Settings(home=home, local=local))
        reader = Reader(kg.graph, open_collection(kg.graph, arguments.collection))
        graphs.append((kg, Knowledge(reader, TextVectors(kg.embedder()))))
    options = KnowledgeOptions(length=arguments.length)
    times: list[dict[str, list[float]]] = [{"link": [], "beams": [], "both": []} for _ in graphs]
    made = []
    for kg, _ in graphs:
        facts = kg[arguments.collection].info().counts["Triple"]
        print(f"{kg.settings.home}: {facts:,} facts")
        made.append(cases(arguments.questions + WARM_UP, facts // (OBJECTS + 2), arguments.links, 7))
    found = [0 for _ in graphs]
    for turn in range(arguments.questions + WARM_UP):
        for which, (_, known) in enumerate(graphs):
            question, facts_read = made[which][turn]
            begun = time.perf_counter()
            linked = known.link(facts_read, options)
            middle = time.perf_counter()
            beams = known.beams(Query(question), [Link(x.id, x.text, "", "", 0.0) for x in linked], options)
            ended = time.perf_counter()
            if turn >= WARM_UP:
                found[which] += sum(len(beam.links) for beam in beams)
                for name, seconds in (("link", middle - begun), ("beams", ended - middle), ("both", ended - begun)):
                    times[which][name].append(1000 * seconds)
    for which, (kg, _) in enumerate(graphs):
        for name, its in times[which].items():
            ranked = sorted(its)
            p50, p95 = statistics.median(ranked), ranked[int(0.95 * len(ranked))]
            print(f"{kg.settings.home} {name}: p50 {p50:.1f} ms, p95 {p95:.1f} ms, max {ranked[-1]:.0f}")
        print(f"{kg.settings.home}: {found[which] / arguments.questions:.1f} facts in the beams of a question")
    for kg, _ in graphs:
        kg.close()


if __name__ == "__main__":
    main()
