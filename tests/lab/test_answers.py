import pytest

from kgrag.lab.measures import exact_match, f1, normalised


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Fram,  a ship!", "fram ship"),
        ("An apple\tand\na pear", "apple and pear"),
        ("Theatre", "theatre"),  # no article
        ("U.S.", "us"),
        ("$1.18 trillion", "118 trillion"),
        ("1914\u20131918", "19141918"),  # a dash is punctuation like a hyphen
        ("«Åse» – l\u2019été", "åse lété"),
        ("Bjo\u0308rling", "björling"),  # a letter and its dots are one letter
        ("Пётр 彼得。", "пётр 彼得"),
        (" ?! ", ""),
    ],
)
def test_normal_form(text: str, expected: str) -> None:
    assert normalised(text) == expected


@pytest.mark.parametrize(
    ("text", "known", "em", "score"),
    [
        ("The Larvik.", ["larvik"], 1, 1),
        ("Larvik, Norway", ["Larvik"], 0, 2 / 3),
        ("in Larvik", ["Oslo", "Larvik in Norway", "Larvik"], 0, 0.8),  # the best of several
        ("Larvik", ["Oslo", "LARVIK"], 1, 1),
        ("Oslo", ["Larvik"], 0, 0),
        ("no no yes", ["no yes yes"], 0, 2 / 3),  # a word counts as often as it is there
        ("Bjo\u0308rling", ["björling"], 1, 1),
        ("", ["Larvik"], 0, 0),
        ("", ["The"], 0, 0),  # no answer is never right
        ("...", ["Larvik", "?"], 0, 0),
    ],
)
def test_agreement_with_the_answer_that_is_most_like_it(text: str, known: list[str], em: float, score: float) -> None:
    assert exact_match(text, known) == em
    assert f1(text, known) == pytest.approx(score)


def test_without_a_known_answer_there_is_nothing_to_measure() -> None:
    for measure in (exact_match, f1):
        with pytest.raises(ValueError, match="no known answer"):
            measure("Larvik", [])
