"""Saved queries as text for Neo4j Browser: with their parameters, and as the favourites that Browser imports.

Browser draws what a single statement returns, but of a script it says only that it ran. A query and the line that sets
its parameters are therefore two things: favourites are queries alone, and the first of them sets the parameters of all
(saved queries that share a parameter share its default).
"""

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from textwrap import wrap
from typing import Any

from kgrag.graph.queries import Query
from kgrag.graph.saved import defaults, saved_queries

FIRST = "0. Run me first: the parameters"
"""Title of the favourite that sets the parameters of all others; Browser sorts favourites by title."""
_MOMENT = (1980, 1, 1, 0, 0, 0)  # so that the same favourites make the same file
_WIDTH = 100


def params_line(values: Mapping[str, Any]) -> str:
    """Return the command of Browser that sets parameters and clears earlier ones."""
    return f":params {json.dumps(values, ensure_ascii=False, default=str)}"


def all_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given parameters, and the defaults of all others of saved queries."""
    return {**defaults(saved_queries().values()), **given}


def browser_text(query: Query, given: Mapping[str, Any]) -> str:
    """Return a query for Browser: first the line that sets its parameters, then the statement."""
    first = f"{params_line(_own(query, given))}\n\n" if query.parameters else ""
    return f"{first}{_heading(query)}{query.text}"


def script(given: Mapping[str, Any]) -> str:
    """Return every saved query as one script, each after a comment and the line that sets its parameters."""
    parts = [
        f"{_heading(query)}{params_line(_own(query, given))};\n{query.text};\n" for query in saved_queries().values()
    ]
    return "\n".join(parts)


def archive(given: Mapping[str, Any], folder: str = "kgrag") -> bytes:
    """Return the zip file that becomes a folder of favourites when it is dropped on Browser."""
    files = {FIRST: f"// {FIRST}\n{params_line(all_parameters(given))}"}
    for name, query in saved_queries().items():
        files[name] = f"{_heading(query)}// {params_line(_own(query, given))}\n{query.text}"
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in files.items():
            made.writestr(zipfile.ZipInfo(f"{folder}/{name.partition('.')[0]}.cypher", _MOMENT), text)
    return buffer.getvalue()


def _own(query: Query, given: Mapping[str, Any]) -> dict[str, Any]:
    values = {**defaults([query]), **given}
    return {p.name: values[p.name] for p in query.parameters if p.name in values}


def _heading(query: Query) -> str:
    """Return the title, by which Browser lists a favourite, and the purpose of the query."""
    return "".join(f"// {line}\n" for line in (query.title, *wrap(query.purpose, _WIDTH)))
