"""The rules for missing documents when a folder is ingested again, without a graph."""

import pytest

from kgrag.indexing.removal import is_gone, lies_in, places_of
from kgrag.values.documents import Scan


@pytest.mark.parametrize(
    ("file", "fingerprint", "gone"),
    [
        ("read.csv", "now", False),
        ("read.csv", "before", True),  # a row that is no longer in the file
        ("troubled.csv", "before", False),
        ("missing.csv", "now", True),
        ("locked/missing.csv", "now", False),
    ],
)
def test_what_is_gone(file: str, fingerprint: str, gone: bool) -> None:
    scan = Scan(files={"read.csv": "now", "troubled.csv": ""}, unreadable=["locked/"])
    assert is_gone(scan, file, fingerprint) is gone


def test_where_is_looked() -> None:
    files = {"docs/a.txt": "", "alone.txt": ""}
    scan = Scan(files=files, folders=["docs/"], empty=["mount/"], missing=["typo.txt"])
    assert places_of(scan, force=False) == ["docs/", "alone.txt"]
    assert places_of(scan, force=True) == ["docs/", "mount/", "alone.txt", "typo.txt"]


def test_what_lies_in_a_place() -> None:
    assert [lies_in(file, "notes") for file in ("notes", "notes/a", "notes.txt", "a")] == [True, True, False, False]
    assert lies_in("docs/a", "docs/") and lies_in("a", "")
