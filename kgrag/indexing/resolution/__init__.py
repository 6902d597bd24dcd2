"""Entity resolution: names that are those of one entity are tied by SAME_AS edges, which can be taken back.

`names` compares two names by their words, `blocks` finds the pairs that are worth a comparison, `context` weighs what
the passages of both say, `groups` ties only what fits together, `judge` asks a language model about doubtful pairs,
and `resolve` reads and writes the graph.
"""
