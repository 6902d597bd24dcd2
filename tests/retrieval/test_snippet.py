from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieval.snippet import Snippet, crop, one_line, snippet


def marked(found: Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.marks]


def test_words_are_marked_by_stem_and_stop_words_are_not() -> None:
    found = snippet("The ships were designed by the shipwright Colin Archer.", "Who designs the ship of Archer's?")
    assert marked(found) == ["ships", "designed", "Archer"]


def test_accents_and_case_do_not_matter() -> None:
    assert marked(snippet("He lived in Tromsø; TROMSO is cold.", "tromso")) == ["Tromsø", "TROMSO"]
    assert marked(snippet("The balloon O\u0308rnen rose.", "Örnen")) == ["Örnen"]


def test_the_window_holds_most_different_words() -> None:
    text = f"Archer {'x ' * 200} Archer {'y ' * 200} Colin Archer built the Fram {'z ' * 200}"
    found = snippet(text, "Which ship did Colin Archer build, the Fram?", width=120)
    assert marked(found) == ["Colin", "Archer", "Fram"]  # "built" has another stem than "build"
    assert found.text.startswith("… ") and found.text.endswith(" …")


def test_without_a_match_it_is_the_beginning() -> None:
    assert snippet("One two three.", "zebra") == Snippet("One two three.")
    assert snippet("word " * 100, "the of", width=20).text == "word word word word word …"


def test_nothing_can_steer_the_terminal() -> None:
    assert one_line("a\x1b[31mred\x07\u202e\nb") == "a [31mred b"
    assert one_line("a\u200cb") == "a\u200cb", "Persian words need their joiners"
    assert crop("x" * 20, 10) == "xxxxxxxxx…"
    assert crop("some long words", 10) == "some …"


def test_its_core_goes_from_the_first_to_the_last_word_of_the_question() -> None:
    assert snippet("She sailed. The Fram was built by Archer.", "Who built the Fram?").core == "Fram was built"
    assert snippet("She sailed.", "zebra").core == "She sailed."


@given(st.text(max_size=600), st.text(max_size=40), st.integers(50, 300))
def test_marks_lie_on_words_of_the_text(text: str, question: str, width: int) -> None:
    found = snippet(text, question, width)
    assert all(0 <= start < end <= len(found.text) for start, end in found.marks)
    assert found.text.removeprefix("… ").removesuffix(" …").strip() in one_line(text)
    assert all(word in one_line(text) for word in marked(found))


@given(st.lists(st.sampled_from(["Fram", "ice", "(Fram)", "under-Fram", "a", "x" * 60]), min_size=1, max_size=80))
def test_a_word_that_occurs_is_shown_marked(words: list[str]) -> None:
    text = " ".join(words)
    assert ("Fram" in marked(snippet(text, "Fram", 120))) == ("Fram" in text)


def test_different_words_count_more_than_the_same_again() -> None:
    text = f"Archer Archer Archer {'x ' * 200} Colin Archer"
    assert marked(snippet(text, "Colin Archer", width=120)) == ["Colin", "Archer"]
