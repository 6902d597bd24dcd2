"""Unchanged files are not read again: their size and time show it, else their bytes."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from kgrag.loaders import Columns
from kgrag.loaders.dispatch import Load
from kgrag.loaders.folder_walk import Fingerprint
from kgrag.values.documents import Document, FileState, Problem, Unchanged

HOUR = 3600


class Memory:
    """The state of the files read so far, as a collection records it."""

    def __init__(self) -> None:
        self.files: dict[str, FileState] = {}

    def known(self, keys: Sequence[str]) -> Mapping[str, Sequence[FileState]]:
        return {key: [self.files[key]] for key in keys if key in self.files}

    def load(self, folder: Path, **options: Any) -> dict[str, list[str]]:
        """Return the keys of documents, and of unreadable files, by outcome."""
        found: dict[str, list[str]] = {"read": [], "unchanged": [], "touched": [], "problems": []}
        self.scan = (loading := Load(folder, root=folder, states=self.known, **options)).scan
        for item in loading:
            if isinstance(item, Problem):
                found["problems"].append(Path(item.place).name)
            elif isinstance(item, Unchanged):
                found["touched" if item.file != item.recorded else "unchanged"].append(item.file.key)
                self.files[item.file.key] = item.file
            else:
                found["read"].append(item.key)
                assert item.file is not None
                if item.file.documents:
                    self.files[item.file.key] = item.file
        return {what: keys for what, keys in found.items() if keys}


def write(path: Path, text: str, age: float = HOUR) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time.time() - age,) * 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "a.txt", "one")
    write(tmp_path / "sub" / "b.md", "# Two\n\nwords")
    write(tmp_path / "rows.csv", "id,text\n1,first\n2,second\n")
    return tmp_path


READ = {"read": ["a.txt", "rows.csv#1", "rows.csv#2", "sub/b.md"]}
UNCHANGED = {"unchanged": ["a.txt", "rows.csv", "sub/b.md"]}


def test_file_of_the_same_size_and_time_that_was_written_or_renamed_is_read(folder: Path) -> None:
    memory = Memory()
    assert memory.load(folder) == READ
    assert memory.files["rows.csv"].documents == 2
    times = (folder / "a.txt").stat().st_mtime_ns
    assert memory.load(folder) == UNCHANGED
    (folder / "a.txt").write_text("two")
    (folder / "b.txt").write_text("six")
    for name in ("a.txt", "b.txt"):
        os.utime(folder / name, ns=(times, times))
    assert memory.load(folder)["read"] == ["a.txt", "b.txt"]
    for old, new in (("a.txt", "c"), ("b.txt", "a.txt"), ("c", "b.txt")):
        (folder / old).rename(folder / new)
    assert memory.load(folder)["read"] == ["a.txt", "b.txt"]


def test_touched_files_are_compared_by_their_bytes(folder: Path) -> None:
    memory = Memory()
    memory.load(folder)
    os.utime(folder / "a.txt", (time.time() - 10,) * 2)
    write(folder / "sub" / "b.md", "# Two\n\nother", age=10)
    assert memory.load(folder) == {"read": ["sub/b.md"], "touched": ["a.txt"], "unchanged": ["rows.csv"]}
    write(folder / "sub" / "b.md", "# Two\n\nOTHER", age=10 + HOUR)  # the size is the same
    assert memory.load(folder) == {"read": ["sub/b.md"], "unchanged": ["a.txt", "rows.csv"]}


def test_a_file_just_written_is_compared_by_its_bytes_next_time(folder: Path) -> None:
    memory = Memory()
    write(folder / "a.txt", "one", age=0)
    memory.load(folder)
    times = (folder / "a.txt").stat().st_mtime_ns
    (folder / "a.txt").write_text("two")
    os.utime(folder / "a.txt", ns=(times, times))  # a change within the same tick of the file system's clock
    assert memory.load(folder)["read"] == ["a.txt"]


def test_another_reader_or_other_columns_read_again(folder: Path) -> None:
    memory = Memory()
    memory.load(folder)
    state = memory.files["a.txt"]
    before = Fingerprint.parse(state.fingerprint)
    assert before is not None and before.reader == "text.2"
    older = Fingerprint("text.0", before.size, before.mark, before.hash)
    memory.files["a.txt"] = FileState("a.txt", state.root, str(older), 1)
    assert memory.load(folder)["read"] == ["a.txt"]
    assert memory.load(folder, columns=Columns(title="id"))["read"] == READ["read"]
    assert memory.load(folder, columns=Columns(title="id")) == UNCHANGED
    (folder / "a.txt").rename(folder / "a.md")  # Markdown is read differently
    memory.files["a.md"] = memory.files.pop("a.txt")
    assert memory.load(folder, columns=Columns(title="id"))["read"] == ["a.md"]


def test_a_benchmark_is_read_again_when_its_triples_change(tmp_path: Path) -> None:
    memory = Memory()
    write(tmp_path / "corpus.jsonl", '{"id": "p", "text": "x"}\n')
    write(tmp_path / "triples.jsonl", '{"passage": "p", "subject": "a", "predicate": "b", "object": "c"}\n')
    assert memory.load(tmp_path) == {"read": ["p"]}
    assert memory.load(tmp_path) == {"unchanged": ["corpus.jsonl"]}
    write(tmp_path / "triples.jsonl", '{"passage": "p", "subject": "A", "predicate": "b", "object": "c"}\n', age=60)
    assert memory.load(tmp_path) == {"read": ["p"]}


def test_files_with_problems_are_read_each_time(folder: Path) -> None:
    memory = Memory()
    write(folder / "rows.csv", "id,text\n1,first\n2,\n")
    expected = {"read": ["rows.csv#1"], "problems": ["rows.csv:3"]}
    assert memory.load(folder)["problems"] == expected["problems"]
    assert memory.load(folder) == {**expected, "unchanged": ["a.txt", "sub/b.md"]}
    assert memory.scan.files["rows.csv"] == ""


def test_scanned_pages_are_told_again_without_reading(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.drawString(72, 700, "The Fram was designed by Colin Archer, who lived at Larvik.")
    canvas.showPage()
    canvas.drawImage(ImageReader(Image.new("RGB", (200, 280), "grey")), 0, 0, 595, 842)
    canvas.showPage()
    canvas.save()
    os.utime(tmp_path / "a.pdf", (time.time() - HOUR,) * 2)
    memory = Memory()
    assert memory.load(tmp_path) == {"read": ["a.pdf"], "problems": ["a.pdf:page 2"]}
    assert memory.load(tmp_path) == {"unchanged": ["a.pdf"], "problems": ["a.pdf:page 2"]}


def test_what_is_being_written_is_left_for_later(folder: Path) -> None:
    memory = Memory()
    write(folder / "half.txt", "the first ha", age=0)
    assert memory.load(folder, settle=5) == READ
    assert memory.scan.unsettled == 1
    assert "half.txt" in memory.scan.files  # it exists
    write(folder / "half.txt", "the first half", age=6)
    assert memory.load(folder, settle=5) == {"read": ["half.txt"], **UNCHANGED}


def test_what_a_document_came_from_is_no_part_of_it(folder: Path) -> None:
    (document,) = (item for item in Load(folder / "a.txt") if isinstance(item, Document))
    assert document.file is not None
    assert document.file.path == document.key == document.source == str(folder / "a.txt")
