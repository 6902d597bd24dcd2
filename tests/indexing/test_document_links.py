"""Documents link to their targets, in any order of arrival, change, removal or interruption."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count, permutations
from pathlib import Path
from typing import Any

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.connection import Graph, Transaction
from kgrag.graph.contents import digest
from kgrag.indexing.links import linked
from kgrag.values.documents import Document, Section

Links = set[tuple[str, str]]


def note(key: str, *links: str, title: str = "") -> Document:
    metadata = {"links": list(links)} if links else {}
    return Document(key, (Section(f"What stands in {key} was written there."),), title, metadata=metadata)


def edges(kg: KnowledgeGraph, collection: str) -> Links:
    """Return pairs of document keys with a link."""
    rows = kg[collection].cypher(
        "MATCH (d:Document {collection: $collection})-[:LINKS_TO]->(o:Document) RETURN d.key AS one, o.key AS other"
    )
    assert len(rows) == len({(row["one"], row["other"]) for row in rows})
    return {(row["one"], row["other"]) for row in rows}


def mark(kg: KnowledgeGraph, collection: str) -> bool | None:
    text = "MATCH (c:Collection {name: $name}) RETURN c.linked AS linked"
    found: bool | None = kg.graph.driver.execute_query(text, name=collection).records[0]["linked"]
    return found


@pytest.mark.parametrize(
    ("link", "meant"),
    [
        ("Note", "a/Note.md"), ("note", "a/Note.md"), ("NOTE.MD", "a/Note.md"), ("b/Note", "b/Note.md"),
        ("/b/Note", "b/Note.md"), ("a/b/note", "a/b/Note.md"), ("c/Note", None), ("ote", None), ("Note.txt", None),
        ("./Note.md", "a/Note.md"), ("../b/Note.md", "b/Note.md"), ("./b/../b/Note", "a/b/Note.md"),
        ("../Note.md", None), ("../../b/Note.md", None), ("./b", None), ("./b/", None), ("", None), ("./", None),
        ("Deep", "c/Deep.md"), ("d/Deep", "c/d/Deep.md"), ("Twin", "c/Twin.md"), ("c/Twin", "c/Twin.md"),
        ("The Kiln", "c/k.md"), ("./The Kiln", None), ("Pot", "a/Pot.md"), ("Ovens", "z/ovens.md"),
        ("Heat", "a/h.md"), ("Me", None), ("Ku\u0308che", "c/Küche 1.5.md"), ("v1.2", "v1.2"), ("v1", None),
        ("Mr. Smith", "Mr. Smith"), ("Mr", None),
    ],
)  # fmt: skip
def test_what_a_link_means(link: str, meant: str | None) -> None:
    titles = {
        "c/k.md": "The kiln", "c/o.md": "Ovens", "a/h.md": "Heat", "0/g.md": "Heat", "a/me.md": "Me", "x.md": "",
        "c/Küche 1.5.md": "KÜCHE",
    }  # fmt: skip
    keys = ["b/Note.md", "a/b/Note.md", "a/Note.md", "c/d/Deep.md", "e/f/Deep.md", "c/Deep.md", "d/Twin.md"]
    keys += ["c/Twin.md", "Pot.md", "a/Pot.md", "z/ovens.md", "v1.2", "Mr. Smith"]
    rows = [{"id": key.upper(), "key": key, "title": titles.get(key, ""), "links": None} for key in (*keys, *titles)]
    for order in (rows, rows[::-1]):
        found = {row["key"]: ends for row, ends in linked(lambda its=order: [_with(row, link) for row in its])}
        assert found["a/me.md"] == ([] if meant is None else [meant.upper()])
        assert found["x.md"] is not None


def _with(row: Mapping[str, Any], link: str) -> dict[str, Any]:
    return {**row, "links": [link, link] if row["key"] == "a/me.md" else None}


@pytest.mark.parametrize(
    ("links", "ends"), [("B", ["b"]), (["B", "C"], ["b", "c"]), (7, []), ([7], []), (True, []), (None, [])]
)
def test_links_are_one_text_or_several(links: object, ends: list[str]) -> None:
    rows = [{"id": id, "key": id, "title": "", "links": links if id == "a" else None} for id in "abc"]
    assert [its for _, its in linked(lambda: rows)] == [ends, [], []]


def test_notes_of_a_folder_lead_to_each_other(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    texts = {
        "Kiln Notes.md": "# The kiln\n\nIt stands beside [[Old Oven#Firing|the oven]]. ![[Old Oven]] [[Nowhere]]",
        "old/Old Oven.md": "Seen from [the kiln](../Kiln%20Notes.md#there), not from [[old oven]] or [a](kiln.png).",
        "List.md": "Both are listed: [[the KILN]], [oven](old/Old%20Oven.md), [[#above]].",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    kg[collection_name].ingest(tmp_path, root=tmp_path)
    wanted = {("Kiln Notes.md", "old/Old Oven.md"), ("old/Old Oven.md", "Kiln Notes.md")}
    assert edges(kg, collection_name) == wanted | {("List.md", "Kiln Notes.md"), ("List.md", "old/Old Oven.md")}
    (tmp_path / "List.md").write_text("The kiln is listed: [[the KILN]].")
    kg[collection_name].ingest(tmp_path, root=tmp_path)
    assert edges(kg, collection_name) == wanted | {("List.md", "Kiln Notes.md")}


def test_whichever_comes_first(kg: KnowledgeGraph, collection_name: str) -> None:
    notes = [note("a/One.md", "Two", "./three.md"), note("b/Two.md", "One", "Two"), note("a/Three.md", "Two")]
    wanted = {
        ("a/One.md", "b/Two.md"),
        ("a/One.md", "a/Three.md"),
        ("b/Two.md", "a/One.md"),
        ("a/Three.md", "b/Two.md"),
    }
    seen = set()
    for order in permutations(notes):
        for each in order:
            kg[collection_name].ingest([each])
        assert edges(kg, collection_name) == wanted
        seen.add(digest(kg.graph, collection_name)["documents"])
        kg[collection_name].delete()
    kg[collection_name].ingest(notes)
    assert edges(kg, collection_name) == wanted
    assert seen == {digest(kg.graph, collection_name)["documents"]}


def test_a_name_leads_elsewhere_when_another_bears_it(kg: KnowledgeGraph, collection_name: str) -> None:
    collection = kg[collection_name]
    collection.ingest([note("x/List.md", "Kiln"), note("a/b/Kiln.md")])
    assert edges(kg, collection_name) == {("x/List.md", "a/b/Kiln.md")}
    collection.ingest([note("b/Kiln.md")])
    assert edges(kg, collection_name) == {("x/List.md", "b/Kiln.md")}
    collection.ingest([note("x/Kiln.md")])
    assert edges(kg, collection_name) == {("x/List.md", "x/Kiln.md")}
    collection.delete(["x/Kiln.md"])
    assert edges(kg, collection_name) == {("x/List.md", "b/Kiln.md")}
    collection.delete(["b/Kiln.md", "a/b/Kiln.md"])
    assert edges(kg, collection_name) == set()
    collection.ingest([note("b/Kiln.md")])
    assert edges(kg, collection_name) == {("x/List.md", "b/Kiln.md")}
    before = digest(kg.graph, collection_name)
    collection.ingest([note("x/List.md", "Other")])
    assert edges(kg, collection_name) == set()
    collection.ingest([note("o.md", title="Other")])
    assert edges(kg, collection_name) == {("x/List.md", "o.md")}
    collection.delete(["o.md"])
    collection.ingest([note("x/List.md", "Kiln")])
    assert digest(kg.graph, collection_name) == before
    assert mark(kg, collection_name) is True
    collection.ingest([note("x/List.md")])
    assert edges(kg, collection_name) == set()
    assert mark(kg, collection_name) is None


def test_without_links_nothing_is_looked_for(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.indexing.corpus_stages.link_documents", None)
    kg[collection_name].ingest([note("a.md"), note("b.md")])
    kg[collection_name].ingest([note("c.md")])
    kg[collection_name].delete(["a.md"])
    assert mark(kg, collection_name) is None


class _Killed(Exception):
    pass


@contextmanager
def _killed_at(number: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Refuse the statements of links and the ones around them, from the given number on."""
    left = count(1)
    names = ("unlink", "links", "linked", "seal", "passages", "remove_passages", "remove_empty_summaries")

    def dying(run: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(self: Any, name: str, /, **parameters: Any) -> Any:
            if name in (*(f"write/{each}" for each in names), "stages/unfinished") and next(left) >= number:
                raise _Killed
            return run(self, name, **parameters)

        return wrapped

    with monkeypatch.context() as patch:
        for kind in (Graph, Transaction):
            patch.setattr(kind, "run", dying(kind.run))
        yield


def test_killed_anywhere_and_run_again(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = kg[collection_name]
    collection.ingest([note("a.md", "B", "C"), note("c.md", "A"), note("old/b.md")])
    collection.ingest([note("long.md", "B")])

    def work() -> None:
        collection.delete(["old/b.md"], missing_ok=True)
        collection.ingest([note("c.md"), note("b.md", "A")])

    def undo() -> None:
        collection.delete(["b.md"])
        collection.ingest([note("c.md", "A"), note("old/b.md")])

    before = digest(kg.graph, collection_name)["documents"]
    for number in count(1):
        killed = False
        try:
            with _killed_at(number, monkeypatch):
                work()
        except _Killed:
            killed = True
            work()
        wanted = {("a.md", "b.md"), ("a.md", "c.md"), ("b.md", "a.md"), ("long.md", "b.md")}
        assert edges(kg, collection_name) == wanted, number
        assert mark(kg, collection_name) is True
        if not killed:
            break
        undo()
        assert digest(kg.graph, collection_name)["documents"] == before, number
    assert number > 9


def test_an_import_has_them(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    notes = [note("a.md", "B"), note("b.md", "./a.md", "C")]
    kg[collection_name].ingest(notes)
    for name in ("notes.jsonl", "notes.graphml"):
        kg[collection_name].export(str(tmp_path / name))
    assert (tmp_path / "notes.graphml").read_text().count(">LINKS_TO<") == 2
    kg[collection_name].delete()
    kg.import_export(str(tmp_path / "notes.jsonl"))
    assert edges(kg, collection_name) == {("a.md", "b.md"), ("b.md", "a.md")}
    assert mark(kg, collection_name) is True
    kg[collection_name].ingest([note("c.md")])
    assert edges(kg, collection_name) == {("a.md", "b.md"), ("b.md", "a.md"), ("b.md", "c.md")}
