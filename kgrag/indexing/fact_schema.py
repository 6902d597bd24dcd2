"""A schema of facts: the types and predicates that an extraction must follow, as a file and in the graph."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.graph.schema import OURS
from kgrag.runtime.model_files import parse_model, read_model, to_toml
from kgrag.text.languages import ENGLISH
from kgrag.text.tokens import stems, words_of
from kgrag.values.documents import Triple
from kgrag.values.errors import InputError

Label = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9_]{0,60}$")]
"""A label as Neo4j's users write them: Person."""
RelationshipType = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,60}$")]
"""A type of relationships: BORN_IN."""
_INDEXED = re.compile(r"[A-Z][A-Za-z]*_c\d+")
"""A collection's own labels, such as Passage_c7."""
_REMEDY = "A schema is a TOML or JSON file: types are named like Person, predicates like BORN_IN; see docs/schema.md."
_DATE = re.compile(rf"[\d\W_]+|(?:\d{{1,2}} )?(?:{ENGLISH.months})(?: \d{{1,2}})?,? \d{{4}}", re.IGNORECASE)
"""Values that are not entities of a predicate's type unless a reply says so: 1832, 22 July 1832."""
_MOST = 100
"""Types, and predicates: all of them stand in every prompt."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    description: str = ""
    synonyms: tuple[str, ...] = ()


class EntityType(_Part):
    """A type of entities, which becomes a label. `synonyms`: other words of models for it."""


class Predicate(_Part):
    """A predicate, which becomes a type of relationships.

    `subjects` and `objects`: the allowed types of its ends, or empty for any. `one`: which end there is one of at a
    time, so that a later beginning ends the earlier fact: "to" (or true): a subject has one object; "from": an object
    has one subject, as an office has one holder. `inverse`: words for the predicate from object to subject, such as
    "owned by" for OWNS; the passive, "designed by" for DESIGNED, is known.
    """

    subjects: tuple[Label, ...] = Field((), alias="from")
    objects: tuple[Label, ...] = Field((), alias="to")
    inverse: tuple[str, ...] = ()
    one: Literal[False, True, "from", "to"] = False


class FactSchema(BaseModel):
    """Types and predicates by their names.

    Example:
        >>> schema = FactSchema.model_validate(
        ...     {"types": {"Person": {}, "Place": {}}, "predicates": {"BORN_IN": {"from": ["Person"], "to": ["Place"]}}}
        ... )
        >>> schema.predicate("was born in")
        'BORN_IN'
    """

    model_config = ConfigDict(extra="forbid")

    types: dict[Label, EntityType] = Field(min_length=1, max_length=_MOST)
    predicates: dict[RelationshipType, Predicate] = Field(min_length=1, max_length=_MOST)
    _types: dict[tuple[str, ...], str] = PrivateAttr()
    _predicates: dict[tuple[str, ...], str] = PrivateAttr()
    _inverse: dict[tuple[str, ...], str] = PrivateAttr()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        labels, types = {OURS, *describe().labels("all")}, {edge.type for edge in describe().edges}
        reserved = [name for name in self.types if name in labels or _INDEXED.fullmatch(name)]
        reserved += [name for name in self.predicates if name in types]
        if reserved:
            raise ValueError(f"{', '.join(reserved)}: kgrag uses this name itself; choose another one")
        ends = {end for each in self.predicates.values() for end in (*each.subjects, *each.objects)}
        if unknown := sorted(ends - self.types.keys()):
            raise ValueError(f"{', '.join(unknown)}: a predicate leads from or to it, but [types] does not hold it")
        self._types, self._predicates = _by_words(self.types), _by_words(self.predicates)
        self._inverse = {_words(each): name for name, part in self.predicates.items() for each in part.inverse}
        if both := self._inverse.keys() & self._predicates.keys():
            raise ValueError(f"{' '.join(min(both))!r} is a synonym and an inverse")
        voices = {_other_voice(name): name for name in self.predicates}
        self._inverse |= {words: name for words, name in voices.items() if self._predicates.get(words, name) == name}
        return self

    @property
    def version(self) -> str:
        """12 hexadecimal digits that depend on the schema, but not on the order of its parts."""
        return hashlib.blake2b(self.to_json().encode(), digest_size=6).hexdigest()

    def to_json(self) -> str:
        """Return the schema as JSON, sorted by names."""
        plain = self.model_dump(by_alias=True, exclude_defaults=True)
        return json.dumps(plain, sort_keys=True, ensure_ascii=False)

    def to_toml(self) -> str:
        """Return the schema as a file to edit."""
        return to_toml(self)

    def entity_type(self, name: str) -> str | None:
        """Return the type of a name or synonym, or None."""
        return self._types.get(_words(name))

    def predicate(self, name: str) -> str | None:
        """Return the predicate of a name, synonym or inverse, or None."""
        return self._inverse.get(_words(name)) or self._predicates.get(_words(name))

    def prompt_values(self) -> Mapping[str, str]:
        """Return the types and the predicates as a prompt lists them."""
        types = [f"- {name}{_about(part)}" for name, part in self.types.items()]
        predicates = [
            f"- {name} ({_ends(part.subjects)} -> {_ends(part.objects)}){_about(part)}"
            for name, part in self.predicates.items()
        ]
        return {"types": "\n".join(types), "predicates": "\n".join(predicates)}

    def patterns(self) -> str:
        """Return the relationships that the schema adds to the graph, in few words, for a prompt."""
        lines = ["By a schema of facts, entities have these relationships between them, and labels besides Entity:"]
        for name, part in self.predicates.items():
            subjects, objects = ("|".join(kinds) or "Entity" for kinds in (part.subjects, part.objects))
            lines.append(f"(:{subjects})-[:{name}]->(:{objects}){_about(part)}")
        lines.append(f"Labels: {', '.join(self.types)}")
        lines.append("Properties of these relationships: facts (ids of Triple), passages (ids); where they are known")
        lines.append("  valid_from, valid_to (as 1999, 1999-05 or 1999-05-17), ended_by (a name), stated_at (a date)")
        return "\n".join(lines)

    def conform(self, triple: Triple, types: Sequence[str | None]) -> tuple[str, bool, tuple[str | None, ...]] | None:
        """Return the predicate of a triple, whether it leads from object to subject, and the types of both.

        None: the triple is outside the schema. `types`: those of subject and object in the reply. An end without a type
        gets the only type that the predicate allows, unless it is a date: nobody is born in the place 1832.
        """
        name = self.predicate(triple.predicate)
        if name is None:
            return None
        allowed = (self.predicates[name].subjects, self.predicates[name].objects)
        turned = _words(triple.predicate) in self._inverse
        allowed = allowed[::-1] if turned else allowed
        names = (triple.subject, triple.object)
        ends = tuple(
            kind or (kinds[0] if len(kinds) == 1 and not _DATE.fullmatch(end) else None)
            for kind, kinds, end in zip(types, allowed, names, strict=True)
        )
        fits = all(not kinds or kind in kinds for kind, kinds in zip(ends, allowed, strict=True))
        return (name, turned, ends) if fits else None


def read_fact_schema(path: Path) -> FactSchema:
    """Read a schema from a TOML or JSON file. Raises InputError with the part that is wrong."""
    return read_model(path, FactSchema, _REMEDY)


def parse_fact_schema(plain: Any, place: str) -> FactSchema:
    """Return the schema that JSON or TOML at a place holds. Raises InputError with the part that is wrong."""
    return parse_model(plain, FactSchema, place, _REMEDY)


def fact_schema(collection: Collection) -> FactSchema | None:
    """Return the schema of a collection's facts, or None."""
    return FactSchema.model_validate_json(collection.fact_schema) if collection.fact_schema else None


def set_fact_schema(graph: Graph, collection: Collection, schema: FactSchema | None) -> None:
    """Set or remove a collection's schema. The next extraction reads all passages again.

    Raises InputError if a type is a label of other people's nodes, since their programs would count these entities.
    """
    rows = graph.run("inspect/labels_of_others", labels=sorted(schema.types)) if schema else []
    if names := ", ".join(row["label"] for row in rows):
        raise InputError(f"{names}: other nodes of this database have this label.", "Name the type otherwise.")
    predicates = schema.predicates.items() if schema else ()
    graph.run(
        "write/fact_schema",
        collection=collection.name,
        schema=schema.to_json() if schema else "",
        one=sorted(name for name, each in predicates if each.one in (True, "to")),
        bearer=sorted(name for name, each in predicates if each.one == "from"),
    )


def _by_words(parts: Mapping[str, _Part]) -> dict[tuple[str, ...], str]:
    """Return the words of each name and synonym -> the name. Raises ValueError if two names share words."""
    names: dict[tuple[str, ...], str] = {}
    for name, part in parts.items():
        for words in {_words(name), *map(_words, part.synonyms)}:
            if names.setdefault(words, name) != name:
                raise ValueError(f"{names[words]} and {name} are both called {' '.join(words)!r}")
    return names


def _words(name: str) -> tuple[str, ...]:
    """Return the stems of a name without auxiliaries, the same for BORN_IN, born in and was born in."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " ").replace("-", " "))
    words = tuple(stems(words_of(parted)))
    return tuple(stem for stem in words if stem not in _AUXILIARY) or words


def _other_voice(name: str) -> tuple[str, ...]:
    """Return the words of the passive of an active predicate, and the other way round: DESIGNED, designed by."""
    words = _words(name)
    return words[:-1] if len(words) > 1 and words[-1] == "by" else (*words, "by")


_AUXILIARY = frozenset(stems("is was are were be been has have had the a an".split()))


def _about(part: _Part) -> str:
    return f": {part.description}" if part.description else ""


def _ends(types: Iterable[str]) -> str:
    return " or ".join(types) or "anything"
