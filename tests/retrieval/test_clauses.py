"""The outermost clause of a question, and the sentences that are searched for it."""

from itertools import pairwise

import pytest

from kgrag.retrieval.linking import Link, LinkedQuestion
from kgrag.retrieval.name_walk import OuterClause, answer_kind, outer_clause
from kgrag.text.sentences import names_in, split_sentences
from kgrag.text.tokenised import TokenisedPassage
from kgrag.text.tokens import is_content, stems, tokens


def linked(text: str, *names: str) -> LinkedQuestion:
    """Return a question in which some words are names; every content word has the same weight."""
    words = tuple(tokens(text))
    norms = [word.norm for word in words]
    stemmed = tuple(stems(norms))
    links = []
    for name in names:
        parts = name.lower().split()
        start = next(i for i in range(len(norms)) if norms[i : i + len(parts)] == parts)
        links.append(Link(start, start + len(parts), name, name, 1.0, 1))
    idf = {stem: 1.0 for norm, stem in zip(norms, stemmed, strict=True) if is_content(norm)}
    return LinkedQuestion(words, stemmed, idf, tuple(links), 100, 1.0, 1.0)


def clause_of(text: str, *names: str) -> OuterClause:
    return outer_clause(linked(text, *names), 0.25, 0.6)


@pytest.mark.parametrize(
    ("question", "names", "outer"),
    [
        (
            "When does winter time end in the country near the country where the author of Fram Ahead was born?",
            ("Fram Ahead",),
            "When does winter time end",
        ),
        (
            "Which river crosses the town that the painter of Larvik Quay left?",
            ("Larvik Quay",),
            "Which river crosses the town",
        ),
        ("Who is Fram Ahead named after by the shipwright?", ("Fram Ahead",), "Who is named"),
        ("Colin Archer?", ("Colin Archer",), "Colin Archer"),  # the whole question, since nothing else is left
    ],
)
def test_the_outer_clause_ends_at_a_break(question: str, names: tuple[str, ...], outer: str) -> None:
    found = clause_of(question, *names)
    assert found.text == outer


def test_words_weigh_less_the_farther_they_are_from_the_beginning() -> None:
    found = clause_of("Which river crosses the town that the painter of Larvik Quay left?", "Larvik Quay")
    weights = [found.terms[f" {stem} "] for stem in stems(["river", "crosses", "town", "painter", "left"])]
    assert sum(weights) == pytest.approx(1)
    assert [late / early for early, late in pairwise(weights)] == pytest.approx([0.6] * 4)
    assert " larvik " not in found.terms
    assert found.words == 5
    assert [found.strength(3, 6), found.strength(5, 9), found.strength(1, 4)] == pytest.approx([2 / 3, 0, 1])


def test_a_residual_question_gives_a_share_of_its_weight_to_the_clause() -> None:
    found = clause_of("Which river crosses the town of Larvik Quay?", "Larvik Quay")
    mixed = found.weights({" river ": 0.5, " coast ": 0.5}, frozenset([" town "]), 0.6)
    assert sum(mixed.values()) == pytest.approx(1)
    assert " town " not in mixed
    assert mixed[" coast "] == pytest.approx(0.2)
    assert mixed[" river "] > mixed[" cross "] > 0.2


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did the ship sail?", "date"), ("In what year did the captain who ran the yard die?", "date"),
        ("How many people live in the town?", "number"),
        ("What is the population of the town where she was built?", "number"), ("Who owned the yard?", "name"),
        ("In which county is the yard?", "name"), ("What is the cargo of the ship?", "any"),
    ],
)  # fmt: skip
def test_the_kind_of_answer(question: str, kind: str) -> None:
    assert answer_kind([word.norm for word in tokens(question)]) == kind


def test_sentences_keep_what_may_be_a_name() -> None:
    found = TokenisedPassage(
        "Colin Archer", "Archer built ships. He sold the Fram to Nansen of Oslo in June 1892."
    ).sentences()
    first, second = split_sentences(found)
    assert first.split() == ["archer", "built", "ship"]
    assert names_in(first) == []  # it begins the sentence, and it is the title
    assert names_in(second) == ["fram", "nansen", "oslo", *stems(["june"])]


def test_the_best_sentence_holds_an_answer_of_the_kind_asked_for() -> None:
    text = "Ships sail in winter. The ship sailed with ten men. She sailed in 1892. Nansen sailed."
    when, many, who = (
        clause_of(question).best_sentence(TokenisedPassage("Fram", text).sentences())
        for question in ("When did the ship sail?", "How many men were there?", "Who saw Nansen?")
    )
    assert 0 < when < 1  # "sailed in 1892", although another sentence has both words
    assert many == 0  # "ten" is not a number in digits
    assert who == 0  # a name in the question is not an answer
    assert clause_of("What did the ship sail?").best_sentence(
        TokenisedPassage("Fram", text).sentences()
    ) == pytest.approx(1)


def test_a_name_of_the_question_is_no_answer_to_it() -> None:
    asked = clause_of("Who saw Nansen?")
    assert asked.best_sentence(TokenisedPassage("Fram", "The men saw Nansen.").sentences()) == 0
    assert asked.best_sentence(TokenisedPassage("Fram", "The man who saw Nansen was Sverdrup.").sentences()) > 0
