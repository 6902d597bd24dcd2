"""The published formats, in small synthetic files."""

import json
from pathlib import Path
from typing import Any

import pytest
from published_formats import (
    HOTPOT,
    MAKERS,
    MUSIQUE,
    POPQA_CORPUS,
    beir,
    hotpotqa,
    iirc,
    lines,
    musique,
    popqa,
    quality,
    twowiki,
)

from kgrag.lab.datasets import Dataset
from kgrag.lab.readers import FORMATS, read_dataset, recognise
from kgrag.lab.readers import passages as rows
from kgrag.lab.variants import sentences
from kgrag.values.documents import Document
from kgrag.values.errors import InputError, NotFoundError


def documents(dataset: Dataset) -> dict[str, Document]:
    found = list(dataset.documents())
    assert all(isinstance(item, Document) for item in found)
    keyed = {item.key: item for item in found if isinstance(item, Document)}
    assert len(keyed) == len(found)
    return keyed


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_recognised_and_holds_together(tmp_path: Path, name: str) -> None:
    path = MAKERS[name](tmp_path / "set" if name == "beir" else tmp_path)
    assert recognise(path.resolve())[0] == name
    dataset = read_dataset(path)
    assert dataset == read_dataset(path, name) or dataset.questions == read_dataset(path, name).questions
    keys = set(documents(dataset))
    assert keys <= dataset.keys
    assert all(q.text and q.gold and set(q.gold) <= keys for q in dataset.questions)
    assert dataset.unreachable(dataset.questions) == {}
    other = "kgrag" if name != "kgrag" else "beir"
    with pytest.raises(InputError) as caught:
        read_dataset(path, other)
    assert caught.value.remedy


def test_hotpotqa(tmp_path: Path) -> None:
    dataset = read_dataset(hotpotqa(tmp_path))
    assert dataset.name == "hotpot_dev_distractor_v1"
    one, two = dataset.questions
    found = documents(dataset)
    assert sorted(d.title for d in found.values()) == ["Colin Archer", "Fram (ship)", "Larvik", "Larvik", "Oslo"]
    assert [found[key].title for key in one.gold] == ["Fram (ship)", "Colin Archer"]
    assert found[one.gold[0]].text == "The Fram was built for the ice. She was designed by Colin Archer."
    assert (one.answers, one.type, one.hops) == (("Larvik",), "bridge/hard", 2)
    assert len(two.gold) == 3  # both paragraphs titled Larvik, since facts name only the title


def test_single_questions_and_supporting_sentences(tmp_path: Path) -> None:
    hotpot = tmp_path / "hotpot.json"
    hotpot.write_text(json.dumps(HOTPOT))
    data = read_dataset(hotpot)
    assert [support.text for support in data.questions[0].supports] == [
        "She was designed by Colin Archer.",
        "The Fram was built for the ice.",
        "Colin Archer was born in Larvik.",
    ]
    told = sentences(data)
    assert len(told.questions[0].gold) == len(told.questions[0].supports) == 3
    assert {told.gold_texts[key].document for key in told.questions[0].gold} <= data.keys
    musique = tmp_path / "musique.jsonl"
    musique.write_text(json.dumps(MUSIQUE[0]) + "\n")
    (question,) = read_dataset(musique).questions
    assert question.singles == ("Fram >> designer", "Where was Archer born?", "Larvik >> country")
    with pytest.raises(InputError, match="names no supporting sentences"):
        sentences(read_dataset(musique))


def test_hotpotqa_as_columns_as_lines_and_with_gold_that_is_missing(tmp_path: Path) -> None:
    columns = {
        "id": "h1", "question": "Who designed the Fram?", "answer": "Archer", "type": "bridge", "level": "hard",
        "context": {"title": ["Fram"], "sentences": [["By Archer."]]},
        "supporting_facts": {"title": ["Fram", "Lost"], "sent_id": [0, 1]},
    }  # fmt: skip
    (tmp_path / "validation.jsonl").write_text(lines([columns]))
    dataset = read_dataset(tmp_path)
    assert dataset.name == f"{tmp_path.name}-validation"
    assert dataset.unreachable(dataset.questions) == {"h1": ("(not in the context) Lost",)}


def test_the_triples_of_2wiki_tell_the_order_of_the_gold(tmp_path: Path) -> None:
    triples = [["Colin Archer", "of", "a"], ["fram", "x", "b"]]
    items = [{**HOTPOT[0], "_id": str(n), "evidences": its} for n, its in enumerate((triples, triples[::-1]))]
    (tmp_path / "dev.json").write_text(json.dumps(items))
    one, other = read_dataset(tmp_path / "dev.json").questions
    assert one.path == (one.gold[1], one.gold[0])
    assert other.path == other.gold


def test_2wiki(tmp_path: Path) -> None:
    dataset = read_dataset(twowiki(tmp_path))
    assert [q.type for q in dataset.questions] == ["bridge", "comparison"]
    assert [q.path for q in dataset.questions] == [(), ()]  # triples that do not name all gold give no order
    (tmp_path / "text.json").write_text(
        json.dumps([{**item, "context": json.dumps(item["context"]), "evidences": "[]"} for item in HOTPOT])
    )
    with pytest.raises(InputError, match=r"several question sets: dev\.json, text\.json"):
        read_dataset(tmp_path)
    assert read_dataset(tmp_path / "text.json").keys == dataset.keys


def test_musique(tmp_path: Path) -> None:
    dataset = read_dataset(musique(tmp_path))
    (question,) = dataset.questions
    assert (question.id, question.type, question.hops) == ("3hop1__7_8_9", "3hop1", 3)
    assert question.path == question.gold
    assert question.answers == ("Norway", "Kingdom of Norway")
    found = documents(dataset)
    assert [found[key].title for key in question.gold] == ["Fram", "Larvik"]
    assert len(found) == 4  # the paragraphs of left-out questions are searched, too
    assert dataset.notes == ("1 questions are left out: no paragraph supports an answer.",)


def test_iirc(tmp_path: Path) -> None:
    dataset = read_dataset(iirc(tmp_path))
    one, two = dataset.questions
    found = documents(dataset)
    assert [found[key].title for key in one.gold] == ["Nansen's voyage", "Fram (ship)"]
    assert found["fram (ship)"].text == "The Fram was 39 metres long.\n\nShe was designed by Colin Archer."
    assert (one.answers, one.type, one.hops) == (("Colin Archer",), "span", 2)
    assert (two.answers, two.gold) == (("39 metres",), ("fram (ship)",))
    assert len(dataset.notes) == 1
    (tmp_path / "context_articles.json").unlink()
    with pytest.raises(InputError, match=r"context_articles\.json does not exist"):
        read_dataset(tmp_path)


def test_quality(tmp_path: Path) -> None:
    dataset = read_dataset(quality(tmp_path))
    assert [q.id for q in dataset.questions] == ["20001_AB_1", "20001_AB_2", "20001_CD_1", "20002_X_1"]
    assert [q.answers for q in dataset.questions] == [("long",), ("the stove",), (), ("2",)]
    assert [q.type for q in dataset.questions] == ["hard", "easy", "", ""]
    found = documents(dataset)
    assert list(found) == ["20001", "20002"]
    assert found["20001"].text == "The winter was long.\n\nThe stove\nwent out."
    assert found["20002"].text == "One line < two.\nAnother line."


def test_popqa(tmp_path: Path) -> None:
    dataset = read_dataset(popqa(tmp_path))
    assert [(q.id, q.gold, q.type) for q in dataset.questions] == [
        ("42", ("c1",), "occupation"),
        ("43", ("c3",), "country"),
    ]
    assert dataset.questions[0].answers == ("naval architect", "NA")
    assert dataset.notes[0].startswith("1 questions are left out")
    assert list(documents(dataset)) == ["c1", "c2", "c3", "c4"]
    (tmp_path / "corpus.jsonl").unlink()
    with pytest.raises(InputError, match=r"corpus\.jsonl does not exist"):
        read_dataset(tmp_path / "popQA.tsv")


def test_beir(tmp_path: Path) -> None:
    folder = beir(tmp_path / "scifact")
    dataset = read_dataset(folder)
    assert [(q.id, q.text, q.gold) for q in dataset.questions] == [("1", "Which ship?", ("d1", "d2"))]
    assert dataset.notes == ("1 queries of test.tsv are left out: queries.jsonl does not have them.",)
    assert [(d.title, d.text) for d in documents(dataset).values()] == [
        ("Fram", "A ship."),
        ("", "A town."),
        ("Empty", "Empty"),
    ]
    assert [q.id for q in read_dataset(folder / "qrels" / "train.tsv").questions] == ["3"]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\n")
    with pytest.raises(InputError, match=r"test\.tsv:2"):
        read_dataset(folder)


def test_what_is_no_question_set_is_told_with_the_known_formats(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("# Notes")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\x00")
    (tmp_path / "other.json").write_text('{"a": 1}')
    for path in (tmp_path, tmp_path / "notes.txt", tmp_path / "picture.png", tmp_path / "other.json"):
        with pytest.raises(InputError) as caught:
            read_dataset(path)
        assert all(name in caught.value.remedy for name in FORMATS)
    with pytest.raises(NotFoundError, match="no format 'squad'"):
        read_dataset(tmp_path, "squad")
    with pytest.raises(InputError, match="in the format musique"):
        read_dataset(tmp_path, "musique")


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("musique", '{"id": "a", "question": "?", "paragraphs": 7}', "paragraphs is missing or not a list"),
        (
            "musique",
            '{"id": "a", "question": "?", "paragraphs": [7]}',
            "paragraphs holds an item that is not an object",
        ),
        ("hotpotqa", '[{"_id": "a", "question": "?", "context": [["t"]]}]', "#1: context is not a list of pairs"),
        ("hotpotqa", '[{"_id": "a", "question": "?", "context": [["t", [1]]]}]', "#1: context holds no lists"),
        ("hotpotqa", json.dumps([HOTPOT[0], {**HOTPOT[0], "question": ""}]), "#2: question is empty"),
        ("hotpotqa", json.dumps([HOTPOT[0], HOTPOT[0]]), "'h1' occurs more than once"),
        ("hotpotqa", json.dumps(HOTPOT)[:-30], "#2: not JSON"),
        ("hotpotqa", json.dumps(HOTPOT)[:-1], "#3: not JSON"),
        ("hotpotqa", "[]", "is empty"),
        (
            "quality",
            '{"article_id": "1", "article": "x", "questions": [1]}',
            ":1: questions holds an item that is not an object",
        ),
        ("quality", '{"article": "x", "questions": []}', ":1: article_id is missing"),
        ("iirc", '[{"title": "a", "text": "b", "links": []}]', "#1: questions is missing"),
        (
            "popqa",
            "question\tpossible_answers\ts_wiki_title\nx\tnot json\ty\n",
            ":2: possible_answers is not a JSON list",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_place(tmp_path: Path, name: str, text: str, what: str) -> None:
    path = tmp_path / "set.tsv"
    path.write_text(text)
    (tmp_path / "context_articles.json").write_text("{}")
    (tmp_path / "corpus.jsonl").write_text(lines(POPQA_CORPUS))
    with pytest.raises(InputError) as caught:
        read_dataset(path, name)
    assert what in caught.value.message
    assert str(tmp_path) in caught.value.message


@pytest.mark.parametrize("block", [1, 3, 17, 1000])
def test_lists_and_objects_are_read_in_pieces(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BLOCK", block)
    items = [{"text": 'ø\\"[]{},:' * n, "number": -1.5e-3, "list": [None, True]} for n in range(5)]
    (tmp_path / "list.json").write_text(json.dumps(items, indent=2))
    assert [item for _, item in rows.json_rows(tmp_path / "list.json", "")] == items
    pairs = {f"a {n}": "text " * n for n in range(5)}
    (tmp_path / "object.json").write_text(json.dumps(pairs))
    assert dict(rows.json_pairs(tmp_path / "object.json", "")) == pairs


def test_ircot(tmp_path: Path) -> None:
    """Questions come from one file; the corpus is the paragraphs of all files in its folder."""
    folder = tmp_path / "musique"
    folder.mkdir()
    paragraphs = [("Fram", "Archer designed the Fram."), ("Maud", "The Maud was a ship."), ("Larvik", "In Norway.")]

    def line(id: str, gold: int, more: dict[str, Any]) -> str:
        contexts = [
            {"idx": i, "title": title, "paragraph_text": text, "is_supporting": i == gold}
            for i, (title, text) in enumerate(paragraphs)
        ]
        return json.dumps({"question_id": id, "question_text": "Who?", "contexts": contexts, **more}) + "\n"

    answers = {"number": "7", "date": {"day": "", "month": "May", "year": "1901"}, "spans": ["Archer", "Archer"]}
    steps = ["Fram >> designer >>>> Archer", "Where was Archer born? >>>> Larvik"]
    (folder / "test_subsampled.jsonl").write_text(
        line("2hop__1_2", 0, {"answers_objects": [answers], "reasoning_steps": steps}) + line("none", 9, {})
    )
    paragraphs.append(("Oslo", "Oslo is the capital."))
    pinned = {"idx": 0, "title": "Main", "paragraph_text": "The main one.", "is_supporting": True}
    (folder / "train.jsonl").write_text(line("t", 3, {"pinned_contexts": [pinned]}))
    (folder / "notes.jsonl").write_text('{"something": "else"}\n')
    data = read_dataset(folder / "test_subsampled.jsonl")
    (question,) = data.questions
    assert (question.type, question.hops) == ("2hop", 2)
    assert question.answers == ("Archer", "7", "May 1901")
    assert question.singles == ("Fram >> designer", "Where was Archer born?")
    documents = {d.key: d.title for d in data.documents() if isinstance(d, Document)}
    assert sorted(documents.values()) == ["Fram", "Larvik", "Main", "Maud", "Oslo"]
    assert [documents[key] for key in question.gold] == ["Fram"]
    assert "1 questions are left out" in data.notes[0]
    assert len(read_dataset(folder / "train.jsonl").questions[0].gold) == 2
