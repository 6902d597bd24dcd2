"""One graph, four libraries: kgrag asks, pandas tabulates, networkx computes, py2neo walks from node to node.

    make extra EXTRA=interop
    kgrag demo
    python docs/examples/interop.py [COLLECTION]

What needs no more than Cypher goes through `kg.cypher`, which can only read, and leaves embeddings out. Its rows become
a data frame by `to_df`, and columns of ids a networkx graph; paths become one in ten lines. Ask for ids and names where
you compute: paths carry whole passages, which fill the limit of a result sooner. py2neo is no
longer developed (its last release speaks an older Bolt, which Neo4j 5 still answers), but many notebooks hold it, and
its object mapping reads kgrag's graph without change.
"""

import sys
from collections import Counter

import networkx as nx
import pandas as pd
import py2neo
from py2neo.ogm import Model, Property, RelatedFrom, RelatedTo

from kgrag import KnowledgeGraph
from kgrag.adapters.py2neo import connect, neighbourhood
from kgrag.settings import GatewaySettings, Settings
from kgrag.values.rows import Edge, Node, Path, Rows


def largest_documents(kg: KnowledgeGraph, collection: str) -> pd.DataFrame:
    """pandas: the documents by length, with the number of names in each."""
    rows = kg.cypher(
        """
        MATCH (d:Document {collection: $collection})-[:HAS_PASSAGE]->(p:Passage)
        RETURN d.title AS title, count(p) AS passages, sum(p.tokens) AS tokens,
               sum(COUNT { (p)-[:MENTIONS]->() }) AS mentions
        """,
        {"collection": collection},
    )
    table = rows.to_df()
    table["mentions per 100 tokens"] = (100 * table["mentions"] / table["tokens"]).round(1)
    return table.sort_values("tokens", ascending=False, ignore_index=True)


def names_in_between(kg: KnowledgeGraph, collection: str, most: int = 5) -> list[tuple[str, float]]:
    """networkx: the names that most shortest ways between documents lead over, with their betweenness."""
    rows = kg.cypher(
        """
        MATCH (d:Document {collection: $collection})-[:HAS_PASSAGE]->(:Passage)-[:MENTIONS]->(e:Entity)
        WHERE e.df > 1
        RETURN DISTINCT d.id AS document, e.id AS entity, e.name AS name
        """,
        {"collection": collection},
    )
    table = rows.to_df()
    graph = nx.from_pandas_edgelist(table, "document", "entity")
    between = nx.betweenness_centrality(graph, k=min(len(graph), 500) or None, seed=0)  # a sample of a large graph
    names = dict(zip(table["entity"], table["name"], strict=True))
    return [(names[id], round(between[id], 3)) for id in sorted(names, key=lambda id: -between[id])[:most]]


def to_networkx(rows: Rows) -> nx.MultiDiGraph:
    """Return the nodes and edges in rows; a node has its properties and its `label`, an edge its `type`."""
    graph = nx.MultiDiGraph()
    for value in (value for row in rows.values for value in row):
        nodes = value.nodes if isinstance(value, Path) else [value] if isinstance(value, Node) else []
        edges = value.edges if isinstance(value, Path) else [value] if isinstance(value, Edge) else []
        for node in nodes:
            label = min(node.kinds, key=len)
            graph.add_node(node.element, label=label, **node.properties)
        for edge in edges:
            graph.add_edge(edge.start, edge.end, key=edge.element, type=edge.type, **edge.properties)
    return graph


class Entity(Model):
    """py2neo: a name as an object."""

    __primarykey__ = "id"
    name = Property()
    df = Property()
    mentioned_in = RelatedFrom("Passage", "MENTIONS")


class Passage(Model):
    """py2neo: a passage as an object."""

    __primarykey__ = "id"
    title = Property()
    text = Property()
    mentions = RelatedTo(Entity, "MENTIONS")


def neighbours(graph: py2neo.Graph, collection: str, name: str, most: int = 5) -> list[tuple[str, int]]:
    """py2neo: the names that stand together with a name most often, going from object to object."""
    entity = Entity.match(graph).where(collection=collection, normal=name.lower()).first()
    if entity is None:
        return []
    others = Counter(o.name for passage in entity.mentioned_in for o in passage.mentions if o.name != entity.name)
    return sorted(others.items(), key=lambda other: (-other[1], other[0]))[:most]


def sentences(graph: py2neo.Graph, collection: str, name: str) -> py2neo.cypher.Cursor:
    """py2neo: a statement of one's own; it returns properties, since whole nodes come with their embeddings."""
    return graph.run(
        """
        MATCH (:Entity {collection: $collection, normal: $normal})<-[:MENTIONS]-(p:Passage)
        RETURN p.title AS title, left(replace(p.text, '\\n', ' '), 60) AS beginning ORDER BY title LIMIT 5
        """,
        collection=collection,
        normal=name.lower(),
    )


def main(collection: str = "demo") -> None:
    """Print what each library makes of a collection."""
    settings = Settings(gateway=GatewaySettings(rows=1_000_000, megabytes=500))  # a warning says if it is cut
    with KnowledgeGraph.connect(settings=settings) as kg:
        print("pandas: the largest documents\n")
        print(largest_documents(kg, collection).head().to_string(), "\n")
        print("networkx: the names between the documents\n")
        between = names_in_between(kg, collection)
        for name, score in between:
            print(f"{score:.3f}  {name}")
    if not between:
        return
    graph = connect(settings)
    name = between[0][0]
    print(f"\npy2neo: what stands together with {name}\n")
    for other, number in neighbours(graph, collection, name):
        print(f"{number:>5}  {other}")
    print(f"\npy2neo: where {name} is named\n")
    print(sentences(graph, collection, name).to_table())
    around = neighbourhood(graph, collection, name)
    print(f"\npy2neo: {len(around.nodes)} nodes and {len(around.relationships)} relationships surround it")
    graph.service.connector.close()


if __name__ == "__main__":
    main(*sys.argv[1:2])
