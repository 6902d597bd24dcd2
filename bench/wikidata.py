"""Make a synthetic dump in Wikidata's format: a power law, hubs, and the oddities of the real one.

    python bench/wikidata.py dump.json.gz --statements 1m --odd 1000

Names share words about as often as people's names do. A sixth of the statements give an entity's class ("instance of"),
four in five of them the same class: 1.3 million of 10 million statements meet there. The dump also contains texts and
identifiers, which an import leaves out.
"""

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from synthetic import word

CLASSES = ("vessel", "harbour", "person", "island", "company", "river", "expedition", "book")
PREDICATES = ("instance of", "designed by", "owned by", "located in", "named after", "part of", "sailed to", "built on")
OBJECTS = 5  # statements of an entity about others, besides its class and a date
_EACH = OBJECTS + 2
_FACT = (
    '{"mainsnak":{"snaktype":"value","property":"%s","hash":"b6d1f1ab4d1d2d4ed9f0b0b2b0e5a1c7d8e9f0a1",'
    '"datavalue":{"value":{"entity-type":"item","numeric-id":%d,"id":"Q%d"},"type":"wikibase-entityid"},'
    '"datatype":"wikibase-item"},"type":"statement","id":"Q%d$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9","rank":"normal",'
    '"references":[{"hash":"a4d108601216cffd2ff1819ccf12b483486b62e7","snaks":{},"snaks-order":[]}]}'
)
_TIME = (
    '{"mainsnak":{"snaktype":"value","property":"P8","datavalue":{"value":{"time":"+%d-%02d-%02dT00:00:00Z",'
    '"timezone":0,"before":0,"after":0,"precision":11,"calendarmodel":"http://www.wikidata.org/entity/Q1985727"},'
    '"type":"time"},"datatype":"time"},"type":"statement","id":"Q%d$A","rank":"normal"}'
)
_TEXT = (
    '{"mainsnak":{"snaktype":"value","property":"P214","datavalue":{"value":"%d","type":"string"},'
    '"datatype":"external-id"},"type":"statement","id":"Q%d$B","rank":"normal"}'
)


def name_of(number: int) -> str:
    """Return the name of an entity: one of 2,000 first and 200,000 last words, by a power law."""
    chance = random.Random(number)
    return " ".join(word(_rank(chance, *law)).title() for law in ((2_000, 10, 60_000), (200_000, 100, 400_000)))


def _rank(chance: random.Random, n: int, shift: int, first: int) -> int:
    """Return `first` + k, where the k-th of n words has a probability proportional to 1 / (k + shift)."""
    return first + int(shift * ((n / shift + 1) ** chance.random() - 1))


def entity_lines(statements: int, seed: int = 1) -> Iterator[str]:
    """Yield the lines of properties, classes and entities with `statements` statements that an import keeps."""
    chance = random.Random(seed)
    count = max(1, statements // _EACH)
    for number, predicate in enumerate(PREDICATES, 1):
        yield json.dumps({"type": "property", "id": f"P{number}", "labels": _labels(predicate), "claims": {}})
    for number, kind in enumerate(CLASSES, 1):
        yield json.dumps({"type": "item", "id": f"Q{number}", "labels": _labels(kind), "claims": []})
    begin = len(CLASSES) + 1
    for number in range(begin, begin + count):
        name = name_of(number)
        kind = 1 if chance.random() < 0.8 else chance.randrange(2, len(CLASSES) + 1)
        parts = [f'"P1":[{_FACT % ("P1", kind, kind, number)}]']
        used: dict[int, list[str]] = {}
        for _ in range(OBJECTS):
            other = begin + int(count * chance.random() ** 3)
            predicate = chance.randrange(2, len(PREDICATES))
            used.setdefault(predicate, []).append(_FACT % (f"P{predicate}", other, other, number))
        parts += [f'"P{p}":[{",".join(facts)}]' for p, facts in used.items()]
        when = (chance.randrange(1500, 2020), chance.randrange(1, 13), chance.randrange(1, 28))
        parts.append(f'"P8":[{_TIME % (*when, number)}]')
        parts.append(f'"P214":[{_TEXT % (number, number)}]')
        aliases = f'"en":[{{"language":"en","value":"The {name}"}}]' if number % 10 == 0 else ""
        yield (
            f'{{"type":"item","id":"Q{number}","labels":{{"de":{{"language":"de","value":"{name}"}},"en":'
            f'{{"language":"en","value":"{name}"}}}},"descriptions":{{"en":{{"language":"en","value":"a thing"}}}},'
            f'"aliases":{{{aliases}}},"claims":{{{",".join(parts)}}},"sitelinks":{{"enwiki":{{"site":"enwiki",'
            f'"title":"{name}","badges":[]}}}},"pageid":{number},"ns":0,"title":"Q{number}","lastrevid":1,'
            '"modified":"2026-01-01T00:00:00Z"}'
        )


def odd_lines(number: int, first: int = 900_000_000) -> Iterator[tuple[str, str]]:
    """Yield lines with the oddities of real dumps, each with the kind that an import counts it as."""
    kinds = list(_odd("Q0"))
    for i in range(number):
        key = f"Q{first + i}"
        told, line = list(_odd(key))[i % len(kinds)]
        yield told, line


def _odd(key: str) -> Iterator[tuple[str, str]]:
    def item(**more: Any) -> str:
        return json.dumps({"type": "item", "id": key, "labels": _labels("Odd Thing"), "claims": {}} | more)

    def with_snak(rank: str = "normal", **snak: Any) -> str:
        snak = {"snaktype": "value", "property": "P2"} | snak
        return item(claims={"P2": [{"mainsnak": snak, "type": "statement", "rank": rank}]})

    thing = {"value": {"entity-type": "item", "numeric-id": 9, "id": "Q9"}, "type": "wikibase-entityid"}
    old = {"value": {"entity-type": "item", "numeric-id": 9}, "type": "wikibase-entityid"}
    when = {"time": "-0044-03-15T00:00:00Z", "precision": 11}
    yield "entities without a name", item(labels=[])
    yield "names in another language", item(labels={"eo": {"language": "eo", "value": "Nekonata"}})
    yield "names in another language", item(labels={}, sitelinks={"enwiki": {"site": "enwiki", "title": "An Article"}})
    yield "entities", item(labels={"mul": {"language": "mul", "value": "Everywhere"}})
    yield "statements that are deprecated", with_snak("deprecated", datavalue=thing)
    yield "statements of an unknown value", with_snak(snaktype="somevalue")
    yield "statements without a value", with_snak(snaktype="novalue")
    yield "redirects", json.dumps({"entity": key, "redirect": "Q9"})
    yield "lexemes and others left out", json.dumps({"type": "lexeme", "id": f"L{key[1:]}", "lemmas": {}, "forms": []})
    yield "statements", with_snak(datavalue=old)
    yield "statements", with_snak("preferred", datavalue=thing)
    yield "statements", with_snak(datavalue={"value": when, "type": "time"})
    yield "statements", with_snak(datavalue={"value": when | {"time": "+1950-00-00T00:00:00Z", "precision": 8},
                                             "type": "time"})  # fmt: skip
    yield "statements", with_snak(datavalue={"value": {"amount": "+1.96", "unit": "http://www.wikidata.org/entity/Q9"},
                                             "type": "quantity"})  # fmt: skip
    yield "statements", with_snak(datavalue={"value": {"latitude": -33.9, "longitude": 18.4, "globe": "Q2"},
                                             "type": "globecoordinate"})  # fmt: skip
    yield "statements whose object is a text", with_snak(datavalue={"value": {"text": "Nave", "language": "it"},
                                                                    "type": "monolingualtext"})  # fmt: skip
    yield "statements whose object is a text", with_snak(datatype="url", datavalue={"value": "x", "type": "string"})
    yield "statements on lexemes", with_snak(datavalue={"value": {"entity-type": "lexeme", "id": "L7"},
                                                        "type": "wikibase-entityid"})  # fmt: skip
    yield "statements that cannot be read", with_snak(datavalue={"value": {"time": "soon", "precision": 11},
                                                                 "type": "time"})  # fmt: skip
    yield "statements that cannot be read", with_snak(datavalue=None)
    yield "statements that cannot be read", with_snak(datavalue={"value": 1, "type": "unheard-of"})
    yield "lines that are no JSON", item()[:-9]
    yield "lines that are no entity", "17"
    yield "aliases", item(aliases={"en": [{"language": "en", "value": 'The "Odd"; One, \\ it is'}]})


def _labels(text: str) -> dict[str, dict[str, str]]:
    return {"en": {"language": "en", "value": text}}


def write(path: Path, statements: int, odd: int = 0) -> Counter[str]:
    """Write a dump; return the expected counts of its oddities by kind."""
    expected: Counter[str] = Counter()
    with (
        gzip.open(path, "wt", 1, encoding="utf-8") if path.suffix == ".gz" else path.open("w", encoding="utf-8")
    ) as file:
        file.write("[\n")
        first = True
        for line in entity_lines(statements):
            file.write(line if first else f",\n{line}")
            first = False
        for told, line in odd_lines(odd):
            expected[told] += 1
            file.write(f",\n{line}")
        file.write("\n]\n")
    return expected


def number(text: str) -> int:
    """Convert 100k, 10m or a plain number."""
    unit = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower())
    return int(float(text[:-1]) * unit) if unit else int(text)


def main() -> None:
    """Parse the command line and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path)
    parser.add_argument("--statements", type=number, default=1_000_000, metavar="N", help="such as 100k or 10m")
    parser.add_argument("--odd", type=int, default=0, metavar="N", help="lines that are odd")
    arguments = parser.parse_args()
    expected = write(arguments.dump, arguments.statements, arguments.odd)
    print(f"{arguments.dump}: {arguments.dump.stat().st_size / 1e6:,.0f} MB")
    for what, count in sorted(expected.items()):
        print(f"{count:>8,} {what}")


if __name__ == "__main__":
    main()
