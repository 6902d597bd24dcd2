"""Third-party readers, chosen by name: Docling and MarkItDown themselves read generated files."""

from collections.abc import Sequence
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Inches

from kgrag.loaders import load
from kgrag.loaders.dispatch import Load
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, FileState, Problem
from kgrag.values.errors import NotFoundError

DOCLING = LoadingSettings(readers=("docling",), memory_mb=8192)  # address space, which its libraries reserve
MARKITDOWN = LoadingSettings(readers=("markitdown",), memory_mb=8192)


def _report(path: Path) -> Path:
    document = docx.Document()
    document.add_heading("Ships", 1)
    document.add_paragraph("The Fram was built at Larvik.")
    document.add_heading("Crew", 2)
    document.add_paragraph("Hjalmar Johansen", style="List Bullet")
    table = document.add_table(2, 2)
    for row, cells in enumerate((("Ship", "Launched"), ("Fram", "1892"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.save(str(path))
    return path


def _slides(path: Path) -> Path:
    slides = pptx.Presentation()
    for title, text in (("Fram", "She was built at Larvik."), ("Belgica", "She wintered in the ice.")):
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    cells = slide.shapes.add_table(2, 2, Inches(1), Inches(4), Inches(4), Inches(1)).table
    for row, values in enumerate((("Year", "Ice"), ("1898", "Bellingshausen Sea"))):
        for column, value in enumerate(values):
            cells.cell(row, column).text = value
    slides.save(str(path))
    return path


def _one(path: Path, loading: LoadingSettings) -> Document:
    items = list(load(path, loading=loading))
    assert [type(item) for item in items] == [Document], items
    assert isinstance(items[0], Document)
    return items[0]


def test_docling_reads_a_report(tmp_path: Path) -> None:
    document = _one(_report(tmp_path / "report.docx"), DOCLING)
    assert document.title == "Ships"
    assert [(s.heading, s.text) for s in document.sections] == [
        ("Ships", "The Fram was built at Larvik."), ("Ships > Crew", "- Hjalmar Johansen"),
    ]  # fmt: skip
    assert [table.rows for table in document.tables] == [(("Ship", "Launched"), ("Fram", "1892"))]


def test_docling_keeps_pages(tmp_path: Path) -> None:
    document = _one(_slides(tmp_path / "ships.pptx"), DOCLING)
    assert [(page.number, page.text) for page in document.pages] == [
        (1, "Fram\n- She was built at Larvik."), (2, "Belgica\n- She wintered in the ice."),
    ]  # fmt: skip
    assert [(s.heading, s.breaks) for s in document.sections] == [("Fram", ((0, 1),)), ("Belgica", ((0, 2),))]
    assert [(table.page, table.rows[1]) for table in document.tables] == [(2, ("1898", "Bellingshausen Sea"))]


def test_markitdown_reads_sheets_and_reports(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Ship", "Launched"])
    book.active.append(["Fram", 1892])
    book.save(tmp_path / "ships.xlsx")
    sheet = _one(tmp_path / "ships.xlsx", MARKITDOWN)
    assert [table.rows for table in sheet.tables] == [(("Ship", "Launched"), ("Fram", "1892"))]
    report = _one(_report(tmp_path / "report.docx"), MARKITDOWN)
    assert [s.heading for s in report.sections] == ["Ships", "Ships > Crew"]
    assert report.pages == ()


def test_another_choice_reads_again(tmp_path: Path) -> None:
    _report(tmp_path / "report.docx")
    (tmp_path / "note.md").write_text("Ada wrote it.")
    known: dict[str, list[FileState]] = {}
    kinds: list[dict[str, str]] = []

    def states(keys: Sequence[str]) -> dict[str, list[FileState]]:
        return {key: known[key] for key in keys if key in known}

    for loading in (LoadingSettings(), DOCLING, DOCLING, LoadingSettings()):
        kinds.append({})
        for item in Load(tmp_path, loading=loading, root=tmp_path, states=states):
            assert not isinstance(item, Problem)
            assert item.file is not None
            kinds[-1][Path(item.file.key).suffix] = type(item).__name__
            known[item.file.key] = [item.file]
    assert [kind[".docx"] for kind in kinds] == ["Document", "Document", "Unchanged", "Document"]
    assert [kind[".md"] for kind in kinds] == ["Document", "Unchanged", "Unchanged", "Unchanged"]


def test_damaged_files_are_problems(tmp_path: Path) -> None:
    (tmp_path / "report.docx").write_bytes(b"PK\3\4 no archive")
    for loading in (DOCLING, MARKITDOWN):
        [problem] = load(tmp_path / "report.docx", loading=loading)
        assert isinstance(problem, Problem)
        assert problem.message


def test_an_unknown_reader_is_named(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("Ada wrote it.")
    with pytest.raises(NotFoundError, match="no reader 'doclin'") as error:
        load(tmp_path, loading=LoadingSettings(readers=("doclin",)))
    assert "'docling'" in error.value.remedy
