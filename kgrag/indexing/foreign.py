"""Read another graph in the same database as documents, one per node, in one stream and without changing it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kgrag.graph.connection import Graph
from kgrag.graph.property_values import text
from kgrag.indexing.attachment import Attachment, check_labels, label_parameters, named, no_name, readable
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.errors import InputError

_ENDS = 50  # ends named in a document per relationship type and direction
_VALUES = 20  # values of a list
_EXACT = 0.001  # smaller numbers are not rounded
_ZEROS = re.compile(r"(?<=:\d\d)\.0+(?=$|[Z+-])")  # a fraction of a second that is zero
_PLAYED = frozenset({"role", "roles", "character", "characters"})
ELEMENT = "element"
"""The metadata key for the element id of a document's node; only documents from such graphs have it."""

Row = Mapping[str, Any]


def check_attachment(graph: Graph, attachment: Attachment, recorded: Attachment | None) -> list[Problem]:
    """Report the number of nodes without a name.

    Raises InputError for labels and properties that the graph lacks, except properties of the `recorded` attachment.
    """
    check_labels(graph, attachment.labels)
    lacking = attachment != recorded and graph.run(
        "inspect/foreign_lacking",
        labels={label: attached.properties for label, attached in attachment.labels.items()},
        types={name: list(attached.facts) for name, attached in attachment.relationships.items()},
    )
    if lacking:
        names = ", ".join(f"{row['name']}.{row['property']}" for row in lacking)
        raise InputError(f"The graph has no {names}.", "Check the spelling in the file, or leave it out.")
    problems = []
    for row in named(graph, attachment.labels):
        label, attached = row["label"], attachment.labels[row["label"]]
        if not row["named"]:
            raise no_name(f"{label}.{attached.name}")
        if row["keys"] < row["keyed"]:
            raise InputError(
                f"{row['keyed'] - row['keys']:,} nodes {label} have a {attached.key} that another one has.",
                f'Leave key = "{attached.key}" out of [labels.{label}], or name a property that no two of them share.',
            )
        if without := row["nodes"] - row["named"]:
            problems.append(Problem(label, f"{without:,} nodes without {attached.name}, left out", lasting=True))
    return problems


def documents(graph: Graph, attachment: Attachment) -> Iterator[Document]:
    """Yield a document for each node that has a name."""
    kinds: dict[str, list[dict[str, Any]]] = {label: [] for label in attachment.labels}
    for out in (True, False):
        for name, relationship in attachment.relationships.items():
            for label in relationship.starts if out else relationship.ends:
                kinds[label].append(
                    {"type": name, "out": out, "ends": relationship.ends if out else relationship.starts}
                )
    properties = {label: relationship.properties for label, relationship in attachment.labels.items()}
    parameters = {**label_parameters(attachment.labels), "properties": properties, "kinds": kinds, "most": _ENDS}
    for row in graph.stream("look_up/foreign_nodes", **parameters):
        yield _document(row, attachment)


def _document(row: Row, attachment: Attachment) -> Document:
    label, name = row["label"], row["name"]
    attached = attachment.labels[label]
    values = dict(zip(attached.properties, row["values"], strict=True))
    facts = {key: value for key in attached.facts if (value := _as_text(values[key]))}
    lines = [value for key in attached.texts if (value := _as_text(values[key]))]
    lines += [_sentence(f"{readable(key).capitalize()}: {value}") for key, value in facts.items()]
    for kind in row["kinds"]:
        its_kind = attachment.relationships[kind["type"]]
        words, ends = its_kind.words or readable(kind["type"]), _ends(kind, its_kind.facts)
        lines.append(_sentence(f"{words[:1].upper()}{words[1:]} {ends}" if kind["out"] else f"{ends} {words} {name}"))
    links = dict.fromkeys(_key(end) for kind in row["kinds"] for end in kind["ends"])
    keys = (*attached.facts, *filter(None, [attached.version]))
    metadata = {key: _plain(values[key]) for key in keys if values[key] is not None}
    metadata |= {"label": label, ELEMENT: row["element"], "links": list(links)}
    return Document(_key(row), (Section("\n".join(lines or [name])),), title=name, metadata=metadata)


def _key(row: Row) -> str:
    return f"{row['label']}:{row['key'] or row['element']}"


def _ends(kind: Row, facts: Iterable[str]) -> str:
    """Return the names of ends with the words of their relationships, and a note on how many ends were cut."""
    names = dict.fromkeys(f"{end['name']}{_about(end['properties'], facts)}" for end in kind["ends"])
    left = kind["number"] - len(kind["ends"])
    return ", ".join(names) + (f" and {left:,} more" if left > 0 else "")


def _about(properties: Row, facts: Iterable[str]) -> str:
    values = {key: value for key in facts if (value := _as_text(properties.get(key)))}
    parts = [f"{'as' if key.casefold() in _PLAYED else readable(key)} {value}" for key, value in values.items()]
    return f" ({', '.join(parts)})" if parts else ""


def _as_text(value: Any) -> str:
    """Return a value as text."""
    if isinstance(value, list):
        left = len(value) - _VALUES
        return ", ".join(map(_as_text, value[:_VALUES])) + (f" and {left:,} more" if left > 0 else "")
    if isinstance(value, float) and abs(value) >= _EXACT:
        value = round(value, 6)
    if isinstance(value, str | None):
        return (value or "").strip()
    return _ZEROS.sub("", text(value))


def _plain(value: Any) -> Any:
    """Return a value as metadata."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | bool | int | float) else text(value)


def _sentence(line: str) -> str:
    return line if line.endswith((".", "!", "?")) else f"{line}."
