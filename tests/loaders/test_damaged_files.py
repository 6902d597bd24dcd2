"""Sixty damaged PDF and office files: nothing crashes or hangs, memory stays bounded, each has a reported reason."""

import io
import os
import random
import time
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import docx
import openpyxl
import pptx
import psutil
import pytest
from made_pdfs import Maker, prose

from kgrag.loaders import load
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem

QUICK = LoadingSettings(processes=1, memory_mb=512, page_seconds=10, file_seconds=30)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """One intact file of each kind, with a table."""
    folder = tmp_path_factory.mktemp("sound")
    maker = Maker(folder / "a.pdf")
    for n in range(3):
        maker.text(prose(random.Random(n), 8))
        maker.table((("Ship", "Built"), ("Fram", "1892"), ("Maud", "1916")), (100, 90))
        maker.page()
    maker.save()
    word = docx.Document()
    word.add_paragraph(prose(random.Random(1), 30))
    word.add_table(3, 3)
    word.save(str(folder / "a.docx"))
    slides = pptx.Presentation()
    slides.slides.add_slide(slides.slide_layouts[0]).shapes.title.text = "Ships"
    slides.save(str(folder / "a.pptx"))
    book = openpyxl.Workbook()
    for n in range(50):
        book.active.append([n, f"ship {n}", n * 1.5])
    book.save(folder / "a.xlsx")
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: int(len(data) * chance.uniform(0.05, 0.98))]


def flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 60)):
        changed[chance.randrange(10, len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def hole(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(20, len(data) // 2)
    return data[:at] + bytes(len(data) // 4) + data[at + len(data) // 4 :]


def flipped_inside(data: bytes, chance: random.Random) -> bytes:
    """Return an archive with right checksums and damaged XML."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, flip(part, chance) if len(part) > 100 and chance.random() < 0.5 else part)
    return out.getvalue()


DAMAGE: list[Callable[[bytes, random.Random], bytes]] = [cut, flip, hole]


def damaged(sound: dict[str, bytes], folder: Path, numbers: range) -> list[Path]:
    paths = []
    for n in numbers:
        chance = random.Random(n)
        suffix = (".pdf", ".docx", ".pptx", ".xlsx", ".pdf")[n % 5]
        ways = DAMAGE if suffix == ".pdf" else [*DAMAGE, flipped_inside]
        data = ways[n // 5 % len(ways)](sound[suffix], chance)
        path = folder / f"{n:02}{suffix}"
        path.write_bytes(data)
        paths.append(path)
    return paths


def check(paths: list[Path], settings: LoadingSettings = QUICK) -> dict[str, str]:
    """Load files; return the problems by file name. Every file is either read or has a reason."""
    messages: dict[str, str] = {}
    read = set()
    for item in load(paths, loading=settings):
        if isinstance(item, Problem):
            name = Path(item.place.partition(":")[0]).name
            messages[name] = item.message
            assert item.message
        else:
            read.add(Path(item.source).name)
    assert {p.name for p in paths} == read | set(messages)
    return messages


def test_damaged_files(sound: dict[str, bytes], tmp_path: Path) -> None:
    check(damaged(sound, tmp_path, range(20)))


@pytest.mark.slow
def test_sixty_damaged_files(sound: dict[str, bytes], tmp_path: Path) -> None:
    begun = time.monotonic()
    check(damaged(sound, tmp_path, range(60)))
    assert time.monotonic() - begun < 300


def pdf(content: bytes, *, more: bytes = b"") -> bytes:
    """Return a PDF of one page whose content is a compressed stream."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>" + more + b">>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    data, places = b"%PDF-1.4\n", []
    for n, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj%s\nendobj\n" % (n, body)
    start = len(data)
    data += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start


def compressed(piece: bytes, times: int) -> bytes:
    packer = zlib.compressobj(9)
    parts = [packer.compress(piece) for _ in range(times)]
    return b"".join([*parts, packer.flush()])


def _readers() -> list[psutil.Process]:
    """Return the reading processes, without other children: the tests' Neo4j, and ended processes."""
    found = []
    for child in psutil.Process(os.getpid()).children():
        with suppress(psutil.Error):
            if "kgrag.loaders.worker" in " ".join(child.cmdline()):
                found.append(child)
    return found


def _memory(reader: psutil.Process) -> int:
    """Return the resident bytes of a process; 0 once it has ended."""
    try:
        return int(reader.memory_info().rss)
    except psutil.Error:
        return 0


@pytest.mark.slow
def test_bombs_take_bounded_memory_and_time(tmp_path: Path) -> None:
    (tmp_path / "stream.pdf").write_bytes(pdf(compressed(bytes(2**20), 700)))  # 700 MB of zeros
    shown = b"BT /F 9 Tf 9 9 Td (ship ) Tj ET\n" * 1000
    (tmp_path / "text.pdf").write_bytes(pdf(compressed(shown, 1500)))  # 6 million characters
    (tmp_path / "sound.pdf").write_bytes(pdf(compressed(b"BT /F 9 Tf 99 700 Td (A ship is here.) Tj ET", 1)))
    paths = sorted(tmp_path.iterdir())
    highest = 0
    begun = time.monotonic()
    items = []
    limits = LoadingSettings(processes=1, memory_mb=512, page_seconds=3, file_seconds=30)
    for item in load(paths, loading=limits):
        items.append(item)
        used = [_memory(reader) for reader in _readers()]
        highest = max(highest, *used) if used else highest
    assert time.monotonic() - begun < 60
    problems = {Path(i.place.partition(":")[0]).name: i.message for i in items if isinstance(i, Problem)}
    assert set(problems) == {"stream.pdf", "text.pdf"}
    for message in problems.values():  # whichever limit comes first: a machine may be busy
        assert "longer than" in message or "memory" in message
    assert highest < 512 * 2**20
    (document,) = (i for i in items if isinstance(i, Document))
    assert document.text == "A ship is here."


@pytest.mark.long
def test_a_page_that_fails_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker(tmp_path / "a.pdf")
    for n in range(1, 9):
        maker.text(f"On page {n} there is a word that is number {n}.")
        maker.page()
    maker.save()
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys, time\n"
        "if 'kgrag.loaders.worker' in ' '.join(sys.orig_argv):\n"
        "    from kgrag.loaders import pdf_pages\n"
        "    page = pdf_pages.Pdf.page\n"
        "    def broken(self, number):\n"
        "        if number == 2: raise ValueError('bad page')\n"
        "        if number == 3: os.abort()\n"
        "        if number == 6: time.sleep(60)\n"
        "        if number == 7: x = bytearray(2 << 30)\n"
        "        return page(self, number)\n"
        "    pdf_pages.Pdf.page = broken\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    settings = LoadingSettings(processes=2, memory_mb=512, page_seconds=4)
    *problems, document = load(tmp_path / "a.pdf", loading=settings)
    assert [(Path(p.place).name, p.message.split(";")[0].split(",")[0]) for p in problems] == [  # type: ignore[union-attr]
        ("a.pdf:page 2", "cannot be read (ValueError: bad page)"),
        ("a.pdf:page 3", "made its reader fail (signal 6)"),
        ("a.pdf:page 6", "took longer than 4 s to read"),
        ("a.pdf:page 7", "needs more than 512 MB of memory to read"),
    ]  # fmt: skip
    assert isinstance(document, Document)
    assert [bool(p.text) for p in document.pages] == [n not in (2, 3, 6, 7) for n in range(1, 9)]


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "a.pdf")
    maker.text("Words.")
    maker.save()
    others = _readers()  # readers of another test's load, not yet collected
    items = load([tmp_path / "a.pdf", tmp_path / "a.pdf"], loading=QUICK)
    next(items)
    readers = [each for each in _readers() if each not in others]
    assert readers
    items.close()  # type: ignore[attr-defined]
    assert not any(c.is_running() for c in readers)
