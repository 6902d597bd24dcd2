"""Folders that a server watches: jobs keep their collections up to date, and report unreadable files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from served import Served

from kgrag import KnowledgeGraph


@contextmanager
def _serving(kg: KnowledgeGraph, home: Path, collection: str, folder: Path) -> Iterator[Served]:
    serve = kg.settings.serve.model_copy(update={"watch": {collection: folder}})
    settings = kg.settings.model_copy(update={"serve": serve})
    with KnowledgeGraph.connect(settings=settings) as other, Served(other, home, job_workers=1) as served:
        yield served


def _wait(client: httpx.Client, collection: str, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    for _ in range(600):
        now: dict[str, Any] = client.get(f"/api/v1/collections/{collection}/watched").json()
        if fits(now) and not now["looking"]:
            return now
        time.sleep(0.1)
    raise AssertionError(now)


def test_a_collection_is_kept_in_step_with_its_folder(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    folder, home = tmp_path / "secret" / "notes", tmp_path / "home"
    (folder / "old").mkdir(parents=True)
    home.mkdir()
    (folder / "old" / "kari.md").write_text("# Kari\n\nKari keeps bees in Larvik.")
    (folder / "bad.pdf").write_text("no PDF")
    with _serving(kg, home, collection_name, folder) as served, served.client() as client:
        first = _wait(client, collection_name, lambda its: bool(its["looked"]) and not its["unsettled"])
        assert (first["folder"], first["present"], first["documents"], first["failed"]) == ("notes", True, 1, 1)
        assert [its["place"] for its in first["problems"]] == ["bad.pdf"]
        assert "secret" not in str(first)
        passage = kg[collection_name].passage("old/kari.md")
        assert passage.source == "old/kari.md"
        upload = [("files", ("sent.txt", b"Sent by somebody."))]
        sent = client.post(f"/api/v1/collections/{collection_name}/documents", files=upload)
        assert sent.status_code == 202

        (folder / "nils.md").write_text("# Nils\n\nNils sailed to Bergen.")
        second = _wait(client, collection_name, lambda its: its["documents"] == 2)
        assert second["looked"] > first["looked"]
    (folder / "bad.pdf").unlink()  # while no server watches
    (folder / "nils.md").unlink()
    (folder / "old" / "kari.md").write_text("# Kari\n\nKari keeps goats in Larvik.")
    with _serving(kg, home, collection_name, folder) as served, served.client() as client:
        third = _wait(client, collection_name, lambda its: its["looked"] > second["looked"] and its["documents"] == 1)
        assert (third["documents"], third["failed"], third["problems"]) == (1, 0, [])
        held = {its.key for its in kg[collection_name].documents()}
        assert held == {"old/kari.md", "sent.txt"}, "what was sent stays"
        assert "goats" in kg[collection_name].passage("old/kari.md").text

        asked = client.post(f"/api/v1/collections/{collection_name}/jobs", json={"kind": "watched"})
        assert asked.status_code == 202
        _wait(client, collection_name, lambda its: its["looked"] > third["looked"])
        folder.rename(tmp_path / "away")
        client.post(f"/api/v1/collections/{collection_name}/jobs", json={"kind": "watched"})
        gone = _wait(client, collection_name, lambda its: bool(its["error"]))
        assert not gone["present"] and gone["error"].startswith("The watched folder is missing.")
        assert {its.key for its in kg[collection_name].documents()} == held


def test_who_may_look_at_a_folder(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nAda wrote it.")
    serve = kg.settings.serve.model_copy(update={"watch": {collection_name: tmp_path / "notes"}})
    settings = kg.settings.model_copy(update={"serve": serve})
    with KnowledgeGraph.connect(settings=settings) as other:
        served = Served(other, tmp_path, job_workers=1)
        for name, role in (("reader", "read"), ("writer", "write")):
            served.key(name, role, collection_name)
        served.key("other", "write", "elsewhere")
        with served:
            path = f"/api/v1/collections/{collection_name}"
            job = {"json": {"kind": "watched"}}
            with served.client("reader") as reader:
                _wait(reader, collection_name, lambda its: its["documents"] == 1)
                assert reader.post(f"{path}/jobs", **job).status_code == 403
            with served.client("writer") as writer:
                assert writer.post(f"{path}/jobs", **job).status_code == 202
                path_given = {"json": {"kind": "watched", "parameters": {"folder": "/etc"}}}
                assert writer.post(f"{path}/jobs", **path_given).status_code == 400
            with served.client("other") as stranger:
                assert stranger.get(f"{path}/watched").status_code == 404
                assert stranger.post(f"{path}/jobs", **job).status_code == 404
                none = "/api/v1/collections/elsewhere"
                assert stranger.get(f"{none}/watched").json()["folder"] is None
                assert stranger.post(f"{none}/jobs", **job).status_code == 400
