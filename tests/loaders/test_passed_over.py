"""Skipped files in folders, and files packed by gzip."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from kgrag.loaders import load
from kgrag.loaders.dispatch import Load
from kgrag.loaders.folder_walk import Ignore
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem


def tree(root: Path, *names: str, **ignored: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}")
    for folder, lines in ignored.items():
        (root / folder.strip("_") / ".gitignore").write_text(lines)
    return root


def keys(root: Path, **loading: Any) -> tuple[list[str], dict[str, int]]:
    found = Load(root, root=root, loading=LoadingSettings(**loading))
    documents = [item.key for item in found if isinstance(item, Document)]
    return documents, found.scan.skipped


def test_gitignore_files_are_heeded(tmp_path: Path) -> None:
    tree(
        tmp_path, "a.txt", "b.log.txt", "build/x.txt", "src/build/y.txt", "src/keep.log.txt", "src/deep/z.tmp.txt",
        "docs/build.txt", "node_modules/p/readme.md",
        _="# comment\n*.log.txt\n/build/\n!keep.log.txt\n", src="deep/*.tmp.txt\n",
    )  # fmt: skip
    documents, skipped = keys(tmp_path)
    assert documents == ["a.txt", "docs/build.txt", "src/build/y.txt", "src/keep.log.txt"]
    assert skipped == {"in .gitignore": 3, "excluded": 1}
    assert "b.log.txt" in keys(tmp_path, gitignore=False)[0]


def test_the_files_of_the_repository_above_are_heeded(tmp_path: Path) -> None:
    tree(tmp_path, ".git/config.txt", "docs/a.txt", "docs/secret.txt", "docs/sub/b.txt", _="secret.txt\n/docs/sub/\n")
    assert keys(tmp_path / "docs")[0] == ["a.txt"]
    assert [i.key for i in load(tmp_path / "docs" / "secret.txt", root=tmp_path) if isinstance(i, Document)] == [
        "docs/secret.txt"
    ]


def test_what_is_excluded_is_not_read_whatever_gitignore_says(tmp_path: Path) -> None:
    tree(tmp_path, "a.txt", "b.min.js", "out/c.txt", "in/out/d.txt", _="!b.min.js\n")
    documents, skipped = keys(tmp_path, exclude=("*.min.js", "out/"))
    assert (documents, skipped) == (["a.txt"], {"excluded": 3})


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("a", "a", True), ("*.txt", "a/b.txt", True), ("/*.txt", "a/b.txt", False), ("a/b.txt", "c/a/b.txt", False),
        ("**/a/b.txt", "c/a/b.txt", True), ("a/**", "a/b/c.txt", True), ("a/**/c.txt", "a/c.txt", True),
        ("a?c.txt", "a/c.txt", False), ("[ab].txt", "b.txt", True), ("[!ab].txt", "b.txt", False),
        ("\\#a.txt", "#a.txt", True), ("a.txt   ", "a.txt", True), ("[z-a].txt", "z.txt", False), ("a/", "a", False),
    ],
)  # fmt: skip
def test_patterns(tmp_path: Path, pattern: str, path: str, matches: bool) -> None:
    assert bool(Ignore(tmp_path, [pattern]).passes_over(tmp_path / path, is_folder=False)) is matches


def test_packed_files_are_read_by_what_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "notes.txt.gz").write_bytes(gzip.compress(b"The Fram drifted."))
    (tmp_path / "page.html.gz").write_bytes(gzip.compress(b"<h1>Fram</h1><p>Built in Larvik.</p>"))
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"id,text\n1,first\n2,second\n"))
    (tmp_path / "data.bin.gz").write_bytes(gzip.compress(b"?"))
    found = Load(tmp_path, root=tmp_path)
    documents = [item for item in found if isinstance(item, Document)]
    assert [(d.key, d.title, d.text) for d in documents] == [
        ("notes.txt.gz", "notes", "The Fram drifted."),
        ("page.html.gz", "Fram", "Built in Larvik."),
        ("rows.csv.gz#1", "rows 1", "first"),
        ("rows.csv.gz#2", "rows 2", "second"),
    ]
    assert found.scan.skipped == {".gz": 1}
    assert found.scan.files["notes.txt.gz"].startswith("text.")  # recognised if unchanged


def test_damaged_and_endless_packed_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"text " * 1000)[:30])
    (tmp_path / "huge.txt.gz").write_bytes(gzip.compress(bytes(20 << 20)))
    messages = [item.message for item in load(tmp_path, max_file_mb=1) if isinstance(item, Problem)]
    assert "is a damaged gzip file" in messages[0]
    assert "unpacks to more than 16 MB" in messages[1]
