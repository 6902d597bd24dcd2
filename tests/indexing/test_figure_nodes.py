"""Figures in the graph: on pages, referred to by passages, kept as files, changed and removed with documents."""

from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from graph_rows import rows
from made_figures import HULL, MAST, SAIL, paper, png, report, web
from scripted import Scripted
from served import Served

from kgrag import KnowledgeGraph
from kgrag.cli import main
from kgrag.drawing import drawing
from kgrag.graph.contents import digest
from kgrag.indexing.figure_files import FigureFiles
from kgrag.indexing.figure_references import figure_references
from kgrag.loaders.figures import figure_of
from kgrag.values.documents import Document, Figure, Page, Section
from kgrag.values.identity import node_id


def state(kg: KnowledgeGraph, name: str) -> tuple[dict[str, str], dict[str, int]]:
    return digest(kg.graph, name), dict(next(c for c in kg.collections() if c.name == name).counts)


def files(kg: KnowledgeGraph, name: str) -> list[str]:
    folder = kg.settings.home / "figures" / node_id(name)
    return sorted(path.name for path in folder.glob("*")) if folder.exists() else []


def ships(seeds: tuple[int, ...] = (HULL, MAST), word: str = "ice", key: str = "ships.pdf") -> Document:
    """Return a document of two pages; the first figure is on the first, the others are on the second."""
    first = f"The hull of Figure 1 met the {word}. See overleaf for the mast. " * 3 + "Figure 1: The hull."
    second = "Fig. 2 shows a mast of wood. " * 3 + "Figure 2: The mast."
    figures = [
        replace(figure_of(png(seed), caption, min(n, 2), (10, 20, 110.5, 80)), number=n)
        for n, (seed, caption) in enumerate(zip(seeds, ("Figure 1: The hull.", "Figure 2: The mast."), strict=False), 1)
    ]
    text = f"{first}\n\n{second}"
    return Document(
        key,
        (Section(text, breaks=((0, 1), (len(first) + 2, 2))),),
        "Ships",
        pages=(Page(1, first), Page(2, second)),
        figures=tuple(figures),
    )


FIGURES = """MATCH (f:Figure {collection: $name})
RETURN f.name AS name, f.number AS number, f.caption AS caption, f.page AS page, f.box AS box, f.width AS width,
       f.media_type AS type, f.sha AS sha, [(o)-[:SHOWS]->(f) | labels(o)[0] + ' ' + o.name] AS shown,
       COUNT { (:Passage)-[:REFERS_TO]->(f) } AS passages ORDER BY f.number"""


def test_the_graph_of_figures(kg: KnowledgeGraph, collection_name: str) -> None:
    document = ships()
    kg[collection_name].ingest([document])
    hull, mast = rows(kg, FIGURES, name=collection_name)
    assert (hull["name"], hull["number"], hull["page"], hull["shown"]) == ("Figure 1: The hull.", 1, 1, ["Page p. 1"])
    assert (mast["caption"], mast["page"], mast["shown"]) == ("Figure 2: The mast.", 2, ["Page p. 2"])
    assert (hull["box"], hull["width"], hull["type"]) == ([10.0, 20.0, 110.5, 80.0], 200, "image/png")
    assert (hull["sha"], hull["passages"]) == (document.figures[0].sha, 1)
    counts = state(kg, collection_name)[1]
    assert (counts["Figure"], counts["SHOWS"], counts["REFERS_TO"]) == (2, 2, 2)
    assert files(kg, collection_name) == sorted(f"{figure.sha}.png" for figure in document.figures)
    assert kg[collection_name].ingest([ships()]).unchanged == 1


def test_figures_of_files(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    """A document without pages has its figures directly."""
    kg[collection_name].ingest([paper(tmp_path / "paper.pdf"), report(tmp_path / "report.docx"), web(tmp_path)])
    found = rows(kg, FIGURES, name=collection_name)
    shown = {(figure["caption"], *figure["shown"]) for figure in found}
    assert shown >= {
        ("Figure 2: Speed under sail", "Page p. 1"),
        ("", "Page p. 2"),
        ("The mast in winter", "Document report"),
        ("Figure 2: The mast", "Document Ships"),
    }
    passage = kg[collection_name].passage(str(tmp_path / "report.docx"))
    assert [figure.caption for figure in passage.figures] == ["Figure 1: The hull of the Fram", "The mast in winter"]
    assert len(files(kg, collection_name)) == 5  # two documents share two pictures


CHANGES = [
    ships((HULL,)),
    ships((MAST, HULL)),
    ships((HULL, MAST), word="rocks"),
    replace(ships(), figures=()),
    replace(ships(), figures=tuple(replace(figure, page=3 - figure.page) for figure in ships().figures)),
    Document("ships.pdf", (Section("All is gone."),), "Ships"),
    Document("ships.pdf", ships().sections[:1], "Ships", figures=ships().figures),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_changed_document_is_as_if_it_had_always_been_so(
    kg: KnowledgeGraph, collection_name: str, number: int
) -> None:
    kg[collection_name].ingest([CHANGES[number]])
    expected, kept = state(kg, collection_name), files(kg, collection_name)
    kg[collection_name].delete()
    assert files(kg, collection_name) == []
    kg[collection_name].ingest([ships()])
    assert state(kg, collection_name) != expected
    assert kg[collection_name].ingest([CHANGES[number]]).changed == 1
    assert state(kg, collection_name) == expected
    assert files(kg, collection_name) == kept


def test_a_picture_goes_with_its_last_figure(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([ships(), ships((HULL, SAIL), key="others.pdf")])
    hull, mast, sail = (figure_of(png(seed)).sha for seed in (HULL, MAST, SAIL))
    assert files(kg, collection_name) == sorted(f"{sha}.png" for sha in (hull, mast, sail))
    kg[collection_name].delete(documents=["ships.pdf"])
    assert files(kg, collection_name) == sorted(f"{sha}.png" for sha in (hull, sail))
    assert [row["number"] for row in rows(kg, FIGURES, name=collection_name)] == [1, 2]
    kg[collection_name].delete(documents=["others.pdf"])
    assert files(kg, collection_name) == []
    assert rows(kg, FIGURES, name=collection_name) == []


def test_what_a_kill_left_is_cleaned(kg: KnowledgeGraph, collection_name: str) -> None:
    """The next ingest removes a file without a figure, and restores a missing picture when it reads the document."""
    kg[collection_name].ingest([ships()])
    folder = kg.settings.home / "figures" / node_id(collection_name)
    (folder / f"{'0' * 64}.png").write_bytes(b"left")
    (folder / ".half").write_bytes(b"left")
    gone = folder / f"{ships().figures[0].sha}.png"
    gone.unlink()
    kg[collection_name].ingest([ships()])
    assert files(kg, collection_name) == sorted(f"{figure.sha}.png" for figure in ships().figures)
    assert gone.read_bytes() == png(HULL)
    assert (folder.stat().st_mode & 0o777, gone.stat().st_mode & 0o077) == (0o700, 0)


def test_a_home_that_is_a_file(tmp_path: Path) -> None:
    """If the home is a file, the figure is kept without its picture."""
    (tmp_path / "home").write_text("no folder")
    (kept,) = FigureFiles(tmp_path / "home", "a").keep([ships()])
    assert [figure.data for figure in kept.figures] == [b"", b""]
    assert [figure.sha for figure in kept.figures] == [figure.sha for figure in ships().figures]


def test_what_is_found_names_its_figures(kg: KnowledgeGraph, collection_name: str, neo4j_env: dict[str, str]) -> None:
    kg[collection_name].ingest([ships()])
    ranking = kg[collection_name].search("the mast of wood", retriever="bm25")
    (figure, *_) = [one for one in ranking[0].passage.figures if one.number == 2]
    assert (figure.caption, figure.page, figure.width, figure.media_type) == (
        "Figure 2: The mast.",
        2,
        200,
        "image/png",
    )
    assert figure.id in drawing(ranking).nodes
    assert [one.number for one in kg[collection_name].document("ships.pdf").figures] == [1, 2]
    run = CliRunner(env=neo4j_env)
    found = run.invoke(main, ["search", "mast of wood", "-c", collection_name, "-r", "bm25", "-k", "1"])
    assert "see Figure 1: The hull.; Figure 2: The mast." in found.output
    shown = run.invoke(main, ["show", "ships.pdf", "-c", collection_name])
    assert "figures   Figure 1: The hull.; Figure 2: The mast." in shown.output
    assert "—REFERS_TO→" in shown.output
    listed = run.invoke(main, ["show", "ships.pdf", "-c", collection_name, "--figures"])
    assert f"{ships().figures[1].sha}.png" in listed.output.replace("\n", "")
    assert "Figure 2: The mast." in listed.output


def test_export_and_import(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    """An export has figures without pictures; these come back when the documents are read again."""
    kg[collection_name].ingest([ships()])
    expected = state(kg, collection_name)
    kg[collection_name].export(str(tmp_path / "ships.jsonl"))
    kg[collection_name].delete()
    kg.import_export(str(tmp_path / "ships.jsonl"))
    assert state(kg, collection_name) == expected
    assert files(kg, collection_name) == []
    kg[collection_name].ingest([ships()])
    assert len(files(kg, collection_name)) == 2


def passages(*texts: str, pages: bool = False) -> list[dict[str, Any]]:
    return [
        {"properties": {"text": text}, "page": n if pages else None, "last_page": n if pages else None}
        for n, text in enumerate(texts, 1)
    ]


def figures(*captions: str) -> list[Figure]:
    return [Figure(n, str(n), caption, page=n) for n, caption in enumerate(captions, 1)]


def test_passages_refer_by_number() -> None:
    its = figures("Figure 2.1: Hulls", "Figure 2.2: Masts", "A photograph")
    texts = (
        "See Fig. 2.2 and figure 2.1a.",
        "Figure 2.3 is elsewhere, table 2.1 is none.",
        "Figure 2.1: Hulls of ships",
    )
    assert figure_references(its, passages(*texts)) == [[1, 2], [], [1]]
    ranges = figures(*(f"Figure {n}: x{n}" for n in range(1, 6)))
    assert figure_references(ranges, passages("Figs. 2-4 show it.", "Figures 1, 3 and 5.")) == [[2, 3, 4], [1, 3, 5]]


def test_passages_refer_by_place() -> None:
    its = figures("Figure 1: Hulls", "Figure 2: Masts")
    texts = (
        "The chart below is of hulls. Figure 1: Hulls",
        "It is as the figure above shows, and the diagram below.",
        "Figure 2: Masts. The picture above is of oak.",
        "Text.", "Text.", "The figure above is far away.",
    )  # fmt: skip
    assert figure_references(its, passages(*texts)) == [[1], [1, 2], [2], [], [], []]
    over = passages("On the next leaf: see overleaf.", "Text.", pages=True)
    assert figure_references(its, over) == [[2], []]


def test_a_caption_stands_on_its_page() -> None:
    """A caption counts on its figure's page only, not in a list of figures at the beginning."""
    its = [Figure(1, "1", "The hull of the Fram", page=3), Figure(2, "2", "The masts", page=0)]
    texts = (
        "Contents: The hull of the Fram; The masts", "Text.", "The hull of the Fram", "The masts",
        "The hull of the Fram",
    )  # fmt: skip
    assert figure_references(its, passages(*texts, pages=True)) == [[], [], [1], [2], []]
    assert figure_references((), passages("Figure 1")) == [[]]


def test_the_route_of_a_picture(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    """The route obeys the access rules of documents, and never serves anything that a browser would execute."""
    drawn = replace(figure_of(b'<svg xmlns="http://www.w3.org/2000/svg"/>', "Figure 3: A drawing", 2), number=3)
    kg[collection_name].ingest([replace(ships(), figures=(*ships().figures, drawn))])
    hull, _, drawing = kg[collection_name].document("ships.pdf").figures
    with Served(kg, tmp_path) as server:
        server.key("reader", "read", collection_name)
        server.key("stranger", "read", "another")
        at = f"/api/v1/collections/{collection_name}/figures"
        with server.client("reader") as client:
            reply = client.get(f"{at}/{hull.id}")
            assert (reply.status_code, reply.content) == (200, png(HULL))
            assert reply.headers["content-type"] == "image/png"
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert reply.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
            assert client.get(f"{at}/{drawing.id}").status_code == 404
            assert client.get(f"{at}/{'0' * 32}").status_code == 404
            assert client.get(f"{at}/..%2fkeys.json").status_code in (404, 422)
            passage = client.get(f"/api/v1/collections/{collection_name}/passage", params={"id": "ships.pdf"}).json()
            assert [its["id"] for its in passage["passage"]["figures"]][:1] == [hull.id]
        with server.client("stranger") as client:
            assert client.get(f"{at}/{hull.id}").status_code in (403, 404)


def test_descriptions_are_searched(kg: KnowledgeGraph, collection_name: str, scripted: Scripted) -> None:
    """With descriptions on (default off), a vision model is called once for each figure; its text is a passage."""
    kg[collection_name].ingest([ships()])
    assert not scripted.calls
    kg[collection_name].delete()
    chat = scripted.settings()
    loading = kg.settings.loading.model_copy(update={"describe_figures": True})
    scripted.say("figure", "A hull with planks of oak.", "A mast with seven stays.")
    with KnowledgeGraph.connect(settings=kg.settings.model_copy(update={"chat": chat, "loading": loading})) as seeing:
        report = seeing[collection_name].ingest([ships()])
        assert report.problems == ()
        found = seeing[collection_name].search("seven stays", retriever="bm25")[0].passage
        name = next(one.caption for one in ships().figures if one.caption in found.text)
        assert found.text == f"{name}\n[Description of the picture] A mast with seven stays."
        assert [figure.caption for figure in found.figures] == [name]
        described = rows(kg, "MATCH (f:Figure {collection: $name}) RETURN f.description AS text", name=collection_name)
        assert {row["text"] for row in described} == {"A hull with planks of oak.", "A mast with seven stays."}
    calls = scripted.calls
    assert [call["task"] for call in calls] == ["figure", "figure"]
    shown = {call["messages"][-1]["content"][1]["image_url"]["url"] for call in calls}
    assert shown == {f"data:image/png;base64,{b64encode(png(seed)).decode()}" for seed in (HULL, MAST)}
    first = calls[0]["messages"][-1]["content"][0]["text"]
    assert first.startswith("Document: Ships\nCaption: Figure ")


def test_a_figure_that_no_model_describes_stays(kg: KnowledgeGraph, collection_name: str, scripted: Scripted) -> None:
    loading = kg.settings.loading.model_copy(update={"describe_figures": True})
    scripted.say("figure", "A hull.")
    scripted.fail(*["500"] * 20, task="figure")
    chat = scripted.settings(retries=0)
    with KnowledgeGraph.connect(settings=kg.settings.model_copy(update={"chat": chat, "loading": loading})) as seeing:
        report = seeing[collection_name].ingest([ships()])
        assert "is not described" in report.problems[0].message
    assert len(rows(kg, FIGURES, name=collection_name)) == 2
