"""The only code that talks to Neo4j: connection, query catalogue, schema, writing and reading."""
