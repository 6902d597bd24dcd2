from kgrag.lab.datasets import GoldText, Question
from kgrag.lab.measures import answer_rank, text_ranks, unanswerable
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.results import Hit, Passage, Ranking

FRAM = "The Fram was designed by Colin Archer for the polar ice, and Nansen took her north in the year 1893."
LARVIK = "Larvik is a town on the coast of Norway, where the yard of the Archer family stood for a long time."
TEXTS = {"fram": GoldText("long 1", FRAM), "larvik": GoldText("long 1", LARVIK), "short": GoldText("long 2", "Oslo")}


def ranking(*passages: tuple[str, str]) -> Ranking:
    return Ranking("?", "fixed", tuple(Hit(Passage(f"p{i}", d, "", t), 1.0) for i, (d, t) in enumerate(passages)))


def test_gold_is_found_where_most_of_its_text_is() -> None:
    whole = f"Ships\n\n{FRAM}\n\nTowns\n\n{LARVIK}"
    assert text_ranks(ranking(("long 1", "Something else."), ("long 1", whole)), ["larvik", "fram"], TEXTS) == (2, 2)
    assert text_ranks(ranking(("long 1", LARVIK.upper())), ["larvik", "fram"], TEXTS) == (1, None)


def test_parts_add_up() -> None:
    first, rest = FRAM[:44], FRAM[44:]
    assert text_ranks(ranking(("long 1", first)), ["fram"], TEXTS) == (None,)
    assert text_ranks(ranking(("long 1", first), ("long 1", LARVIK), ("long 1", rest)), ["fram"], TEXTS) == (3,)


def test_the_same_words_elsewhere_do_not_count() -> None:
    shuffled = " ".join(reversed(FRAM.split()))
    assert text_ranks(ranking(("long 1", shuffled), ("long 3", FRAM)), ["fram"], TEXTS) == (None,)


def test_a_text_of_few_words_and_gold_that_is_not_there() -> None:
    assert text_ranks(ranking(("long 2", "The capital is Oslo.")), ["short", "lost"], TEXTS) == (1, None)
    assert text_ranks(ranking(), ["short"], TEXTS) == (None,)


def test_an_answer_stands_where_its_words_follow_each_other() -> None:
    found = ranking(("a", "Archer, Colin of Larvik"), ("b", FRAM), ("c", "In 1893: U.S. Navy, 5 o'clock."))
    assert answer_rank(found, ["COLIN ARCHER"]) == 2
    assert answer_rank(found, ["Oslo", "Nansen"]) == 2
    assert answer_rank(found, ["u.s. navy"]) == 3
    assert answer_rank(found, ["Arch", "", " "]) is None  # whole words only; an empty answer never counts
    titled = Ranking("?", "fixed", (Hit(Passage("p", "d", "Fra\u0308m", "A ship."), 1.0),))
    assert answer_rank(titled, ["Fr\u00e4m"]) == 1


def test_answers_that_stand_nowhere() -> None:
    documents = [Problem("a.pdf", "damaged"), Document("1", (Section(FRAM), Section(LARVIK)), "Fram, a ship")]
    asked = {"q1": ("Oslo", "the yard"), "q2": ("ram",), "q3": ("fram, a ship",), "q4": ("year 1893.",), "q5": ("",)}
    questions = [Question(id, "?", (), answers) for id, answers in asked.items()]
    assert [q.id for q in unanswerable(questions, documents)] == ["q2", "q5"]
    found = ranking(("1", FRAM), ("1", LARVIK))
    assert answer_rank(found, asked["q1"]) == 2
    assert answer_rank(found, asked["q2"]) is None
