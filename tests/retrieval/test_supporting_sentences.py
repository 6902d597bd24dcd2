"""The sentence of a passage that supports a claim, and trails in the words of their passages."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kgrag.retrieval.clauses import sentences
from kgrag.retrieval.quoted_trail import Hop, by_title, hops, told_trail
from kgrag.retrieval.support import nearest_sentence, support
from kgrag.values.results import Hit, Passage, Step

CLAIMS = json.loads((Path(__file__).parents[1] / "quality" / "claims.json").read_text(encoding="utf-8"))
"""Claims in the words of an answer, and the sentence that supports each; rules were tuned on `first` only."""
PEOPLE = Path(__file__).parents[2] / "kgrag" / "demo" / "corpus" / "people"

FRAM = Passage("p1", "d1", "Fram", "A polar ship.\nThe Fram was drawn\nby the builder Colin Archer. She lies in Oslo.")
ARCHER = Passage("p2", "d2", "Colin Archer", "He built 200 boats. His parents came from Scotland.")
STEPS = (Step("bm25 rank 1", "Passage", "Fram"), Step("mentions", "Entity", "Colin Archer (builder)"))
HIT = Hit(ARCHER, 1.0, (*STEPS, Step("is about", "Passage", "Colin Archer")))


def read(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def nearest(claim: str, text: str, title: str = "") -> str:
    return text[slice(*nearest_sentence(claim, text, title))]


@pytest.mark.parametrize("half", ["first", "second"])
def test_the_sentence_nearest_to_a_claim_is_the_right_one(half: str) -> None:
    rows = [row for row in CLAIMS if row["half"] == half]
    missed = []
    for row in rows:
        title, _, text = (PEOPLE / f"{row['document']}.md").read_text(encoding="utf-8").partition("\n\n")
        if nearest(row["claim"], text, title.removeprefix("# ")) != row["sentence"]:
            missed.append(row["claim"])
    assert len(rows) == 30
    assert len(missed) <= 3, missed


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Rae met Mr. J. R. Smith of St. John's, cf. fig. 2 and Fig. 3 on pp. 3-4.|He was 3.5 m tall.",
        "Born c. 1550, he sailed.|Then he came back.",
        'He said "Go."|Then he left.|“Stay!” she cried.|(It was late.)',
        "极地船弗拉姆号于1892年下水。|“他说好。”|它由阿彻设计！|真的吗？|是。",
        "A heading||The text goes on\nin lines. |And ends",
        "- one|- two.|Ship: Fram.|1. First",
    ],
)
def test_sentences(text: str) -> None:
    written = text.replace("||", "\n\n").replace("|", " ")
    for line in ("A heading", "- one", "- two.", "Ship: Fram."):
        written = written.replace(f"{line} ", f"{line}\n")
    assert read(written) == [part.strip() for part in text.split("|") if part]


def test_a_sentence_may_end_without_a_space() -> None:
    assert read("He died in Oslo.The ship sank.") == ["He died in Oslo.", "The ship sank."]
    calls, link = "It calls torch.nn.Linear(x).", "See a.org/Guide.Html now."
    assert read(f"{calls} {link}") == [calls, link]
    text = "The Fram was built by Colin Archer.She left Oslo in 1893 for the ice."
    start, end = support("The Fram left Oslo in 1893.", text, "Fram")
    assert text[start:end] == "She left Oslo in 1893 for the ice."


def test_an_empty_text_has_no_sentence() -> None:
    assert read("") == read(" \n ") == []
    assert nearest_sentence("Anything", "") == nearest_sentence("Of whales", "The Fram. A ship.") == (0, 0)
    assert support("Anything", "") == (0, 0)


def test_rare_words_tell_more_than_those_of_each_sentence_of_the_title_or_of_a_heading() -> None:
    text = f"The crew left the ship. {'The ship of the crew lay in ice. ' * 6}Then walrus came."
    assert nearest("The crew of the ship saw a walrus", text) == "Then walrus came."
    assert nearest("The crew left the ship", text) == "The crew left the ship."
    text = "The builder Colin Archer\n\nColin Archer was a man. He grew up in Larvik."
    assert nearest("Colin Archer grew up there", text, "Colin Archer") == "He grew up in Larvik."
    assert nearest("The builder Colin Archer was a man", text) == "Colin Archer was a man."
    text = "弗拉姆号是一艘船。它由科林·阿彻设计。它停在奥斯陆。"
    assert nearest("科林·阿彻设计了它", text) == "它由科林·阿彻设计。"


def test_it_is_quick() -> None:
    text = " ".join(f"In {year} the ship number {year} left the harbour of the town for the ice." for year in range(20))
    began = time.process_time()
    for _ in range(20):
        nearest_sentence("In 12 the ship number 12 left the harbour", text)
    assert (time.process_time() - began) / 20 < 0.01


def test_a_trail_is_quoted() -> None:
    found = hops(HIT, "Where did the designer's parents come from?", by_title([Hit(FRAM, 1.0), HIT]))
    line = "The Fram was drawn by the builder Colin Archer."
    assert found == [
        Hop("p1", "Fram", line, "Colin Archer (builder)", 34, 46),
        Hop("p2", "Colin Archer", "His parents came from Scotland."),
    ]
    assert line[34:46] == "Colin Archer"


def test_a_trail_of_which_a_step_cannot_be_quoted_is_not_told() -> None:
    assert hops(HIT, "Where?", {}) == []
    assert hops(HIT, "Where?", {"Fram": Passage("p1", "d1", "Fram", "A polar ship.")}) == []
    assert hops(Hit(ARCHER, 1.0, STEPS[:1]), "Where?", {"Fram": FRAM}) == []
    gone = Passage("p2", "d2", "Colin Archer", "")  # only the title remains of a removed document
    assert hops(Hit(gone, 1.0, HIT.why), "Where?", by_title([Hit(FRAM, 1.0)])) == []
    assert told_trail([Hit(FRAM, 1.0), Hit(gone, 0.5, HIT.why)], "Where?") == []
    denied = replace(FRAM, text=f"{FRAM.text} Colin Archer built 200 boats.")
    end = replace(HIT, passage=replace(ARCHER, text="Colin Archer built 300 boats."))
    assert hops(HIT, "Where?", {"Fram": denied}) != [] == hops(end, "Where?", {"Fram": denied})


def test_a_way_in_a_circle_is_no_trail() -> None:
    back = Hit(ARCHER, 1.0, (*HIT.why, Step("mentions", "Entity", "Fram"), Step("title of", "Passage", "Fram")))
    assert hops(back, "Where?", by_title([Hit(FRAM, 1.0), HIT])) == []


def test_the_trail_is_that_of_the_best_hit_that_answers() -> None:
    larvik = Passage("p3", "d3", "Larvik", "Larvik is a town. It has a harbour.")
    far = Hit(larvik, 0.9, (*HIT.why[:2], Step("mentions", "Entity", "Colin Archer"), Step("in", "Passage", "Larvik")))
    question = "From where did the parents of the builder of the ship come?"
    assert [hop.passage for hop in told_trail([Hit(FRAM, 1.0), far, HIT], question)] == ["p1", "p2"]
    assert told_trail([Hit(FRAM, 1.0), HIT], "Which bridges, tunnels and canals did engineers of Spain build?") == []
    assert told_trail([Hit(FRAM, 1.0)], question) == []
    assert told_trail([Hit(FRAM, 1.0), HIT], "What is the Fram?") == [], "the first passage is on that"
