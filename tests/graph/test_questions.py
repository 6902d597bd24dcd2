"""Follow-up questions from the graph are new to the conversation, and worth asking."""

from collections.abc import Callable

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.questions import follow_ups
from kgrag.values.documents import Document, Section

_NAME = "follow-ups"
_QUESTION = "Where was the captain of the Fjord Queen born?"
_SAID = f"{_QUESTION} In Nordvika, after the Fjord Queen."
_TEXTS = {
    "Fjord Queen": "The Fjord Queen was a steamer. Her captain was Ole Brandvik. See the FAQ, and the Harbour Board.",
    "Ole Brandvik": "Ole Brandvik was born in Nordvika. His ship was sold later.",
    "Nordvika": "Nordvika is a village in a fjord. The Fjord Queen was built there by a firm of shipwrights.",
    "FAQ": "The FAQ is a list of questions, and of what is said to them.",
}


@pytest.fixture(scope="module")
def cited(kg: KnowledgeGraph, fill: Callable[..., str]) -> list[str]:
    """The passages that an answer cites."""
    fill(_NAME, [Document(title, (Section(text),), title) for title, text in _TEXTS.items()])
    return [kg[_NAME].passage(title).id for title in ("Fjord Queen", "Ole Brandvik")]


def test_an_answer_leads_on_to_documents_beyond_it(kg: KnowledgeGraph, cited: list[str]) -> None:
    assert follow_ups(kg.graph, cited, _SAID, [_QUESTION]) == [
        "How are Fjord Queen and Nordvika connected?",
        "What is Nordvika?",
    ], "neither FAQ, which is a heading, nor Harbour Board, of which nothing more is known"
    assert follow_ups(kg.graph, cited[1:], _SAID, [_QUESTION])[-1] == "What is Nordvika?"


def test_what_was_asked_is_not_asked_again(kg: KnowledgeGraph, cited: list[str]) -> None:
    asked = [_QUESTION, "Is NORDVIKA a village?"]
    assert follow_ups(kg.graph, cited, _SAID, asked) == ["How are Fjord Queen and Nordvika connected?"]
    assert follow_ups(kg.graph, cited, _SAID, [*asked, "What has the Fjord Queen to do with Nordvika?"]) == []
    assert follow_ups(kg.graph, [], _SAID, []) == []
