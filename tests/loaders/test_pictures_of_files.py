"""Figures of documents: their pictures, captions and places, and the ones left out."""

import hashlib
import io
from pathlib import Path

import pytest
from made_figures import HULL, MAST, PROSE, SAIL, Paper, book, paper, png, report, slides, web
from PIL import Image
from read_one import with_omissions as read

from kgrag.loaders import load
from kgrag.loaders.figures import kind_of
from kgrag.text.figure_labels import caption_label, named_figures, pointed_figures
from kgrag.values.documents import Document, Figure
from kgrag.values.identity import content_hash


def near(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(abs(a - b) <= 14 for a, b in zip(box, other, strict=True))


def test_a_paper(tmp_path: Path) -> None:
    document, _, left_out = read(paper(tmp_path / "paper.pdf"))
    assert [(f.number, f.page, f.caption) for f in document.figures] == [
        (1, 1, "Figure 1: The hull of the Fram, with the ice belt that was laid around it in 1893."),
        (2, 1, "Figure 2: Speed under sail"),
        (3, 2, ""),
    ]
    hull, chart, mast = document.figures
    assert near(hull.box, (150, 160, 390, 304))
    assert near(chart.box, (150, 460, 390, 592))  # including the numbers of its axis
    assert near(mast.box, (150, 200, 350, 320))
    assert left_out["decoration"] == 5  # three logos, an icon, a background
    for figure in document.figures:
        picture = Image.open(io.BytesIO(figure.data))
        assert picture.format == "PNG"
        assert figure.media_type == "image/png"
        assert picture.size == (figure.width, figure.height)
        assert abs(figure.width - (figure.box[2] - figure.box[0]) * 150 / 72) < 3
        assert figure.sha == hashlib.sha256(figure.data).hexdigest()
    middle = Image.open(io.BytesIO(hull.data)).convert("RGB").getpixel((hull.width // 2, hull.height // 2))
    assert middle == (40, 90, 160)
    assert "Figure 2: Speed under sail" in document.text


def test_captions_above_and_columns(tmp_path: Path) -> None:
    """Captions may stand above their figures, and figures side by side in two columns."""
    made = Paper(tmp_path / "above.pdf")
    for top in (80, 330):
        made.text(top - 20, f"Figure {1 + (top > 80)}. Speed of a ship, above its chart", size=9)
        made.chart(150, top, 240, 120)
        made.text(top + 160, *[f"{PROSE}."] * 3)
    made.page()
    for left, number in ((60, 3), (320, 4)):
        made.picture(number, left, 100, 200, 120)
        made.text(226, f"Fig. {number}. Side {number}", left=left, size=9)
        for line in range(20):
            made.text(260 + 12 * line, "The ship sailed along the coast for days on end", left=left, size=9)
    made.page()
    made.save()
    figures = read(tmp_path / "above.pdf")[0].figures
    assert [f.caption for f in figures] == [
        "Figure 1. Speed of a ship, above its chart",
        "Figure 2. Speed of a ship, above its chart",
        "Fig. 3. Side 3",
        "Fig. 4. Side 4",
    ]
    assert near(figures[0].box, (150, 80, 390, 212))
    assert near(figures[1].box, (150, 330, 390, 462))
    assert near(figures[2].box, (60, 100, 260, 220))
    assert near(figures[3].box, (320, 100, 520, 220))


def test_parts_of_one_figure(tmp_path: Path) -> None:
    """All marks between a caption and the text above it are one figure."""
    made = Paper(tmp_path / "parts.pdf")
    made.text(60, *[f"{PROSE}."] * 4)
    for left in (90, 310):
        made.chart(left, 130, 180, 100)
        made.chart(left, 270, 180, 100)
    made.text(400, "Figure 1: Speeds of four ships", size=9)
    made.text(430, *[f"{PROSE}."] * 4)
    made.page()
    for left, part in ((80, "(a) Under sail"), (320, "(b) Under steam")):
        made.chart(left, 130, 180, 100)
        made.text(245, part, left=left + 50, size=8)
    made.text(262, "Figure 2: Two parts", left=240, size=9)
    made.text(276, *[f"{PROSE}."] * 6)  # close to the caption, and in nearly its size
    made.page()
    made.save()
    figure, parts = read(tmp_path / "parts.pdf")[0].figures
    assert near(figure.box, (90, 130, 490, 382))
    assert near(parts.box, (80, 130, 500, 257))
    assert parts.caption == "Figure 2: Two parts"


def test_a_turned_page_and_a_cut_margin(tmp_path: Path) -> None:
    """A figure is drawn as viewers show it: on a page with /Rotate, and on one whose margin is cropped."""
    made = Paper(tmp_path / "turned.pdf")
    made.canvas.setCropBox((50, 50, 545, 792))
    made.text(100, *[f"{PROSE}."] * 3)
    made.picture(HULL, 150, 160, 240, 144)
    made.text(310, "Figure 1: The hull", size=9)
    made.page()
    made.canvas.setPageRotation(90)
    made.text(100, *[f"{PROSE}."] * 3)
    made.picture(MAST, 150, 160, 240, 144)
    made.text(310, "Figure 2: The mast", size=9)
    made.page()
    made.save()
    hull, mast = read(tmp_path / "turned.pdf")[0].figures
    for figure, colour in ((hull, (40, 90, 160)), (mast, (80, 90, 160))):
        picture = Image.open(io.BytesIO(figure.data)).convert("RGB")
        for x, y in ((0.1, 0.1), (0.9, 0.9), (0.1, 0.9), (0.5, 0.5)):
            place = (int(x * picture.width), int(y * picture.height))
            found = picture.getpixel(place)
            assert isinstance(found, tuple)
            assert abs(found[0] - colour[0]) < 60 or found[0] == 255, (figure.caption, place, found)


def test_word(tmp_path: Path) -> None:
    document, _, left_out = read(report(tmp_path / "report.docx"))
    assert [(f.number, f.page, f.caption) for f in document.figures] == [
        (1, 0, "Figure 1: The hull of the Fram"),
        (2, 0, "The mast in winter"),
    ]
    assert [f.data for f in document.figures] == [png(HULL), png(MAST)]
    assert [(f.width, f.height, f.media_type) for f in document.figures] == [(200, 120, "image/png")] * 2
    assert left_out["decoration"] == 1
    assert "Figure 1: The hull of the Fram" in document.text


def test_slides(tmp_path: Path) -> None:
    document, _, left_out = read(slides(tmp_path / "slides.pptx"))
    assert [(f.number, f.page, f.caption) for f in document.figures] == [
        (1, 1, "Figure 7: Sails of the Fram"),
        (2, 2, "Ships 2"),
    ]
    assert document.figures[0].box == (100, 150, 400, 330)
    assert [f.data for f in document.figures] == [png(HULL), png(MAST)]
    assert left_out["decoration"] == 4  # three logos, a background


@pytest.mark.parametrize("kind", ["html", "epub"])
def test_pages_of_the_web(tmp_path: Path, kind: str) -> None:
    document, _, left_out = read(web(tmp_path) if kind == "html" else book(tmp_path / "ships.epub"))
    assert [(f.caption, f.media_type, f.data) for f in document.figures] == [
        ("Figure 1: The hull of the Fram", "image/png", png(HULL)),
        ("Figure 2: The mast", "image/png", png(MAST)),
        ("A drawing", "image/svg+xml", b""),  # it may contain a script
    ]
    assert left_out["decoration"] == 2
    assert "A hull" in document.text


def test_markdown(tmp_path: Path) -> None:
    (tmp_path / "mast.png").write_bytes(png(MAST))
    (tmp_path / "notes.txt").write_text("no picture")
    data = "data:image/gif;base64,R0lGODlhUABQAIAAAP///wAAACwAAAAAUABQAAACAkQBADs="
    text = f"# Ships\n\n![The mast](mast.png)\n\n![](mast.png 'Again')\n\n![x](notes.txt)\n\n![]({data})\n\nText."
    (tmp_path / "a.md").write_text(text)
    figures = read(tmp_path / "a.md")[0].figures
    assert [(f.caption, f.media_type, f.width) for f in figures] == [
        ("The mast", "image/png", 200),
        ("Again", "image/png", 200),
        ("", "image/gif", 80),
    ]


def test_a_link_leads_to_no_picture_outside(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png(SAIL))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "link.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "site" / "a.html").write_text(f'<p>Text</p><img src="link.png"><img src="{tmp_path}/secret.png">')
    assert read(tmp_path / "site" / "a.html")[0].figures == ()


def test_kinds_of_pictures() -> None:
    for form, kind in (("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")):
        for options in ({}, {"lossless": True}, {"progressive": True}):
            out = io.BytesIO()
            Image.new("RGB", (321, 123), "red").save(out, form, **options)
            assert kind_of(out.getvalue()) == (kind, 321, 123), (form, options)
            assert kind_of(out.getvalue()[:18])[1:] in ((0, 0), (321, 123))
    for form, kind in (("BMP", "image/bmp"), ("TIFF", "image/tiff")):
        out = io.BytesIO()
        Image.new("RGB", (50, 50)).save(out, form)
        assert kind_of(out.getvalue()) == (kind, 0, 0)
    assert kind_of(b"%PDF-1.4") == ("", 0, 0)
    assert kind_of(b"") == ("", 0, 0)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Figure 3: The hull", "3"), ("Fig. 3 The hull", "3"), ("FIGURE 4", "4"), ("Abb. 3: Der Rumpf", "3"),
        ("Figura 2.1. El casco", "2.1"), ("Figure 3a: A part", "3"), ("Figure IV. Sails", "IV"),
        ("Fig. A.1 — x", "A.1"),
        ("Figure S2. More", "S2"), ("Chart 2: Trade", "2"), ("図 3：船体", "3"),
        ("Figure 3 shows the hull", None), ("fig. 3. The scores", None), ("Figures are many", None),
        ("Configuration 3: x", None), ("Table 3: Ships", None),
    ],
)  # fmt: skip
def test_captions(text: str, label: str | None) -> None:
    assert caption_label(text) == label


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("see Fig. 3a and Figure 5", ["3", "5"]), ("Figs. 2-4 show", ["3", "2-4"]),
        ("Figures 3, 4 and 6", ["3", "4", "6"]), ("(Abbildung 3)", ["3"]), ("Figures 2 to 4", ["2", "3", "4"]),
        ("configure 3 of them", []), ("in Figure 2.1.", ["2.1"]),
    ],
)  # fmt: skip
def test_names_of_figures(text: str, labels: list[str]) -> None:
    found = [label for _, label in named_figures(text)]
    assert sorted(set(found)) == sorted({*labels, *(["2", "4"] if "2-4" in labels else [])})


def test_words_that_point_to_figures() -> None:
    text = "The chart below, the figure above, the following diagram, see overleaf; what stands below is none."
    assert [side for _, side in pointed_figures(text)] == ["below", "above", "below", "overleaf"]


def test_figures_are_content() -> None:
    """Figures are part of the content hash, but documents without figures keep their old hashes."""
    plain = Document("a", (), "A")
    one = Figure(1, "0" * 64, "Figure 1: A", data=b"x")
    with_one = Document("a", (), "A", figures=(one,))
    assert content_hash(plain) != content_hash(with_one)
    assert content_hash(with_one) == content_hash(Document("a", (), "A", figures=(Figure(1, "0" * 64, "Figure 1: A"),)))
    other = Document("a", (), "A", figures=(Figure(1, "1" * 64, "Figure 1: A"),))
    assert content_hash(with_one) != content_hash(other)
    assert (one.name, Figure(2, "").name) == ("Figure 1: A", "Figure 2")


def test_a_file_whose_pictures_are_cut_off_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(HULL)[:20])
    (tmp_path / "a.html").write_text('<p>Text</p><img src="a.png"><img src="data:image/png;base64,%%%">')
    assert next(item for item in load(tmp_path / "a.html") if isinstance(item, Document)).figures == ()
