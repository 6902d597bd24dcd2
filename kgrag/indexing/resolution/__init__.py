"""Entity resolution: connect the names of one entity by SAME_AS edges, which can be removed again.

`name_rules` compares two names by their words and their passages, `pairs` finds the candidate pairs and merges only
consistent groups, `judge` asks a language model about doubtful pairs, and `resolve` reads and writes the graph.

"""
