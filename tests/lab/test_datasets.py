from pathlib import Path
from typing import Any

import pytest
from question_set import CORPUS, QUERIES, TRIPLES, write_set

from kgrag.lab.datasets import Question
from kgrag.lab.papers import find_paper
from kgrag.lab.readers import read_dataset
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document
from kgrag.values.errors import InputError


def test_reads_questions_and_corpus(tmp_path: Path) -> None:
    dataset = read_dataset(write_set(tmp_path / "small"))
    assert dataset.name == "small"
    assert dataset.questions[0] == Question(
        "q1", "Where was the designer of the Fram born?", ("fram", "archer"), (), "2hop"
    )
    assert dataset.questions[1].answers == ("Norway",)
    assert dataset.keys == {"fram", "archer", "larvik", "ships"}


def test_documents_carry_their_triples_and_leave_other_files_out(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "small")
    (folder / "notes.md").write_text("# Not part of the corpus\n\nReally not.")
    documents = [item for item in read_dataset(folder).documents() if isinstance(item, Document)]
    assert [d.key for d in documents] == ["fram", "archer", "larvik", "ships"]
    assert [t.text for t in documents[0].triples] == ["Fram designed by Colin Archer"]


def test_files_that_are_links_are_read(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "small")
    linked = tmp_path / "linked"
    linked.mkdir()
    for file in folder.iterdir():
        (linked / file.name).symlink_to(file)
    found = read_dataset(linked)
    assert {d.key for d in found.documents() if isinstance(d, Document)} == found.keys
    assert found.collection("wordllama") == read_dataset(folder).collection("wordllama")


def test_triples_are_optional_and_blank_lines_and_numbers_as_ids_are_fine(tmp_path: Path) -> None:
    corpus = '{"id": 7, "text": "Seven."}\n\n{"id": "8", "title": "Eight", "text": "Eight."}\n'
    queries = '\ufeff{"id": 1, "question": "Which?", "gold": [7, "8", "7"]}\n'
    dataset = read_dataset(write_set(tmp_path / "small", corpus, queries, None))
    assert dataset.questions[0].gold == ("7", "8")
    assert dataset.keys == {d.key for d in dataset.documents() if isinstance(d, Document)} == {"7", "8"}
    assert dataset.unreachable(dataset.questions) == {}


@pytest.mark.parametrize(
    ("files", "place", "what"),
    [
        ({"queries": None}, "queries.jsonl", "does not exist"),
        ({"corpus": None}, "corpus.jsonl", "does not exist"),
        ({"queries": "\n\n"}, "queries.jsonl", "is empty"),
        ({"corpus": ""}, "corpus.jsonl", "is empty"),
        ({"queries": b'{"id": "q", "question": "\xff"}'}, "queries.jsonl", "not UTF-8"),
        ({"queries": '{"id": "q1", "question": "?", "gold": ["fram"]}\nnonsense\n'}, "queries.jsonl:2", "not JSON"),
        ({"queries": [*QUERIES, []]}, "queries.jsonl:4", "not an object"),
        ({"queries": [{"question": "?", "gold": ["fram"]}]}, "queries.jsonl:1", "id is missing"),
        ({"queries": [{"id": True, "question": "?", "gold": ["fram"]}]}, "queries.jsonl:1", "id"),
        ({"queries": [{"id": "q", "gold": ["fram"]}]}, "queries.jsonl:1", "question is missing"),
        ({"queries": [{"id": "q", "question": " ", "gold": ["fram"]}]}, "queries.jsonl:1", "question is empty"),
        ({"queries": [{"id": "q", "question": "?"}]}, "queries.jsonl:1", "gold"),
        ({"queries": [{"id": "q", "question": "?", "gold": []}]}, "queries.jsonl:1", "gold"),
        ({"queries": [*QUERIES, {"id": "q", "question": "?", "answers": ["x"]}]}, "queries.jsonl", "others none"),
        ({"queries": [{"id": "q", "question": "?", "gold": "fram"}]}, "queries.jsonl:1", "gold"),
        ({"queries": [{"id": "q", "question": "?", "gold": [None]}]}, "queries.jsonl:1", "gold"),
        ({"queries": [{"id": "q", "question": "?", "gold": ["x"], "answers": "y"}]}, "queries.jsonl:1", "answers"),
        ({"queries": [QUERIES[0], QUERIES[0]]}, "queries.jsonl", "'q1' occurs more than once"),
        ({"corpus": [*CORPUS, CORPUS[1]]}, "corpus.jsonl", "'archer' occurs more than once"),
        ({"corpus": [{"id": "a", "title": "no text"}]}, "corpus.jsonl:1", "text is missing"),
        ({"corpus": "[" * 100_000}, "corpus.jsonl:1", "not JSON"),
        ({"triples": [*TRIPLES, {"passage": "fram", "subject": "Fram"}]}, "triples.jsonl:2", "predicate is missing"),
    ],
)
def test_what_is_missing_or_malformed_is_named_with_its_line(
    tmp_path: Path, files: dict[str, Any], place: str, what: str
) -> None:
    folder = write_set(tmp_path / "small", **files)
    with pytest.raises(InputError) as caught:
        read_dataset(folder)
    assert f"{folder / place}" in caught.value.message
    assert what in caught.value.message
    assert caught.value.remedy


def test_answers_may_stand_in_for_gold(tmp_path: Path) -> None:
    queries = [{"id": "q", "question": "On which coast?", "answers": ["Norway"], "type": "2hop"}]
    (question,) = read_dataset(write_set(tmp_path / "small", queries=queries)).questions
    assert (question.gold, question.answers, question.type) == ((), ("Norway",), "2hop")


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        read_dataset(tmp_path / "nothing")


def test_the_corpus_and_the_embedder_alone_name_the_collection(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "small set")
    name = read_dataset(folder).collection("wordllama")
    assert name.startswith("eval-wordllama-")
    assert read_dataset(folder).collection("sbert:a/b").startswith("eval-sbert_a_b-")
    elsewhere = write_set(tmp_path / "elsewhere", CORPUS[::-1], QUERIES[:1])
    assert read_dataset(elsewhere).collection("wordllama") == name
    changed = (
        [{**CORPUS[0], "text": "Another text."}, *CORPUS[1:]],
        [{**CORPUS[0], "id": "other"}, *CORPUS[1:]],
        CORPUS[1:],
    )
    names = {read_dataset(write_set(elsewhere, corpus)).collection("wordllama") for corpus in changed}
    assert len(names | {name}) == 4
    assert read_dataset(write_set(elsewhere, triples=[])).collection("wordllama") not in {name, *names}


def test_other_settings_of_indexing_have_a_collection_of_their_own(tmp_path: Path) -> None:
    data = read_dataset(write_set(tmp_path / "small"))
    plain, kgp = data.collection("wordllama"), find_paper("kgp")
    as_kgp = data.collection("wordllama", paper=kgp)
    assert data.collection("wordllama", indexing=IndexingSettings(similar=5)) == plain
    assert data.collection("wordllama", indexing=kgp.indexing, paper=kgp) == as_kgp == f"{plain}-kgp"
    sentences = IndexingSettings(unit="sentence", synonymy=0.9)
    assert data.collection("wordllama", indexing=sentences) == f"{plain}-unit_sentence-synonymy_0.9"
    fewer = kgp.indexing.model_copy(update={"keywords": 10})
    assert data.collection("wordllama", indexing=fewer, paper=kgp) == f"{plain}-kgp-keywords_10"
    many = [IndexingSettings(unit="sentence", language="de", pipeline=f"/models/{'x' * 50}/{n}") for n in range(2)]
    names = [data.collection("wordllama", indexing=indexing) for indexing in many]
    assert names[0] != names[1]
    assert all(name.startswith(f"{plain}-") and len(name) == len(plain) + 11 for name in names)


def test_a_folder_of_files_is_known_by_their_bytes(tmp_path: Path) -> None:
    names = []
    for number, text in enumerate(("Hemp is heavy.", "Hemp is heavy.", "Hemp is light.")):
        (tmp_path / f"{number}" / "documents").mkdir(parents=True)
        (tmp_path / f"{number}" / "documents" / "notes.md").write_text(text)
        rows = f'{{"id": "q", "question": "Question {number}?", "gold": ["notes.md"]}}'
        (tmp_path / f"{number}" / "queries.jsonl").write_text(rows)
        names.append(read_dataset(tmp_path / f"{number}").collection("wordllama"))
    assert names[0] == names[1] != names[2]


def test_gold_outside_the_corpus_is_told(tmp_path: Path) -> None:
    queries = [*QUERIES, {"id": "q4", "question": "Lost?", "gold": ["fram", "lost"]}]
    dataset = read_dataset(write_set(tmp_path / "small", queries=queries))
    assert dataset.unreachable(dataset.questions) == {"q4": ("lost",)}
    assert dataset.unreachable(dataset.questions[:3]) == {}
