from pathlib import Path

import pytest
from question_set import CORPUS, QUERIES, write_set

from kgrag.indexing.chunking import chunk
from kgrag.lab.datasets import Dataset, Question
from kgrag.lab.readers import read_dataset
from kgrag.lab.variants import join, lower, merge, typo
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document
from kgrag.values.errors import InputError


def ask(text: str, id: str = "q") -> Question:
    return Question(id, text, ("a",))


def test_a_typo_drops_one_letter_of_a_name() -> None:
    text = "Which painter lived in the home town of Robert Bartlett?"
    results = {typo(ask(text, f"q{i}")).text for i in range(40)}
    assert len(results) > 4
    for result in results:
        (changed,) = [(a, b) for a, b in zip(text.split(), result.split(), strict=True) if a != b]
        assert changed[0] in ("Robert", "Bartlett?")
        assert len(changed[1]) == len(changed[0]) - 1
        assert changed[1][0] == changed[0][0]


def test_a_typo_is_drawn_from_the_seed_and_the_question_alone() -> None:
    text = "Where was the designer of the Fram and Maud and Gjoa born?"
    assert typo(ask(text), 1) == typo(ask(text), 1)
    assert len({typo(ask(text), seed).text for seed in range(20)}) > 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Fram was designed by whom?", {"Fram"}),  # a name may come first
        ("Which Amundsen expedition?", {"Amundsen"}),  # but not a question word
        ("who was the designer of it?", {"designer"}),  # without capitals, the longest word
    ],
)
def test_which_word_is_misspelt(text: str, words: set[str]) -> None:
    for seed in range(10):
        left = set(text.replace("?", "").split()) - set(typo(ask(text), seed).text.replace("?", "").split())
        assert left == words


def test_nothing_to_misspell_and_lower_case() -> None:
    assert typo(ask("Is it he?")).text == "Is it he?"
    assert lower(ask("Who was Åse?")).text == "who was åse?"


def test_joined_documents_are_cut_at_their_headings(tmp_path: Path) -> None:
    dataset = join(read_dataset(write_set(tmp_path / "small")), 3)
    one, other = [item for item in dataset.documents() if isinstance(item, Document)]
    assert {one.key, other.key} == dataset.keys == {"long 1", "long 2"}
    assert one.title == ""
    assert [s.heading for s in one.sections] == ["Fram (ship)", "Colin Archer", "Larvik"]
    assert [t.text for t in one.triples] == ["Fram designed by Colin Archer"]
    assert dataset.gold_texts["archer"].document == "long 1"
    assert dataset.gold_texts["archer"].text == CORPUS[1]["text"]
    assert dataset.gold_texts["ships"].document == "long 2"
    assert dataset.unreachable(dataset.questions) == {}
    (whole,) = chunk(one, IndexingSettings())
    assert whole.text.startswith("Fram (ship)\n\nThe Fram was designed")


def _reworded(folder: Path, word: str) -> Dataset:
    """Return the same keys with other texts."""
    return read_dataset(write_set(folder, corpus=[row | {"text": f"{word} {row['text']}"} for row in CORPUS]))


def test_other_corpora_are_kept_apart_by_their_names(tmp_path: Path) -> None:
    main = read_dataset(write_set(tmp_path / "small"))
    (tmp_path / "x").mkdir()
    others = [_reworded(tmp_path / name, name) for name in ("other", "x/other")]
    merged = merge(main, others)
    keys = [item.key for item in merged.documents() if isinstance(item, Document)]
    assert keys[:5] == ["fram", "archer", "larvik", "ships", "other:fram"]
    assert keys[8:] == ["other2:fram", "other2:archer", "other2:larvik", "other2:ships"]
    assert merged.keys == set(keys)
    assert merged.questions == main.questions
    with pytest.raises(InputError, match=r"has a passage .other"):
        merge(merged, others)


def test_a_document_of_another_corpus_that_is_there_already_is_left_out(tmp_path: Path) -> None:
    main = read_dataset(write_set(tmp_path / "small", corpus=CORPUS[:2], queries=QUERIES[:1]))
    renamed = CORPUS[0] | {"title": "Fram (museum)"}
    other = read_dataset(write_set(tmp_path / "other", corpus=[CORPUS[1], renamed, CORPUS[2]], queries=QUERIES[1:2]))
    another = read_dataset(write_set(tmp_path / "another", corpus=CORPUS[1:3], queries=QUERIES[1:2], triples=None))
    keys = [item.key for item in merge(main, [other, another]).documents() if isinstance(item, Document)]
    assert keys == ["fram", "archer", "other:fram", "other:larvik"]


def test_every_variant_of_a_corpus_has_a_collection_of_its_own(tmp_path: Path) -> None:
    main = read_dataset(write_set(tmp_path / "small"))
    other, another = (_reworded(tmp_path / name, name) for name in ("other", "another"))
    variants = [main, join(main, 2), join(main, 3), merge(main, [other]), merge(main, [other, another])]
    variants.append(join(merge(main, [other]), 2))
    names = [v.collection("wordllama") for v in variants]
    assert len(set(names)) == len(names)
    assert variants[-1].name == "small+other+join2"
