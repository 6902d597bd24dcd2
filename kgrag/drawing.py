"""Results as graphs in a notebook: rankings, answers and rows of Cypher.

This module makes plain nodes and edges; `visualise` hands them to neo4j-viz, an optional package under GPLv3 that no
other module imports.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from kgrag.graph.browser import style
from kgrag.graph.description import visible
from kgrag.graph.runs import step_rows
from kgrag.retrieval.quoted_trail import names_of
from kgrag.retrieval.snippet import crop
from kgrag.text.tokens import caption as shortened
from kgrag.values.errors import InputError
from kgrag.values.events import Answer, Linked, Retrieved
from kgrag.values.installing import require_extra
from kgrag.values.results import Passage, Ranking, Scalar
from kgrag.values.rows import Edge, Node, Path, Rows

if TYPE_CHECKING:
    from neo4j_viz import VisualizationGraph

QUESTION = "Question"
"""The label of what a ranking answers; it has the looks of a Run."""

_CAPTION_SIZE = 2  # on a scale from 1 to 3
_CAPTIONS = 30  # nodes that grow with their edges; of twice as many, only these have captions
_EDGE_CAPTION_SIZE = 2.0  # as much larger than neo4j-viz has it
_SCALE = 0.8  # radius in a notebook to diameter in Neo4j Browser: room for a caption that is read without zooming
_BEST = 3  # passages drawn of an answer and of each of its steps, as in `cypher/look_up/run.cypher`
_VALUE = 300
_NONE: Mapping[str, Any] = {}
_NAMES = {"df": "passages that mention it", "ntit": "titles that name it"}
"""Properties whose names say nothing to a reader."""
_RULE = re.compile(r"^(node|relationship)\.(\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_GREY = "#A5ABB6"
_DIAMETER = 50


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A circle. `properties` are shown when it is clicked."""

    id: str
    label: str
    caption: str
    properties: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An arrow between two circles; `type` gives its colour where it is one of the graph's."""

    start: str
    end: str
    type: str
    caption: str
    properties: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(slots=True)
class Drawing:
    """Nodes by id, and the edges between them, each once."""

    nodes: dict[str, DrawnNode] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], DrawnEdge] = field(default_factory=dict)

    def node(self, id: str, label: str, caption: str, properties: Mapping[str, Any] = _NONE) -> str:
        """Add a node, unless it is there; returns its id."""
        self.nodes.setdefault(id, DrawnNode(id, label, shortened(caption), _displayable(properties)))
        return id

    def edge(self, start: str, end: str, type: str, caption: str = "", properties: Mapping[str, Any] = _NONE) -> None:
        """Add an edge, unless the two nodes already have one of its type."""
        edge = DrawnEdge(start, end, type, caption or type, _displayable(properties))
        self.edges.setdefault((start, end, edge.caption), edge)


def drawing(what: Ranking | Answer | Rows) -> Drawing:
    """Return the nodes and edges of a result. Raises InputError for rows without a node."""
    if isinstance(what, Answer):
        return _answer(what)
    if isinstance(what, Ranking):
        return _ranking(what)
    if isinstance(what, Rows):
        return _rows(what)
    raise InputError(
        f"A {type(what).__name__} cannot be drawn.", "Give a Ranking, an Answer, Rows, or a Cypher statement."
    )


def visualise(drawing: Drawing) -> "VisualizationGraph":
    """Return the drawing as a graph of neo4j-viz, in the colours and sizes of Neo4j Browser.

    Raises ConfigurationError when neo4j-viz is not installed.
    """
    with require_extra("viz", "Drawing needs neo4j-viz, which is not installed (its licence is GPLv3)."):
        import neo4j_viz
    degrees = Counter(end for edge in drawing.edges.values() for end in (edge.start, edge.end))
    largest = sorted(drawing.nodes, key=lambda id: -degrees[id])[:_CAPTIONS]
    # All nodes are shown at once, so that each of many is small: the largest grow with the number of nodes.
    growth = (len(drawing.nodes) / _CAPTIONS) ** 0.5
    grown = {id: growth * (0.75 + degrees[id] / degrees[largest[0]]) for id in largest if growth > 1 and degrees[id]}
    nodes = [
        neo4j_viz.Node(
            id=node.id,
            caption=node.caption if node.id in largest or len(drawing.nodes) <= 2 * _CAPTIONS else None,
            caption_size=_CAPTION_SIZE,
            color=look("node", node.label)[0],
            size=look("node", node.label)[1] * max(1, grown.get(node.id, 1)),
            properties={"labels": node.label, **node.properties},
        )
        for node in drawing.nodes.values()
    ]
    edges = [
        neo4j_viz.Relationship(
            id=str(number),
            source=edge.start,
            target=edge.end,
            caption=edge.caption,
            caption_size=_EDGE_CAPTION_SIZE,
            color=look("relationship", edge.type)[0],
            properties=dict(edge.properties),
        )
        for number, edge in enumerate(drawing.edges.values())
    ]
    graph = neo4j_viz.VisualizationGraph(nodes, edges)
    colours: dict[Any, Any] = {node.label: look("node", node.label)[0] for node in drawing.nodes.values()}
    graph.set_legend(nodes=colours)
    return graph


def _ranking(ranking: Ranking) -> Drawing:
    """Return the question, and the trail of each hit from it to its passage."""
    picture = Drawing()
    start = picture.node(QUESTION, QUESTION, ranking.query, {"retriever": ranking.retriever})
    by_name = {name: hit.passage.id for hit in reversed(ranking.hits) for name in names_of(hit.passage)}
    for rank, hit in enumerate(ranking.hits, 1):
        properties = {"rank": rank, "score": hit.score, **_document_of(hit.passage)}
        end = _with_figures(picture, hit.passage, f"{rank}. {names_of(hit.passage)[1]}", properties)
        last = max((place for place, step in enumerate(hit.why) if step.name), default=-1)
        at = start
        for place, step in enumerate(hit.why):
            if not step.name:
                picture.edge(start, end, "FOUND", step.via, {"score": step.score})
                at = start
                continue
            if step.label != "Passage":
                to = picture.node(f"{step.label} {step.name}", step.label, step.name)
            elif place == last:
                to = end
            elif step.name in by_name:
                to = by_name[step.name]
            else:
                to = picture.node(f"Passage {step.name}", "Passage", step.name)
            if to != at:
                picture.edge(at, to, step.edge, step.via, {"score": step.score})
            at = to
        if at not in (start, end):
            picture.edge(at, end, "FOUND", "found")
        if not hit.why:
            picture.edge(start, end, "FOUND", f"rank {rank}")
    return picture


def _answer(answer: Answer) -> Drawing:
    """Return a saved run: its steps, their passages and links, the final passages and the citations."""
    picture = Drawing()
    properties = {"answer": answer.text, "system": answer.system, "seconds": round(answer.seconds, 1)}
    run = picture.node("run", "Run", answer.question, properties)
    passages = {hit.passage.id: hit.passage for hit in answer.ranking}
    texts: dict[str, str] = {}
    for event in answer.trace:
        if isinstance(event, Retrieved):
            passages |= {hit.passage.id: hit.passage for hit in event.hits}
        elif isinstance(event, Linked):
            texts[event.id] = event.text
    for row in step_rows("run", answer):
        step = picture.node(row["id"], "Step", row["properties"]["name"], row["properties"])
        picture.edge(run, step, "HAS_STEP")
        if row["previous"] is not None:
            picture.edge(row["previous"], step, "NEXT")
        for hit in row["passages"]:
            if hit["rank"] <= _BEST:
                end = _passage(picture, passages[hit["id"]])
                properties = {"query": hit["query"], "rank": hit["rank"], "score": hit["score"]}
                picture.edge(step, end, "RETRIEVED", f"RETRIEVED {hit['role']}".strip(), properties)
        for link in row["triples"]:
            triple = picture.node(link["id"], "Triple", texts[link["id"]], {"text": texts[link["id"]]})
            picture.edge(step, triple, "LINKED", properties={"fact": link["fact"], "score": link["score"]})
    for rank, best in enumerate(answer.ranking.hits[:_BEST], 1):
        picture.edge(run, _passage(picture, best.passage), "FOUND", properties={"rank": rank, "score": best.score})
    for citation in answer.citations:
        end = _passage(picture, citation.passage)
        picture.edge(run, end, "CITES", f"CITES [{citation.number}]", {"number": citation.number})
    return picture


def _rows(rows: Rows) -> Drawing:
    """Return every node of the rows, and the edges between them."""
    picture = Drawing()
    edges: list[Edge] = []
    for value in _flat(rows.values):
        if isinstance(value, Node):
            properties = visible(value)
            types = value.properties.get("types", ())  # labels of a schema of facts, which have no style of their own
            label = next((kind for kind in value.kinds or value.labels if kind not in types), "")
            picture.node(value.element, label, str(value.properties.get("name", label)), properties)
        else:
            edges.append(value)
    for edge in edges:
        if edge.start in picture.nodes and edge.end in picture.nodes:
            picture.edge(edge.start, edge.end, edge.type, properties=edge.properties)
    if not picture.nodes:
        raise InputError("There is no node in these rows.", "Return nodes or paths: MATCH path = ... RETURN path")
    return picture


def _flat(value: Any) -> Iterable[Node | Edge]:
    """Yield the nodes and edges in a value, however deep."""
    if isinstance(value, Node | Edge):
        yield value
    elif isinstance(value, Path):
        yield from value.nodes
        yield from value.edges
    elif isinstance(value, Mapping):
        yield from _flat(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _flat(item)


def _passage(drawing: Drawing, passage: Passage) -> str:
    name = names_of(passage)[2 if passage.ordinal else 1]
    return _with_figures(drawing, passage, name or passage.text, _document_of(passage))


def _with_figures(drawing: Drawing, passage: Passage, caption: str, properties: Mapping[str, Any]) -> str:
    id = drawing.node(passage.id, "Passage", caption, properties)
    for figure in passage.figures:
        drawing.edge(id, drawing.node(figure.id, "Figure", figure.caption, {"page": figure.page}), "REFERS_TO")
    return id


def _document_of(passage: Passage) -> dict[str, str]:
    return {"title": passage.title, "document": passage.document, "place": passage.place, "text": passage.text}


def _displayable(properties: Mapping[str, Any]) -> dict[str, Scalar]:
    """Return properties for display: texts are cut, lists become text, empty values are left out."""
    return {
        _NAMES.get(key, key): value if isinstance(value, int | float) else crop(str(value), _VALUE)
        for key, value in properties.items()
        if value not in (None, "", [])
    }


def look(kind: str, name: str) -> tuple[str, float]:
    """Return the colour of a label or type, and the radius of its circle in pixels; grey without a rule."""
    return _looks().get((kind, "Run" if name == QUESTION else name), (_GREY, _DIAMETER * _SCALE))


def looks() -> dict[str, str]:
    """Return the colour of each label and type of relationship, in the words of the graph."""
    return {name: colour for (_, name), (colour, _) in _looks().items()} | {QUESTION: look("node", QUESTION)[0]}


@cache
def _looks() -> dict[tuple[str, str], tuple[str, float]]:
    looks = {}
    for kind, name, rule in _RULE.findall(style(())):
        rules = dict(re.findall(r"([\w-]+): (.*?);", rule))
        diameter = rules.get("diameter", f"{_DIAMETER}px").removesuffix("px")
        looks[kind, name] = (rules.get("color", _GREY), float(diameter) * _SCALE)
    return looks
