"""Scans and pictures become documents: their words, order, tables and boxes; the cache, and odd files."""

import io
import os
import random
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from made_pdfs import Maker, prose
from made_scans import bound, pictures, scan
from PIL import Image
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont

from kgrag.loaders import images, load, recognised
from kgrag.loaders.base import BadInput
from kgrag.loaders.dispatch import Load
from kgrag.server.pictures import Box, Picture, Pictures
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem

ONE = LoadingSettings(processes=1, page_seconds=120)
SHORT = 595, 160  # points
ROWS = [
    ["Ship", "Yard", "Built"],
    ["Aurora", "Molde", "1861"],
    ["Nordlys", "Larvik", "1892"],
    ["Stella", "Bergen", "1903"],
]
LEFT = "The harbour lies open to the north, and ships seldom wait there for a better wind."
RIGHT = "Of the timber that came down the river only a part was ever measured by the council."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The PDFs to scan: a page with a heading, columns and a table, and one with a few lines."""
    top = tmp_path_factory.mktemp("pdfs")
    whole = Maker(top / "whole.pdf")
    whole.text("Annals of the polar ships", size=18)
    chance = random.Random(3)
    whole.columns([LEFT, prose(chance, 4)], [RIGHT, prose(chance, 4)])
    whole.text("Table 1: The ships of the yards.")
    whole.table(ROWS, [120, 120, 80])
    whole.save()
    short = Maker(top / "short.pdf")
    short.canvas.setPageSize(SHORT)  # a third of a page takes a third of the time
    short.y = 110
    short.text(f"{LEFT} {RIGHT}")
    short.save()
    return top


def document_of(path: Path, settings: LoadingSettings = ONE, cache: Path | None = None) -> Document:
    (document,) = Load([path], loading=settings, cache=cache)
    assert isinstance(document, Document), document
    return document


def in_points(box: Box, width: float, height: float) -> list[float]:
    return [box.x0 * width, box.y0 * height, box.x1 * width, box.y1 * height]


def text_of(document: Document) -> str:
    return " ".join(" ".join(page.text.split()) for page in document.pages)


def problems_of(path: Path, settings: LoadingSettings = ONE) -> list[str]:
    return [item.message for item in load(path, loading=settings) if isinstance(item, Problem)]


def test_a_skewed_scan_reads_as_its_text(folder: Path, tmp_path: Path) -> None:
    truth = document_of(folder / "whole.pdf")
    path, cache = scan(folder / "whole.pdf", tmp_path / "scan.pdf", skew=2), tmp_path / "cache"
    found = document_of(path, cache=cache)
    assert found.title == truth.title == "Annals of the polar ships"
    assert [s.heading for s in found.sections] == [s.heading for s in truth.sections]
    wanted, words = text_of(truth).split(), text_of(found).split()
    assert sum(a == b for a, b in zip(words, wanted, strict=False)) >= 0.97 * len(wanted)  # one column after the other
    (table,) = found.tables
    assert [list(row) for row in table.rows] == ROWS
    assert table.caption == "Table 1: The ships of the yards."
    assert 0.9 < (found.pages[0].confidence or 0) <= 1
    assert truth.pages[0].confidence is None
    with Pictures(ONE, cache) as drawn:
        picture = drawn.draw(path, 1)
    for column in (LEFT, RIGHT):
        assert " ".join(picture.words[place][0] for place in picture.places(column)) == column


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_pages_that_are_turned(folder: Path, tmp_path: Path, turn: int) -> None:
    path = scan(folder / "short.pdf", tmp_path / "scan.pdf", turn=turn)
    assert text_of(document_of(path)) == f"{LEFT} {RIGHT}"


def test_marks_on_a_page_that_is_turned(folder: Path, tmp_path: Path) -> None:
    path = scan(folder / "short.pdf", tmp_path / "scan.pdf", turn=90)
    with Pictures(ONE) as drawn:
        truth = drawn.draw(folder / "short.pdf", 1)
    with Pictures(ONE, tmp_path / "cache") as drawn:
        found = drawn.draw(path, 1)
    once = {word for word, count in Counter(word for word, _ in truth.words).items() if count == 1}
    turned = {word: Box(y0, 1 - x1, y1, 1 - x0) for word, (x0, y0, x1, y1) in truth.words}
    width, height = SHORT
    assert once <= {word for word, _ in found.words}
    for word, box in found.words:
        if word in once:
            assert in_points(box, height, width) == pytest.approx(in_points(turned[word], height, width), abs=3)


def test_pages_with_text_stay_as_they_are(folder: Path, tmp_path: Path) -> None:
    maker = Maker(tmp_path / "mixed.pdf")
    maker.text(f"{RIGHT} {LEFT}")
    maker.page()
    maker.canvas.setPageSize(SHORT)
    maker.canvas.drawInlineImage(pictures(folder / "short.pdf")[0], 0, 0, *SHORT)
    maker.page()
    maker.page()  # an empty page
    maker.save()
    first, second, empty = document_of(tmp_path / "mixed.pdf").pages
    assert (first.text, first.confidence) == (f"{RIGHT} {LEFT}", None)
    assert second.text == f"{LEFT} {RIGHT}"
    assert second.confidence is not None
    assert (empty.text, empty.confidence) == ("", None)
    (problem,) = problems_of(tmp_path / "mixed.pdf", LoadingSettings(recognition="off", processes=1))
    assert "KGRAG_LOADING__RECOGNITION=auto" in problem


def test_nonsense_behind_a_scan_is_not_read(folder: Path, tmp_path: Path) -> None:
    maker = Maker(tmp_path / "bad.pdf")
    maker.canvas.setPageSize(SHORT)
    text = maker.canvas.beginText(70, 100)
    text.setFont("Helvetica", 10)
    text.setTextRenderMode(3)
    text.textLine("~l1|e h@rb0ur ]ies 0p*n t{} th# n0rt|-| " * 4)
    maker.canvas.drawText(text)
    maker.canvas.drawInlineImage(pictures(folder / "short.pdf")[0], 0, 0, *SHORT)
    maker.save()
    assert text_of(document_of(tmp_path / "bad.pdf")) == f"{LEFT} {RIGHT}"


def test_a_script_without_spaces_behind_a_scan_is_read(folder: Path, tmp_path: Path) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    maker = Maker(tmp_path / "good.pdf")
    maker.canvas.setPageSize(SHORT)
    maker.canvas.setFont("HeiseiMin-W3", 10)
    maker.canvas.drawString(70, 100, " ".join("船は港を出て北へ行き氷の中に冬を過ごし春を待った。"))
    maker.canvas.drawInlineImage(pictures(folder / "short.pdf")[0], 0, 0, *SHORT)
    maker.save()
    (page,) = document_of(tmp_path / "good.pdf").pages
    assert page.text.startswith("船 は 港") and page.confidence is None


def test_a_tiff_of_two_pages_and_their_marks(folder: Path, tmp_path: Path) -> None:
    page = pictures(folder / "short.pdf")[0]
    path, cache = tmp_path / "pages.tif", tmp_path / "cache"
    page.convert("1").save(path, save_all=True, append_images=[page.convert("1")], compression="group4")
    document = document_of(path, cache=cache)
    assert [p.text for p in document.pages] == [f"{LEFT} {RIGHT}"] * 2
    assert document.title == "pages"
    with Pictures(ONE) as drawn:
        truth = drawn.draw(folder / "short.pdf", 1)
    with Pictures(ONE, cache) as drawn:
        seen = drawn.draw(path, 2)
    assert (seen.pages, truth.confidence) == (2, None)
    assert seen.confidence == document.pages[1].confidence
    assert Image.open(io.BytesIO(seen.png)).width == pytest.approx(1240, abs=2)
    for one, other in zip(seen.boxes(RIGHT), truth.boxes(RIGHT), strict=True):
        assert in_points(one, *SHORT) == pytest.approx(in_points(other, *SHORT), abs=3)


def test_a_page_is_drawn_though_nothing_is_kept(folder: Path, tmp_path: Path) -> None:
    path = scan(folder / "short.pdf", tmp_path / "scan.pdf")
    with Pictures(ONE, tmp_path / "cache") as drawn:
        first = drawn.draw(path, 1)
        begun = time.monotonic()
        assert drawn.draw(path, 1).words == first.words
    assert " ".join(first.words[place][0] for place in first.places(LEFT)) == LEFT
    assert len(list((tmp_path / "cache" / "recognised").glob("*/1.json"))) == 1
    assert time.monotonic() - begun < 2


def test_a_killed_load_goes_on(folder: Path, tmp_path: Path) -> None:
    path, cache = bound([*pictures(folder / "short.pdf")] * 4, tmp_path / "scan.pdf"), tmp_path / "cache"
    program = (
        "import sys; from pathlib import Path; from kgrag.loaders.dispatch import Load;"
        "from kgrag.settings import LoadingSettings;"
        "list(Load([Path(sys.argv[1])], loading=LoadingSettings(processes=1), cache=Path(sys.argv[2])))"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(path), str(cache)])
    until = time.monotonic() + 120
    while not (kept := sorted(cache.glob("recognised/*/[12].json"))) and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    times = [file.stat().st_mtime_ns for file in kept]
    assert text_of(document_of(path, cache=cache)) == " ".join([f"{LEFT} {RIGHT}"] * 4)
    assert [file.stat().st_mtime_ns for file in kept] == times  # they were not recognised again
    assert len(list(cache.glob("recognised/*/*.json"))) == 4


def test_what_is_kept_is_bounded(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognised, "_MOST", 1500)
    for number in range(4):
        kept = recognised.Recognised(tmp_path / "recognised" / str(number))
        kept.keep(1, {"words": ["x" * 1000]})
        os.utime(tmp_path / "recognised" / str(number), (number, number))
        assert kept.find(1) == {"words": ["x" * 1000]}
    assert sorted(path.name for path in (tmp_path / "recognised").iterdir()) == ["2", "3"]
    (tmp_path / "recognised" / "3" / "1.json").write_text("{")
    assert kept.find(1) is None


def test_without_the_extra(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognised, "find_spec", lambda name: None)
    (problem,) = problems_of(scan(folder / "short.pdf", tmp_path / "scan.pdf"))
    assert problem.index("EXTRA=ocr" if "EXTRA" in problem else "kgrag[ocr]") < problem.index("`ocrmypdf`")
    pictures(folder / "short.pdf")[0].save(tmp_path / "page.png")
    (problem,) = problems_of(tmp_path / "page.png")
    assert problem.startswith("is a picture; to have it recognised")


def test_models_are_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    from kgrag.loaders import recognition

    monkeypatch.setattr(recognition, "_MODELS", {"Rec.model_path": "cyrillic_PP-OCRv5_rec.onnx"})
    with pytest.raises(BadInput, match="holds no models"):
        recognition.Recogniser()


def test_memory_that_onnxruntime_lacks_is_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from kgrag.loaders import recognition

    def fails(*_: object) -> None:
        raise RuntimeError("[ONNXRuntimeError] : 6 : std::bad_alloc")

    recogniser = recognition.Recogniser()
    monkeypatch.setattr(recogniser, "_recognised", fails)
    with pytest.raises(MemoryError):
        recogniser.recognise(np.eye(50, dtype=np.uint8) * 255, 1.0)


def test_pictures_in_folders_are_passed_over(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nOf ships.")
    pictures(folder / "short.pdf")[0].save(tmp_path / "page.png")
    found = Load([tmp_path], loading=ONE)
    assert [item.title for item in found if isinstance(item, Document)] == ["Notes"]
    assert found.scan.skipped == {".png": 1}
    (uploaded,) = Load([tmp_path / "page.png"], loading=ONE, names={tmp_path / "page.png": "notes/page.png"})
    assert isinstance(uploaded, Problem) and "RECOGNITION=on" in uploaded.message
    every = LoadingSettings(recognition="on", processes=1)
    assert {item.title for item in Load([tmp_path], loading=every) if isinstance(item, Document)} == {"Notes", "page"}


def _bent(picture: Image.Image, bulge: float) -> Image.Image:
    """Return a page bent like one in a thick book: its middle is this many pixels lower."""
    found = Image.new("L", picture.size, 255)
    for x in range(picture.width):
        column = picture.crop((x, 0, x + 1, picture.height))
        found.paste(column, (x, round(bulge * np.sin(np.pi * x / picture.width))))
    return found


@pytest.mark.parametrize(("bulge", "unsure"), [(0, False), (6, False), (22, True)])
def test_a_page_of_which_words_are_lost_is_told(folder: Path, tmp_path: Path, bulge: int, unsure: bool) -> None:
    path = bound([_bent(pictures(folder / "short.pdf")[0], bulge)], tmp_path / "scan.pdf")
    items = list(load(path, loading=ONE))
    document = next((item for item in items if isinstance(item, Document)), None)
    right = (Counter(text_of(document).split()) if document else Counter()) & Counter(f"{LEFT} {RIGHT}".split())
    assert (right.total() < 0.9 * len(f"{LEFT} {RIGHT}".split())) == unsure
    assert [(p.place.rpartition(":")[2], p.lasting) for p in items if isinstance(p, Problem)] == [
        ("page 1", True)
    ] * unsure


def test_a_picture_with_text_of_its_own_is_told(folder: Path, tmp_path: Path) -> None:
    maker = Maker(tmp_path / "half.pdf")
    maker.text(RIGHT)
    maker.canvas.drawInlineImage(pictures(folder / "short.pdf")[0], 50, 100, 500, 400)
    maker.canvas.drawInlineImage(pictures(folder / "short.pdf")[0], 50, 600, 60, 60)
    maker.save()
    assert problems_of(tmp_path / "half.pdf") == ["holds 1 unread picture, left out"]


MODES = ("L", "LA", "P", "RGB", "RGBA", "CMYK", "I", "I;16", "F")


@pytest.mark.parametrize("mode", MODES)
def test_modes_of_pictures(mode: str, tmp_path: Path) -> None:
    grey = np.full((40, 60), 255, np.uint8)
    grey[10:20, 10:30] = 0
    page = Image.fromarray(grey)
    path = tmp_path / "page.tif"
    (Image.fromarray(grey.astype(np.uint16) * 257) if mode == "I;16" else page.convert(mode)).save(path)
    held = images.Images(path, 150)
    for form in ("L", "RGB"):
        found = np.asarray(held.picture(1, form).convert("L"))
        assert abs(found.astype(int) - grey).max() < 3
    held.close()


def test_what_shows_through_is_white(tmp_path: Path) -> None:
    Image.new("RGBA", (60, 40), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    assert np.asarray(images.Images(tmp_path / "clear.png", 150).picture(1, "L")).min() == 255


def odd_files() -> Iterator[tuple[str, bytes, str]]:
    """Yield names, contents, and expected messages."""

    def saved(image: Image.Image, form: str) -> bytes:
        out = io.BytesIO()
        image.save(out, form)
        return out.getvalue()

    whole = saved(Image.radial_gradient("L"), "PNG")
    huge = bytearray(saved(Image.new("1", (8, 8)), "BMP"))
    huge[18:26] = struct.pack("<ii", 30_000, 30_000)
    none = bytearray(saved(Image.new("1", (8, 8)), "BMP"))
    none[18:26] = struct.pack("<ii", 0, 0)
    yield "blank.png", saved(Image.new("L", (300, 200), 255), "PNG"), "none was recognised"
    yield "dot.gif", saved(Image.new("1", (1, 1)), "GIF"), "none was recognised"
    yield "strip.png", saved(Image.new("1", (30_000, 20), 1), "PNG"), "none was recognised"
    yield "half.png", whole[: len(whole) // 2], "is damaged, or no picture"
    yield "huge.bmp", bytes(huge), "over the limit of 100,000,000"
    yield "none.bmp", bytes(none), "picture"
    yield "text.jpg", b"not a picture at all", "is damaged, or no picture"
    yield "empty.webp", b"", "is empty"


@pytest.mark.parametrize(("name", "data", "said"), list(odd_files()), ids=[name for name, _, _ in odd_files()])
def test_odd_pictures_are_told(name: str, data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    messages = problems_of(tmp_path / name)
    assert messages
    assert said in messages[0]


def test_lines_that_are_near_a_bound_of_the_picture(folder: Path, tmp_path: Path) -> None:
    """A strip with a single line, cut off at its letters, like a part of a screen."""
    page = pictures(folder / "short.pdf")[0]
    ink = np.argwhere(np.asarray(page) < 128)
    (top, left), (bottom, right) = ink.min(axis=0), ink.max(axis=0)
    page.crop((left - 4, top - 4, right + 4, bottom + 4)).save(tmp_path / "strip.png")
    assert text_of(document_of(tmp_path / "strip.png")) == f"{LEFT} {RIGHT}"


def test_progress_says_how_long_a_page_takes(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgrag.runtime import document_progress

    monkeypatch.setattr(document_progress, "PATIENCE", 0.2)
    monkeypatch.setattr(document_progress, "EVERY", 0.1)
    path = bound([*pictures(folder / "short.pdf")] * 2, tmp_path / "scan.pdf")
    said: list[str] = []
    with document_progress.DocumentProgress(lambda stage, done, total: said.append(f"{stage} {done}/{total}")) as news:
        list(Load([path], loading=ONE, progress=news))
    assert any("recognised from pictures in about" in line and "1/2" in line for line in said), said


def test_marks_of_a_short_text() -> None:
    assert Picture(b"", (), 1, 0.9).places("nothing") == []
