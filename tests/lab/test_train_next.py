"""Training on the next supporting fact: the order of facts, the held-out split, pairs and rows, and the commands."""

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import run_kgrag
from made_models import generator, sentence_encoder
from published_formats import HOTPOT
from question_set import write_set

from kgrag import KnowledgeGraph
from kgrag.lab.chains import Chain, chains, facts, ordered, read_corpus
from kgrag.lab.constants import NextFactTraining
from kgrag.lab.datasets import Question
from kgrag.lab.papers import find_paper
from kgrag.lab.readers import read_dataset
from kgrag.lab.reproduction import Reproduction
from kgrag.lab.train_next import NO_EVIDENCE, Row, features, measure, ranks_of, rows
from kgrag.lab.training import hold_out, ids_of, keep, trained_on
from kgrag.models.chat import Message
from kgrag.models.embed import embed_questions, load_embedder, unit
from kgrag.values.errors import InputError
from kgrag.values.events import no_progress

_CRAFTS = ("potter", "weaver", "smith", "tanner")


def chain(number: int, *keys: str) -> Chain:
    return Chain(f"question {number}", keys, tuple(("", f"text of {key}") for key in keys))


def towns(folder: Path, number: int = 40) -> Path:
    """People, the houses they work for, and the places of these, whose texts share no word with the questions."""
    corpus, queries = [], []
    for i in range(number):
        texts = [
            f"Person{i} earns wages from House{i}.",
            f"House{i} keeps its office beside Place{i}.",
            f"Person{i} collects maps.",
            f"House{i} printed a calendar.",
        ]
        corpus += [{"id": f"d{i}{j}", "title": "Notes", "text": text} for j, text in enumerate(texts)]
        steps = [{"question": "?", "gold": f"d{i}{j}"} for j in (0, 1)]
        question = f"Which town would a {_CRAFTS[i % 4]} like Person{i} go to?"
        gold = [f"d{i}1", f"d{i}0"]  # the steps have another order
        queries.append({"id": f"q{i}", "question": question, "gold": gold, "steps": steps})
    return write_set(folder, corpus, queries, None)


def test_the_steps_tell_the_order(tmp_path: Path) -> None:
    data = read_dataset(towns(tmp_path, 2))
    assert data.questions[0].gold == ("d01", "d00")
    assert data.questions[0].path == ("d00", "d01")
    found = chains(data.questions, read_corpus(data, no_progress))
    assert [fact[1] for fact in found[1].facts] == [
        "Person1 earns wages from House1.",
        "House1 keeps its office beside Place1.",
    ]
    assert found[1].steps[1] == (
        f"{found[1].question}\nNotes: Person1 earns wages from House1.",
        "Notes\nHouse1 keeps its office beside Place1.",
    )


def test_without_steps_each_fact_is_led_to_by_what_is_known() -> None:
    gold = {
        "larvik": ("Larvik", "Larvik is a town on the coast."),
        "archer": ("Colin Archer", "Colin Archer was born in Larvik."),
        "fram": ("Fram (ship)", "The Fram was designed by Colin Archer."),
    }
    assert ordered("In what sort of place was the designer of the Fram born?", gold) == ("fram", "archer", "larvik")


def test_facts_and_their_negatives_are_sentences_where_the_set_names_such(tmp_path: Path) -> None:
    (tmp_path / "hotpot.json").write_text(json.dumps(HOTPOT))
    data = read_dataset(tmp_path / "hotpot.json")
    corpus = read_corpus(data, no_progress)
    found, among = chains(data.questions, corpus), facts(data.questions, corpus)
    assert found[0].facts == (
        ("Fram (ship)", "She was designed by Colin Archer."),
        ("Fram (ship)", "The Fram was built for the ice."),
        ("Colin Archer", "Colin Archer was born in Larvik."),
    )
    assert {among[key] for chain in found for key in chain.keys} == {fact for chain in found for fact in chain.facts}
    assert len(among) == 7  # each sentence once, including irrelevant ones
    assert ("Larvik", "Larvik is a town.") in among.values()
    negatives = {row["negative"] for row in rows(found[:1] * 30, among, 0)}
    assert "Larvik\nLarvik is a town." in negatives
    assert not negatives & {"\n".join(fact) for fact in found[0].facts}


def test_questions_whose_gold_is_not_there_are_left_out(tmp_path: Path) -> None:
    data = read_dataset(towns(tmp_path, 3))
    assert len(chains(data.questions, {k: v for k, v in read_corpus(data, no_progress).items() if k != "d11"})) == 2


def test_what_is_held_out_shares_no_fact() -> None:
    found = [chain(0, "a", "b"), chain(1, "b", "c"), chain(2, "d"), chain(3, "e"), chain(4, "c", "f"), chain(5, "g")]
    for seed in range(5):
        learned, held = hold_out(found, lambda chain: chain.keys, 0.5, seed)
        assert len(learned) + len(held) == 6
        assert len(held) == 3
        assert not {k for c in learned for k in c.keys} & {k for c in held for k in c.keys}
    late = [chain(0, "x", "y"), chain(1, "p", "q"), chain(2, "q", "x"), chain(3, "y", "z"), chain(4, "a")]
    for seed in range(5):  # p, q, x, y and z belong together, though y comes before q
        assert sorted(map(len, hold_out(late, lambda chain: chain.keys, 0.4, seed))) == [1, 4]
    assert hold_out(found, lambda chain: chain.keys, 0, 0)[1] == []
    with pytest.raises(InputError, match="too few"):
        hold_out(found[:2], lambda chain: chain.keys, 0.5, 0)


def test_each_pair_has_a_negative_that_is_no_gold() -> None:
    corpus = {key: ("", f"text of {key}") for key in "abcd"}
    found = list(rows([chain(0, "a", "b")] * 20, corpus, 0))
    assert {(r["anchor"], r["positive"]) for r in found} == {
        ("question 0", "text of a"),
        ("question 0\ntext of a", "text of b"),
    }
    assert {r["negative"] for r in found} == {"text of c", "text of d"}
    assert found == list(rows([chain(0, "a", "b")] * 20, corpus, 0))
    alone = list(rows([chain(0, "a", "b")], corpus, 0, single=True))  # as DPR learns
    assert [row["anchor"] for row in alone] == [chain(0, "a", "b").question] * 2
    assert [row["positive"] for row in alone] == [row["positive"] for row in found[:2]]


def test_what_was_trained_says_on_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, ids in (("one", ["a", "b"]), ("two", ["c"])):
        (tmp_path / name / "questions").mkdir(parents=True)
        (tmp_path / name / "training.json").write_text(json.dumps({"trained_on": ids}))
    one, two, alphas = tmp_path / "one", tmp_path / "two", tmp_path / "alphas.json"
    keep(alphas, {"alphas": [0.5], "trained_on": ids_of([Question(id, f"{id}?", ()) for id in "edf"], ("d?", "e?"))})
    said = {f"sbert:{one}": "ab", f"dpr:{one / 'questions'},{two / 'questions'}": "abc", str(alphas): "de"}
    assert {value: "".join(sorted(trained_on(value))) for value in said} == said
    monkeypatch.chdir(one)  # values that are not files ignore this folder
    assert not trained_on("(0.4, 0.5)") and not trained_on("minilm")
    paper = find_paper("gnn-ret")
    given = {"alphas": str(alphas), "dpr": f"sbert:{one}"}
    assert Reproduction(paper, paper.table("1"), (), given).trained_on == set("abde")


def test_ranks_are_counted_from_1_without_the_facts_before() -> None:
    passages = np.array([[0.9], [0.8], [0.7], [0.6]])
    assert ranks_of(np.array([[1.0], [1.0], [-1.0]]), passages, [[0, 1], [0, 3], [0, 3]]) == [1, 3, 1]


def test_only_the_reply_is_learned() -> None:
    class Letters:
        eos_token_id, chat_template = 0, None

        def __call__(self, text: str, max_length: int | None = None, **_: bool) -> dict[str, list[int]]:
            return {"input_ids": [ord(letter) for letter in text[:max_length]]}

    row = Row((Message("user", "ask"),), "reply")
    reply, shown = [*map(ord, "reply"), 0], [*map(ord, "ask\n")]
    causal = features(row, Letters(), False, 40)
    assert (causal["input_ids"], causal["labels"]) == (shown + reply, [-100] * 4 + reply)
    cut = features(row, Letters(), False, 8)
    assert (cut["input_ids"], cut["labels"][-4:]) == ([*shown, *map(ord, "rep"), 0], [*map(ord, "rep"), 0])
    both = features(row, Letters(), True, 40)
    assert (both["input_ids"], both["labels"]) == (shown[:3], reply)


@pytest.mark.models
def test_sf_em_and_recall_by_hand() -> None:
    """Two chains; the seed has the question's word, and in one chain the second fact is the seed's neighbour."""
    texts = {"a": "apple", "b": "banks", "x": "xylo", "c": "cedar", "d": "dunes", "y": "yeast"}
    places = {"apple": 0.0, "banks": 0.1, "xylo": 0.5, "cedar": 2.0, "yeast": 2.1, "dunes": 2.9}

    def encode(wanted: list[str]) -> np.ndarray:
        angles = [places[text.splitlines()[-1]] for text in wanted]
        return unit(np.array([[np.cos(a), np.sin(a)] for a in angles]))

    corpus = {key: ("", text) for key, text in texts.items()}
    held = [Chain("apple", ("a", "b"), (("", "apple"), ("", "banks")))]
    held.append(Chain("cedar", ("c", "d"), (("", "cedar"), ("", "dunes"))))
    found = measure(encode, held, corpus, NextFactTraining(seeds=1), 0)  # type: ignore[arg-type]
    assert found.sf_em[1] == 0.5
    assert found.sf_em[2] == 0.5 or found.sf_em[5] == 1
    assert found.recall[1] == 0.5
    assert found.recall[2] == 1


def train(*arguments: object, code: int = 0) -> str:
    result = run_kgrag({"COLUMNS": "150"}, "lab", "train", "next-fact", *arguments, code=code)
    return result.stdout if code == 0 else result.stderr


@pytest.mark.models
def test_a_trained_model_is_an_embedder_that_finds_what_comes_next(
    tmp_path: Path, kg: KnowledgeGraph, collection_name: str
) -> None:
    folder, out = towns(tmp_path / "set", 80), tmp_path / "model"
    texts = [text for fact in read_corpus(read_dataset(folder), no_progress).values() for text in fact]
    texts += [question.text for question in read_dataset(folder).questions]
    base = sentence_encoder(tmp_path / "base", texts)
    options = ("--base", base, "--epochs", 8, "--batch", 32, "--rate", 5e-3, "--held-out", 0.2, "--tokens", 32)
    found = json.loads(train(folder, "--out", out, *options, "--json"))
    assert (found["questions"], found["held_out"], found["pairs"]) == (64, 16, 128)
    assert found["after"]["recall"]["20"] > found["before"]["recall"]["20"]
    embedder = load_embedder(found["embedder"])
    assert embedder.embed(["Person1 earns wages from House1."]).shape == (1, 32)
    assert json.loads((out / "training.json").read_text())["seed"] == 0
    kg[collection_name].ingest(list(read_dataset(folder).documents())[:40])
    walk = f"kgp(tfidf, guide=encoder, encoder='{found['embedder']}', similarity=vector, edges=(similar,), hops=2)"
    ranking = kg[collection_name].search("Which town would a potter like Person1 go to?", retriever=walk, k=3)
    assert {"d10", "d12"} & {hit.passage.document for hit in ranking}  # facts on Person1
    assert "exists already" in train(folder, "--out", out, code=5)


@pytest.mark.models
def test_two_encoders_are_trained_together(tmp_path: Path) -> None:
    folder, out = towns(tmp_path / "set", 80), tmp_path / "model"
    data = read_dataset(folder)
    texts = [text for fact in read_corpus(data, no_progress).values() for text in fact]
    texts += [question.text for question in data.questions]
    base = sentence_encoder(tmp_path / "base", texts)
    options = ("--base", base, "--epochs", 8, "--batch", 32, "--rate", 5e-3, "--held-out", 0.2, "--tokens", 32)
    found = json.loads(train(folder, "--apart", "--out", out, *options, "--json"))
    assert found["embedder"] == f"dpr:{out}/questions,{out}/passages"
    assert found["after"]["recall"]["20"] > found["before"]["recall"]["20"]
    assert sorted(path.name for path in out.iterdir()) == ["passages", "questions", "training.json"]
    learned = load_embedder(found["embedder"])
    fact, question = "Person1 earns wages from House1.", data.questions[1].text
    before = load_embedder(f"sbert:{base}")
    for vectors, untrained in (
        (learned.embed([fact]), before.embed([fact])),
        (embed_questions(learned, [fact]), before.embed([fact])),
    ):
        assert not np.allclose(unit(vectors[:, :-1]), untrained, atol=1e-3)  # both were trained,
    assert not np.allclose(learned.embed([fact]), embed_questions(learned, [fact]), atol=1e-2)  # separately
    nearness = learned.embed([fact, "House7 printed a calendar."]) @ embed_questions(learned, [question])[0]
    assert nearness[0] > nearness[1]


@pytest.mark.models
def test_an_interrupted_training_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgrag.lab import train_next

    base = sentence_encoder(tmp_path / "base", ["which town would like person go to"])
    folder = towns(tmp_path / "set")

    def interrupted(*_: object) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(train_next, "train", interrupted)
    train(folder, "--base", base, "--out", tmp_path / "model", code=130)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["base", "set"]


@pytest.mark.models
def test_what_cannot_be_trained_is_said(tmp_path: Path) -> None:
    folder = towns(tmp_path / "set", 2)
    assert "cannot be loaded" in train(
        folder, "--out", tmp_path / "m", "--base", tmp_path / "none", "--held-out", 0, code=2
    )
    assert "too few" in train(folder, "--out", tmp_path / "m", "--limit", 1, code=5)


_CORPUS = [
    {"id": f"d{i}{j}", "title": title, "text": text}
    for i in range(6)
    for j, (title, text) in enumerate(
        ((f"Ship{i}", f"Ship{i} was led by Captain{i}."), (f"Captain{i}", f"Captain{i} came from Town{i}."))
    )
]
_QUERIES = [
    {"id": f"q{i}", "question": f"Where did the captain of Ship{i} come from?", "gold": [f"d{i}0", f"d{i}1"]}
    for i in range(6)
]


def run(*arguments: object, code: int = 0) -> str:
    result = run_kgrag(None, "lab", "train", "next-evidence", *arguments, code=code)
    return result.stdout if code == 0 else result.stderr


def test_rows_are_exported_as_the_retriever_asks(tmp_path: Path) -> None:
    folder, file = write_set(tmp_path / "set", _CORPUS, _QUERIES, None), tmp_path / "rows" / "rows.jsonl"
    found = json.loads(run(folder, "--export", file, "--json"))
    assert (found["questions"], found["rows"]) == (6, 12)
    rows = [json.loads(line)["messages"] for line in file.read_text().splitlines()]
    assert [m["role"] for m in rows[0]] == ["system", "user", "assistant"]
    assert "the captain of Ship0" in rows[0][1]["content"]
    assert NO_EVIDENCE in rows[0][1]["content"]
    assert rows[0][2]["content"] == "Ship0: Ship0 was led by Captain0."
    assert "Ship0: Ship0 was led by Captain0." in rows[1][1]["content"]
    assert rows[1][2]["content"] == "Captain0: Captain0 came from Town0."


def test_facts_are_the_sentences_that_the_set_names(tmp_path: Path) -> None:
    """KGP, listing 1: only the supporting sentence of a paragraph of two, in the order of the steps."""
    paragraph = [["Larvik", ["Larvik is a town.", "It lies in Norway."]], ["Archer (man)", ["He was born in Larvik."]]]
    item = {**HOTPOT[0], "context": paragraph, "supporting_facts": [["Larvik", 1], ["Archer (man)", 0]]}
    triples = [["Archer", "born in", "Larvik"], ["Larvik", "country", "Norway"]]
    data, file = tmp_path / "2wiki.json", tmp_path / "rows.jsonl"
    data.write_text(json.dumps([{**item, "evidences": triples}]))
    found = json.loads(run(data, "--export", file, "--json"))
    rows = [json.loads(line)["messages"] for line in file.read_text().splitlines()]
    assert found["rows"] == 2
    assert [row[2]["content"] for row in rows] == ["Archer (man): He was born in Larvik.", "Larvik: It lies in Norway."]
    assert "Archer (man): He was born in Larvik." in rows[1][1]["content"]
    assert "Larvik is a town" not in file.read_text()


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", _CORPUS, _QUERIES, None)
    assert "Nothing to do" in run(folder, code=2)
    assert "belong together" in run(folder, "--base", "x", code=2)
    assert "cannot be written" in run(folder, "--export", folder / "corpus.jsonl" / "x", code=5)


@pytest.mark.models
@pytest.mark.parametrize("kind", ["t5", "llama"])
def test_a_model_is_tuned_by_lora(tmp_path: Path, kind: str, kg: KnowledgeGraph, collection_name: str) -> None:
    pytest.importorskip("peft")
    folder, out = write_set(tmp_path / "set", _CORPUS, _QUERIES, None), tmp_path / "model"
    base = generator(tmp_path / "base", [row["text"] for row in _CORPUS] + [q["question"] for q in _QUERIES], kind)
    options = ("--base", base, "--epochs", 20, "--rate", 0.02, "--held-out", 0.34, "--tokens", 160, "--json")
    found = json.loads(run(folder, "--out", out, *options))
    assert (found["learned"], found["held_out"]) == (8, 4)
    assert found["held_out_after"] < found["held_out_before"]
    assert (out / "adapter_config.json").exists()
    kg[collection_name].ingest(read_dataset(folder).documents())
    retriever = f"kgp(bm25, guide=generator, generator='{out}', similarity=tfidf, edges=(mention, title), hops=2)"
    ranking = kg[collection_name].search(_QUERIES[0]["question"], retriever=retriever, k=3)  # type: ignore[arg-type]
    assert "d00" in {hit.passage.document for hit in ranking}
    merged = tmp_path / "merged"
    run(folder, "--out", merged, "--merge", *options, "--steps", 1)
    assert (merged / "config.json").exists()
    assert not (merged / "adapter_config.json").exists()
    from transformers import AutoTokenizer

    assert len(AutoTokenizer.from_pretrained(merged)) > 10
