#!/usr/bin/env bash
# rdflib normalises typed literals: "007"^^xsd:integer becomes "7", "PT36H"^^xsd:duration becomes "P1DT12H", and a date
# loses its zone. So a product number changes, and a Turtle file and N-Triples of the same graph have different text.
# pyoxigraph preserves literals (RDF 1.1: the lexical form is part of them).
# rdflib 7.6.0, pyoxigraph 0.5.13.
# Source: https://rdflib.readthedocs.io/en/stable/rdf_terms/ (normalisation), https://www.w3.org/TR/rdf11-concepts/#section-Graph-Literal
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install pyoxigraph==0.5.13 rdflib==7.6.0
"$work/venv/bin/python" - <<'PY'
import pyoxigraph
import rdflib

TURTLE = """
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <http://example.org/> .
:pump :number "007"^^xsd:integer ; :rest "PT36H"^^xsd:duration ; :made "2024-05-01+02:00"^^xsd:date ; :price "1.50"^^xsd:decimal .
"""
graph = rdflib.Graph()
graph.parse(data=TURTLE, format="turtle")
read = {str(predicate).rsplit("/", 1)[1]: str(value) for _, predicate, value in graph}
plain = {
    quad.predicate.value.rsplit("/", 1)[1]: quad.object.value
    for quad in pyoxigraph.parse(TURTLE, format=pyoxigraph.RdfFormat.TURTLE)
}
print(f"rdflib: {dict(sorted(read.items()))}\npyoxigraph: {dict(sorted(plain.items()))}")
assert plain == {"number": "007", "rest": "PT36H", "made": "2024-05-01+02:00", "price": "1.50"}
assert read == {"number": "7", "rest": "P1DT12H", "made": "2024-05-01", "price": "1.50"}
PY
