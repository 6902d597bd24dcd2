"""Files sent to a server: the selection from a folder, their names, and the batches."""

from pathlib import Path

import pytest

from kgrag.client import remote as sending
from kgrag.client.remote import named_files, parts
from kgrag.values.errors import InputError


def test_of_a_folder_what_some_loader_reads(tmp_path: Path) -> None:
    for name in ("a.md", "sub/B.TXT", "sub/c.bin", ".hidden.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    assert [name for name, _ in named_files([tmp_path], None)] == ["a.md", "sub/B.TXT"]
    assert list(named_files([tmp_path / "sub" / "c.bin"], None)) == [("c.bin", tmp_path / "sub" / "c.bin")]  # named
    assert [name for name, _ in named_files([tmp_path / "sub"], tmp_path)] == ["sub/B.TXT"]  # relative to the root
    with pytest.raises(InputError, match=r"There is no '.*nothing'") as error:
        list(named_files([tmp_path / "nothing"], None))
    assert error.value.remedy == "Check the spelling."


def test_many_go_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(5):
        (tmp_path / f"{n}.txt").write_bytes(b"x" * (60 if n == 2 else 10))
    monkeypatch.setattr(sending, "FILES_AT_ONCE", 2)
    assert [list(part) for part in parts(named_files([tmp_path], None))] == [
        ["0.txt", "1.txt"],
        ["2.txt", "3.txt"],
        ["4.txt"],
    ]
    monkeypatch.setattr(sending, "BYTES_AT_ONCE", 65)
    assert [list(part) for part in parts(named_files([tmp_path], None))] == [
        ["0.txt", "1.txt"],
        ["2.txt"],
        ["3.txt", "4.txt"],
    ]
    assert list(parts(iter(()))) == []
