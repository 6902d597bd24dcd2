"""Files that come, change and go: a collection mirrors its folders, and nothing else is touched."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.loaders import Columns
from kgrag.values.documents import Document, Section
from kgrag.values.errors import InputError
from kgrag.values.identity import document_id
from kgrag.values.results import IngestReport


def write(folder: Path, **texts: str) -> None:
    """Write files "a.txt" for a="text", dated an hour ago."""
    for name, text in texts.items():
        path = folder / f"{name}.{'csv' if name.endswith('rows') else 'txt'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (time.time() - 3600,) * 2)


def counted(report: IngestReport) -> tuple[int, int, int]:
    return report.added, report.changed, report.unchanged


def keys(kg: KnowledgeGraph, name: str) -> list[str]:
    return sorted(row["key"] for row in kg[name].cypher(
        "MATCH (d:Document {collection: $collection}) RETURN d.key AS key"
    ))  # fmt: skip


def test_a_collection_follows_its_folder(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    notes = kg[collection_name]
    own = Document("own", (Section("A document that no file holds: Port Lockroy."),), "Port Lockroy")
    folder, beside = tmp_path / "in", tmp_path / "in-beside"
    write(folder, one="The Fram lay at Larvik.", two="The Gauss lay at Kiel.", rows="id,text\n1,Oslo\n2,Bergen\n")
    write(beside, one="Another one.")
    notes.ingest([own])
    notes.ingest([beside, folder], root=None)
    before = keys(kg, collection_name)
    assert counted(notes.ingest(folder)) == (0, 0, 4)
    assert notes.ingest(folder).gone == ()

    (folder / "two.txt").rename(folder / "three.txt")
    write(folder, rows="id,text\n2,Bergen\n")
    report = notes.ingest(folder)  # without `prune` they are listed and kept
    two, row = str(folder / "two.txt"), f"{folder / 'rows.csv'}#1"
    assert (set(report.gone), report.pruned) == ({two, row}, 0)
    assert keys(kg, collection_name) == sorted([*before, str(folder / "three.txt")])

    (folder / "rows.csv").write_text("id,text\n2,\n")  # a file with a problem keeps its documents
    assert notes.ingest(folder).gone == (two,)
    write(folder, rows="id,text\n2,Bergen\n")
    report = notes.ingest(folder, prune=True)
    assert (set(report.gone), report.pruned) == ({two, row}, 2)
    assert keys(kg, collection_name) == sorted([*(set(before) - {two, row}), str(folder / "three.txt")])
    after = digest(kg.graph, collection_name)
    notes.delete()
    notes.ingest([own])
    notes.ingest([folder, beside])
    assert digest(kg.graph, collection_name) == after
    assert notes.info().finished


def test_a_document_whose_removal_was_interrupted_does_not_count_as_there(
    kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    notes, folder = kg[collection_name], tmp_path / "in"
    write(folder, one="The Fram lay at Larvik.", two="The Gauss lay at Kiel.", three="The Nimrod lay at Lyttelton.")
    notes.ingest(folder)
    (folder / "one.txt").unlink()
    (folder / "two.txt").unlink()
    assert notes.ingest(folder, prune=True).pruned == 0  # two of three: half of the folder may be missing
    kg.graph.run("write/unseal", ids=[document_id(collection_name, str(folder / "one.txt"))])  # a removal begins so
    report = notes.ingest(folder, prune=True)
    assert (len(report.gone), report.pruned) == (2, 2)
    assert keys(kg, collection_name) == [str(folder / "three.txt")]


def test_a_folder_that_is_not_mounted_is_not_pruned(
    kg: KnowledgeGraph, collection_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, folder = kg[collection_name], tmp_path / "in"
    write(folder / "deep", one="The Fram lay at Larvik.")
    write(folder, two="The Gauss lay at Kiel.")
    notes.ingest(folder)
    opened = Path.iterdir

    def refuse(self: Path) -> Any:
        if self.name == "deep":
            raise PermissionError(13, "Permission denied")
        return opened(self)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", refuse)  # chmod does not stop root
        assert notes.ingest(folder, prune=True, force=True).gone == ()
    (folder / "two.txt").unlink()
    (folder / "deep" / "one.txt").unlink()
    assert notes.ingest(folder, prune=True).gone == ()
    folder.rename(tmp_path / "away")
    with pytest.raises(InputError):
        notes.ingest(folder, prune=True)
    write(tmp_path, other="Something else.")
    assert notes.ingest([folder, tmp_path / "other.txt"], prune=True).gone == ()
    assert len(keys(kg, collection_name)) == 3
    assert notes.ingest(folder, prune=True, force=True).pruned == 2
    assert keys(kg, collection_name) == [str(tmp_path / "other.txt")]


def test_a_root_is_pruned_by_itself_wherever_it_was_moved(
    kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    notes = kg[collection_name]
    write(tmp_path / "a", one="The Fram lay at Larvik.", two="The Gauss lay at Kiel.")
    write(tmp_path / "b", three="The Nimrod lay at Lyttelton.")
    for root in (tmp_path / "a", tmp_path / "b"):
        assert notes.ingest(root, root=root, prune=True).gone == ()
    assert keys(kg, collection_name) == ["one.txt", "three.txt", "two.txt"]
    (tmp_path / "a").rename(tmp_path / "c")
    (tmp_path / "c" / "two.txt").unlink()
    report = notes.ingest(tmp_path / "c", root=tmp_path / "c", prune=True)
    assert (counted(report), report.gone, report.replaced) == ((0, 0, 1), ("two.txt",), ())
    assert keys(kg, collection_name) == ["one.txt", "three.txt"]
    assert counted(notes.ingest(tmp_path / "c", root=tmp_path / "c")) == (0, 0, 1)


def test_a_key_that_names_another_source_is_told(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    notes = kg[collection_name]
    write(tmp_path / "a", readme="The Fram lay at Larvik.", rows="id,text\nx,Oslo\n")
    write(tmp_path / "b", readme="The Gauss lay at Kiel.", rows="id,text\nx,Bergen\n")
    columns = Columns(key="id")
    assert notes.ingest(tmp_path / "a", root=tmp_path / "a", columns=columns).replaced == ()
    report = notes.ingest(tmp_path / "b", root=tmp_path / "b", columns=columns)
    assert counted(report) == (0, 2, 0)
    assert {(r.key, r.before, r.now) for r in report.replaced} == {
        (key, str(tmp_path / "a" / name), str(tmp_path / "b" / name))
        for key, name in (("readme.txt", "readme.txt"), ("x", "rows.csv"))
    }
    web = Document("page", (Section("First."),), source="https://one.example/page")
    notes.ingest([web])
    (moved,) = notes.ingest([Document("page", (Section("Second."),), source="https://two.example/")]).replaced
    assert (moved.before, moved.now) == (web.source, "https://two.example/")
    assert notes.ingest([Document("page", (Section("Third."),), source="https://two.example/")]).replaced == ()
