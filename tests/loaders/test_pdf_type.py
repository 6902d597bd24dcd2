"""PDF: soft hyphens, letter-spaced type, right-to-left scripts, form values and typed text on pages."""

from functools import partial
from pathlib import Path

import matplotlib
import pytest
from read_one import with_problems
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from kgrag.settings import LoadingSettings

read = partial(with_problems, loading=LoadingSettings(processes=1))


def drawn(canvas: Canvas, x: float, y: float, code: str) -> None:
    """Draw text by the PDF operators in `code`."""
    canvas._code.append(f"BT 1 0 0 1 {x} {y} Tm {code} ET")


def test_word_divided_by_a_soft_hyphen_is_whole(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("Helvetica", 10)
    font = canvas._doc.getInternalFontName("Helvetica")
    drawn(canvas, 70, 700, rf"/{font} 10 Tf (The kilns of the neigh\255) Tj")
    drawn(canvas, 70, 687, rf"/{font} 10 Tf (bours burn wood all winter.) Tj")
    canvas.save()
    assert read(tmp_path / "a.pdf")[0].text == "The kilns of the neighbours burn wood all winter."


@pytest.mark.parametrize(("size", "spacing"), [(16, 3), (16, 1.5), (30, 6), (10, 2), (9, 3.5), (24, 8)])
@pytest.mark.parametrize("spaces", ["written", "gaps"])
def test_letter_spaced_heading_is_words(tmp_path: Path, size: float, spacing: float, spaces: str) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("Helvetica-Bold", size)
    font = canvas._doc.getInternalFontName("Helvetica-Bold")
    words = "ANNUAL REPORT OF 2024"
    gap = -(278 + 1000 * spacing / size)
    shown = f"({words}) Tj" if spaces == "written" else "[(" + f") {gap} (".join(words.split()) + ")] TJ"
    drawn(canvas, 70, 760, f"/{font} {size} Tf {spacing} Tc {shown} 0 Tc")
    canvas.setFont("Helvetica", 10)
    canvas.drawString(70, 700, "The year was good, and A B C D are grades. It all went well for each of us.")
    canvas.save()
    document, _ = read(tmp_path / "a.pdf")
    text = f"{document.sections[0].heading} {document.text}"
    assert "ANNUAL REPORT OF 2024" in text
    assert "and A B C D are grades" in text


def test_letter_spaced_word_by_itself_is_whole(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("Helvetica", 10)
    font = canvas._doc.getInternalFontName("Helvetica")
    drawn(canvas, 70, 700, f"/{font} 16 Tf 6 Tc (SUMMARY) Tj 0 Tc")
    canvas.drawString(70, 670, "It all went well for each of us in this year.")
    canvas.save()
    section = read(tmp_path / "a.pdf")[0].sections[0]
    assert f"{section.heading} {section.text}".split()[0] == "SUMMARY"


def test_single_letters_are_no_spaced_word(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("Helvetica", 10)
    font = canvas._doc.getInternalFontName("Helvetica")
    drawn(canvas, 70, 700, f"/{font} 10 Tf [(A) -333 (B) -333 (C) -333 (D) -333 (E)] TJ")  # as TeX sets them
    canvas.drawString(70, 680, "A B C D E")
    canvas.save()
    assert " ".join(read(tmp_path / "a.pdf")[0].text.split()) == "A B C D E A B C D E"


def form(path: Path) -> Path:
    """Write a form with a text field, a choice, a list, ticks, a password and typed notes."""
    canvas = Canvas(str(path))
    canvas.setFont("Helvetica", 10)
    form = canvas.acroForm
    for y, label in ((700, "Name:"), (670, "Country:"), (640, "Married:"), (610, "Owner:"), (580, "Key:")):
        canvas.drawString(70, y, label)
    form.textfield(name="name", value="Astrid Lund", x=130, y=694, width=200, height=18)
    form.choice(
        name="country", value="no", options=[("Norway", "no"), ("Sweden", "se")], x=130, y=664, width=200, height=18
    )
    form.checkbox(name="married", checked=True, x=130, y=636, size=14)
    form.checkbox(name="owner", checked=False, x=130, y=606, size=14)
    form.textfield(name="key", value="secret", x=130, y=574, width=200, height=18, fieldFlags="password")
    canvas.drawString(70, 540, "Signed in Oslo.")
    canvas.freeTextAnnotation("Received on 3 May", "/Helv 10 Tf", (70, 500, 250, 520))
    canvas.textAnnotation("Is this right?", (400, 500, 420, 520))
    canvas.save()
    return path


def test_filled_form_has_its_values_in_their_places(tmp_path: Path) -> None:
    document, problems = read(form(tmp_path / "a.pdf"))
    assert " ".join(document.text.split()) == (
        "Name: Astrid Lund Country: Norway Married: [x] Owner: Key: Signed in Oslo. Received on 3 May"
    )
    assert problems == ["holds 1 comment, 1 form value, left out"]


def test_lists_and_one_of_several_stand_in_their_places(tmp_path: Path) -> None:
    """The selected list item and the pressed button are read; a comment on marked words is counted."""
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("Helvetica", 10)
    for y, label in ((700, "Crew:"), (640, "Schooner"), (610, "Barque"), (580, "Seen in June.")):
        canvas.drawString(70, y, label)
    form = canvas.acroForm
    form.listbox(name="crew", value="Nansen", options=["Nansen", "Lund"], x=130, y=690, width=200, height=30)
    for y, value in ((636, "s"), (606, "b")):
        form.radio(name="rig", value=value, selected=value == "b", x=130, y=y, size=14)
    canvas.highlightAnnotation("It was July", (70, 578, 130, 592), QuadPoints=[70, 592, 130, 592, 70, 578, 130, 578])
    canvas.save()
    document, problems = read(tmp_path / "a.pdf")
    assert " ".join(document.text.split()) == "Crew: Nansen Schooner Barque [x] Seen in June."
    assert problems == ["holds 1 comment, left out"]


def test_form_that_holds_nothing_but_values_is_read(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.acroForm.textfield(name="note", value="First line\nand second", x=70, y=600, width=200, height=60,
                              fieldFlags="multiline")  # fmt: skip
    canvas.line(70, 500, 90, 500)
    canvas.save()
    assert " ".join(read(tmp_path / "a.pdf")[0].text.split()) == "First line and second"


@pytest.mark.parametrize(
    ("letters", "text"),  # in visual order from left to right, and in reading order
    [
        (".תירבעב טפשמ הז םלוע םולש", "שלום עולם זה משפט בעברית."),
        (".ﺔﻠﻤﺟ هﺬﻫ ﻢﻟﺎﻌﻟﺎﺑ ﺎﺒﺣﺮﻣ", "مرحبا بالعالم هذه جملة."),
        ("Neo4j 5.26 לע 2023 תנשב דבע אוה", "הוא עבד בשנת 2023 על Neo4j 5.26"),
        ("(הרעה םע) בוט טסקט", "טקסט טוב (עם הערה)"),
        ("The word םולש is said by all who meet.", "The word שלום is said by all who meet."),
        ("They wrote םולש 1948 תנשב on the wall.", "They wrote בשנת 1948 שלום on the wall."),
    ],
)
def test_lines_from_right_to_left_are_in_the_order_of_reading(tmp_path: Path, letters: str, text: str) -> None:
    pdfmetrics.registerFont(TTFont("DejaVuSans", Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"))
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("DejaVuSans", 11)
    canvas.drawString(70, 700, letters)
    canvas.save()
    document, _ = read(tmp_path / "a.pdf")
    assert document.text == text


def test_line_close_above_a_table_with_a_word_for_each_column_is_its_header(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("Helvetica", 10)
    canvas.drawString(70, 740, "The following files are kept in the folder of the ship, each by its name.")
    canvas.drawString(70, 716, "File Meaning")
    rows = (("log", "what the crew wrote"), ("map", "where the ship was"), ("list", "who was aboard"))
    for y, (name, meaning) in zip((702, 688, 674), rows, strict=True):
        canvas.drawString(70, y, name)
        canvas.drawString(170, y, meaning)
    canvas.line(70, 670, 300, 670)
    canvas.drawString(70, 640, "2.3. Notes of the crew")
    canvas.drawString(70, 620, "The crew wrote notes on all days of the long winter in the ice.")
    canvas.save()
    (table,) = read(tmp_path / "a.pdf")[0].tables
    assert table.rows == (("File", "Meaning"), *rows)
