"""kgrag: documents become a graph in Neo4j; questions are answered by walking it."""

__version__ = "0.1.0"
