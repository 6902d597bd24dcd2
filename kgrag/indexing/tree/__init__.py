"""A tree of summaries over the passages of a collection (RAPTOR): clusters of what is alike, each summed up."""
