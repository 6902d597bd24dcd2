"""What a language model says that a passage states: the form of its reply, in all the ways in which models write it."""

import html
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Self
from urllib.parse import unquote

from pydantic import BaseModel, Field, ValidationInfo, model_validator

from kgrag.models.facts import TRIPLES, triple_of
from kgrag.models.reply_text import json_in
from kgrag.text.tokens import search_form
from kgrag.values.documents import Triple

NONE = frozenset(("", "none", "null", "n a", "unknown", "unspecified", "undefined"))
"""What models write in place of a name."""
LONGEST = 300  # characters: a longer subject, object or name is no name
_LISTS = {"entities": ("entities", "named_entities"), "triples": ("triples", "facts", "relations")}
_ESCAPED = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|\w+);")
_UNSEEN = re.compile("[\\0\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_QUOTES = (("**", "**"), ('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"), ("„", "“"), ("«", "»"))
_KEYS = {
    "name": ("name", "entity", "text"),
    "aliases": ("aliases", "alias"),
    "wikipedia": ("wikipedia", "wikipedia_title", "link"),
}


class NamedEntity(BaseModel):
    """An entity that a passage names; `wikipedia`: the title of its article, or empty."""

    name: str
    aliases: list[str] = Field(default_factory=list)
    wikipedia: str = ""


_TEXT = {"type": "string"}


def _reply(**more: Any) -> Mapping[str, Any]:
    """The JSON schema of a reply whose entities have further properties."""
    entity = {"name": _TEXT, "aliases": {"type": "array", "items": _TEXT}, **more}
    lists = {"entities": {"type": "array", "items": _object(entity)}, "triples": TRIPLES}
    return _object(lists)


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


class Extraction(BaseModel):
    """A reply: the entities and triples of a passage, as objects, or as strings and arrays. `unread`: what is neither.

    Where only triples are listed, the names at their ends are the entities; a list may stand in a string, and entities
    may be an object by their names. `beyond`: triples that were left out because there are too many; `cut`: the reply
    was cut off, and this is what was whole of it. It is refused (ValueError) when it lacks the triples, or when nothing
    that a list holds can be read.
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
                raise ValueError(f"{str(lists[name][0])[:80]!r} is none of the {name} that were asked for")
        unread = triples.count(None)
        kept = {"entities": [e for e in entities if e], "triples": [t for t in triples if t]}
        return kept | {"unread": unread, "cut": bool((info.context or {}).get("cut"))}

    def first(self, most: int) -> Self:
        """The same with `most` triples at most."""
        beyond = max(0, len(self.triples) - most)
        return self.model_copy(update={"triples": self.triples[:most], "beyond": beyond}) if beyond else self


class LinkedExtraction(Extraction):
    """An Extraction with the titles of Wikipedia articles."""

    REPLY: ClassVar[Mapping[str, Any]] = _reply(wikipedia={"type": ["string", "null"]})


def _lists(value: Any) -> dict[str, list[Any]]:
    """The entities and the triples of a reply. Raises ValueError when it lists no triples."""
    if isinstance(value, list) and any(map(_says, value)):
        value = {"triples": value}
    found: dict[str, Any] = {}
    for name, keys in _LISTS.items():
        key = next((key for key in keys if isinstance(value, dict) and key in value), None)
        if key is not None:
            found[name] = [] if value[key] is None else _listed(value[key])
    triples = found.get("triples")
    if isinstance(triples, list) and "entities" not in found and any(map(_says, triples)):
        found["entities"] = _named_ends(triples)
    elif isinstance(triples, list) and isinstance(found.get("entities"), dict):
        found["entities"] = _by_name(found["entities"], _named_ends(triples))
    if not all(isinstance(found.get(name), list) for name in _LISTS):
        raise ValueError('an object with the lists "entities" and "triples" is wanted')
    return found


def _listed(value: Any) -> Any:
    """A list, also one that stands in a string as JSON."""
    if isinstance(value, str):
        with suppress(ValueError):
            return next(json_in(value))
    return value


def _says(item: Any) -> bool:
    """Whether this is a triple that says something."""
    parts = triple_of(item)
    return parts is not None and all(parts)


def _named_ends(triples: list[Any]) -> list[str]:
    """The subjects and objects that are written as names are: not with a small letter first."""
    ends = [end for parts in map(triple_of, triples) if parts is not None for end in (parts[0], parts[2])]
    return [end for end in dict.fromkeys(ends) if not end[:1].islower()]


def _by_name(entities: Mapping[str, Any], ends: Sequence[str]) -> list[Any]:
    """Entities that are an object: what is said of each by its name, or the names of each kind."""
    found: list[Any] = []
    for key, its in entities.items():
        if isinstance(its, list) and key not in ends:
            found += its
        elif isinstance(its, Mapping):
            found.append({**its, "name": key})
        else:
            found.append({"name": key, "aliases": its if isinstance(its, list) else None})
    return found


def _entity(item: Any) -> NamedEntity | None:
    if isinstance(item, str):
        return NamedEntity(name=_clean(item))
    if not isinstance(item, Mapping) or not isinstance(name := _value(item, "name"), str):
        return None
    aliases = _value(item, "aliases")
    if isinstance(aliases, str):
        aliases = [aliases]
    kept = [_clean(alias) for alias in aliases if isinstance(alias, str)] if isinstance(aliases, list) else []
    link = _value(item, "wikipedia")
    return NamedEntity(name=_clean(name), aliases=kept, wikipedia=_article(link) if isinstance(link, str) else "")


def _triple(item: Any) -> Triple | None:
    parts = triple_of(item)
    return None if parts is None else Triple(*map(_clean, parts))


def _value(item: Mapping[str, Any], key: str) -> Any:
    return next((item[name] for name in _KEYS[key] if name in item), None)


def _clean(text: str) -> str:
    """`text` on one line, without what cannot be seen, and without markup and quotation marks around it."""
    for _ in range(2):  # &amp;quot; as well
        text = _ESCAPED.sub(lambda match: html.unescape(match[0]), text)
    text = " ".join(_UNSEEN.sub("", text.encode("utf-8", "ignore").decode()).split())
    while pair := next((p for p in _QUOTES if _is_within(text, *p)), None):
        text = text[len(pair[0]) : -len(pair[1])].strip()
    return text


def _is_within(text: str, opening: str, closing: str) -> bool:
    """Whether a text stands between two signs that do not come in it otherwise."""
    inner = text[len(opening) : -len(closing)]
    there = text == f"{opening}{inner}{closing}" and bool(inner.strip())
    return there and opening not in inner and closing not in inner


def _article(link: str) -> str:
    """The title of a Wikipedia article from its title or its address."""
    if "/wiki/" in link:
        link = unquote(link.rsplit("/wiki/", 1)[1]).split("#", 1)[0]
    title = _clean(link.replace("_", " "))
    return "" if search_form(title) in (*NONE, "na") or len(title) > LONGEST else title
