"""Small synthetic files in the published formats of question sets."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from question_set import write_set

FRAM = ["Fram (ship)", ["The Fram was built for the ice.", " She was designed by Colin Archer."]]
ARCHER = ["Colin Archer", ["Colin Archer was born in Larvik."]]
LARVIK = ["Larvik", ["Larvik is a town.", "It lies in Norway."]]
HOTPOT: list[dict[str, Any]] = [
    {
        "_id": "h1", "question": "Where was the designer of the Fram born?", "answer": "Larvik",
        "type": "bridge", "level": "hard", "context": [FRAM, ARCHER, LARVIK],
        "supporting_facts": [["Fram (ship)", 1], ["Colin Archer", 0], ["Fram (ship)", 0]],
    },
    {
        "_id": "h2", "question": "Are Larvik and Oslo both in Norway?", "answer": "yes", "type": "comparison",
        "level": "easy",
        "context": [LARVIK, ["Oslo", ["Oslo is the capital of Norway."]], ["Larvik", ["Another Larvik."]]],
        "supporting_facts": [["Larvik", 1], ["Oslo", 0]],
    },
]  # fmt: skip
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
        "id": "3hop1__7_8_9", "question": "In which country was the designer of the Fram born?",
        "answer": "Norway", "answer_aliases": [], "answerable": False,
        "paragraphs": [{"idx": 0, "title": "Fram", "paragraph_text": "The Fram sailed.", "is_supporting": True}],
        "question_decomposition": [],
    },
]  # fmt: skip
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
            {"question": "Lines?", "question_unique_id": "20002_X_1", "options": ["1", "2"], "gold_label": 2}
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
    "kgrag": write_set, "beir": beir, "hotpotqa": hotpotqa, "2wiki": twowiki, "musique": musique, "iirc": iirc,
    "ircot": ircot, "quality": quality, "popqa": popqa,
}  # fmt: skip
