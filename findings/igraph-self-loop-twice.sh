#!/usr/bin/env bash
# Libraries disagree on the PageRank of an undirected graph with self-loops. When a node's edges share its rank, igraph
# counts a self-loop twice, networkx once. This can reverse the order of the nodes, as here.
# igraph 1.0.0, networkx 3.6.1.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install igraph==1.0.0 networkx==3.6.1 scipy==1.17.1
"$work/venv/bin/python" - <<'PY'
import igraph
import networkx

EDGES = [(0, 0), (0, 1), (1, 2)]
ranks = [round(rank, 3) for rank in igraph.Graph(3, EDGES).pagerank(damping=0.85)]
found = networkx.pagerank(networkx.Graph(EDGES), alpha=0.85)
others = [round(found[node], 3) for node in range(3)]
print(f"igraph: {ranks}; networkx: {others}")
assert ranks == [0.456, 0.347, 0.197] and others == [0.382, 0.399, 0.219]
PY
