"""The sentence of a passage that bears out a claim, and trails in the words of their passages."""

import json
import time
from pathlib import Path

import pytest

from kgrag.retrieval.support import Hop, by_title, hops, sentences, support
from kgrag.values.results import Hit, Passage, Step

CLAIMS = json.loads((Path(__file__).parents[1] / "quality" / "claims.json").read_text(encoding="utf-8"))
"""Claims in the words of an answer, and the sentence that bears each out: tuned on the `first` half alone."""
PEOPLE = Path(__file__).parents[2] / "kgrag" / "demo" / "corpus" / "people"

FRAM = Passage("p1", "d1", "Fram", "A polar ship.\nThe Fram was drawn\nby the builder Colin Archer. She lies in Oslo.")
ARCHER = Passage("p2", "d2", "Colin Archer", "He built 200 boats. His parents came from Scotland.")
STEPS = (Step("bm25 rank 1", "Passage", "Fram"), Step("mentions", "Entity", "Colin Archer (builder)"))
HIT = Hit(ARCHER, 1.0, (*STEPS, Step("is about", "Passage", "Colin Archer")))


def read(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def borne_out(claim: str, text: str, title: str = "") -> str:
    return text[slice(*support(claim, text, title))]


@pytest.mark.parametrize("half", ["first", "second"])
def test_the_sentence_that_bears_out_a_claim_is_found(half: str) -> None:
    rows = [row for row in CLAIMS if row["half"] == half]
    missed = []
    for row in rows:
        title, _, text = (PEOPLE / f"{row['document']}.md").read_text(encoding="utf-8").partition("\n\n")
        if borne_out(row["claim"], text, title.removeprefix("# ")) != row["sentence"]:
            missed.append(row["claim"])
    assert len(rows) == 30
    assert len(missed) <= 3, missed


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Rae met Mr. J. R. Smith of St. John's, cf. fig. 2 and Fig. 3 on pp. 3-4.|He was 3.5 m tall.",
        "Born c. 1550, he sailed on 3. Mai.|Then he came back.",
        'He said "Go."|Then he left.|“Stay!” she cried.|(It was late.)|He went…|So it was.',
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


def test_an_empty_text_has_no_sentence() -> None:
    assert read("") == read(" \n ") == []
    assert support("Anything", "") == support("Of whales", "The Fram. A ship.") == (0, 0)


def test_a_rare_word_tells_more_than_one_of_each_sentence() -> None:
    text = f"The crew left the ship. {'The ship of the crew lay in ice. ' * 6}Then walrus came."
    assert borne_out("The crew of the ship saw a walrus", text) == "Then walrus came."
    assert borne_out("The crew left the ship", text) == "The crew left the ship."


def test_a_word_of_the_title_and_a_heading_tell_little() -> None:
    text = "The builder Colin Archer\n\nColin Archer was a man. He grew up in Larvik."
    assert borne_out("Colin Archer grew up there", text, "Colin Archer") == "He grew up in Larvik."
    assert borne_out("The builder Colin Archer was a man", text) == "Colin Archer was a man."


def test_where_no_spaces_part_words() -> None:
    text = "弗拉姆号是一艘船。它由科林·阿彻设计。它停在奥斯陆。"
    assert borne_out("科林·阿彻设计了它", text) == "它由科林·阿彻设计。"


def test_it_is_quick() -> None:
    text = " ".join(f"In {year} the ship number {year} left the harbour of the town for the ice." for year in range(20))
    support("The ship left", text)
    began = time.process_time()
    for _ in range(20):
        support("In 12 the ship number 12 left the harbour", text)
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
    unnamed = Passage("p1", "d1", "Fram", "A polar ship.")
    assert hops(HIT, "Where?", {"Fram": unnamed}) == []
    assert hops(Hit(ARCHER, 1.0, STEPS[:1]), "Where?", {"Fram": FRAM}) == []
