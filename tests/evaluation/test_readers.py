"""The published formats, in small files of our own making."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from question_set import write_set

from kgrag.errors import InputError, NotFoundError
from kgrag.evaluation.datasets import Dataset
from kgrag.evaluation.readers import FORMATS, read_dataset, recognise, rows
from kgrag.evaluation.variants import sentences
from kgrag.types import Document

FRAM = ["Fram (ship)", ["The Fram was built for the ice.", " She was designed by Colin Archer."]]
ARCHER = ["Colin Archer", ["Colin Archer was born in Larvik."]]
LARVIK = ["Larvik", ["Larvik is a town.", "It lies in Norway."]]
HOTPOT: list[dict[str, Any]] = [
    {
        "_id": "h1",
        "question": "Where was the designer of the Fram born?",
        "answer": "Larvik",
        "type": "bridge",
        "level": "hard",
        "context": [FRAM, ARCHER, LARVIK],
        "supporting_facts": [["Fram (ship)", 1], ["Colin Archer", 0], ["Fram (ship)", 0]],
    },
    {
        "_id": "h2",
        "question": "Are Larvik and Oslo both in Norway?",
        "answer": "yes",
        "type": "comparison",
        "level": "easy",
        "context": [LARVIK, ["Oslo", ["Oslo is the capital of Norway."]], ["Larvik", ["Another Larvik."]]],
        "supporting_facts": [["Larvik", 1], ["Oslo", 0]],
    },
]
MUSIQUE: list[dict[str, Any]] = [
    {
        "id": "3hop1__7_8_9",
        "question": "In which country was the designer of the Fram born?",
        "answer": "Norway",
        "answer_aliases": ["Kingdom of Norway", "Norway"],
        "answerable": True,
        "paragraphs": [
            {"idx": 0, "title": "Fram", "paragraph_text": "Archer designed the Fram.", "is_supporting": True},
            {"idx": 1, "title": "Maud", "paragraph_text": "The Maud was a ship.", "is_supporting": False},
            {"idx": 2, "title": "Larvik", "paragraph_text": "Larvik is in Norway.", "is_supporting": True},
        ],
        "question_decomposition": [
            {"id": 7, "question": "Fram >> designer", "answer": "Archer", "paragraph_support_idx": 0},
            {"id": 8, "question": "Where was #1 born?", "answer": "Larvik", "paragraph_support_idx": 2},
            {"id": 9, "question": "#2 >> country", "answer": "Norway", "paragraph_support_idx": 2},
        ],
    },
    {
        "id": "3hop1__7_8_9",
        "question": "In which country was the designer of the Fram born?",
        "answer": "Norway",
        "answer_aliases": [],
        "answerable": False,
        "paragraphs": [{"idx": 0, "title": "Fram", "paragraph_text": "The Fram sailed.", "is_supporting": True}],
        "question_decomposition": [],
    },
]
IIRC: list[dict[str, Any]] = [
    {
        "pid": "p_0",
        "title": "Nansen's voyage",
        "text": "Nansen sailed north on the Fram.",
        "links": [{"target": "Fram (ship)", "indices": [27, 31]}, {"target": "Nansen", "indices": [0, 6]}],
        "questions": [
            {
                "qid": "q_0",
                "question": "Who designed the ship on which Nansen sailed?",
                "answer": {"type": "span", "answer_spans": [{"text": "Colin Archer", "passage": "fram (ship)"}]},
                "question_links": ["Fram (ship)"],
                "context": [
                    {"passage": "main", "text": "Nansen sailed north on the Fram", "indices": [0, 31]},
                    {"passage": "Fram (ship)", "text": "She was designed by Colin Archer", "indices": [0, 9]},
                ],
            },
            {
                "qid": "q_1",
                "question": "How long was she?",
                "answer": {"type": "value", "answer_value": "39", "answer_unit": "metres"},
                "context": [{"passage": "Fram (ship)", "text": "39 metres", "indices": [0, 9]}],
            },
            {"qid": "q_2", "question": "Why?", "answer": {"type": "none"}, "context": []},
        ],
    }
]
ARTICLES = {
    "fram (ship)": 'The <a href="Fram">Fram</a> was 39 metres long.\n\nShe was designed by Colin Archer.\n',
    "nansen": "Nansen was an explorer.",
}
QUALITY: list[dict[str, Any]] = [
    {
        "article_id": "20001",
        "set_unique_id": "20001_AB",
        "title": "The Long Winter",
        "article": "<p>The winter was long.</p> <p>The stove<br/>went out.</p>",
        "questions": [
            {"question": "How was it?", "options": ["short", "long", "mild", "wet"], "gold_label": 2, "difficult": 1},
            {"question": "What went out?", "options": ["a", "b", "the stove", "d"], "gold_label": 3, "difficult": 0},
        ],
    },
    {
        "article_id": "20001",
        "set_unique_id": "20001_CD",
        "title": "The Long Winter",
        "article": "<p>The winter was long.</p> <p>The stove<br/>went out.</p>",
        "questions": [{"question": "Who was cold?", "options": ["a", "b", "c", "d"]}],
    },
    {
        "article_id": "20002",
        "set_unique_id": "20002_AB",
        "title": "Plain",
        "article": "One line < two.\nAnother line.",
        "questions": [
            {"question": "Lines?", "question_unique_id": "20002_X_1", "options": ["1", "2"], "gold_label": 2},
        ],
    },
]
POPQA = (
    "id\tsubj\tprop\tobj\ts_wiki_title\ts_pop\tquestion\tpossible_answers\n"
    '42\tArcher\toccupation\tarchitect\tColin Archer\t7\tWhat was Colin Archer?\t"[""naval architect"", ""NA""]"\n'
    '43\tLarvik\tcountry\tNorway\tLarvik\t9\tWhere is Larvik?\t"[""Norway""]"\n'
    '44\tMaud\tdesigner\tnobody\tMaud (ship)\t1\tWho designed Maud?\t"[""Jensen""]"\n'
)
POPQA_CORPUS = [
    {"id": "c1", "title": "Colin Archer", "text": "He was a Naval Architect."},
    {"id": "c2", "title": "Colin Archer", "text": "He had many children."},
    {"id": "c3", "title": "larvik", "text": "A town in Norway."},
    {"id": "c4", "title": "Oslo", "text": "The capital of Norway, home of a naval architect."},
]


def lines(items: list[Any]) -> str:
    return "".join(f"{json.dumps(item)}\n" for item in items)


def beir(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "d1", "title": "Fram", "text": "A ship."},
        {"_id": "d2", "title": "", "text": "A town.", "metadata": {"url": ""}},
        {"_id": "d3", "title": "Empty", "text": ""},
    ]
    (folder / "corpus.jsonl").write_text(lines(corpus))
    queries = [
        {"_id": "1", "text": "Which ship?", "metadata": {}},
        {"_id": "2", "text": "x"},
        {"_id": "3", "text": "y"},
    ]
    (folder / "queries.jsonl").write_text(lines(queries))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n1\td2\t2\n2\td1\t0\n9\td1\t1\n")
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\n3\td2\t1\n")
    return folder


def hotpotqa(folder: Path) -> Path:
    (folder / "hotpot_dev_distractor_v1.json").write_text(json.dumps(HOTPOT))
    return folder / "hotpot_dev_distractor_v1.json"


def twowiki(folder: Path) -> Path:
    items = [{**item, "evidences": [["Fram", "designer", "Colin Archer"]], "level": None} for item in HOTPOT]
    (folder / "dev.json").write_text(json.dumps(items, indent=1))
    return folder


def musique(folder: Path) -> Path:
    (folder / "musique_full_v1.0_dev.jsonl").write_text(lines(MUSIQUE))
    return folder


def iirc(folder: Path) -> Path:
    (folder / "dev.json").write_text(json.dumps(IIRC))
    (folder / "context_articles.json").write_text(json.dumps(ARTICLES))
    return folder


def quality(folder: Path) -> Path:
    (folder / "QuALITY.v1.0.1.dev").write_text(lines(QUALITY))
    return folder


def popqa(folder: Path) -> Path:
    (folder / "popQA.tsv").write_text(POPQA)
    (folder / "corpus.jsonl").write_text(lines(POPQA_CORPUS))
    return folder


def ircot(folder: Path) -> Path:
    paragraphs = [("Fram", "Archer designed the Fram."), ("Larvik", "Larvik is in Norway.")]
    contexts = [{"title": title, "paragraph_text": text, "is_supporting": True} for title, text in paragraphs]
    row = {"question_id": "2hop__1", "question_text": "Where?", "contexts": contexts, "answers_objects": []}
    (folder / "dev.jsonl").write_text(json.dumps(row) + "\n")
    return folder / "dev.jsonl"


MAKERS: dict[str, Callable[[Path], Path]] = {
    "kgrag": write_set,
    "beir": beir,
    "hotpotqa": hotpotqa,
    "2wiki": twowiki,
    "musique": musique,
    "iirc": iirc,
    "ircot": ircot,
    "quality": quality,
    "popqa": popqa,
}


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
    assert len(two.gold) == 3  # both paragraphs titled Larvik: the title is all that the facts name


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
        "id": "h1",
        "question": "Who designed the Fram?",
        "answer": "Archer",
        "type": "bridge",
        "level": "hard",
        "context": {"title": ["Fram"], "sentences": [["By Archer."]]},
        "supporting_facts": {"title": ["Fram", "Lost"], "sent_id": [0, 1]},
    }
    (tmp_path / "validation.jsonl").write_text(lines([columns]))
    dataset = read_dataset(tmp_path)
    assert dataset.name == f"{tmp_path.name}-validation"
    assert dataset.unreachable(dataset.questions) == {"h1": ("(not in the context) Lost",)}


def test_2wiki(tmp_path: Path) -> None:
    dataset = read_dataset(twowiki(tmp_path))
    assert [q.type for q in dataset.questions] == ["bridge", "comparison"]
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
    assert len(found) == 4  # those of questions that are left out are searched, too
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
    monkeypatch.setattr(rows, "_BLOCK", block)
    items = [{"text": 'ø\\"[]{},:' * n, "number": -1.5e-3, "list": [None, True]} for n in range(5)]
    (tmp_path / "list.json").write_text(json.dumps(items, indent=2))
    assert [item for _, item in rows.json_rows(tmp_path / "list.json", "")] == items
    pairs = {f"a {n}": "text " * n for n in range(5)}
    (tmp_path / "object.json").write_text(json.dumps(pairs))
    assert dict(rows.json_pairs(tmp_path / "object.json", "")) == pairs


def test_ircot(tmp_path: Path) -> None:
    """Questions of one file; the corpus are the paragraphs of all files beside it."""
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
