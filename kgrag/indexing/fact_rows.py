"""The facts that a language model finds in a passage: the schema of its reply, and the rows for the graph.

The rows depend on one passage and one reply alone, so the order of the passages does not matter.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, ClassVar, Self
from urllib.parse import unquote

from pydantic import BaseModel, Field, ValidationInfo, model_validator

from kgrag.indexing.document_writer import Row, triple_properties
from kgrag.indexing.fact_schema import FactSchema
from kgrag.models.facts import TRIPLES, repeats_example, triple_of
from kgrag.models.prompted import json_in, object_schema
from kgrag.text.dates import as_told, may_precede, written_date
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import word_lists
from kgrag.text.tokens import content_stems, known_by, normalise, search_form, stems, words_of
from kgrag.values import identity
from kgrag.values.documents import Triple

NONE = frozenset(("", "none", "null", "n a", "unknown", "unspecified", "undefined"))
"""Words that models write in place of a name."""
LONGEST = 300  # characters: a longer subject, object or name is no name
_LISTS = {"entities": ("entities", "named_entities"), "triples": ("triples", "facts", "relations")}
_ESCAPED = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|\w+);")
_UNSEEN = re.compile("[\\0\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_QUOTES = (("**", "**"), ('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"), ("„", "“"), ("«", "»"))
_KEYS = {
    "name": ("name", "entity", "text"),
    "aliases": ("aliases", "alias"),
    "wikipedia": ("wikipedia", "wikipedia_title", "link"),
    "type": ("type", "label", "kind"),
    "from": ("from", "valid_from", "since", "start"),
    "to": ("to", "valid_to", "until", "end"),
}


class NamedEntity(BaseModel):
    """An entity that a passage names; `wikipedia`: the title of its article, or empty; `type`: of a schema of facts."""

    name: str
    aliases: list[str] = Field(default_factory=list)
    wikipedia: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class DatedTriple(Triple):
    """A triple with its validity. Empty dates are unknown."""

    valid_from: str = ""
    valid_to: str = ""


@dataclass(frozen=True, slots=True)
class CellTriple(Triple):
    """A triple with the cell of the table that states it: "3:2", row and column from 1, the header being row 1."""

    cell: str = ""


_TEXT = {"type": "string"}


def _reply(**more: Any) -> Mapping[str, Any]:
    """Return the JSON schema of a reply whose entities have further properties."""
    entity = {"name": _TEXT, "aliases": {"type": "array", "items": _TEXT}, **more}
    lists = {"entities": {"type": "array", "items": object_schema(entity)}, "triples": TRIPLES}
    return object_schema(lists)


class Extraction(BaseModel):
    """A reply: the entities and triples of a passage, as objects, or as strings and arrays.

    If only triples are listed, their ends are the entities. A list may be a string of JSON, and entities may be keys of
    an object. `unread`: items that cannot be read. `beyond`: triples beyond the limit. `cut`: the
    reply was cut off, and only its complete items are here. Raises ValueError if the triples are missing, or if no item
    of a list can be read.
    """

    REPLY: ClassVar[Mapping[str, Any]] = _reply()

    entities: list[NamedEntity]
    triples: list[Triple]
    unread: int = 0
    beyond: int = 0
    cut: bool = False

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any, info: ValidationInfo) -> Any:
        lists = _lists(value)
        entities = [_entity(item) for item in lists["entities"]]
        triples = [_triple(item) for item in lists["triples"]]
        for name, items in (("entities", entities), ("triples", triples)):
            if items and not any(items):
                raise ValueError(f"{str(lists[name][0])[:80]!r} is not one of the requested {name}")
        unread = triples.count(None)
        valid = {"entities": [e for e in entities if e], "triples": [t for t in triples if t]}
        return valid | {"unread": unread, "cut": bool((info.context or {}).get("cut"))}

    def first(self, most: int) -> Self:
        """Return the reply with at most `most` triples."""
        beyond = max(0, len(self.triples) - most)
        return self.model_copy(update={"triples": self.triples[:most], "beyond": beyond}) if beyond else self


class LinkedExtraction(Extraction):
    """An Extraction with the titles of Wikipedia articles."""

    REPLY: ClassVar[Mapping[str, Any]] = _reply(wikipedia={"type": ["string", "null"]})


def typed_extraction(schema: FactSchema) -> type[Extraction]:
    """Return the form of replies that follow a schema: its types, its predicates and the validity of facts."""
    entity = {
        "name": _TEXT,
        "aliases": {"type": "array", "items": _TEXT},
        "type": {"type": "string", "enum": list(schema.types)},
    }
    date = {"type": ["string", "null"]}
    predicate = {"type": "string", "enum": list(schema.predicates)}
    triple = {"subject": _TEXT, "predicate": predicate, "object": _TEXT, "from": date, "to": date}
    lists = {
        name: {"type": "array", "items": object_schema(item)}
        for name, item in (("entities", entity), ("triples", triple))
    }

    class TypedExtraction(Extraction):
        REPLY: ClassVar[Mapping[str, Any]] = object_schema(lists)

    return TypedExtraction


def _lists(value: Any) -> dict[str, list[Any]]:
    """Return the entities and the triples of a reply. Raises ValueError when it lists no triples."""
    if isinstance(value, list) and any(map(_says, value)):
        value = {"triples": value}
    lists: dict[str, Any] = {}
    for name, keys in _LISTS.items():
        key = next((key for key in keys if isinstance(value, dict) and key in value), None)
        if key is not None:
            lists[name] = [] if value[key] is None else _listed(value[key])
    triples = lists.get("triples")
    if isinstance(triples, list) and "entities" not in lists and any(map(_says, triples)):
        lists["entities"] = _named_ends(triples)
    elif isinstance(triples, list) and isinstance(lists.get("entities"), dict):
        lists["entities"] = _by_name(lists["entities"], _named_ends(triples))
    if not all(isinstance(lists.get(name), list) for name in _LISTS):
        raise ValueError('an object with the lists "entities" and "triples" is wanted')
    return lists


def _listed(value: Any) -> Any:
    """Return a list, parsed first if it is a string of JSON."""
    if isinstance(value, str):
        with suppress(ValueError):
            return next(json_in(value))
    return value


def _says(item: Any) -> bool:
    """Return whether this is a triple without an empty part."""
    parts = triple_of(item)
    return parts is not None and all(parts)


def _named_ends(triples: list[Any]) -> list[str]:
    """Return the subjects and objects that do not begin with a small letter."""
    ends = [end for parts in map(triple_of, triples) if parts is not None for end in (parts[0], parts[2])]
    return [end for end in dict.fromkeys(ends) if not end[:1].islower()]


def _by_name(entities: Mapping[str, Any], ends: Sequence[str]) -> list[Any]:
    """Return the entities of an object: the description of each by its name, or the names of each kind."""
    items: list[Any] = []
    for key, value in entities.items():
        if isinstance(value, list) and key not in ends:
            items += value
        elif isinstance(value, Mapping):
            items.append({**value, "name": key})
        else:
            items.append({"name": key, "aliases": value if isinstance(value, list) else None})
    return items


def _entity(item: Any) -> NamedEntity | None:
    if isinstance(item, str):
        return NamedEntity(name=_clean(item))
    if not isinstance(item, Mapping) or not isinstance(name := _value(item, "name"), str):
        return None
    aliases = _value(item, "aliases")
    if isinstance(aliases, str):
        aliases = [aliases]
    names = [_clean(alias) for alias in aliases if isinstance(alias, str)] if isinstance(aliases, list) else []
    link, kind = _value(item, "wikipedia"), _value(item, "type")
    article = _article(link) if isinstance(link, str) else ""
    return NamedEntity(name=_clean(name), aliases=names, wikipedia=article, type=kind if isinstance(kind, str) else "")


def _triple(item: Any) -> Triple | None:
    dates = [_value(item, key) for key in ("from", "to")] if isinstance(item, Mapping) else []
    if isinstance(item, list) and len(item) == 5:  # a triple and its two dates
        item, dates = item[:3], item[3:]
    parts = triple_of(item)
    if parts is None:
        return None
    dates_read = [written_date(str(date)) if isinstance(date, str | int) else "" for date in dates]
    return DatedTriple(*map(_clean, parts), *dates_read)


def _value(item: Mapping[str, Any], key: str) -> Any:
    return next((item[name] for name in _KEYS[key] if name in item), None)


def _clean(text: str) -> str:
    """Return `text` on one line, without invisible characters, markup and quotation marks around it."""
    for _ in range(2):  # &amp;quot; as well
        text = _ESCAPED.sub(lambda match: html.unescape(match[0]), text)
    text = " ".join(_UNSEEN.sub("", text.encode("utf-8", "ignore").decode()).split())
    while pair := next((p for p in _QUOTES if _is_within(text, *p)), None):
        text = text[len(pair[0]) : -len(pair[1])].strip()
    return text


def _is_within(text: str, opening: str, closing: str) -> bool:
    """Return whether a text is enclosed by two signs that do not occur within it."""
    inner = text[len(opening) : -len(closing)]
    there = text == f"{opening}{inner}{closing}" and bool(inner.strip())
    return there and opening not in inner and closing not in inner


def _article(link: str) -> str:
    """Return the title of a Wikipedia article from its title or its address."""
    if "/wiki/" in link:
        link = unquote(link.rsplit("/wiki/", 1)[1]).split("#", 1)[0]
    title = _clean(link.replace("_", " "))
    return "" if search_form(title) in (*NONE, "na") or len(title) > LONGEST else title


_PRONOUNS = word_lists("kgrag.indexing")["pronouns"]
_BORNE_OUT = 0.75
"""Share of the words of a subject or object that must stand in the passage."""
_STEM, _LEAST = 0.6, 3
"""Part of a word that its inflected forms share, and letters of it at least."""
_MARKUP = re.compile(r"<\||\|>")
"""Signs of another form of reply, such as entity<|#|>Bergen."""


@dataclass(slots=True)
class FactRows:
    """The rows for the graph, with the keys of the headers of `cypher/write`. `dropped`: reason -> number of triples.

    `dates`: how many dates of facts the passages do not hold. `keywords`: the names of each passage, also without a
    triple (GNN-Ret, section 3.1 and appendix B).
    """

    entities: dict[str, Row] = field(default_factory=dict)
    triples: list[Row] = field(default_factory=list)
    keywords: list[Row] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    dates: int = 0
    outside: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self,
        collection: str,
        passage: str,
        extraction: Extraction,
        language: Language = ENGLISH,
        *,
        prompt: str = "",
        text: str = "",
        schema: FactSchema | None = None,
    ) -> None:
        """Add the facts of a passage that say something.

        `prompt`: the text of the prompt. `text`: the text that the model was given. A triple is dropped if a part is
        empty, an end is a pronoun or not a name, it has none of the passage's entities (GEAR, section 3), it repeats
        another triple or the prompt's example, or if more than a quarter of the words of an end are not in the text.
        With a schema, triples outside it are dropped, too, and listed in `outside`. A date keeps the precision of the
        text.
        """
        holds = _holder(text, language)
        named = [e for e in extraction.entities if not repeats_example((e.name,), prompt, text)]
        there = [e for e in named if not text or any(map(holds, (e.name, *e.aliases)))]
        entities = _Names(collection, there, language)
        seen: set[tuple[str, ...]] = set()
        self.keywords += [_keyword(collection, passage, end) for end in entities.distinct()]
        self.dropped += Counter({"unreadable": extraction.unread, "too many": extraction.beyond})
        for triple in extraction.triples:
            reason = _reason(triple, entities, language)
            ends = [entities.end(surface) for surface in (triple.subject, triple.object)]
            surfaces = [(s, *e.aliases) for s, e in zip((triple.subject, triple.object), ends, strict=True)]
            fact_key: tuple[str, ...] = (
                ends[0].normal,
                normalise(triple.predicate) or triple.predicate,
                ends[1].normal,
            )
            if not reason and fact_key in seen:
                reason = "repeated"
            if repeats_example((triple.subject, triple.object), prompt, text):
                reason = "of the prompt"
            elif not reason and text and not all(any(map(holds, names)) for names in surfaces):
                reason = "not in the passage"
            fact: Fact = {}
            if schema is None:  # a model that tells types unasked gives no labels
                ends = [replace(end, type="") for end in ends]
            elif not reason:
                types = [schema.entity_type(end.type) for end in ends]
                fits = schema.conform(triple, types)
                if fits is None:
                    reason = "outside the schema"
                    subject, object = (kind or end.type or "?" for kind, end in zip(types, ends, strict=True))
                    self.outside.setdefault(passage, []).append(f"({subject})-[{triple.predicate}]->({object})")
                else:
                    relation, turned, kinds = fits
                    ends = [replace(end, type=kind or "") for end, kind in zip(ends, kinds, strict=True)]
                    dates = _dates(triple, text, language)
                    self.dates += sum(bool(getattr(triple, key, "")) for key in _DATED) - len(dates)
                    fact = {"relation": relation, **dates}
                    if turned:
                        ends.reverse()
                        triple = replace(triple, subject=triple.object, predicate=relation, object=triple.subject)
                    triple = replace(triple, predicate=_words_of(triple.predicate, relation))
                    fact_key = (ends[0].normal, relation, ends[1].normal, *fact.values())
                    reason = "repeated" if fact_key in seen else ""
            if reason:
                self.dropped[reason] += 1
                continue
            seen.add(fact_key)
            for end in ends:
                self._name(end, language)
            self.triples.append(_row(collection, passage, triple, ends, fact))

    def entity_rows(self) -> list[Row]:
        """Return the entities, sorted by id."""
        return [self.entities[id] for id in sorted(self.entities)]

    def _name(self, end: "_End", language: Language) -> None:
        row = self.entities.setdefault(
            end.id, {"id": end.id, "name": end.name, **known_by(end.normal, language), "aliases": [], "wikipedia": None}
        )
        row["name"] = min(row["name"], end.name)
        row["aliases"] = sorted({*row["aliases"], *end.aliases})
        row["wikipedia"] = min(filter(None, (row["wikipedia"], end.wikipedia)), default=None)


def _reason(triple: Triple, names: "_Names", language: Language) -> str:
    """Return why a triple is dropped; empty if it is not."""
    ends = [normalise(triple.subject, language), normalise(triple.object, language)]
    if not all(ends) or not triple.predicate:
        return "empty part"
    if any(map(_is_no_name, (triple.subject, triple.object))):
        return "no name"
    if any(map(_is_pronoun, (triple.subject, triple.object))):
        return "pronoun"
    if max(map(len, (triple.subject, triple.predicate, triple.object))) > LONGEST:
        return "too long"
    return "" if any(map(names.holds_name, ends)) else "no named entity"


def _holder(source: str, language: Language) -> Callable[[str], bool]:
    """Return a predicate for whether a text contains a subject or object: verbatim, or by its words in any inflection.

    By this rule 99.5 % of 4,000 triples of a large model stand in their passage, and .1 % in another one.
    """
    text, words = source.casefold(), words_of(source, language)
    there = {*words, *stems(words, language)}
    beginnings = {word[:size] for word in there if not word[0].isdigit() for size in range(_LEAST, len(word) + 1)}

    def holds_word(word: str) -> bool:
        beginning = word[: max(_LEAST, ceil(_STEM * len(word)))]
        return word in there or (not word[0].isdigit() and beginning in beginnings)

    def holds(surface: str) -> bool:
        if surface.casefold() in text:
            return True
        sought = [stem for stem in content_stems(words_of(surface, language), language) if stem is not None]
        return sum(map(holds_word, sought)) >= _BORNE_OUT * len(sought)

    return holds


_DATED = ("valid_from", "valid_to")
Fact = dict[str, str]
"""The properties that a schema of facts adds to a triple: its relation, valid_from and valid_to."""


def _dates(triple: Triple, text: str, language: Language) -> Fact:
    """Return the validity of a triple as its passage tells it, or no dates if it would end before it begins."""
    dates = {key: date for key in _DATED if (date := getattr(triple, key, ""))}
    if text:
        dates = {k: date for k in dates if (date := as_told(dates[k], text, language.months))}
    return dates if len(dates) < len(_DATED) or may_precede(*dates.values()) else {}


def _words_of(predicate: str, relation: str) -> str:
    """Return a predicate in words to search for, if the reply gives the name of the relation."""
    return predicate.replace("_", " ").lower() if predicate.upper() == relation else predicate


def _row(collection: str, passage: str, triple: Triple, ends: Sequence["_End"], fact: Fact) -> Row:
    dates = [fact[key] for key in _DATED if key in fact]  # the same may be true twice
    id = identity.triple_id(passage, triple.subject, " ".join((triple.predicate, *dates)), triple.object)
    subject, obj = (
        {"id": e.id, "aliases": list(e.aliases) or None, "wikipedia": e.wikipedia, "type": e.type or None} for e in ends
    )
    properties = triple_properties(id, collection, triple)
    if cell := getattr(triple, "cell", ""):
        properties["cell"] = cell
    return {"id": id, "passage": passage, "subject": subject, "object": obj, "fact": fact, "properties": properties}


def _keyword(collection: str, passage: str, end: "_End") -> Row:
    stem = f"@{end.normal}"  # no stem of a word begins like this
    return {"passage": passage, "id": identity.keyword_id(collection, stem), "stem": stem, "name": end.name}


@dataclass(frozen=True, slots=True)
class _End:
    """The subject or object of a triple: its name as written and in normal form, and its aliases in the passage."""

    id: str
    name: str
    normal: str
    aliases: tuple[str, ...] = ()
    wikipedia: str | None = None
    type: str = ""


class _Names:
    """The entities of one passage by name and alias. An entity with an article has the name of its title."""

    def __init__(self, collection: str, entities: Sequence[NamedEntity], language: Language) -> None:
        self._language = language
        self._collection = collection
        self._names: dict[str, _End] = {}
        merged: dict[str, list[NamedEntity]] = {}
        for entity in entities:
            normal = normalise(entity.name, language)
            if _can_name(normal, entity.name, language):
                merged.setdefault(normal, []).append(entity)
        aliases: dict[str, list[_End]] = {}
        for same in merged.values():
            end = self._end(same)
            self._names[normalise(same[0].name, language)] = end
            for normal in {normalise(alias, language) for alias in end.aliases}:
                aliases.setdefault(normal, []).append(end)
        for normal, ends in aliases.items():
            if len({end.id for end in ends}) == 1:  # an alias of two entities identifies neither
                self._names.setdefault(normal, ends[0])

    def distinct(self) -> list[_End]:
        """Return the entities, each once, under the names of their articles if these are known."""
        by_id = {end.id: end for end in self._names.values()}
        return [by_id[id] for id in sorted(by_id)]

    def end(self, surface: str) -> _End:
        """Return the entity of a subject or object, with or without "the"."""
        normal = normalise(surface, self._language)
        for name in (normal, normal.removeprefix("the "), f"the {normal}"):
            if name in self._names:
                return self._names[name]
        return _End(identity.entity_id(self._collection, normal), surface, normal)

    def holds_name(self, normal: str) -> bool:
        """Return whether a subject or object is, or holds, one of the names."""
        return any(name in self._names for name in _parts(normal.split()))

    def _end(self, same: Sequence[NamedEntity]) -> _End:
        title = next((entity.wikipedia for entity in same if entity.wikipedia), None)
        name = title or min(entity.name for entity in same)
        language = self._language
        normal = normalise(name, language)
        surfaces = {surface for entity in same for surface in (entity.name, *entity.aliases)}
        aliases = sorted(s for s in surfaces if (n := normalise(s, language)) != normal and _can_name(n, s, language))
        kind = next((entity.type for entity in same if entity.type), "")
        return _End(identity.entity_id(self._collection, normal), name, normal, tuple(aliases), title, kind)


def _is_pronoun(surface: str) -> bool:
    """Return whether this is a pronoun. "US" and "IT" are not."""
    return normalise(surface) in _PRONOUNS and (len(surface) == 1 or not surface.isupper())


def _is_no_name(surface: str) -> bool:
    """Return whether the text says that there are no facts, or is markup of another form of reply."""
    return normalise(surface) in NONE or bool(_MARKUP.search(surface))


def _can_name(normal: str, surface: str, language: Language) -> bool:
    common = normal in language.stop_words and not surface.isupper()
    named = not (common or _is_pronoun(surface) or _is_no_name(surface))
    return bool(normal) and named and len(surface) <= LONGEST


def _parts(words: Sequence[str]) -> Iterator[str]:
    """Yield every run of words."""
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            yield " ".join(words[start:end])
