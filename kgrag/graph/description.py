"""The registry of labels and relationship types of the graph, with descriptions and the rules that kgrag applies.

Source: `description.toml`. The schema, counts, digests, deletes, export and import, the colours in Neo4j Browser,
prompts and the documentation are derived from it.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from kgrag.values.rows import Edge, Node


@dataclass(frozen=True, slots=True)
class Property:
    """A property of nodes or relationships; a name that ends in * matches all with this prefix.

    `type` is the Cypher type, ANY for several; `optional`: not every node or relationship of the kind has it;
    `upkeep`: only kgrag's own work reads it.
    """

    name: str
    type: str
    optional: bool
    upkeep: bool
    means: str


@dataclass(frozen=True, slots=True)
class Fulltext:
    """A full-text index of a collection: the properties it reads, and the Lucene analyzer."""

    name: str
    on: tuple[str, ...]
    analyzer: str


@dataclass(frozen=True, slots=True)
class NodeKind:
    """A label. `layer`: text, knowledge, runs or collections; the others as in the head of description.toml."""

    label: str
    layer: str
    means: str
    properties: tuple[Property, ...]
    style: Mapping[str, Any]
    embedded: tuple[str, ...]
    sparse: bool
    fulltext: tuple[Fulltext, ...]
    ranges: tuple[str, ...]
    texts: tuple[str, ...]
    hub: bool
    aside: bool

    @property
    def plural(self) -> str:
        """The plural of the label in words: entities."""
        name = self.label.lower()
        return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"

    @property
    def held(self) -> bool:
        """Whether its nodes are contents of a collection."""
        return self.layer != "collections"

    @property
    def indexed(self) -> bool:
        """Whether its nodes carry a second label such as Passage_c7, for the indexes of their collection."""
        return bool(self.embedded or self.fulltext)


@dataclass(frozen=True, slots=True)
class EdgeKind:
    """A relationship type, and the pairs of labels (start, end) that it connects."""

    type: str
    means: str
    between: tuple[tuple[str, str], ...]
    properties: tuple[Property, ...]
    style: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Description:
    """All labels and relationship types of the graph, with properties; `identity`: the rule that makes names equal."""

    nodes: tuple[NodeKind, ...]
    edges: tuple[EdgeKind, ...]
    identity: str = ""

    def node(self, label: str) -> NodeKind:
        """Return the description of a label. Raises ValueError for an unknown one."""
        for node in self.nodes:
            if node.label == label:
                return node
        raise ValueError(f"there is no label {label!r}")

    def labels(self, which: str) -> tuple[str, ...]:
        """Return the labels of a group.

        Groups are all, held, indexed, embedded, worked (marked for stages), and own (in no other group).
        """
        return tuple(node.label for node in self.nodes if _IS[which](node))

    def reversed_arrows(self, statement: str) -> Iterator[str]:
        """Yield a sentence for each arrow of a statement whose labels are only connected in the other direction."""
        for left, back, type, on, right in dict.fromkeys(_ARROW.findall(statement)):
            start, end = (right, left) if back else (left, right)
            pairs = [pair for edge in self.edges if edge.type == type for pair in edge.between]
            if bool(back) != bool(on) and (start, end) not in pairs and (end, start) in pairs:
                yield f"{type} leads the other way: (:{end})-[:{type}]->(:{start})."

    def text(self) -> str:
        """Return the labels and types with their properties, briefly, for a prompt.

        Upkeep properties are left out, and so are names that another property gives in full.
        """
        lines = [
            "Every node has a name to read, an id (a hash) and its collection. A ? marks what not every one has; "
            "what has no type is a STRING.",
            "Nodes:",
        ]
        for node in self.nodes:
            if not node.aside:
                lines += [f"{node.label}: {node.means}", *_brief(node.properties, but=("id", "collection"))]
        lines.append("Relationships:")
        for edge in self.edges:
            patterns = ", ".join(f"(:{start})-[:{edge.type}]->(:{end})" for start, end in edge.between)
            lines += [f"{patterns}: {edge.means}", *_brief(edge.properties)]
        return "\n".join(lines)

    def by_layer(self) -> list[NodeKind]:
        """Return the labels, those of the text first, then knowledge, runs and collections."""
        return sorted(self.nodes, key=lambda node: _LAYERS.index(node.layer))

    def markdown(self) -> str:
        """Return the whole description as the page docs/SCHEMA.md."""
        parts = [_INTRODUCTION]
        for layer, nodes in groupby(self.by_layer(), lambda n: n.layer):
            parts.append(f"## Nodes: {layer}")
            for node in nodes:
                own = f" Nodes carry a second label, such as `{node.label}_c7`." if node.indexed else ""
                parts.append(f"### {node.label}\n\n{node.means}{own}\n\n{_table(node.properties)}")
        parts.append("## Relationships")
        for edge in self.edges:
            patterns = "<br>".join(f"`(:{start})-[:{edge.type}]->(:{end})`" for start, end in edge.between)
            table = f"\n\n{_table(edge.properties)}" if edge.properties else ""
            parts.append(f"### {edge.type}\n\n{patterns}\n\n{edge.means}{table}")
        parts.append(self.identity)
        return "\n\n".join(parts) + "\n"

    def lines(self) -> dict[str, list[str]]:
        """Return the properties of a database's Schema node.

        These are `labels`, `relationships` and `properties`, with one line per entry.
        """
        kinds = [(n.label, n.properties) for n in self.nodes] + [(e.type, e.properties) for e in self.edges]
        return {
            "labels": [f"{node.label}: {node.means}" for node in self.nodes],
            "relationships": [
                f"{edge.type} ({', '.join(f'{a} to {b}' for a, b in edge.between)}): {edge.means}"
                for edge in self.edges
            ],
            "properties": [
                f"{kind}.{p.name}: {p.type}{', not always there' if p.optional else ''}. {p.means}"
                for kind, properties in kinds
                for p in properties
            ],
        }

    def digest(self) -> str:
        """Return a hash of `lines` and of the indexed properties."""
        indexes = [(n.label, n.embedded, n.fulltext, n.ranges, n.texts) for n in self.nodes]
        return hashlib.blake2b(repr((self.lines(), indexes)).encode(), digest_size=8).hexdigest()


_BAR = "\\|"
_ARROW = re.compile(r"\(\w*:([A-Za-z]+)[^()]*\)(<?)-\[\w*:(\w+)[^]|]*\]-(>?)(?=\(\w*:([A-Za-z]+))")
_LAYERS = ("text", "knowledge", "runs", "collections")
_IS: Mapping[str, Callable[[NodeKind], bool]] = {
    "all": lambda node: True,
    "held": lambda node: node.held,
    "indexed": lambda node: node.indexed,
    "embedded": lambda node: bool(node.embedded),
    "worked": lambda node: "todo" in node.ranges,
    "own": lambda node: False,
}
_INTRODUCTION = """# What is in the graph

Every label, relationship type and property that kgrag writes. Every node has a `name` to read and
the label `Kgrag`, with which it is looked up: `(p:Kgrag:Passage {id: $id})`. Made from
`kgrag/graph/description.toml` by `python -m kgrag.graph.description > docs/SCHEMA.md`; the same text stands in the
database itself:

```cypher
MATCH (s:Schema) UNWIND s.labels + s.relationships + s.properties AS line RETURN line
```

In the tables, "?" after a type: not every node or relationship has the property."""


@cache
def describe() -> Description:
    """Return the description of the graph that this version of kgrag writes."""
    source = tomllib.loads(files("kgrag.graph").joinpath("description.toml").read_text(encoding="utf-8"))
    return Description(
        nodes=tuple(_node(label, table) for label, table in source["nodes"].items()),
        edges=tuple(
            EdgeKind(
                type, table["means"], tuple(map(_pair, table["between"])), tuple(_properties(table)), table["style"]
            )
            for type, table in source["relationships"].items()
        ),
        identity=source["identity"].strip(),
    )


@cache
def _upkeep() -> Mapping[str, frozenset[str]]:
    graph = describe()
    kinds = [(n.label, n.properties) for n in graph.nodes] + [(e.type, e.properties) for e in graph.edges]
    return {kind: frozenset(p.name for p in properties if p.upkeep) for kind, properties in kinds}


def visible(part: Node | Edge) -> dict[str, Any]:
    """Return the properties of a node or an edge for readers, without upkeep and the collection's name."""
    kinds = part.labels if isinstance(part, Node) else (part.type,)
    hidden = {"collection"}.union(*(_upkeep().get(kind, ()) for kind in kinds))
    return {name: value for name, value in part.properties.items() if name not in hidden}


def _node(label: str, table: Mapping[str, Any]) -> NodeKind:
    return NodeKind(
        label=label,
        layer=table["layer"],
        means=table["means"],
        properties=tuple(_properties(table)),
        style=table["style"],
        embedded=tuple(table.get("embedded", ())),
        sparse=table.get("sparse", False),
        fulltext=tuple(Fulltext(k, tuple(v["on"]), v["analyzer"]) for k, v in table.get("fulltext", {}).items()),
        ranges=tuple(table.get("ranges", ())),
        texts=tuple(table.get("texts", ())),
        hub=table.get("hub", False),
        aside=table.get("aside", False),
    )


def _properties(kind: Mapping[str, Any]) -> Iterator[Property]:
    upkeep = kind.get("upkeep", ())
    for name, text in kind.get("properties", {}).items():
        type, _, means = text.partition(" - ")
        yield Property(name, type.removesuffix("?"), type.endswith("?"), name in upkeep, means)


def _pair(text: str) -> tuple[str, str]:
    start, end = text.split(" -> ")
    return start, end


def _brief(properties: tuple[Property, ...], but: Collection[str] = ()) -> list[str]:
    visible = [p for p in properties if not p.upkeep and p.name not in but]
    others = {p.name for p in visible} - {"name"}
    lines = []
    for p in visible:
        if p.name == "name" and others & set(re.findall(r"\w+", p.means)):
            continue  # the title, the caption, the question in short
        type = "?" if p.type == "STRING" and p.optional else "" if p.type == "STRING" else f" {_type(p)}"
        lines.append(f"  {p.name}{type}: {p.means}")
    return lines


def _type(property: Property) -> str:
    return f"{property.type}{'?' if property.optional else ''}"


def _table(properties: tuple[Property, ...]) -> str:
    rows = [f"| `{p.name}` | {_type(p)} | {p.means.replace('|', _BAR)} |" for p in properties]
    return "\n".join(["| property | type | meaning |", "|---|---|---|", *rows])


if __name__ == "__main__":
    print(describe().markdown(), end="")
