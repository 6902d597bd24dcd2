"""Lines of triples with any content: each is read, or counted by kind."""

from collections import Counter

import pytest

from kgrag.indexing.knowledge.store import ALIAS, Fact, Named
from kgrag.indexing.knowledge.triples import CsvReader, NTriplesReader

_X = "http://x.org/"


def test_statements_names_and_values() -> None:
    read = NTriplesReader(("en", "de"))
    fact = read(f"<{_X}ships/Fram> <{_X}ns#builtBy> <{_X}Colin_Archer> . # a comment".encode())
    assert fact is not None
    assert fact.facts == [Fact(f"{_X}ships/Fram", f"{_X}ns#builtBy", f"{_X}Colin_Archer")]
    assert [named.name for named in fact.named] == ["Fram", "built By", "Colin Archer"]
    assert {named.rank for named in fact.named} == {1_000_000}  # any label outranks it
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    for text, rank in (('"Die \\"Fram\\""@de', 100), ('"The \\u0046ram; a  ship"@en-GB', 2), ('"Fram"', 900)):
        entry = read(f"<{_X}Fram> <{label}> {text} .".encode())
        assert entry is not None
        assert (entry.named[0].rank, entry.facts) == (rank, [])
    assert entry.named == [Named(f"{_X}Fram", "Fram", 900)]
    year = read(f'_:b1 <{_X}year> "1892"^^<http://www.w3.org/2001/XMLSchema#gYear> .'.encode())
    assert year is not None
    assert year.facts == [Fact("_:b1", f"{_X}year", "=1892")]
    also = read(f'<{_X}Fram> <http://www.w3.org/2004/02/skos/core#altLabel> "Forward"@en .'.encode())
    assert also is not None
    assert also.facts == [Fact(f"{_X}Fram", ALIAS, "=Forward")]
    assert also.named[0].alias == "Forward"
    assert read.counts == Counter(statements=2, names=3, aliases=1)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f'<{_X}a> <{_X}note> "some text" .', "statements whose object is a text"),
        (f'<{_X}a> <{_X}p> "t"^^<http://www.w3.org/2001/XMLSchema#string> .', "statements whose object is a text"),
        (f"<{_X}a> <{_X}other> <{_X}b> .", "statements of other properties"),
        ('<a> <http://schema.org/name> "Schiff"@de .', "names in another language"),
        ('<a> <http://schema.org/name> " " .', "names in another language"),
        ("<a> <b> <c>", "lines that are no triple"), ("\ufffdno triple", "lines that are no triple"),
        ("# a comment", ""), ("\ufeff", ""),
    ],
)  # fmt: skip
def test_what_is_left_out_is_counted(line: str, told: str) -> None:
    read = NTriplesReader(properties=[f"{_X}p", f"{_X}note"])
    assert not (entry := read(line.encode())) or not (entry.named or entry.facts)
    assert read.counts == (Counter([told]) if told else Counter())


def test_escapes_beyond_all_characters_are_no_fault() -> None:
    read = NTriplesReader()
    entry = read(b'<a> <http://schema.org/name> "\\U0001F6A2 \\U00110000\\t\\x" .')
    assert entry is not None
    assert entry.named[0].name == "\U0001f6a2 \ufffd x"


def test_rows() -> None:
    read = CsvReader("\t")
    assert read(b"Subject\tPredicate\tObject\n") is None
    entry = read("\ufeffThe Fram\tbuilt by\t\"Colin; 'C.'  Archer\"\n".encode())
    assert entry is not None
    assert [named.name for named in entry.named] == ["The Fram", "built by", "Colin; 'C.' Archer"]
    assert entry.facts == [Fact(*(named.key for named in entry.named))]
    alias = read(f"Fram\t{ALIAS}\tForward\n".encode())
    assert alias is not None
    assert alias.named[-1][:4] == (alias.named[0].key, "Fram", 0, "Forward")
    for line in (b"only\ttwo\n", b"a\t\tb\n", b"a\tb\n"):
        assert read(line) is None
    assert read(b"\r\n") is None
    assert read.counts == Counter({"statements": 2, "lines that are no triple": 3})
