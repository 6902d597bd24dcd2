"""kgrag cypher --ask: a question becomes Cypher by a language model, and its rows are shown."""

from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import choose_collection, connect
from kgrag.cli.console import note, print_json, visible

if TYPE_CHECKING:
    from kgrag.agents.text_to_cypher import CypherAnswer


def ask_cypher(question: str, collection: str | None, *, show: bool, as_json: bool, as_csv: bool, raw: bool) -> None:
    """Have a language model write the Cypher; `show`: do not run it."""
    with connect() as kg:
        name = choose_collection(kg, collection)
        answer = kg[name].ask_cypher(question, run=not show)
    _print(answer, as_json=as_json, as_csv=as_csv, raw=raw)


def _print(answer: "CypherAnswer", *, as_json: bool, as_csv: bool, raw: bool) -> None:
    from kgrag.cli.show_rows import print_outcome
    from kgrag.narration import usage_text
    from kgrag.wire import to_json

    if as_json:
        print_json(to_json(answer))
    elif answer.rows is None:
        click.echo(visible(_statement(answer)))
    else:
        note(visible(f"{_statement(answer)}\n"))
        print_outcome(answer.rows, as_csv=as_csv, raw=raw)
    again = ", at the second attempt" if len(answer.attempts) > 1 else ""
    note(f"{usage_text(answer.usage, cost=True)}{again}")


def _statement(answer: "CypherAnswer") -> str:
    """The statement as it runs in Neo4j Browser after the line that sets its parameters."""
    from kgrag.graph.favourites import params_line

    return f"{params_line(answer.parameters)}\n{answer.statement}" if answer.parameters else answer.statement
