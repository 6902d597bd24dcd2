"""Marks on a PDF's page cover exactly the words of a passage, in any spelling of the page."""

from pathlib import Path

import pytest
from made_pdfs import Maker

from kgrag.loaders.pdf_pictures import Pictures
from kgrag.server.pictures import Box, Picture

HEAD = "Annals of the polar ships"
PASSAGE = (
    "The schooner was designed by Ingrid Solheim, an extraordinary shipwright of Molde. Her unsinkable vessels went "
    "to the ice for forty years, and nobody else drew a line of them."
)
BEFORE = "All of the harbours of the north were closed in that winter, and letters came seldom."
BEHIND = "Of the other yards in the town two were sold, and one burnt down in a single night."


def marked(page: str, text: str) -> str:
    """Return the marked words of a page, which are on one line."""
    words = page.split()
    width = 1 / len(words)
    picture = Picture(b"", tuple((word, Box(n * width, 0, (n + 1) * width, 1)) for n, word in enumerate(words)), 1)
    return " ".join(words[place] for place in picture.places(text))


@pytest.mark.parametrize(
    "spelt",
    [
        PASSAGE,
        PASSAGE.replace("extraordinary", "extraor- dinary").replace("unsinkable", "unsink able"),
        PASSAGE.replace("forty years", "fortyyears").replace("for", "f o r"),
        PASSAGE.replace("fi", "\ufb01").upper(),
        PASSAGE.replace("Solheim,", "Solheim ,").replace("Molde.", "Mölde — ."),
    ],
    ids=["as it is", "hyphens", "glued", "capitals", "signs"],
)
def test_words_are_found_however_a_page_spells_them(spelt: str) -> None:
    assert marked(f"{HEAD} {BEFORE} {spelt} {BEHIND} 17", PASSAGE) == spelt


def test_parts_in_another_order() -> None:
    text = f"{PASSAGE} {BEFORE * 2}"
    assert marked(f"{HEAD} {BEFORE * 2} {BEHIND} {PASSAGE}", text) == f"{BEFORE * 2} {PASSAGE}"


def test_what_stands_between_its_parts_is_not_marked() -> None:
    half = len(PASSAGE) // 2
    left, right = PASSAGE[:half].rsplit(" ", 1)[0], PASSAGE[:half].rsplit(" ", 1)[1] + PASSAGE[half:]
    assert marked(f"{left} {HEAD} 17 {BEHIND} {right}", PASSAGE) == PASSAGE
    assert marked(f"{BEFORE} {left}", PASSAGE) == left
    assert marked(f"{HEAD} 18 {right} {BEHIND}", PASSAGE) == right


@pytest.mark.parametrize("page", [f"{HEAD} {BEFORE} {BEHIND}", "designed by the shipwright of Molde", "• — •", ""])
def test_a_page_without_it(page: str) -> None:
    assert Picture(b"", tuple((word, Box(0, 0, 1, 1)) for word in page.split()), 1).places(PASSAGE) == []


def test_what_comes_twice_is_marked_where_the_text_goes_on() -> None:
    again = "Returns nothing, or the number of the ship that was found in the register."
    text = f"Of the register. {again} It is never empty, whatever the harbour says of it."
    assert marked(f"Of the yards. {again} {BEFORE} {text}", text) == text


def test_a_short_text_and_one_of_marks() -> None:
    assert marked("In Molde she was born .", "She was born.") == "she was born"
    assert marked("a = b + 1", "a = b + 1") == "a = b + 1"
    assert marked("a + b", "* * *") == marked("a + b", "") == ""


def test_the_rows_of_a_table() -> None:
    text = "Ships\nShip: Aurora; Yard: Molde; Year: 1861.\nShip: Nordlys; Yard: Larvik; Year: 1892."
    page = f"{BEFORE} Ship Yard Year Aurora Molde 1861 Nordlys Larvik 1892 {BEHIND}"
    assert marked(page, text) == "Aurora Molde 1861 Nordlys Larvik 1892"


def test_a_page_of_one_letter_takes_no_time() -> None:
    words = (("a", Box(0, 0, 1, 1)),) * 20_000
    assert len(Picture(b"", words, 1).places("a " * 6_000)) <= 20_000


def test_words_of_a_pdf_in_two_columns(tmp_path: Path) -> None:
    pdf = Maker(tmp_path / "ships.pdf")
    pdf.text(HEAD)
    broken = PASSAGE.replace("extraordinary", "extraor- dinary").split(" dinary")
    pdf.columns([BEFORE, broken[0]], [f"dinary{broken[1]}", BEHIND])
    pdf.save()
    drawn = Pictures(tmp_path / "ships.pdf")
    words = drawn.page(1)["words"]
    drawn.close()
    picture = Picture(b"", tuple((word, Box(*place)) for word, *place in words), 1)
    found = [picture.words[place][0] for place in picture.places(PASSAGE)]
    assert "".join(found).replace("-", "") == PASSAGE.replace(" ", "")
    boxes = picture.boxes(PASSAGE)
    assert {box.x0 > 0.5 for box in boxes} == {False, True}
    assert len(boxes) == sum(len(pdf.wrap(part, 225)) for part in (broken[0], f"dinary{broken[1]}"))
