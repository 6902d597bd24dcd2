"""An analyst's saved queries, under `cypher/analyst`: found by name, parameters typed; as text for Neo4j Browser."""

import difflib
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from io import BytesIO
from textwrap import wrap
from typing import Any

from kgrag.graph.collections import Collection, choose_collection, no_documents, open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.counts import count_nodes
from kgrag.graph.gateway import PlanKind, run_read
from kgrag.graph.queries import Parameter, Query, catalogue
from kgrag.graph.reader import escape
from kgrag.settings import GatewaySettings
from kgrag.text.dates import checked_date
from kgrag.values.errors import ConfigurationError, NotFoundError
from kgrag.values.rows import Rows

_FOLDER = "analyst/"
_DEMO = "demo"
_INDEXES = re.compile(r"queryNodes\('([a-z]+)_")
_KINDS: dict[str, type | tuple[type, ...]] = {
    "STRING": str, "INTEGER": int, "FLOAT": (int, float), "BOOLEAN": bool, "LIST": (list, tuple), "MAP": dict,
    "DATETIME": datetime,
}  # fmt: skip


def saved_queries() -> dict[str, Query]:
    """Return the saved queries by their names, in alphabetical order."""
    return {n.removeprefix(_FOLDER): q for n, q in catalogue().items() if n.startswith(_FOLDER)}


def find_query(name: str) -> Query:
    """Return the saved query of that name. Raises NotFoundError, with the nearest names, if it does not exist."""
    queries = saved_queries()
    short = name.removeprefix(_FOLDER).replace("-", "_").lower()
    if short in queries:
        return queries[short]
    near = difflib.get_close_matches(short, queries, n=3, cutoff=0.5)
    near += [n for n, q in queries.items() if n not in near and short in f"{n} {q.title} {q.purpose}".lower()][:3]
    hint = f"Did you mean {' or '.join(repr(n) for n in near)}? " if near else ""
    raise NotFoundError(f"There is no saved query {name!r}.", f"{hint}`kgrag cypher --list` lists them.")


def run_saved(
    graph: Graph,
    name: str,
    arguments: Mapping[str, Any],
    limits: GatewaySettings,
    *,
    embeddings: bool = False,
    plan: PlanKind | None = None,
) -> Rows:
    """Run a saved query with arguments for its parameters; those left out take their defaults.

    Over another collection than the demo, the notes name the defaults that are about the demo. Raises NotFoundError for
    a query or collection that does not exist, ConfigurationError for an argument that the query does not take or that
    is of another type.
    """
    query = find_query(name)
    values = fill(query, arguments)
    needed = {label.title() for label in _INDEXES.findall(query.text)}
    if "triples" in query.title.lower():
        needed.add("Triple")
    missing = set[str]()
    if "collection" in values:
        record = open_collection(graph, arguments.get("collection") or choose_collection(graph))
        values["collection"] = record.name
        missing = needed.difference(record.indexed)
    if missing:
        rows = Rows(tuple(name for name, _, _ in query.columns), ())
    else:
        rows = run_read(graph, query.text, values, limits, "owner", embeddings=embeddings, plan=plan)
    if missing - {"Triple"}:
        return replace(rows, notes=(no_documents(record.name).in_full,))
    if "Triple" in needed and not rows.values and "Triple" not in count_nodes(graph, record.name):
        remedy = f"`kgrag enrich extract -c {record.name}` finds some."
        return replace(rows, notes=(f"The collection {record.name!r} has no triples. {remedy}",))
    # the caller is not to blame if the query itself names something that the database lacks, so drop those notes
    defaulted = [p.name for p in query.parameters if p.name not in {"collection", *arguments}]
    examples = [n for n in defaulted if isinstance(values[n], str) and any(map(str.isalpha, values[n]))]
    if values.get("collection") == _DEMO:
        examples = []
    return replace(
        rows, notes=tuple(f"{n} is {values[n]!r}, which is about the demo: give your own." for n in examples)
    )


def fill(query: Query, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a query's parameters: arguments where given, else defaults. Raises ConfigurationError."""
    parameters = {p.name: p for p in query.parameters}
    for name, value in arguments.items():
        if name not in parameters:
            raise _wrong(query, f"takes no parameter {name!r}")
        if value is not None and not _fits(parameters[name].type, value):
            raise _wrong(query, f"wants {name} as {parameters[name].type}, not {value!r}")
    missing = [p.name for p in query.parameters if p.default is None and p.name not in arguments]
    if missing:
        raise _wrong(query, f"needs a value for {', '.join(missing)}")
    dates = {"as_of": checked_date(arguments["as_of"])} if arguments.get("as_of") else {}
    return {**defaults([query]), **arguments, **dates}


def defaults(queries: Iterable[Query]) -> dict[str, Any]:
    """Return the defaults of the queries' parameters, by name; those without one are left out."""
    return {p.name: _literal(p.default) for q in queries for p in q.parameters if p.default is not None}


def from_text(query: Query, texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Convert text arguments to the types of the query's header. Raises ConfigurationError.

    Lists and maps are JSON; a moment without a zone is local time; null is null, except for text.
    """
    parameters = {p.name: p for p in query.parameters}
    arguments = {}
    for name, text in texts:
        if name not in parameters:
            raise _wrong(query, f"takes no parameter {name!r}")
        try:
            arguments[name] = _typed(parameters[name].type, text)
        except ValueError as error:
            raise _wrong(query, f"wants {name} as {parameters[name].type}, not {text!r}") from error
    return arguments


def question_parameters(collection: Collection, question: str, vector: Sequence[float]) -> dict[str, Any]:
    """Return the query parameters of a question: its words as a Lucene query, its embedding, and the indexes.

    The index names are for the user's own queries: $passage_text, $triple_text and $entity_name for full-text search,
    $passage_vectors, $triple_vectors and $entity_vectors for vector search on $embedding.
    """
    texts = ("passage_text", "triple_text", "entity_name")
    return {
        "collection": collection.name,
        "question": question,
        "query": escape(question),
        **{kind: collection.index(kind) for kind in texts},
        **{f"{label.lower()}_vectors": collection.vector_index(label) for label in ("Passage", "Triple", "Entity")},
        "embedding": collection.embedding,
        "vector": list(vector),
    }


def _wrong(query: Query, complaint: str) -> ConfigurationError:
    name = query.name.removeprefix(_FOLDER)
    takes = "; ".join(map(_described, query.parameters)) or "none"
    return ConfigurationError(f"The saved query {name} {complaint}.", f"Its parameters: {takes}.")


def _described(parameter: Parameter) -> str:
    default = f" = {parameter.default}" if parameter.default is not None else ""
    return f"{parameter.name} ({parameter.type}{default})"


def _literal(text: str) -> Any:
    """Return the value of a literal of a header: text in single quotes, otherwise as in JSON."""
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith("'") else json.loads(text)


def _kind(type: str) -> str:
    return type.partition("<")[0]


def _fits(type: str, value: Any) -> bool:
    kind = _kind(type)
    return isinstance(value, _KINDS[kind]) and (kind == "BOOLEAN" or not isinstance(value, bool))


def _typed(type: str, text: str) -> Any:
    """Convert a text to the type. Raises ValueError."""
    kind = _kind(type)
    if kind == "STRING":
        return text
    text = text.strip()
    if kind == "DATETIME":
        moment = datetime.fromisoformat(text)
        return moment.astimezone() if moment.tzinfo is None else moment
    value = json.loads(text.lower() if kind == "BOOLEAN" else text)
    if value is not None and not _fits(type, value):
        raise ValueError(text)
    return float(value) if kind == "FLOAT" and value is not None else value


# Saved queries as text for Neo4j Browser: with their parameters, and as favourites that Browser imports.
#
# Browser draws the result of a single statement, but reports only success for a script. A query and the line that sets
# its parameters are therefore separate: favourites are queries only, and the first favourite sets the parameters of all
# of them. Saved queries that share a parameter share its default.


FIRST = "0. Run me first: the parameters"
"""Title of the favourite that sets the parameters of all others; Browser sorts favourites by title."""
_MOMENT = (1980, 1, 1, 0, 0, 0)  # so that the same favourites make the same file
_WIDTH = 100


def params_line(values: Mapping[str, Any]) -> str:
    """Return the command of Browser that sets parameters and clears earlier ones."""
    return f":params {json.dumps(values, ensure_ascii=False, default=str)}"


def all_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given parameters, and the defaults of all others of saved queries."""
    return {**defaults(saved_queries().values()), **values}


def browser_text(query: Query, values: Mapping[str, Any]) -> str:
    """Return a query for Browser: first the line that sets its parameters, then the statement."""
    first = f"{params_line(_own(query, values))}\n\n" if query.parameters else ""
    return f"{first}{_heading(query)}{query.text}"


def script(values: Mapping[str, Any]) -> str:
    """Return every saved query as one script, each after a comment and the line that sets its parameters."""
    parts = [
        f"{_heading(query)}{params_line(_own(query, values))};\n{query.text};\n" for query in saved_queries().values()
    ]
    return "\n".join(parts)


def archive(values: Mapping[str, Any], folder: str = "kgrag") -> bytes:
    """Return the zip file that becomes a folder of favourites when it is dropped on Browser."""
    files = {FIRST: f"// {FIRST}\n{params_line(all_parameters(values))}"}
    for name, query in saved_queries().items():
        files[name] = f"{_heading(query)}// {params_line(_own(query, values))}\n{query.text}"
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in files.items():
            file.writestr(zipfile.ZipInfo(f"{folder}/{name.partition('.')[0]}.cypher", _MOMENT), text)
    return buffer.getvalue()


def _own(query: Query, overrides: Mapping[str, Any]) -> dict[str, Any]:
    values = {**defaults([query]), **overrides}
    return {p.name: values[p.name] for p in query.parameters if p.name in values}


def _heading(query: Query) -> str:
    """Return the title, by which Browser lists a favourite, and the purpose of the query."""
    return "".join(f"// {line}\n" for line in (query.title, *wrap(query.purpose, _WIDTH)))
