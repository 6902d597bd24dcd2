"""Attacks by uploads: names that lead elsewhere, and harmful files."""

import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import Served

from kgrag import KnowledgeGraph

pytestmark = pytest.mark.long

_MINE = "uploads that attack"
_API = "/api/v1"
_C = f"{_API}/collections/{_MINE.replace(' ', '%20')}"


@pytest.fixture(scope="module")
def locked(kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    server = Served(kg, tmp_path_factory.mktemp("keys"), job_workers=1, upload_mb=4)
    server.key("writer", "write", _MINE)
    with server:
        yield server
    kg[_MINE].delete(missing_ok=True)


def _zip(**parts: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


_XXE = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
_SCRIPT = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(2)</script></svg>"
_NAMES = [
    "../evil.md", "a/../../evil.md", "..", ".", "/etc/cron.d/evil.md", "C:\\evil.md", "..\\..\\evil.md", "a\0b.md",
    "x" * 3000 + ".md", "a\nb.md", "\u202egnp.md", " ", "a//b.md", "con:evil.md", "./evil.md",
]  # fmt: skip
_FILES = {
    "evil.svg": _SCRIPT,
    "evil.html": b"<html><script>alert(1)</script><body onload=alert(2)>The harbour.</body></html>",
    "bomb.zip": _zip(**{f"{n}.md": b"0" * 1_000_000 for n in range(3)}),
    "slip.zip": _zip(**{"../../evil.md": b"evil"}),
    "entity.docx": _zip(**{"[Content_Types].xml": _XXE, "word/document.xml": _XXE}), "entity.html": _XXE,
    "polyglot.pdf": b"%PDF-1.7\n" + _SCRIPT + _zip(a=b"b"), "note.name": b"\xff\xfe../../evil",
    "keys.json": b'{"keys":[{"name":"evil","role":"admin"}]}',
    "formula.csv": b"id,text\n1,=cmd|' /C calc'!A0\n", "deep.json": b"[" * 20_000, "empty.md": b"",
}  # fmt: skip


def _notes(home: Path) -> set[Path]:
    """Return the files of that kind below a folder, except for ones that a server removes meanwhile."""
    return {Path(folder, name) for folder, _, names in os.walk(home) for name in names if name.endswith(".md")}


@pytest.mark.parametrize("name", _NAMES, ids=lambda name: repr(name[:20]))
def test_names_that_lead_elsewhere_are_refused(name: str, locked: Served, kg: KnowledgeGraph) -> None:
    before = _notes(kg.settings.home)
    with locked.client("writer") as client:
        reply = client.post(f"{_C}/texts", json={"texts": [{"name": name, "text": "evil"}]})
        assert reply.status_code in (400, 422), reply.text
        quoted = name.replace("\\", "\\\\").replace("\0", "").replace("\n", "")
        body = (
            f'--b\r\nContent-Disposition: form-data; name="files"; filename="{quoted}"\r\n\r\nevil\r\n--b--\r\n'
        ).encode()
        file = client.post(f"{_C}/documents", content=body, headers={"Content-Type": "multipart/form-data; boundary=b"})
        assert file.status_code in (202, 400, 422), file.text
        for upload in client.get(f"{_C}/uploads").json()["uploads"]:
            assert ".." not in upload["name"].split("/") and not upload["name"].startswith("/")
    new = _notes(kg.settings.home) - before
    assert all(path.is_relative_to(kg.settings.home / "uploads") for path in new)


def test_files_that_would_do_harm_do_none(locked: Served, kg: KnowledgeGraph) -> None:
    with locked.client("writer") as client:
        files = [("files", (name, content, "text/html")) for name, content in _FILES.items()]
        job = client.post(f"{_C}/documents", files=files)
        assert job.status_code == 202, job.text
        with client.stream("GET", f"{_API}/jobs/{job.json()['id']}/events") as events:
            last = json.loads(next(reversed([line for line in events.iter_lines() if line.startswith("data: ")]))[6:])
        assert last["state"] == "done", last
        held = {u["name"] for u in client.get(f"{_C}/uploads").json()["uploads"]}
        documents = client.get(f"{_C}/documents").json()["documents"]
        assert {"evil.html", "formula.csv"} <= held
        assert not held & {"bomb.zip", "slip.zip", "deep.json", "entity.docx", "polyglot.pdf", "empty.md"}
        for document in documents:
            opened = client.get(f"{_C}/passage", params={"id": document["key"]})
            assert opened.headers["content-type"] == "application/json"
            assert opened.headers["x-content-type-options"] == "nosniff" and "root:x" not in opened.text
    uploads = kg.settings.home / "uploads"
    assert uploads.stat().st_mode & 0o077 == 0 or all(p.stat().st_mode & 0o077 == 0 for p in uploads.iterdir())
    assert not list(Path(uploads).rglob("*evil*")) and not list(Path(uploads).rglob("keys*"))
