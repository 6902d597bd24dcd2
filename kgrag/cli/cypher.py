"""kgrag cypher: saved queries and statements of one's own, and the line that sets parameters in Browser."""

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import click

from kgrag.cli.connect import as_json, as_text, choose_collection, collection_option, connect, csv_options
from kgrag.cli.console import note, print_json, visible
from kgrag.runtime.files import user_file

if TYPE_CHECKING:
    from kgrag.agents.text_to_cypher import CypherAnswer
    from kgrag.graph.gateway import PlanKind
    from kgrag.graph.queries import Query
    from kgrag.values.rows import Rows


ROWS_CUT = 13
"""The exit code where limits cut the rows of a statement, and these go to a file or a program."""


def ask_cypher(question: str, collection: str | None, *, show: bool, as_json: bool, as_csv: bool, raw: bool) -> None:
    """Have a language model write the Cypher; `show`: do not run it."""
    from kgrag.cli.evidence import print_outcome
    from kgrag.wire import to_json

    with connect() as kg:
        name = choose_collection(kg, collection)
        answer = kg[name].ask_cypher(question, run=not show)
    if as_json:
        print_json(to_json(answer))
    elif answer.rows is None:
        click.echo(visible(_statement(answer)))
    else:
        note(visible(f"{_statement(answer)}\n"))
        print_outcome(answer.rows, as_csv=as_csv, raw=raw)
    again = ", at the second attempt" if len(answer.attempts) > 1 else ""
    note(f"{answer.usage.text(cost=True)}{again}")


def _statement(answer: "CypherAnswer") -> str:
    """Return the statement for Neo4j Browser, to run after the line that sets its parameters."""
    from kgrag.graph.saved import params_line

    return f"{params_line(answer.parameters)}\n{answer.statement}" if answer.parameters else answer.statement


Pairs = tuple[tuple[str, str], ...]
_NAME = re.compile(r"[\w/-]*\w")


def parse_pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> Pairs:
    """Return parameters name=value; a $ before the name is ignored, of duplicates the last counts."""
    pairs = {}
    for value in values:
        name, sign, text = as_text(value).partition("=")
        name = name.strip().removeprefix("$")
        if not sign or not name:
            raise click.BadParameter(f"{value!r} is not of the form name=value.")
        pairs[name] = text
    return tuple(pairs.items())


pairs_option = click.option(
    "-p",
    "--param",
    "pairs",
    multiple=True,
    callback=parse_pairs,
    metavar="NAME=VALUE",
    help="A parameter of the query; lists and maps as JSON. Repeated, several of them.",
)


@click.command()
@click.argument("query", required=False)
@pairs_option
@collection_option("Value of the parameter $collection; without it, default or the only one there is.")
@click.option("-q", "--question", metavar="TEXT", help="Set $query and $vector from a question, by the embedder.")
@click.option("-f", "--file", type=click.Path(dir_okay=False, exists=True, path_type=Path), help="Read a statement.")
@click.option("--list", "listing", is_flag=True, help="List the saved queries with their parameters.")
@click.option("--show", is_flag=True, help="Print the saved query, to be pasted in Neo4j Browser.")
@click.option(
    "--favourites",
    metavar="FILE",
    help="Write all saved queries: FILE.zip to be dropped on Neo4j Browser, else one script (- for standard output).",
)
@click.option("--ask", "request", metavar="QUESTION", help="Have a language model write the statement, and run it.")
@click.option(
    "--params", "posed", metavar="QUESTION", help="Print the line that sets a question's parameters in Browser."
)
@click.option("--embeddings", is_flag=True, help="Return embeddings, too.")
@click.option("--explain", "plan", flag_value="explain", help="Show how Neo4j would run it, and do not run it.")
@click.option("--profile", "plan", flag_value="profile", help="Run it, and show what each step of it did.")
@as_json
@csv_options
def cypher(
    query: str | None,
    pairs: Pairs,
    collection: str | None,
    question: str | None,
    file: Path | None,
    listing: bool,
    show: bool,
    favourites: str | None,
    request: str | None,
    posed: str | None,
    embeddings: bool,
    plan: "PlanKind | None",
    as_json: bool,
    as_csv: bool,
    raw: bool,
) -> None:
    """Ask the graph in Cypher, your own or a saved query.

    QUERY is the name of a saved query (`--list`), a statement in quotes, or - for a statement on standard input. A
    statement that would change the graph is refused, with the reason. If KGRAG_GATEWAY__ROWS cuts rows that go to a
    file or a program, the exit code is 13.

    \b
    kgrag cypher --list
    kgrag cypher contents -c demo
    kgrag cypher connection -c demo -p "entity=Roald Amundsen" -p "other=Colin Archer"
    kgrag cypher nearest_passages -c demo -q "Who designed the Fram?" -p limit=5
    kgrag cypher hubs -c demo -p limit=20 --csv > hubs.csv
    kgrag cypher "MATCH (e:Entity {collection: \\$collection}) RETURN e.name, e.df ORDER BY e.df DESC LIMIT 5" -c demo
    kgrag cypher -f mine.cypher -p since=2024 --json
    kgrag cypher hubs --show
    kgrag cypher hubs --profile                         what its time goes into
    kgrag cypher --favourites kgrag.zip -c demo         then drop the file on Neo4j Browser
    kgrag cypher --params "Who designed the Fram?" -c demo | xclip
    kgrag cypher --ask "How many documents mention Norway but not Sweden?" -c demo --json
    kgrag cypher --ask "Which ships did Colin Archer design?" --show

    --ask is good for questions that count, list or compare; for what the texts say, use `kgrag ask`. The model
    (KGRAG_CHAT__MODEL) sees the labels, edges and properties of the graph, not your documents. Its statement can only
    read the collection. If it is refused or fails, the model gets the reason and writes another one. The statement goes
    to standard error, its rows to standard output. Check both: a statement that runs may still answer another question.

    --params prints the question's embedding ($vector), its words ($query), the names of the collection's indexes, and
    the defaults of all saved queries. After this line, each saved query runs in Browser.
    """
    if as_json and as_csv:
        raise click.UsageError("Choose one of --json and --csv.")
    choices = (listing, favourites, request, posed, query if query is not None else file)
    if sum(one not in (None, False) for one in choices) != 1 or (query and file):
        raise click.UsageError(
            "Give the name of a saved query or a statement (or --file, --list, --favourites, --ask, --params)."
        )
    if "" in ((request or "x").strip(), (posed or "x").strip()):
        raise click.UsageError("The question is empty.")
    if request is not None:
        ask_cypher(request, collection, show=show, as_json=as_json, as_csv=as_csv, raw=raw)
    elif posed is not None:
        _print_parameters(posed, pairs, collection, as_json)
    elif listing:
        _list(as_json)
    elif favourites is not None:
        _write_favourites(favourites, pairs, collection)
    elif query is not None and query != "-" and _NAME.fullmatch(query):
        if show:
            _show(query, pairs, collection)
        else:
            _print(_run_saved(query, pairs, collection, question, embeddings, plan), as_json, as_csv, raw)
    elif show or question is not None:
        raise click.UsageError("--show and --question go with the name of a saved query.")
    else:
        text = sys.stdin.read() if query == "-" else query or ""
        with user_file(file, "read"):
            statement = file.read_text(encoding="utf-8-sig") if file else as_text(text)
        _print(_run(statement, pairs, collection, embeddings, plan), as_json, as_csv, raw)


def _print_parameters(question: str, pairs: Pairs, collection: str | None, as_json: bool) -> None:
    """Print the line that sets a question's parameters."""
    from kgrag.graph.saved import all_parameters, params_line

    with connect() as kg:
        parameters = kg[choose_collection(kg, collection)].question_parameters(question)
    values = all_parameters({**_free(pairs), **parameters})
    vector = values.pop("vector")
    values["vector"] = vector  # last, since it is long
    if as_json:
        print_json(values)
    else:
        click.echo(params_line(values))


def _list(as_json: bool) -> None:
    from kgrag.graph.saved import saved_queries

    queries = saved_queries()
    if as_json:
        print_json([_described(name, query) for name, query in queries.items()])
        return
    from rich.text import Text

    from kgrag.cli.console import stdout_console

    console = stdout_console()
    for name, query in queries.items():
        console.print(
            Text.assemble((name, "bold"), f"  {query.title}", (" (drawn)" if _is_drawn(query) else "", "dim"))
        )
        own = [f"{p.name}={p.default}" for p in query.parameters if p.name != "collection"]
        if own:
            console.print(Text(f"    {'  '.join(own)}", "cyan"))
    note("kgrag cypher NAME -p parameter=value; more of each: kgrag cypher NAME --show, kgrag cypher --list --json")


def _described(name: str, query: "Query") -> dict[str, Any]:
    return {
        "name": name,
        "title": query.title,
        "purpose": query.purpose,
        "parameters": query.parameters,
        "columns": [dict(zip(("name", "type", "meaning"), column, strict=True)) for column in query.columns],
        "drawn": _is_drawn(query),
    }


def _is_drawn(query: "Query") -> bool:
    return any(kind in type for _, type, _ in query.columns for kind in ("PATH", "NODE"))


def _show(name: str, pairs: Pairs, collection: str | None) -> None:
    from kgrag.graph.saved import browser_text, find_query, from_text

    query = find_query(name)
    parameters = {"collection": collection} if collection and _takes(query, "collection") else {}
    click.echo(browser_text(query, {**parameters, **from_text(query, pairs)}))
    note("In Neo4j Browser run the line :params by itself, then the statement: of both at once, nothing is drawn.")


def _write_favourites(file: str, pairs: Pairs, collection: str | None) -> None:
    from kgrag.graph import saved

    parameters = _free(pairs)
    if collection is None:
        with connect() as kg:
            collection = choose_collection(kg, None)
    parameters["collection"] = collection
    if file.endswith(".zip"):
        with user_file(file):
            Path(file).write_bytes(saved.archive(parameters))
        note(f"Wrote {file}. Drop it on Neo4j Browser: its queries are then under Favorites (the star), in kgrag.")
    elif file == "-":
        click.echo(saved.script(parameters))
    else:
        with user_file(file):
            Path(file).write_text(saved.script(parameters), encoding="utf-8")
        note(f"Wrote {file}.")


def _run_saved(
    name: str, pairs: Pairs, collection: str | None, question: str | None, embeddings: bool, plan: "PlanKind | None"
) -> "Rows":
    from kgrag.graph.saved import find_query, from_text

    query = find_query(name)
    arguments = from_text(query, pairs)
    if question is not None and not _takes(query, "vector") and not _takes(query, "query"):
        raise click.UsageError(f"{name} takes no question.")
    with connect() as kg:
        if _takes(query, "collection"):
            target = choose_collection(kg, collection or arguments.get("collection"))
            arguments["collection"] = target
            if question is not None:
                parameters = kg[target].question_parameters(question)
                arguments = {k: v for k, v in parameters.items() if _takes(query, k)} | arguments
        with catch_warnings(action="ignore", category=UserWarning):  # a note says that rows are missing
            rows = kg.saved_query(query.name, embeddings=embeddings, plan=plan, **arguments)
    if not len(rows) and _takes(query, "entity"):
        note(f'How the graph writes a name: kgrag cypher names -c {arguments["collection"]} -p "name=NAME~"')
    return rows


def _run(statement: str, pairs: Pairs, collection: str | None, embeddings: bool, plan: "PlanKind | None") -> "Rows":
    if not statement.strip():
        raise click.UsageError("The statement is empty.")
    parameters = _free(pairs)
    with connect() as kg:
        if "collection" not in parameters and (collection or re.search(r"\$collection\b", statement)):
            parameters["collection"] = choose_collection(kg, collection)
        if collection and not re.search(r"\$collection\b", statement):
            note("The statement reads all collections: it keeps to one by {collection: $collection} in its patterns.")
        with catch_warnings(action="ignore", category=UserWarning):  # a note says that rows are missing
            return kg.cypher(statement, parameters, embeddings=embeddings, plan=plan)


def _print(rows: "Rows", as_json: bool, as_csv: bool, raw: bool) -> None:
    from kgrag.cli.evidence import print_outcome
    from kgrag.wire import to_json

    if as_json:
        print_json(to_json(rows))
    else:
        print_outcome(rows, as_csv=as_csv, raw=raw)
    if rows.cut and not sys.stdout.isatty():
        click.get_current_context().exit(ROWS_CUT)


def _takes(query: "Query", name: str) -> bool:
    return any(parameter.name == name for parameter in query.parameters)


def _free(pairs: Pairs) -> dict[str, Any]:
    """Return values of unknown parameters: JSON where possible, else text."""
    import json

    values: dict[str, Any] = {}
    for name, text in pairs:
        values[name] = text
        with suppress(ValueError):
            values[name] = json.loads(text)
    return values
