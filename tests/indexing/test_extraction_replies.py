"""A language model's extraction replies become facts that are kept, dropped or refused."""

from typing import Any

import pytest

from kgrag.indexing.fact_rows import Extraction, FactRows
from kgrag.models.chat import Reply
from kgrag.models.prompted import shaped
from kgrag.models.prompts import load_prompt
from kgrag.text.languages import language_of
from kgrag.values.results import Usage

_ENTITIES = [{"name": "Fram", "aliases": ["the ship"]}, {"name": "Colin Archer", "aliases": ["Archer"]}, "Nansen"]


@pytest.mark.parametrize(
    ("triple", "reason"),
    [
        (["he", "designed", "Fram"], "pronoun"), (["Fram", "designed by", "him"], "pronoun"),
        (["Fram", "", "Colin Archer"], "empty part"), (["Fram", "designed by", " - "], "empty part"),
        (["Fram", "designed by", None], "empty part"), (["timber", "makes", "good hulls"], "no named entity"),
        (["Fram", "designed by", "Archer"], "repeated"),
        (["The Fram", "Designed  by", "Colin Archer"], "repeated"), (["Fram", "carried"], "unreadable"),
        ("Fram sailed", "unreadable"), (["Fram", "carried", ["dogs", "men"]], "unreadable"),
        (["Fram", "carried", "dogs " * 100], "too long"),
    ],
)  # fmt: skip
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
        [["Fram", "seen in", "US"]],
        [{"subject": "Fram", "predicate": "seen in", "object": "US"}],
        {"triples": [["Fram", "seen in", "US"]]},
        {"named_entities": ["Fram", "US"], "facts": [["Fram", "seen in", "US"]]},
        {"entities": {"Fram": "ship", "US": "country"}, "triples": [["Fram", "seen in", "US"]]},
        {"entities": {"Fram": {"type": "ship"}, "US": ["USA"]}, "triples": [["Fram", "seen in", "US"]]},
        {"entities": {"ships": ["Fram"], "countries": ["US"]}, "triples": [["Fram", "seen in", "US"]]},
        {
            "entities": ["Fram", "US"],
            "triples": [{"subject": {"name": "Fram"}, "predicate": "seen in", "object": "US"}],
        },
        {"entities": '[{"name": "Fram"}, {"name": "US"}]', "triples": '[["Fram", "seen in", "US"]]'},
        {"entities": ["Fram", "US"], "triples": ['["Fram", "seen in", "US"]']},
    ],
)
def test_forms_that_are_understood(reply: Any) -> None:
    rows = FactRows()
    rows.add("c", "p", Extraction.model_validate(reply))
    assert [row["properties"]["text"] for row in rows.triples] == ["Fram seen in US"]


@pytest.mark.parametrize(
    "reply",
    [
        [], {}, ["Fram", "Colin Archer", "Larvik"], [{"name": "Fram"}], {"triples": []},
        {"entities": "Fram", "triples": []}, {"entities": [4], "triples": []},
        {"entities": _ENTITIES, "triples": ["one", "two"]},
    ],
)  # fmt: skip
def test_nonsense_is_refused(reply: Any) -> None:
    with pytest.raises(ValueError, match=r"wanted|requested"):
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


@pytest.mark.parametrize(
    "said",
    [
        '[["Fram", "seen in", "US"]]',
        '```json\n[["Fram", "seen in", "US"]]\n```',
        '{"Entities": {"Fram": "ship", "US": "country"}, "Triples": [["Fram", "seen in", "US"]]}',
        r'"{\"entities\": [\"Fram\", \"US\"], \"triples\": [[\"Fram\", \"seen in\", \"US\"]]}"',
    ],
)
def test_replies_that_are_understood(said: str) -> None:
    found, problem = shaped(Reply(said, "m", Usage()), Extraction)
    assert found is not None, problem
    rows = FactRows()
    rows.add("c", "p", found)
    assert [row["properties"]["text"] for row in rows.triples] == ["Fram seen in US"]
    assert {row["name"] for row in rows.keywords} == {"Fram", "US"}


@pytest.mark.parametrize(
    "written",
    [
        '"Roman Empire "', "&quot;Roman Empire&quot;", "&amp;quot;Roman Empire&amp;quot;", "**Roman Empire**",
        '**"Roman Empire"**', "`Roman Empire`", "“Roman Empire”", "Roman\nEmpire", "Roman Empire\u200b",
        "\u202eRoman Empire\u202c", "Roman &#69;mpire",
    ],
)  # fmt: skip
def test_names_lose_what_stands_around_them(written: str) -> None:
    rows = FactRows()
    reply = {"entities": [written, {"name": "Caesar", "aliases": [written]}], "triples": [[written, "had", "Caesar"]]}
    rows.add("c", "p", Extraction.model_validate(reply))
    assert [row["properties"]["text"] for row in rows.triples] == ["Roman Empire had Caesar"]
    assert {row["name"] for row in rows.entity_rows()} == {"Roman Empire", "Caesar"}


@pytest.mark.parametrize(
    "name", ["AT&T", '"Fram" and "Maud"', "Rock 'n' Roll", "__init__", "*", "O'Neill's", "می\u200cخواهم"]
)
def test_names_keep_what_is_theirs(name: str) -> None:
    assert Extraction.model_validate({"entities": [name], "triples": []}).entities[0].name == name


@pytest.mark.parametrize("name", ["N/A", "n/a", "None", "unknown", "**Unknown**", "null", "entity<|#|>Fram<|#|>ship"])
def test_what_names_nothing_becomes_no_entity(name: str) -> None:
    rows = FactRows()
    reply = {"entities": [name, "Fram"], "triples": [[name, "is", "Fram"], ["Fram", "was", name]]}
    rows.add("c", "p", Extraction.model_validate(reply))
    assert (rows.triples, rows.dropped) == ([], {"no name": 2})
    assert [row["name"] for row in rows.keywords] == ["Fram"]


def test_a_reply_that_repeats_the_example_says_nothing() -> None:
    prompt = load_prompt("extract").text
    entities = ["Halcyon", "Velmark", "Fram", "Larvik"]
    facts = [["Halcyon", "sold to", "Velmark"], ["Fram", "sold to", "Velmark"], ["Fram", "built in", "Larvik"]]
    reply = Extraction.model_validate({"entities": entities, "triples": [*facts, ["subject", "predicate", "Fram"]]})
    rows = FactRows()
    rows.add("c", "p", reply, prompt=prompt, text="Fram\nThe Fram was built in Larvik.")
    assert [row["properties"]["text"] for row in rows.triples] == ["Fram built in Larvik"]
    assert rows.dropped == {"of the prompt": 3}
    assert {row["name"] for row in rows.keywords} == {"Fram", "Larvik"}
    there = FactRows()
    there.add("c", "p", reply, prompt=prompt, text="The Halcyon was sold to Velmark, the Fram built in Larvik.")
    assert "Halcyon sold to Velmark" in [row["properties"]["text"] for row in there.triples]


def test_what_the_passage_does_not_bear_out_is_dropped() -> None:
    given = "Colin Archer\nArcher's parents came from Scotland. He designed the three-masted Fram, launched in 1892."
    kept = [
        ["Colin Archer", "designed", "Fram"],
        ["Archer's parents", "came from", "Scotland"],
        ["the three-masted Fram", "was launched in", "1892"],
        ["Fram", "is", "three masted"],
    ]
    dropped = [
        ["Fram", "launched in", "1893"],
        ["Roald Amundsen", "sailed", "Fram"],
        ["Colin Archer", "lived in", "Larvik, Norway"],
    ]
    entities = ["Colin Archer", "Fram", "Scotland", "Roald Amundsen", "Larvik"]
    rows = FactRows()
    rows.add("c", "p", Extraction.model_validate({"entities": entities, "triples": kept + dropped}), text=given)
    assert [row["properties"]["text"] for row in rows.triples] == [" ".join(triple) for triple in kept]
    assert rows.dropped == {"not in the passage": 3}
    assert {row["name"] for row in rows.keywords} == {"Colin Archer", "Fram", "Scotland"}


def test_a_language_without_spaces() -> None:
    reply = {"entities": ["巴黎", "法国", "伦敦"], "triples": [["巴黎", "位于", "法国"], ["伦敦", "位于", "英国"]]}
    rows = FactRows()
    chinese = language_of("zh")
    rows.add("c", "p", Extraction.model_validate(reply), chinese, text="巴黎\n巴黎在法国。")
    assert [(row["properties"]["subject"], row["properties"]["object"]) for row in rows.triples] == [("巴黎", "法国")]
