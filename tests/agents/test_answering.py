"""Answers of models: citations in all common forms, and abstentions."""

import pytest

from kgrag.agents.answering import own_answer, within
from kgrag.agents.replies import NOT_FOUND, cited, read_reply, says_not_found
from kgrag.values.results import Passage, Summary

PASSAGES = [Passage(f"p{n}", "d", f"Title {n}", "text") for n in range(1, 6)]


@pytest.mark.parametrize(
    ("said", "numbers", "text"),
    [
        ("It did [1].", [1], "It did [1]."), ("It did [1][3].", [1, 3], "It did [1][3]."),
        ("It did [1, 3; 5].", [1, 3, 5], "It did [1][3][5]."), ("It did [1-3].", [1, 2, 3], "It did [1][2][3]."),
        ("It did [2–3, 5].", [2, 3, 5], "It did [2][3][5]."), ("It did 【2】.", [2], "It did [2]."),
        ("It did 【2†source】.", [2], "It did [2]."), ("It did[^4].", [4], "It did[4]."),
        ("It did [Passage 2].", [2], "It did [2]."), ("It did [passages 1 and 2].", [1, 2], "It did [1][2]."),
        ("It did (Passage 2).", [2], "It did [2]."), ("It did (2).", [2], "It did [2]."),
        ("It did (2) in 1903 (1903) [1].", [1], "It did (2) in 1903 (1903) [1]."),
        ("It sank 6 boats (7).", [], "It sank 6 boats (7)."), ("It did [7].", [], "It did."),
        ("It did [1-999].", [1, 2, 3, 4, 5], "It did [1][2][3][4][5]."),
        ("Larvik[1] and Oslo[2].", [1, 2], "Larvik[1] and Oslo[2]."),
        ("The cell x[0][1] holds it.", [], "The cell x[0][1] holds it."),
        ("The cell a[2] holds it [1].", [1], "The cell a[2] holds it [1]."),
        ("Take rows[1] and my_rows[7], as said. [3]", [3], "Take rows[1] and my_rows[7], as said. [3]"),
        ("Take my_rows[1] first.", [], "Take my_rows[1] first."),
        ("Write `ships [2]` for it [1].", [1], "Write `ships [2]` for it [1]."),
        ("So:\n```\nship = ships[1]\n[7]\n```\nIt is [2].", [2], "So:\n```\nship = ships[1]\n[7]\n```\nIt is [2]."),
        ("It calls `f(2)` and ends.", [], "It calls `f(2)` and ends."),
    ],
)  # fmt: skip
def test_citations(said: str, numbers: list[int], text: str) -> None:
    answer = cited(said, [[p] for p in PASSAGES])
    assert ([c.number for c in answer.citations], answer.text) == (numbers, text)


@pytest.mark.parametrize(
    "said",
    [
        "Not in the evidence. They lack the designer.", "The passages do not mention who designed it.",
        "The provided context doesn't contain this.",
        "I'm sorry, but I cannot answer this from the given passages.", "No information is given.", "Unknown",
        "N/A", "Die Passagen enthalten keine Angabe dazu.", "Das steht nicht in den Belegen.",
        "In den Abschnitten wird das nicht erwähnt.", "Nicht bekannt.",
        "Les passages ne contiennent pas la réponse.", "Cette information n'est pas dans les extraits.",
        "Los pasajes no mencionan quién lo diseñó.", "No se encuentra en los documentos proporcionados.",
    ],
)  # fmt: skip
def test_no_answer_in_other_words(said: str) -> None:
    assert says_not_found(said)


@pytest.mark.parametrize(
    "said",
    [
        "Colin Archer designed it.", "The document was signed in 1871, not in 1872.",
        "The text was written by Archer.", "No one but Archer.", "Not Without My Daughter",
        "No Country for Old Men", "Er war nicht Norweger, sondern Schotte.",
        "Archer. The passages do not say when.", "1871",
    ],
)  # fmt: skip
def test_an_answer_that_says_no(said: str) -> None:
    assert not says_not_found(said)


def test_a_number_cites_the_passages_of_its_item() -> None:
    one, two, three, four, five = PASSAGES
    summary = Summary("The coast", "All of it.", (four, five))
    answer = cited("It did [3], then [1] and again [3] [2].", [[one], [two, three], summary])
    assert [(c.number, c.passage, c.summary) for c in answer.citations] == [
        (1, one, ""), (2, two, ""), (2, three, ""), (3, four, "The coast"), (3, five, "The coast"),
    ]  # fmt: skip


FRAM = Passage("f", "f", "Fram", "The Fram was designed by Colin Archer. She was launched in Larvik in 1892.")
_LACKING = "The passages do not say when."


@pytest.mark.parametrize(
    ("said", "text", "doubtful"),
    [
        ("The passages do not say when [1].", None, ()),
        ("See passage 1 for details [1].", None, ()),
        (f"{_LACKING} It was launched in 1893 [1].", None, ()),
        (f"{NOT_FOUND}\nThe Fram was launched in Oslo [1].", None, ()),
        (f"The Fram was painted. {_LACKING}", None, ()),
        (f"{NOT_FOUND} The passage [1] states: the Fram was designed by Colin Archer. This answers the question.",
         "The passage [1] states: the Fram was designed by Colin Archer.", ("This answers the question.",)),
        (f"The Fram was launched in 1892 [1]. {NOT_FOUND}", "The Fram was launched in 1892 [1].", ()),
        (f"The Fram was launched in Larvik [1]. {_LACKING}", f"The Fram was launched in Larvik [1]. {_LACKING}", ()),
        (f"Colin Archer. {_LACKING}", f"Colin Archer. {_LACKING}", ()),
        ("The Fram was launched in Larvik [1]. In 1892 [1].", "The Fram was launched in Larvik [1]. In 1892 [1].", ()),
    ],
)  # fmt: skip
def test_a_reply_answers_if_a_cited_sentence_of_it_is_supported(
    said: str, text: str | None, doubtful: tuple[str, ...]
) -> None:
    answer = read_reply(said, [[FRAM]], "Who designed the Fram?")
    assert (answer.found, answer.text) == (text is not None, said if text is None else text)
    assert answer.unsupported == doubtful


def test_what_fits_into_the_tokens_of_the_reader() -> None:
    items = [[p] for p in PASSAGES]  # eleven characters each
    assert [len(within(items, tokens)) for tokens in (1, 2, 3, 5, 6, 13, 14, None)] == [1, 1, 1, 1, 2, 4, 5, 5]


@pytest.mark.parametrize(
    ("said", "choice"),
    [("B. 1893", "1893"), ("(b)", None), ("It was 1892.", "1892"), ("C", "later"), ("D", None), ("1892 or 1893", None)],
)
def test_the_choice_that_a_reply_names(said: str, choice: str | None) -> None:
    answer = own_answer(said, ("1892", "1893", "later"))
    assert (answer.text, answer.found) == ((said, False) if choice is None else (choice, True))


def test_a_word_for_nothing_is_an_answer_by_itself_alone() -> None:
    assert says_not_found("Unknown.") and says_not_found("**Not stated**")
    assert not says_not_found("The Unknown Soldier") and not says_not_found("None but Archer")
