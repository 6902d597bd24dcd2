"""Communities of entities: names that texts have together and facts join, in levels, each with a report (GraphRAG)."""
