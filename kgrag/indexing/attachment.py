"""An attachment: the nodes and properties of another graph that become documents, as a file or JSON."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.runtime.model_files import read_model, to_toml
from kgrag.text.dates import partial_date
from kgrag.values.errors import InputError

_SAMPLE = 1000  # nodes of a label whose properties are looked at
_SHORT, _NAME, _LIST = 60, 120, 12
"""Characters that a fact, and a name, have at most on average; values of a list that is a fact: no embedding."""
_NAMES = ("name", "title", "label", "fullname", "displayname", "headline", "caption")
_VERSIONS = re.compile(r"update|modif|chang|revis|version|synced|imported", re.IGNORECASE)
_KEYS = re.compile(r"(^|_)(u?id|key|code|slug|[ug]uid|isbn|sku)$|[a-z](Id|ID|Key|Code)$|^imdb|^wikidata", re.IGNORECASE)


class AttachedLabel(BaseModel):
    """The properties of a label's nodes that are read.

    `name`: the property of the title. `key`: a unique property, or empty for the element id. `texts`: properties
    that are read as they are. `facts`: properties that become a line each. `version`: the time of a node's last
    change, which is not part of the text.
    """

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    key: str = ""
    texts: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    version: str = ""
    nodes: int = Field(0, exclude=True)

    @property
    def properties(self) -> list[str]:
        """The properties to read besides name and key."""
        return list(dict.fromkeys([*self.texts, *self.facts, *filter(None, [self.version])]))


class AttachedRelationship(BaseModel):
    """A relationship type that is read: the labels of its ends, its properties, and its name in words."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    starts: tuple[str, ...] = Field(alias="from")
    ends: tuple[str, ...] = Field(alias="to")
    words: str = ""
    facts: tuple[str, ...] = ()
    number: int = Field(0, exclude=True)


class Attachment(BaseModel):
    """Labels and relationship types by name. A node with several of the labels counts for the first.

    Example:
        >>> films = Attachment.model_validate({"labels": {"Film": {"name": "title", "facts": ["released"]}}})
        >>> films.labels["Film"].facts
        ('released',)
    """

    model_config = ConfigDict(extra="forbid")

    labels: dict[str, AttachedLabel] = Field(min_length=1)
    relationships: dict[str, AttachedRelationship] = Field(default_factory=dict)
    unnamed: dict[str, int] = Field(default_factory=dict, exclude=True)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ends = {
            label
            for relationship in self.relationships.values()
            for label in (*relationship.starts, *relationship.ends)
        }
        if unknown := sorted(ends - self.labels.keys()):
            raise ValueError(f"{', '.join(unknown)}: a relationship leads from or to it, but [labels] does not hold it")
        return self

    def to_json(self) -> str:
        """Return the attachment as JSON, in its order."""
        return json.dumps(self.model_dump(by_alias=True, exclude_defaults=True), ensure_ascii=False)

    def to_toml(self) -> str:
        """Return the attachment as a file to edit."""
        left_out = [
            f"# {label}: {nodes:,} nodes left out, no property is a name\n" for label, nodes in self.unnamed.items()
        ]
        numbers = {("labels", name): f"{entry.nodes:,} nodes" for name, entry in self.labels.items()}
        numbers |= {
            ("relationships", name): f"{entry.number:,} relationships" for name, entry in self.relationships.items()
        }
        return "\n".join([*left_out, to_toml(self, numbers)])


def read_attachment(path: Path) -> Attachment:
    """Read an attachment from a TOML or JSON file. Raises InputError with the part that is wrong."""
    return read_model(path, Attachment, "Begin with a proposal: kgrag attach NAME > attachment.toml")


def attachment_of(collection: Collection | None) -> Attachment | None:
    """Return the attachment of a collection, or None."""
    recorded = collection.attachment if collection is not None else ""
    return Attachment.model_validate_json(recorded) if recorded else None


def propose_attachment(graph: Graph, labels: Iterable[str] | None = None) -> Attachment:
    """Propose an attachment from counts, and samples of properties.

    Raises InputError for a missing label, and if no property is a name.
    """
    labels = None if labels is None else list(labels)
    numbers = check_labels(graph, labels)
    proposed, unnamed = {}, {}
    for label in dict.fromkeys(numbers if labels is None else labels):
        rows = graph.run("inspect/foreign_sample", label=label, limit=_SAMPLE)
        if proposal := _proposed(label, [row["properties"] for row in rows]):
            proposed[label] = proposal
        else:
            unnamed[label] = numbers[label]
    if not proposed or (labels is not None and unnamed):
        raise no_name(*unnamed)
    for row in named(graph, proposed):
        proposal, exact = proposed[row["label"]], row["keys"] == row["nodes"]
        proposed[row["label"]] = proposal.model_copy(
            update={"nodes": row["nodes"], "key": proposal.key if exact else ""}
        )
    there = {
        label: proposal for label, proposal in proposed.items() if proposal.nodes
    }  # others have another label that comes first
    return Attachment(labels=there, relationships=_relationships(graph, there), unnamed=unnamed)


def check_labels(graph: Graph, labels: Iterable[str] | None) -> dict[str, int]:
    """Return the labels of other people's nodes with their counts. Raises InputError for other labels."""
    numbers = {row["label"]: row["number"] for row in graph.run("inspect/foreign_labels")}
    if not numbers:
        raise InputError(
            "The database holds no nodes but kgrag's own.",
            "Name the database with your graph: KGRAG_NEO4J_URI, KGRAG_NEO4J_DATABASE.",
        )
    if unknown := [label for label in labels or () if label not in numbers]:
        raise InputError(
            f"There is no node with the label {', '.join(unknown)}.", f"There are: {', '.join(list(numbers)[:50])}."
        )
    return numbers


def named(graph: Graph, labels: Mapping[str, AttachedLabel]) -> Sequence[Mapping[str, Any]]:
    """Return the number of nodes of each label with a name and a key: {label, nodes, named, keyed, keys}."""
    return graph.run("inspect/foreign_names", **label_parameters(labels))


def label_parameters(labels: Mapping[str, AttachedLabel]) -> dict[str, Any]:
    """Return labels with the properties of their names and keys, as queries take them."""
    names, keys = ({label: getattr(attached, part) for label, attached in labels.items()} for part in ("name", "key"))
    return {"labels": list(labels), "names": names, "keys": keys}


def no_name(*labels: str) -> InputError:
    """Return the error for labels whose nodes have no name."""
    return InputError(
        f"{', '.join(labels)}: no property of these nodes is a name.",
        'Say which is: name = "..." under [labels.LABEL] of the file, or leave the label out.',
    )


def readable(name: str) -> str:
    """Return the name of a property or a type in words: releaseDate, RELEASE_DATE: release date."""
    return " ".join(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").split()).lower()


def _proposed(label: str, nodes: Sequence[Mapping[str, Any]]) -> AttachedLabel | None:
    """Return the properties of a label to read, or None if no property is a name."""
    columns: dict[str, list[Any]] = {}
    for properties in nodes:
        for key in sorted(properties):
            columns.setdefault(key, []).append(properties[key])
    lengths = {key: length for key, values in sorted(columns.items()) if (length := _length(values)) is not None}
    different = {key: len({*map(str, columns[key])}) for key in lengths}
    short = [key for key, length in lengths.items() if length <= _SHORT]
    keys = [key for key in short if _KEYS.search(key) and different[key] == len(nodes)]
    versions = [key for key in short if _VERSIONS.search(key) and _dates(columns[key]) and different[key] > 1]
    names = [key for key, length in lengths.items() if length <= _NAME and _is_text(columns[key])]
    names = [key for key in names if 2 * len(columns[key]) > len(nodes) and key not in (*keys, *versions)]
    usual = [
        key for each in _NAMES for key in names if key.replace("_", "").casefold() in (each, label.casefold() + each)
    ]
    others = [key for key in names if 2 * different[key] > len(columns[key])]
    name = next(iter([*usual, *sorted(others, key=lambda key: -different[key])]), None)
    if name is None:
        return None
    apart = {name, *keys, *versions[:1]}
    return AttachedLabel(
        name=name,
        key=keys[0] if keys else name if different[name] == len(nodes) else "",
        texts=tuple(key for key in lengths if key not in (*short, *apart)),
        facts=tuple(key for key in short if key not in apart and not _is_address(columns[key])),
        version=versions[0] if versions else "",
    )


def _relationships(graph: Graph, labels: Iterable[str]) -> dict[str, AttachedRelationship]:
    parts: dict[str, AttachedRelationship] = {}
    for row in graph.run("inspect/foreign_relationships", labels=list(labels)):
        relationship = parts.setdefault(
            row["type"], AttachedRelationship(starts=(), ends=(), words=readable(row["type"]))
        )
        relationship.starts = tuple(dict.fromkeys([*relationship.starts, row["start"]]))
        relationship.ends = tuple(dict.fromkeys([*relationship.ends, row["end"]]))
        relationship.facts = tuple(
            sorted({*relationship.facts, *(key for names in row["properties"] for key in names)})
        )
        relationship.number += row["number"]
    return parts


def _length(values: Sequence[Any]) -> float | None:
    """Return the mean length of values in characters; None for values that are not texts: bytes, embeddings."""
    if any(
        isinstance(value, bytes | bytearray) or (isinstance(value, list) and len(value) > _LIST) for value in values
    ):
        return None
    return sum(len(str(value)) for value in values) / len(values)


def _is_text(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values) and not _dates(values) and not _is_address(values)


def _is_address(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) and value.startswith(("http://", "https://")) for value in values)


def _dates(values: Sequence[Any]) -> bool:
    return all(hasattr(value, "iso_format") or (isinstance(value, str) and partial_date(value)) for value in values)
