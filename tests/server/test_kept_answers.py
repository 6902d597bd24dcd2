"""Whatever becomes of documents, what was answered from them can be shown, and shows nothing that is no more."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from kgrag import wire
from kgrag.drawing import drawing
from kgrag.retrieval.trail import follow
from kgrag.server.answer_forms import result_form
from kgrag.server.api.conversations import as_held
from kgrag.values.events import Answer, Citation, Retrieved
from kgrag.values.results import Hit, Passage, Ranking, Step

_TITLES = ["Fjord Queen", "Ole Brandvik", "Nordvika", "Ships"]
_TEXTS = [
    "The Fjord Queen was a steamer. Her captain was Ole Brandvik.",
    "Ole Brandvik was born in Nordvika. His ship was sold later.",
    "Nordvika is a town.\n\n- one\n- two",
    "北の船。船長はオーレ。",
    "Ships",
]
_QUESTION = "Where was the captain of the Fjord Queen born?"
_passage = some.builds(
    Passage,
    some.sampled_from([f"p{number}" for number in range(6)]),
    some.sampled_from(["d1", "d2"]),
    some.sampled_from(_TITLES),
    some.sampled_from(_TEXTS),
    ordinal=some.integers(0, 2),
)


@some.composite
def _hits(draw: Any) -> tuple[Hit, ...]:
    """Hits with trails over the passages among them, and over others."""
    passages = list({its.id: its for its in draw(some.lists(_passage, min_size=1, max_size=6))}.values())
    hits = []
    for passage in passages:
        why = [Step("bm25 rank 1", "Passage", "")] if draw(some.booleans()) else []
        for other in draw(some.lists(some.sampled_from(passages), max_size=3)):
            name = draw(some.sampled_from([other.title, f"{other.ordinal + 1} · {other.title}"]))
            why += [follow("MENTIONS", "Entity", draw(some.sampled_from(_TITLES))), follow("ABOUT", "Passage", name)]
        hits.append(Hit(passage, draw(some.floats(0, 1)), tuple(why)))
    return tuple(hits)


@some.composite
def _histories(draw: Any) -> tuple[Answer | Ranking, dict[str, Passage]]:
    """A saved answer, and the later state of its passages: the same, another text, nothing."""
    hits = draw(_hits())
    ranking = Ranking(_QUESTION, "pathrank", hits)
    now = {}
    for hit in hits:
        fate = draw(some.sampled_from(["kept", "replaced", "emptied", "deleted"]))
        if fate == "kept":
            now[hit.passage.id] = hit.passage
        elif fate != "deleted":
            text = "" if fate == "emptied" else "Something else."
            now[hit.passage.id] = Passage(hit.passage.id, "d1", "Other", text)
    if draw(some.booleans()):
        return ranking, now
    cited = draw(some.lists(some.integers(1, len(hits)), max_size=3, unique=True))
    text = draw(some.sampled_from(["He was born in Nordvika", "船長", "", "- one\n- two"])) + "".join(
        f" [{n}]" for n in cited
    )
    citations = tuple(Citation(number, hits[number - 1].passage) for number in cited)
    trace = (Retrieved(step=1, query=_QUESTION, hits=hits),)
    return Answer(_QUESTION, text, True, "single+pathrank", ranking, citations, trace), now


@settings(max_examples=300)
@given(_histories())
def test_what_was_answered_can_be_shown(history: tuple[Answer | Ranking, dict[str, Passage]]) -> None:
    result, now = history
    held, gone = as_held(result, now)
    assert held is not None
    form = json.loads(wire.dumps({"shown": result_form(held, gone), "whole": wire.to_json(held)}))
    ranking = held if isinstance(held, Ranking) else held.ranking
    drawing(ranking)
    if isinstance(result, Answer):
        assert form["shown"]["answer"]["text"] == result.text
    assert {source["passage"]["id"] for source in form["shown"]["sources"] if source["gone"]} <= gone
    for source in form["shown"]["sources"]:
        passage, (start, end) = source["passage"], source["support"]
        assert bool(passage["text"]) is (passage["id"] not in gone)
        assert 0 <= start <= end <= len(passage["text"])
    way = [hop["passage"] for hop in form["shown"]["hops"]]
    assert len(set(way)) == len(way) and not gone & set(way)
