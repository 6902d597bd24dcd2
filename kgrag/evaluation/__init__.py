"""How well retrieval works: metrics, data sets, experiments."""
