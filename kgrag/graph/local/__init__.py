"""A Neo4j on this machine, provisioned by kgrag itself: no Docker, no root."""
