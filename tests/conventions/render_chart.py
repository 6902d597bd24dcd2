"""Print Helm's rendering of a chart with some values, given as JSON; exit with 1 if its linter warns."""

import json
import sys

import helm_python as helm

chart, values = sys.argv[1], json.loads(sys.argv[2])
found = [message for message in helm.lint(chart, values, strict=True)["messages"] if message["severity"] > 1]
if found:
    sys.exit(json.dumps(found))
for path, manifest in helm.Chart.load(chart).render(values, name="notes", namespace="reading").items():
    if path.endswith(".yaml"):
        print("---", manifest, sep="\n")
