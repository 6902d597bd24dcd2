"""The queries, one statement a file, runnable as they are in Neo4j Browser."""
