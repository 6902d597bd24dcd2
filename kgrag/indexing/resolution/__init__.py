"""Entity resolution: names that are those of one entity are tied by SAME_AS edges, which can be taken back.

`name_rules` compares two names by their words and by what the passages of both say, `pairs` finds those that are worth
a comparison and ties only what fits together, `judge` asks a language model about doubtful pairs, and `resolve` reads
and writes the graph.
"""
