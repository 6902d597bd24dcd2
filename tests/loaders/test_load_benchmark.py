"""Benchmark folders: corpus.jsonl with the triples of triples.jsonl."""

import json
import random
from pathlib import Path

import pytest

from kgrag.loaders import load
from kgrag.values.documents import Document, Problem, Triple


def lines(path: Path, *values: object) -> None:
    path.write_text("\n".join(v if isinstance(v, str) else json.dumps(v) for v in values))


def triple(passage: object, *parts: object) -> dict[str, object]:
    return {"passage": passage, **dict(zip(("subject", "predicate", "object"), parts, strict=True))}


def test_triples_go_to_their_documents(tmp_path: Path) -> None:
    lines(
        tmp_path / "corpus.jsonl",
        {"id": "a", "title": "A", "text": "one"},
        {"id": 2, "title": "B", "text": "two"},
        {"id": "c", "title": "C", "text": "three"},
    )
    lines(
        tmp_path / "triples.jsonl", triple("2", "B", "is", "two"), triple("a", "A", "is", " one\n1 "), "",
        triple("a", "A", "was", 1), triple(2, "B", "was", "zwei"), triple("a", "A", "will be", "eins"),
    )  # fmt: skip
    lines(tmp_path / "queries.jsonl", {"id": "q", "text": "no document"})
    (tmp_path / "README.md").write_text("about it")
    items = list(load(tmp_path, root=tmp_path))
    assert all(isinstance(i, Document) for i in items), items
    documents = {i.key: i for i in items if isinstance(i, Document)}
    assert list(documents) == ["README.md", "a", "2", "c"]
    assert documents["a"].triples == (
        Triple("A", "is", "one 1"), Triple("A", "was", "1"), Triple("A", "will be", "eins")
    )  # fmt: skip
    assert documents["2"].triples == (Triple("B", "is", "two"), Triple("B", "was", "zwei"))
    assert documents["c"].triples == ()


def test_malformed_triples(tmp_path: Path) -> None:
    lines(tmp_path / "corpus.jsonl", {"id": "a", "text": "one"})
    lines(
        tmp_path / "triples.jsonl", triple("a", "s", "p", "o"), "{broken", triple("a", "s", "", "o"),
        {"passage": "a", "subject": "s", "predicate": "p"}, triple("a", ["s"], "p", "o"), triple(None, "s", "p", "o"),
        [1], triple("a", "s2", "p", "o"), triple("x", "s", "p", "o"), triple("x", "s", "p", "o2"),
    )  # fmt: skip
    items = list(load(tmp_path))
    problems = [
        (i.place.removeprefix(str(tmp_path / "triples.jsonl")), i.message) for i in items if isinstance(i, Problem)
    ]
    assert [place for place, _ in problems] == [":2", ":3", ":4", ":5", ":6", ":7", ":9"]
    assert problems[-1][1].startswith("2 triples name passages that corpus.jsonl does not have")
    (document,) = (i for i in items if isinstance(i, Document))
    assert [t.subject for t in document.triples] == ["s", "s2"]


@pytest.mark.parametrize("content", [b"", b"\x00\x01", "\ufeff{}".encode("utf-16")])
def test_unusable_triples_do_not_stop_the_corpus(tmp_path: Path, content: bytes) -> None:
    lines(tmp_path / "corpus.jsonl", {"id": "a", "text": "one"})
    (tmp_path / "triples.jsonl").write_bytes(content)
    items = list(load(tmp_path))
    assert [i.key for i in items if isinstance(i, Document)] == ["a"]
    assert len(items) == (2 if content else 1)


def test_nested_and_without_triples(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        lines(tmp_path / name / "corpus.jsonl", {"id": name, "text": "one"})
        lines(tmp_path / name / "queries.jsonl", {"id": "q", "text": "no document"})
    lines(tmp_path / "y" / "triples.jsonl", triple("y", "s", "p", "o"))
    documents = [i for i in load(tmp_path) if isinstance(i, Document)]
    assert [(d.key, len(d.triples)) for d in documents] == [("x", 0), ("y", 1)]
    assert [i.key for i in load(tmp_path / "y" / "corpus.jsonl") if isinstance(i, Document)] == ["y"]


def test_triples_in_any_order(tmp_path: Path) -> None:
    ids = [str(n) for n in range(300)]
    triples = [triple(i, f"s{i}", "p", f"o{n}") for i in ids for n in range(3)]
    random.Random(1).shuffle(triples)
    lines(tmp_path / "corpus.jsonl", *({"id": i, "text": f"text {i}"} for i in ids))
    lines(tmp_path / "triples.jsonl", *triples)
    documents = [i for i in load(tmp_path) if isinstance(i, Document)]
    assert [d.key for d in documents] == ids
    for document in documents:
        wanted = [t["object"] for t in triples if t["passage"] == document.key]
        assert [t.object for t in document.triples] == wanted
        assert {t.subject for t in document.triples} == {f"s{document.key}"}


def test_passages_with_the_same_hash_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.loaders.jsonl.hash_of", lambda data: 7)
    lines(tmp_path / "corpus.jsonl", {"id": "a", "text": "one"}, {"id": "b", "text": "two"})
    lines(
        tmp_path / "triples.jsonl", triple("b", "s", "p", "1"), triple("a", "s", "p", "2"), triple("b", "s", "p", "3")
    )
    documents = [i for i in load(tmp_path) if isinstance(i, Document)]
    assert [[t.object for t in d.triples] for d in documents] == [["2"], ["1", "3"]]
