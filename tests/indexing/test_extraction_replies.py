"""What is made of a language model's replies to the extraction prompt: facts that are kept, dropped or refused."""

from typing import Any

import pytest

from kgrag.indexing.extracted import Extraction, FactRows

_ENTITIES = [{"name": "Fram", "aliases": ["the ship"]}, {"name": "Colin Archer", "aliases": ["Archer"]}, "Nansen"]


@pytest.mark.parametrize(
    ("triple", "reason"),
    [
        (["he", "designed", "Fram"], "pronoun"),
        (["Fram", "designed by", "him"], "pronoun"),
        (["Fram", "", "Colin Archer"], "empty part"),
        (["Fram", "designed by", " - "], "empty part"),
        (["Fram", "designed by", None], "empty part"),
        (["timber", "makes", "good hulls"], "no named entity"),
        (["Fram", "designed by", "Archer"], "repeated"),
        (["The Fram", "Designed  by", "Colin Archer"], "repeated"),
        (["Fram", "carried"], "unreadable"),
        ("Fram sailed", "unreadable"),
        (["Fram", "carried", ["dogs", "men"]], "unreadable"),
        (["Fram", "carried", "dogs " * 100], "too long"),
    ],
)
def test_what_says_nothing_is_dropped(triple: Any, reason: str) -> None:
    rows = FactRows()
    good = ["Fram", "designed by", "Colin Archer"]
    rows.add("c", "p", Extraction.model_validate({"entities": _ENTITIES, "triples": [good, triple]}))
    assert [row["properties"]["text"] for row in rows.triples] == ["Fram designed by Colin Archer"]
    assert rows.dropped == {reason: 1}


@pytest.mark.parametrize(
    "reply",
    [
        {"entities": ["Fram", "US"], "triples": [["Fram", "seen in", "US"]]},
        {"entities": [{"entity": "Fram"}], "triples": [{"head": "Fram", "relation": "seen in", "tail": "US"}]},
        {"entities": ["Fram", "US"], "triples": ["(Fram | seen in | US)"]},
        {"entities": ["Fram", "US"], "triples": ["Fram; seen in; US"]},
        {"entities": [{"name": "Fram", "aliases": None}, 7], "triples": [{"s": "Fram", "p": "seen in", "o": "US"}, 3]},
    ],
)
def test_forms_that_are_understood(reply: Any) -> None:
    rows = FactRows()
    rows.add("c", "p", Extraction.model_validate(reply))
    assert [row["properties"]["text"] for row in rows.triples] == ["Fram seen in US"]


@pytest.mark.parametrize(
    "reply",
    [
        [],
        {},
        {"triples": []},
        {"entities": "Fram", "triples": []},
        {"entities": [4], "triples": []},
        {"entities": _ENTITIES, "triples": ["one", "two"]},
    ],
)
def test_nonsense_is_refused(reply: Any) -> None:
    with pytest.raises(ValueError, match=r"wanted|asked for"):
        Extraction.model_validate(reply)


def test_a_list_that_is_null_is_empty() -> None:
    assert Extraction.model_validate({"entities": None, "triples": None}).triples == []


def test_facts_beyond_the_most_are_left_out() -> None:
    facts = [["Fram", "seen in", f"port {n}"] for n in range(2000)]
    rows = FactRows()
    rows.add("c", "p", Extraction.model_validate({"entities": _ENTITIES, "triples": facts}).first(100))
    assert (len(rows.triples), rows.dropped) == (100, {"too many": 1900})


def test_what_two_entities_are_called_names_neither() -> None:
    entities = [{"name": "John Ross", "aliases": ["Ross", "he"]}, {"name": "James Clark Ross", "aliases": ["Ross"]}]
    rows = FactRows()
    facts = [["Ross", "sailed on", "Victory"], ["John Ross", "wed", "Ann"]]
    rows.add("c", "p", Extraction.model_validate({"entities": [*entities, "Victory"], "triples": facts}))
    assert {r["normal"]: r["aliases"] for r in rows.entity_rows()} == {
        "ross": [], "victory": [], "john ross": ["Ross"], "ann": [],
    }  # fmt: skip
