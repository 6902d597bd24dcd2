"""Wikidata's JSON dump: an entity a line, as `doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html` has it.

Left out, as in Millions of GEAR-s (section 5), are statements whose object is a text; one alias an entity is kept. What
is left out or odd is counted under a few words, never fatal.
"""

import math
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import orjson

from kgrag.indexing.knowledge.store import ALIAS, Entry, Fact, Named, code, one_line, value

_FALLBACKS = tomllib.loads(files("kgrag.indexing.knowledge").joinpath("fallbacks.toml").read_text(encoding="utf-8"))
_STEP = 100  # ranks between two languages that are wanted
_VARIANT = 50  # the rank of a variant of the language outside its chain


def language_rank(tag: str, languages: Sequence[str]) -> int | None:
    """Return how near the language of a label is to the wanted ones, 0 the nearest. None: it is another language."""
    tag = tag.lower()
    for place, language in enumerate(languages):
        chain = (language.lower(), *_FALLBACKS.get(language.lower(), ()))
        if tag in chain:
            return place * _STEP + chain.index(tag)
        if base(tag) == base(chain[0]):
            return place * _STEP + _VARIANT
    return None


def nearest(tags: Iterable[str], languages: Sequence[str]) -> list[str]:
    """Return the wanted languages, the nearest first, then the one that stands for all."""
    ranks = {tag: rank for tag in tags if (rank := language_rank(tag, languages)) is not None}
    return [*sorted(ranks, key=lambda tag: (ranks[tag], tag)), "mul"]


def base(language: str) -> str:
    """Return a language without its script and country: zh of zh-hans."""
    return language.lower().partition("-")[0]


_MONTHS = (
    "January February March April May June July August September October November December"
).split()  # fmt: skip
_TEXTS = frozenset(
    "string monolingualtext external-id url commonsMedia math musical-notation geo-shape tabular-data".split()
)
_END = "P582"
_WHEN = {"P580": "from", _END: "until", "P585": "in"}
"""Qualifiers that say when a statement held."""
_EARTH = "Q2"
_MOST_DIGITS = 6  # a tenth of a metre
_WIKIS = {"nb": "no", "gsw": "als"}
"""Languages whose Wikipedia has another code."""
MIDNIGHT = "T00:00:00Z"
_DAY, _MONTH, _YEAR, _DECADE, _CENTURY = 11, 10, 9, 8, 7  # precisions of a time


@dataclass(slots=True)
class WikidataReader:
    """Reads entities line by line. `languages`: of names, the first that there is; `properties`: only these (P31, ...).

    `only`: subjects whose statements are kept, by code; others are only named. `counts`: read and skipped statements.
    """

    languages: Sequence[str] = ("en",)
    properties: Collection[str] = ()
    only: Collection[int] | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, line: bytes) -> Entry | None:
        """Return the entry of a line; None for the brackets around the dump, and for unreadable lines."""
        text = line.strip(b" \t\r\n,[]\xef\xbb\xbf\x1e")
        if not text:
            return None
        try:
            entity = orjson.loads(text)
        except ValueError:
            self.counts["lines that are no JSON"] += 1
            return None
        if not isinstance(entity, dict):
            self.counts["lines that are no entity"] += 1
            return None
        entry = Entry()
        key = entity.get("id") or entity.get("entity")
        if not isinstance(key, str):
            self.counts["lines that are no entity"] += 1
            return None
        key = key.upper()  # so in old dumps
        if isinstance(target := entity.get("redirect"), str):
            entry.redirects.append((key, target.upper()))
            self.counts["redirects"] += 1
            return entry
        if key[:1] not in "QP":
            self.counts["lexemes and others left out"] += 1
            return None
        self._name(entry, key, entity)
        if key[0] == "P":
            self.counts["properties"] += 1
            return entry
        self.counts["entities"] += 1
        if self.only is None or code(key) in self.only:
            self._statements(entry, key, entity)
        return entry

    def _name(self, entry: Entry, key: str, item: Mapping[str, Any]) -> None:
        """Set the name: the label in the first language that has one, else the article's title, else any label."""
        labels, links = _mapping(item, "labels"), _mapping(item, "sitelinks")
        language = base(self.languages[0])
        link = links.get(f"{_WIKIS.get(language, language)}wiki")
        wikipedia = _text(link.get("title")) if isinstance(link, dict) else ""
        name = next((t for x in nearest(labels, self.languages) if (t := _label(labels.get(x)))), "")
        if not name:
            others = (*nearest(labels, ("en",)), *sorted(labels))
            name = wikipedia or next((t for x in others if (t := _label(labels.get(x)))), "")
            self.counts["names in another language" if name else "entities without a name"] += 1
        if not name:
            return
        aliases = _mapping(item, "aliases")
        lists = [aliases.get(x) for x in nearest(aliases, self.languages)]
        alias = next(
            (t for values in lists if isinstance(values, list) for x in values if (t := _label(x)) and t != name), ""
        )
        entry.named.append(Named(key, name, 0, alias, wikipedia))
        if alias and key[0] == "Q":
            self.counts["aliases"] += 1
            entry.named += (Named(ALIAS, ALIAS), value(alias))
            entry.facts.append(Fact(key, ALIAS, f"={alias}"))

    def _statements(self, entry: Entry, key: str, item: Mapping[str, Any]) -> None:
        counts = self.counts
        for predicate, statements in _mapping(item, "claims").items():
            if self.properties and predicate not in self.properties:
                counts["statements of other properties"] += len(statements)
                continue
            for statement in self._best(statements if isinstance(statements, list) else ()):
                try:
                    note = self._note(statement)
                    objects = list(self._object(statement["mainsnak"]))
                except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
                    counts["statements that cannot be read"] += 1
                    continue
                for object in objects:
                    counts["statements"] += 1
                    if object.name:
                        entry.named.append(object)
                    entry.facts.append(Fact(key, predicate.upper(), object.key, note))

    def _best(self, statements: Sequence[Any]) -> list[Any]:
        """Return the statements of a property with the highest rank, as in Wikidata's dump of "truthy" ones."""
        ranks = [statement.get("rank") if isinstance(statement, dict) else None for statement in statements]
        best_rank = "preferred" if "preferred" in ranks else None
        best = []
        for statement, rank in zip(statements, ranks, strict=True):
            if rank == "deprecated":
                self.counts["statements that are deprecated"] += 1
            elif best_rank and rank != best_rank:
                self.counts["statements beside preferred ones"] += 1
            else:
                best.append(statement)
        return best

    def _note(self, statement: Mapping[str, Any]) -> str:
        """Return a statement's period by its qualifiers: "from 1990 until 3 May 1994"; others are counted."""
        words = []
        qualifiers = _mapping(statement, "qualifiers")
        for name, word in _WHEN.items():
            for snak in list(qualifiers.get(name) or ())[:1]:
                if snak.get("snaktype") == "value":
                    it = snak["datavalue"]["value"]
                    words.append(f"{word} {time(it['time'], it['precision'])}")
                elif name == _END and snak.get("snaktype") == "somevalue":
                    words.append("ended")
        left_out = sum(len(snaks) for name, snaks in qualifiers.items() if name not in _WHEN)
        if left_out:
            self.counts["qualifiers left out"] += left_out
        return " ".join(words)

    def _object(self, snak: Mapping[str, Any]) -> Iterator[Named]:
        """Yield the object of a statement; without a name if it is an entity with a line of its own."""
        kind = snak["snaktype"]
        if kind != "value":
            self.counts["statements without a value" if kind == "novalue" else "statements of an unknown value"] += 1
            return
        data = snak["datavalue"]
        it = data["value"]
        match data["type"]:
            case "wikibase-entityid":
                id = it.get("id") or f"{'P' if it['entity-type'] == 'property' else 'Q'}{int(it['numeric-id'])}"
                if id[0] not in "QPqp":
                    self.counts["statements on lexemes"] += 1
                else:
                    yield Named(id.upper(), "")
            case "time":
                yield value(time(it["time"], it["precision"]))
            case "quantity":
                amount, unit = str(it["amount"]).removeprefix("+"), str(it.get("unit", "1")).rpartition("/")[2]
                float(amount)
                yield value(amount, unit if unit != "1" else "")
            case "globecoordinate":
                globe = str(it.get("globe") or _EARTH).rpartition("/")[2]
                yield place(it["latitude"], it["longitude"], it.get("precision"), globe)
            case "string" | "monolingualtext":
                self.counts["statements whose object is a text"] += 1
            case other:
                if other not in _TEXTS and snak.get("datatype") not in _TEXTS:
                    raise ValueError(other)
                self.counts["statements whose object is a text"] += 1


def time(text: str, precision: int) -> str:
    """Return a time of Wikidata in words.

    +1952-03-11T00:00:00Z is 11 March 1952, 1952, the 1950s, ... by its precision.

    Raises ValueError.
    """
    era = " BC" if text.startswith("-") else ""
    year, month, day = (int(part) for part in text.lstrip("+-").partition("T")[0].split("-"))
    if precision >= _DAY and month and day:
        return f"{day} {_MONTHS[month - 1]} {year}{era}"
    if precision >= _MONTH and month:
        return f"{_MONTHS[month - 1]} {year}{era}"
    if precision >= _YEAR:
        return f"{year}{era}"
    if precision == _DECADE:
        return f"{year // 10 * 10}s{era}"
    if precision == _CENTURY:
        return f"{_ordinal(max(1, (year + 99) // 100))} century{era}"
    return f"about {year:,}{era}"


def place(latitude: float, longitude: float, precision: float | None = None, globe: str = "") -> Named:
    """Return a place on the globe: 59.9139 N, 10.7522 E, with the digits of its precision; on others: on Mars.

    `globe`: the key of another one than the earth.
    """
    digits = min(_MOST_DIGITS, max(0, math.ceil(-math.log10(precision)))) if precision else _MOST_DIGITS
    north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
    text = f"{_degrees(latitude, digits)} {north}, {_degrees(longitude, digits)} {east}"
    return value(text) if globe in ("", _EARTH) else value(f"{text} on", globe)


def _degrees(angle: float, digits: int) -> str:
    text = f"{abs(float(angle)):.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _ordinal(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def _mapping(item: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part of an entity; an empty one is a list in some dumps."""
    part = item.get(name)
    return part if isinstance(part, dict) else {}


def _label(label: object) -> str:
    return _text(label.get("value")) if isinstance(label, dict) else _text(label)


def _text(text: object) -> str:
    return one_line(text) if isinstance(text, str) else ""
