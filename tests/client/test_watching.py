"""The changes of a folder that count, and folders that cannot be watched; see also tests/cli/test_watch_command.py."""

from pathlib import Path

import pytest
from watchfiles import Change

from kgrag import KnowledgeGraph
from kgrag.client.watching import Visible, watch
from kgrag.values.errors import InputError


def test_hidden_files_of_a_folder_are_not_looked_at() -> None:
    """Hidden files are ignored, but the folder itself may lie in a hidden one."""
    seen = Visible([Path("/home/me/.notes"), Path("/srv/wiki")])
    assert seen(Change.added, "/home/me/.notes/a.md")
    assert seen(Change.deleted, "/srv/wiki/guide/b.md")
    assert not seen(Change.added, "/home/me/.notes/.a.md.swp")
    assert not seen(Change.modified, "/srv/wiki/.git/index")
    assert not seen(Change.modified, "/elsewhere/.hidden/x")


def test_what_is_no_folder_is_refused_before_anything_is_read(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("text")
    for path in (tmp_path / "file.md", tmp_path / "nothing"):
        with pytest.raises(InputError, match="is not a folder that could be watched") as error:
            next(watch(kg["never-made"], [tmp_path, path]))
        assert error.value.message.startswith(str(path))
    assert "never-made" not in {info.name for info in kg.collections()}


def test_files_that_are_too_new_are_no_problem(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    """A folder whose files were all just written is no problem, though none can be read yet."""
    (tmp_path / "a.md").write_text("Ada wrote it.")
    report = kg[collection_name].ingest(tmp_path, settle=600)
    assert (report.unsettled, report.problems, report.added) == (1, (), 0)
    assert collection_name not in {info.name for info in kg.collections()}
    assert kg[collection_name].ingest(tmp_path).added == 1
