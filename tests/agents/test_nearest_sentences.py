"""The sentences of a passage shown to a reader; the citation refers to the whole passage."""

from scripted import Scripted

from kgrag.agents.answering import AnswerOptions, answer, nearest_sentences
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.prompted import PromptedModel
from kgrag.values.results import Item, Passage, Summary

FRAM = "The Fram is a ship. Her sails were red. Colin Archer drew her lines. A cat lived aboard. She was built in 1892."
ITEMS: list[Item] = [
    [Passage("p1", "d1", "Fram (ship)", FRAM)],
    [Passage("p2", "d2", "Colin Archer", "He lived in Larvik.\nHe had a dog. The harbour was near")],
    Summary("All", "Ships. Towns. Dogs."),
]
QUESTION = "In which town did he live who designed the ship that was built in 1892?"


def _texts(most: int, question: str = QUESTION) -> list[str]:
    found = nearest_sentences(ITEMS, question, most)
    return [item.text if isinstance(item, Summary) else item[0].text for item in found]


def test_the_first_and_what_names_the_question_or_another_title() -> None:
    """Sentences keep their order; a title counts without its parenthesis, a summary stays whole."""
    assert _texts(3) == [
        "The Fram is a ship. Colin Archer drew her lines. She was built in 1892.",
        "He lived in Larvik. He had a dog. The harbour was near",
        "Ships. Towns. Dogs.",
    ]
    assert _texts(1)[:2] == ["The Fram is a ship.", "He lived in Larvik."]
    assert _texts(2, "Where was the harbour?")[1] == "He lived in Larvik. The harbour was near"


def test_other_scripts_and_what_has_no_sentence() -> None:
    passages: list[Item] = [[Passage("p", "d", "", text)] for text in ("船が来た。港は遠い。", "", "...")]
    assert [item[0].text for item in nearest_sentences(passages, "港", 1)] == ["船が来た。", "", "..."]
    own: list[Item] = [[Passage("p", "d", "Fram", "A ship. The Fram sank. The harbour was near.")]]
    assert nearest_sentences(own, "harbour", 2)[0][0].text == "A ship. The harbour was near."  # type: ignore[union-attr]


def test_the_reader_sees_these_and_cites_the_whole(scripted: Scripted) -> None:
    scripted.say("answer", "In Larvik [2].", "In Larvik [2].")
    with OpenAIChat(scripted.settings()) as model:
        llm = PromptedModel(model)
        short = answer(llm, QUESTION, ITEMS, AnswerOptions(sentences=1), short=False)
        whole = answer(llm, QUESTION, ITEMS, AnswerOptions(), short=False)
    assert short == whole
    assert short.citations[0].passage.text == "He lived in Larvik.\nHe had a dog. The harbour was near"
    few, all_ = (call["messages"][-1]["content"] for call in scripted.calls)
    assert "He had a dog" not in few and "He had a dog" in all_
    assert "red" not in few and "Colin Archer" in few
