"""Text to Cypher: a language model writes one read-only statement, which runs with the trust of the caller.

The prompt describes the graph and shows saved queries similar to the question. If the statement is refused or
fails, the model is shown the reason once.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.graph.gateway import Trust, check_collection, run_read
from kgrag.graph.queries import Query
from kgrag.graph.saved import saved_queries
from kgrag.indexing.fact_schema import fact_schema
from kgrag.models.prompted import Listener, PromptedModel
from kgrag.settings import GatewaySettings
from kgrag.text.tokens import is_content, stems, tokens
from kgrag.values.errors import DatabaseError, ModelError, RefusedError
from kgrag.values.events import Called, Event
from kgrag.values.results import Usage
from kgrag.values.rows import Rows

TASK = "cypher"
_ATTEMPTS = 2
_EXAMPLES = 4
_LONGEST = 1900  # characters of a statement shown as an example
_FENCE = re.compile(r"```[ \t]*(\w*)[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_BEGINNING = re.compile(
    r"^[ \t]*(?:(?:OPTIONAL )?MATCH|WITH|UNWIND|CALL|RETURN|CREATE|MERGE|DELETE|DETACH|SHOW|LOAD|EXPLAIN|PROFILE)\b",
    re.MULTILINE,
)
_INDEXES = ("entity_name", "passage_text")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A statement that the model wrote, with its parameters; `problem` says why it failed, if it did."""

    statement: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CypherAnswer:
    """The Cypher for a question: the statement, its parameters and its rows (None: it was not run).

    `attempts`: all statements that the model wrote, with the final one last.
    """

    question: str
    statement: str
    parameters: Mapping[str, Any]
    rows: Rows | None
    attempts: tuple[Attempt, ...]
    usage: Usage


def ask_cypher(
    graph: Graph,
    collection: Collection,
    question: str,
    llm: PromptedModel,
    limits: GatewaySettings,
    *,
    trust: Trust = "owner",
    run: bool = True,
    listener: Listener | None = None,
) -> CypherAnswer:
    """Return the rows that answer a question.

    `trust`: the caller on whose behalf the statement runs. `run` False: return only the statement. `listener` receives
    each call of the model.

    Raises ModelError if the second statement fails, too; the error has the statement and its fault.
    """
    meter = _Meter(listener)
    heard = llm.with_listener(meter.add)
    fixed = {"collection": collection.name} | {kind: collection.index(kind) for kind in _INDEXES}
    own = fact_schema(collection)
    schema = "\n".join([describe().text(), own.patterns()]) if own else describe().text()
    listing = "\n\n".join(map(_as_example, examples(question)))
    attempts: list[Attempt] = []
    trouble = ""
    for _ in range(_ATTEMPTS):
        attempt = _parsed(heard.text(TASK, schema=schema, examples=listing, question=question, trouble=trouble))
        parameters = {**attempt.parameters, **{n: v for n, v in fixed.items() if f"${n}" in attempt.statement}}
        problem, rows = attempt.problem, None
        if not problem:
            try:
                check_collection(attempt.statement, collection.name)
                rows = run_read(graph, attempt.statement, parameters, limits, trust) if run else None
            except (RefusedError, DatabaseError) as error:
                problem = str(error)
        attempts.append(Attempt(attempt.statement, parameters, problem))
        if not problem:
            return CypherAnswer(question, attempt.statement, parameters, rows, tuple(attempts), meter.usage)
        trouble = f"This was tried:\n{attempt.statement}\nIt does not do: {problem}\nWrite it so that it does."
    last = attempts[-1]
    raise ModelError(
        f"The model {llm.model.name(TASK)!r} wrote no statement that could be run, twice. {last.problem}\n"
        f"Its last one:\n{last.statement}",
        "Ask in other words, with the names that the graph has, or try another model for this task, for example "
        'KGRAG_CHAT__MODELS=\'{"cypher": "MODEL"}\'.',
    )


def examples(question: str) -> list[Query]:
    """Return the saved queries that share most words with a question, best first.

    Long queries and queries with vectors are left out.
    """
    about = {query: _words(f"{query.title} {query.purpose}") for query in saved_queries().values()}
    spread = Counter(word for words in about.values() for word in words)
    question_words = _words(question)

    def nearness(query: Query) -> float:
        return sum(1 / spread[word] for word in question_words & about[query])  # common words count little

    fit = [
        query
        for query in about
        if len(query.text) <= _LONGEST
        and "$collection" in query.text
        and not any("FLOAT>" in p.type for p in query.parameters)
    ]
    return sorted(fit, key=lambda query: (-nearness(query), len(query.text), query.name))[:_EXAMPLES]


def _words(text: str) -> set[str]:
    return set(stems([token.norm for token in tokens(text) if is_content(token.norm)]))


def _as_example(query: Query) -> str:
    values = {p.name: p.default for p in query.parameters if p.name != "collection" and p.default is not None}
    literals = ", ".join(f"${name} = {value}" for name, value in values.items())
    return f"// {query.title}. {query.purpose}" + (f" {literals}" if literals else "") + f"\n{query.text}"


def _parsed(reply: str) -> Attempt:
    """Return the statement and the parameters in a reply, which may be fenced and surrounded by prose."""
    fences = [(kind.lower(), text.strip()) for kind, text in _FENCE.findall(reply)]
    statement = next((text for kind, text in fences if kind != "json"), "")
    if not fences and (begin := _BEGINNING.search(reply)):
        statement = reply[begin.start() :]
    statement = statement.strip().removesuffix(";").strip()
    if not statement:
        return Attempt(reply, problem="There is no statement of Cypher in the reply.")
    parameters: Any = {}
    for kind, text in fences:
        if kind == "json":
            try:
                parameters = json.loads(text)
            except ValueError:
                parameters = None
            break
    if not isinstance(parameters, dict):
        return Attempt(statement, problem="Its parameters are not a JSON object.")
    parameters = {name.removeprefix("$"): value for name, value in parameters.items()}
    return Attempt(statement, parameters)


class _Meter:
    """Sums the usage of calls and forwards events."""

    def __init__(self, listener: Listener | None) -> None:
        self.usage = Usage()
        self._listener = listener

    def add(self, event: Event) -> None:
        if isinstance(event, Called):
            self.usage += event.usage
        if self._listener is not None:
            self._listener(event)
