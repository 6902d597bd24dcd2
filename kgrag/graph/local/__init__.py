"""A Neo4j on this machine, provisioned by kgrag itself, without Docker or root."""
