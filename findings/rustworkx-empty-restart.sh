#!/usr/bin/env bash
# rustworkx does not reject personalised PageRank with an empty or all-zero restart: it uses all iterations and then
# reports that it did not converge. The same happens if a node's only edges have weight 0, which networkx treats as a
# node without edges. More iterations do not help.
# rustworkx 0.18.1, networkx 3.6.1.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install networkx==3.6.1 rustworkx==0.18.1 scipy==1.17.1
"$work/venv/bin/python" - <<'PY'
import networkx
import rustworkx


def said(restart, weight, rounds):
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(3))
    graph.add_edges_from([(0, 1, weight), (1, 2, 1.0), (2, 0, 1.0)])
    try:
        return dict(rustworkx.pagerank(graph, weight_fn=float, personalization=restart, max_iter=rounds))
    except rustworkx.FailedToConverge as error:
        return str(error)


seen = [said(*case) for case in (({}, 1.0, 100), ({0: 0.0}, 1.0, 10_000), ({0: 1.0}, 0.0, 10_000))]
whole = said({0: 1.0}, 1.0, 100)
graph = networkx.DiGraph([(0, 1, {"weight": 0.0}), (1, 2, {"weight": 1.0}), (2, 0, {"weight": 1.0})])
other = networkx.pagerank(graph, personalization={0: 1.0})
print(f"no restart, zero restart, weight zero: {seen}\nall above zero: {whole}\nnetworkx, weight zero: {other}")
assert all(isinstance(one, str) and "failed to converge" in one for one in seen)
assert isinstance(whole, dict) and round(other[0], 3) == 1.0
PY
