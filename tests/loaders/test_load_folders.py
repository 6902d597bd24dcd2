"""Folders, paths and keys."""

import os
from pathlib import Path

import pytest

from kgrag.loaders import Columns, load
from kgrag.loaders.dispatch import Load
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem
from kgrag.values.errors import InputError


def tree(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"id": "' + name + '", "text": "row"}' if name.endswith("l") else f"text of {name}")
    return root


def keys(*paths: Path, root: Path | None = None) -> list[str]:
    return [i.key if isinstance(i, Document) else f"! {i.message}" for i in load(paths, root=root)]


def test_a_folder_is_walked_in_order(tmp_path: Path) -> None:
    tree(tmp_path, "b.txt", "a/z.md", "a/B.TXT", "a.txt", "c/d/e.html", ".hidden/x.txt", "c/.y.txt", "c/rows.jsonl")
    assert keys(tmp_path, root=tmp_path) == [
        "a/B.TXT", "a/z.md", "a.txt", "b.txt", "c/d/e.html",
        "c/rows.jsonl#c/rows.jsonl",
    ]  # fmt: skip
    sources = [i.source for i in load(tmp_path) if isinstance(i, Document)]
    assert sources[0] == str(tmp_path / "a" / "B.TXT")


def test_a_file_has_one_key_however_its_path_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "notes/a/b.txt")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("notes")
    ways = ["notes", "./notes/", "notes/a/b.txt", "notes/../notes/a", str(tmp_path / "notes" / "a" / "b.txt"), "link"]
    assert {key for way in ways for key in keys(Path(way))} == {os.path.realpath("notes/a/b.txt")}
    monkeypatch.chdir("notes")
    assert keys(Path("a/b.txt")) == [os.path.realpath("a/b.txt")]
    assert keys(Path("a/b.txt"), root=tmp_path) == keys(Path(), root=Path("..")) == ["notes/a/b.txt"]
    assert keys(Path("a/b.txt"), root=tmp_path / "other") == [os.path.realpath("a/b.txt")]


def test_a_row_has_the_key_of_its_file(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(f"id,text\n1,first of {name}\n2,second of {name}\n")
    assert keys(tmp_path, root=tmp_path) == ["a.csv#1", "a.csv#2", "b.csv#1", "b.csv#2"]
    named = [i.key if isinstance(i, Document) else "!" for i in load(tmp_path, columns=Columns(key="id"))]
    assert named == ["1", "2", "!", "!"]


def test_what_no_format_reads_is_counted(tmp_path: Path) -> None:
    tree(tmp_path, *(f"{n}/x.xyz" for n in range(7)), "Makefile", "one.EXE", "a.txt")
    found = Load(tmp_path)
    assert [type(item) for item in found] == [Document]
    assert found.scan.skipped == {"": 1, ".exe": 1, ".xyz": 7}


def test_a_file_named_outright_is_read_as_text(tmp_path: Path) -> None:
    tree(tmp_path, "a.xyz", "README")
    assert [i.text for i in load([tmp_path / "a.xyz", tmp_path / "README"]) if isinstance(i, Document)] == [
        "text of a.xyz", "text of README"
    ]  # fmt: skip


def test_what_is_passed_twice_is_read_once(tmp_path: Path) -> None:
    tree(tmp_path, "sub/a.txt", "b.txt")
    assert keys(tmp_path, tmp_path, tmp_path / "b.txt", tmp_path / "sub", root=tmp_path) == ["b.txt", "sub/a.txt"]
    assert keys(tmp_path / "sub", tmp_path, root=tmp_path) == ["sub/a.txt", "b.txt"]
    assert keys(tmp_path / "sub" / ".." / "b.txt", tmp_path, root=tmp_path) == ["b.txt", "sub/a.txt"]


def test_links(tmp_path: Path) -> None:
    tree(tmp_path, "root/a/x.txt", "other/y.txt", "secret.txt")
    root = tmp_path / "root"
    (root / "a" / "up").symlink_to(root)
    (root / "self.txt").symlink_to(root / "self.txt")
    (root / "gone.txt").symlink_to(root / "nowhere")
    (root / "out").symlink_to(tmp_path / "other")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    items = list(load(root, root=root))
    assert [i.key for i in items if isinstance(i, Document)] == ["a/x.txt"]
    problems = {Path(i.place).name: i.message for i in items if isinstance(i, Problem)}
    assert set(problems) == {"self.txt", "gone.txt", "out", "out.txt"}
    assert "leaves the folder" in problems["out"]
    assert "FOLLOW_LINKS" in problems["out.txt"]
    items = list(load(root, root=tmp_path, loading=LoadingSettings(follow_links=True)))
    assert [i.key for i in items if isinstance(i, Document)] == ["root/a/x.txt", "other/y.txt", "secret.txt"]


def test_files_of_one_name_in_two_folders_are_two(tmp_path: Path) -> None:
    tree(tmp_path, "a/README.md", "b/README.md")
    assert keys(tmp_path / "a", tmp_path / "b", root=tmp_path) == ["a/README.md", "b/README.md"]


def test_missing_paths(tmp_path: Path) -> None:
    tree(tmp_path, "a.txt")
    assert keys(tmp_path / "nope", tmp_path / "a.txt") == ["! does not exist", (tmp_path / "a.txt").as_posix()]
    with pytest.raises(InputError, match="nope") as caught:
        load([tmp_path / "nope", tmp_path / "a.txt" / "b"])  # at once, before iteration
    assert caught.value.remedy
    assert list(load([])) == []


def test_an_empty_folder(tmp_path: Path) -> None:
    assert keys(tmp_path, root=tmp_path) == ["! holds no files to read"]


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    os.mkfifo(tmp_path / "b.csv")
    assert keys(tmp_path, root=tmp_path) == ["! is not a regular file"] * 2


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.jsonl", "a.csv", "a.json"])
def test_unreadable_files(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, name, "b.txt")
    opened = Path.open

    def refuse(self: Path, mode: str) -> object:
        if self.name == name:
            raise PermissionError(13, "Permission denied")
        return opened(self, mode)

    monkeypatch.setattr(Path, "open", refuse)  # chmod does not stop root
    assert keys(tmp_path, root=tmp_path) == ["! may not be read: permission denied", "b.txt"]


def test_names_that_are_not_unicode(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("x")
    Path(tmp_path / "cafe\u0301.txt").write_text("y")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe8.txt")).write_text("z")
    assert sorted(keys(tmp_path, root=tmp_path)) == ["caf\\xe8.txt", "caf\\xe9.txt", "caf\u00e9.txt"]


def test_files_of_programs_are_skipped_and_addresses_named(tmp_path: Path) -> None:
    for name in ("~$report.docx", "Thumbs.db", "desktop.ini", "a.txt", "~$b.xlsx"):
        (tmp_path / name).write_bytes(b"\0x")
    loading = Load(tmp_path)
    assert [item.message for item in loading if isinstance(item, Problem)] == [
        "is a binary file (it holds NUL bytes), or UTF-16 without a byte order mark"
    ]
    assert loading.scan.skipped == {"locks and settings of programs": 4}
    assert list(Load(tmp_path / "~$report.docx")) == []
    with pytest.raises(InputError, match=r"https://a.example/b.pdf is an address.*\n.*curl"):
        Load("https://a.example/b.pdf")


@pytest.mark.parametrize(
    "error", [ValueError("x"), RecursionError(), StopIteration(), AssertionError(), MemoryError("y"), InputError("z.")]
)
@pytest.mark.parametrize("reader", ["markdown.markdown_document", "tabular.load_csv"])
def test_unexpected_error_of_a_reader_costs_one_file(
    tmp_path: Path, error: Exception, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(f"kgrag.loaders.{reader}", fail)
    tree(tmp_path, "a.txt", "b.md" if reader.startswith("m") else "b.csv", "c.txt")
    items = list(load(tmp_path))
    assert [type(item) for item in items] == [Document, Problem, Document]
    assert isinstance(items[1], Problem) and items[1].place.startswith(str(tmp_path / "b."))
