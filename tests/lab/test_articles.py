"""Whole articles instead of the paragraphs of a question set: the choice of articles, the gold, and the report."""

import bz2
import gzip
import json
from pathlib import Path

import pytest
from published_formats import HOTPOT, MUSIQUE

from kgrag.lab.datasets import Dataset
from kgrag.lab.readers import read_dataset
from kgrag.lab.variants import articles, read_articles, sentences
from kgrag.values.documents import Document
from kgrag.values.errors import InputError
from kgrag.values.events import no_progress

FRAM = (
    "Fram is a ship.\nThe Fram was built for the ice. She was designed by Colin Archer.\n\n== Voyages ==\n"
    "She sailed north in 1893."
)
ARCHER = "Colin Archer was a naval architect.\nHis parents came from Scotland."
ROWS = [{"title": "Fram_(ship)", "text": FRAM}, {"title": "colin Archer", "extract": ARCHER}]


def held(data: Dataset) -> dict[str, Document]:
    return {item.key: item for item in data.documents() if isinstance(item, Document)}


def extract(path: Path, rows: object = ROWS) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))  # type: ignore[attr-defined]
    return path


def test_a_document_becomes_the_article_of_its_title(tmp_path: Path) -> None:
    (tmp_path / "hotpot.json").write_text(json.dumps(HOTPOT))
    data = read_dataset(tmp_path / "hotpot.json")
    whole = articles(data, extract(tmp_path / "wiki.jsonl"), no_progress)
    documents = held(whole)
    ship, man = documents["article Fram_(ship)"], documents["article colin Archer"]
    assert whole.keys == documents.keys()
    assert [section.heading for section in ship.sections] == ["", "Voyages"]
    assert ship.sections[1].text == "She sailed north in 1893."
    first = whole.questions[0]
    assert first.gold == (ship.key, man.key)
    assert [(its.document, its.text) for its in first.supports] == [
        (ship.key, "She was designed by Colin Archer."),
        (ship.key, "The Fram was built for the ice."),
        (man.key, "Colin Archer was born in Larvik."),
    ]
    # the article no longer has his birthplace, so it begins with the set's paragraph
    assert man.text.startswith("Colin Archer was born in Larvik.\n\nColin Archer was a naval architect.")
    assert "Fram is a ship." in ship.text[:20]
    assert whole.questions[1].gold == data.questions[1].gold  # Larvik and Oslo are not in the extract
    assert whole.notes == (
        "2 of 5 documents are whole articles of wiki.jsonl (2).",
        "3 documents of the gold stay as the set has them: wiki.jsonl lacks their titles.",
        "1 articles do not hold what supports an answer as the set has it: they begin with its text.",
    )
    assert whole.name == "hotpot+wiki.jsonl"
    told = sentences(whole)
    assert {told.gold_texts[key].document for key in told.questions[0].gold} == {ship.key, man.key}


def test_paragraphs_of_one_article_become_one_and_are_what_supports_the_answer(tmp_path: Path) -> None:
    again = {"title": "Larvik", "paragraph_text": "It has a harbour.", "is_supporting": False}
    item = {**MUSIQUE[0], "paragraphs": [*MUSIQUE[0]["paragraphs"], again]}
    (tmp_path / "musique.jsonl").write_text(json.dumps(item))
    text = "Larvik is a town by the sea. Larvik is in Norway. It has a harbour."
    whole = articles(
        read_dataset(tmp_path / "musique.jsonl"),
        extract(tmp_path / "w", [{"title": "Larvik", "text": text}]),
        no_progress,
    )
    (question,) = whole.questions
    assert [document.text for document in held(whole).values() if document.title == "Larvik"] == [text]
    assert question.path[-1] == "article Larvik"
    assert [its.text for its in question.supports] == ["Archer designed the Fram.", "Larvik is in Norway."]


def test_extracts_of_every_form_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "extracted" / "AA"
    folder.mkdir(parents=True)
    docs = '<doc id="1" url="x" title="A &amp; B">\nA &amp; B\n\nOne &lt; two.\nMore.\n</doc>\n'
    (folder / "wiki_00").write_text(docs)
    (folder / "wiki_01.bz2").write_bytes(bz2.compress(docs.replace("A &amp; B", "C").encode()))
    (folder / "wiki_02").write_text(json.dumps({"id": "7", "title": "D", "text": "Four."}) + "\n")
    with gzip.open(tmp_path / "extracted" / "more.jsonl.gz", "wt") as file:
        file.write(json.dumps({"title": "E", "extract": "Five."}) + "\n")
    assert list(read_articles(tmp_path / "extracted")) == [
        ("A & B", "\nOne < two.\nMore.\n"),
        ("C", "\nOne < two.\nMore.\n"),
        ("D", "Four."),
        ("E", "Five."),
    ]
    (folder / "wiki_03").write_text("[1, 2]\n")
    with pytest.raises(InputError, match="wiki_03:1: no article"):
        list(read_articles(folder))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_articles(tmp_path / "none.jsonl"))
