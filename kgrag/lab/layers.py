"""The layers of a graph that systems require: the missing ones, their cost, and their creation."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kgrag.agents.system import check_system
from kgrag.client.collection import Collection
from kgrag.indexing.group_texts import EXTRACTED
from kgrag.lab.ask_systems import BASELINES
from kgrag.retrieval.base import LAYERS, Layer, check_retriever
from kgrag.values.errors import KgragError
from kgrag.values.events import Progress
from kgrag.values.results import Usage

_ASK = {"Summary": " --ask", "Community": " --ask"}  # in the papers a language model writes these
_WRITTEN: dict[Layer, str] = {"tree": "raptor", "communities": "communities"}  # layer -> the retriever that reads it


def unwritten(systems: Iterable[str], collection: Collection) -> Iterator[str]:
    """Yield a sentence for each layer of the systems whose texts no language model wrote."""
    named = " ".join(systems)
    for layer, part in _WRITTEN.items():
        if part not in named:
            continue
        graph, name = collection.kg.graph, collection.name
        if layer == "tree":
            texts = graph.run("stages/summaries", collection=name, level=1)
        else:
            texts = graph.run("stages/communities", collection=name)
        if count := sum(row["made"] == EXTRACTED for row in texts):
            yield (
                f"{collection.name}: {count:,} texts of its {layer} are sentences of passages; a model writes them in "
                f"the paper: `{LAYERS[layer][1]} --ask -c {collection.name}`."
            )


def spelt(name: str) -> tuple[str, bool]:
    """Return the standard spelling of a retriever or system, and whether it answers. Raises as `check_system` does."""
    try:
        return check_retriever(name), False
    except KgragError:
        return check_system(name), True


def required(systems: Iterable[str], collection: Collection) -> list[Layer]:
    """Return the required layers that the collection lacks, in the order of making them."""
    layers: set[Layer] = set()
    for name in dict.fromkeys(systems):
        if name.strip() not in BASELINES:
            standard, answers = spelt(name)
            part: Any = collection.system(standard) if answers else collection.retriever(standard)
            layers |= part.missing_layers()
    return [layer for layer in LAYERS if layer in layers]


def lacks(layers: Iterable[Layer], collection: str) -> str:
    """Return a sentence on missing layers, with the commands that make them."""
    missing = [LAYERS[layer] for layer in sorted(layers)]
    commands = dict.fromkeys(f"`{command}{_ASK.get(label, '')} -c {collection}`" for _, command, label in missing)
    return f"{collection} holds no {' and no '.join(what for what, *_ in missing)}: {', '.join(commands)}"


def price(collection: Collection, layers: Sequence[Layer], budget: float | None, progress: Progress) -> Iterator[str]:
    """Yield the costs of making layers, line by line, without calling a model."""
    for layer in _once(layers):
        what, command, _ = LAYERS[layer]
        yield f"{collection.name} holds no {what}; `{command}` takes:"
        if layer == "TAGME":
            yield f"  {collection.untagged():,} passages to tag: a call of TAGME each, none with --local"
            continue
        estimate = {
            "triples": collection.estimate_extraction,
            "tree": collection.estimate_tree,
            "communities": collection.estimate_communities,
        }[layer]
        yield from (f"  {line}" for line in estimate(progress=progress).lines(budget))


def prepare(
    collection: Collection, layers: Sequence[Layer], threads: int, progress: Progress
) -> Iterator[tuple[Usage, int]]:
    """Make the missing layers; yield for each the usage of its calls, and how many items failed.

    Raises the error that ended a layer early, such as ModelError; the next call resumes there.
    """
    for layer in _once(layers):
        report: Any
        if layer == "triples":
            report = collection.extract(threads=threads, progress=progress)
        elif layer == "TAGME":
            report = collection.tag(threads=threads, progress=progress)
        else:
            build = collection.build_tree if layer == "tree" else collection.build_communities
            report = build(ask=True, threads=threads, progress=progress)
        yield getattr(report, "usage", Usage()), len(report.failures)
        if report.stopped is not None:
            raise report.stopped


def _once(layers: Sequence[Layer]) -> list[Layer]:
    """Return the layers with triples and keywords as one, since the same calls make both."""
    return list(dict.fromkeys("triples" if layer == "keywords" else layer for layer in layers))
