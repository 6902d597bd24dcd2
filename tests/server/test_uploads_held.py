"""The total limit of a server's pending uploads."""

from pathlib import Path

import pytest

from kgrag.server.uploads import Uploads
from kgrag.values.errors import FullError


def test_the_folder_is_not_counted_at_each_upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uploads, counted = Uploads(tmp_path), []
    count = uploads._count
    monkeypatch.setattr(uploads, "_count", lambda: counted.append(1) or count())
    for number in range(20):
        uploads.check_room(100, 10_000)
        uploads.keep("notes", f"{number}.txt", [b"x" * 100])
    assert len(counted) == 1
    assert uploads.size() == 2000


def test_what_others_removed_makes_room(tmp_path: Path) -> None:
    ours, theirs = Uploads(tmp_path), Uploads(tmp_path)
    ours.check_room(600, 1000)
    ours.keep("notes", "a.txt", [b"x" * 600])
    with pytest.raises(FullError, match="uploads"):
        ours.check_room(600, 1000)
    assert theirs.remove("notes", "a.txt")
    ours.check_room(600, 1000)
