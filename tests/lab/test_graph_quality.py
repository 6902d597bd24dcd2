"""Quality of edges: the passages within reach of the first ones, by hand, and the command."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run_kgrag
from question_set import write_set

from kgrag import KnowledgeGraph
from kgrag.lab.graph_quality import KINDS, Quality, check_kinds, quality
from kgrag.lab.readers import read_dataset
from kgrag.lab.variants import sentences
from kgrag.values.errors import ConfigurationError
from kgrag.values.events import no_progress

pytestmark = pytest.mark.long

_CORPUS = [
    {"id": "ship", "title": "Fjord Queen", "text": "The Fjord Queen was a steamer led by Ole Brandvik."},
    {"id": "captain", "title": "Ole Brandvik", "text": "Ole Brandvik grew up among salmon nets."},
    {"id": "nets", "title": "Nets", "text": "Salmon nets are made of hemp."},
    *({"id": f"o{i}", "title": f"Number {i}", "text": f"Nothing {'abcdefgh'[i] * 4} happened."} for i in range(8)),
]
_QUERIES = [
    {"id": "q1", "question": "Who was at the head of the steamer Fjord Queen?", "gold": ["ship", "captain"]},
    {"id": "q2", "question": "What are nets made of?", "gold": ["nets"]},
]


_SUPPORTS = (("captain", _CORPUS[1]["text"]), ("nets", "Nobody knows who mends them at night."))


@pytest.fixture(scope="module")
def made(fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = write_set(tmp_path_factory.mktemp("quality"), _CORPUS, _QUERIES, None)
    data = read_dataset(folder)
    name = data.collection("wordllama")
    fill(name, data.documents())
    return folder, name


def measured(kg: KnowledgeGraph, made: tuple[Path, str], kind: str) -> dict[int, Quality]:
    folder, name = made
    questions = read_dataset(folder).questions
    index = kg[name].context
    return {q.setting: q for q in quality(index, questions, 1, [kind], "wordllama", no_progress)}


def test_titles_by_hand(kg: KnowledgeGraph, made: tuple[Path, str]) -> None:
    """From the ship one title leads to its captain; from the nets nothing leads anywhere."""
    found = measured(kg, made, "title")[1]
    assert (found.sf_em, found.recall) == (1, 1)
    assert (found.precision, found.neighbours) == (1, 0.5)
    assert found.pairs == pytest.approx(1)  # the ship and its captain
    assert found.density == pytest.approx(2 / (len(_CORPUS) * (len(_CORPUS) - 1)))
    assert found.p50_ms > 0


def test_gold_can_be_sentences(kg: KnowledgeGraph, made: tuple[Path, str]) -> None:
    folder, name = made
    queries = [{**q, "supports": [{"passage": k, "text": t}]} for q, (k, t) in zip(_QUERIES, _SUPPORTS, strict=True)]
    data = sentences(read_dataset(write_set(folder.parent / "told", _CORPUS, queries, None)))
    (found,) = (
        q
        for q in quality(kg[name].context, data.questions, 1, ["title"], "", no_progress, "kgp", data.gold_texts)
        if q.setting == 1
    )
    assert (found.sf_em, found.recall) == (0.5, 0.5)  # no other passage has the fact on nets
    assert found.precision == pytest.approx((1 / 2 + 0) / 2)
    assert found.walk == 0.5


def test_more_neighbours_reach_more(kg: KnowledgeGraph, made: tuple[Path, str]) -> None:
    found = measured(kg, made, "similar")
    assert list(found) == list(KINDS["similar"])
    assert [q.neighbours for q in found.values()] == [min(k, len(_CORPUS) - 1) for k in KINDS["similar"]]
    assert found[20].sf_em == 1
    assert found[20].precision == pytest.approx((2 / 11 + 1 / 11) / 2)
    assert {q.edges for q in found.values()} == {"similar wordllama"}


def test_a_keyword_ties_only_those_that_have_it_among_their_best(kg: KnowledgeGraph, made: tuple[Path, str]) -> None:
    found = measured(kg, made, "keyword")
    assert found[1].neighbours <= found[10].neighbours
    index = kg[made[1]].context
    ids = {hit.passage.document: hit.passage.id for hit in kg[made[1]].search("salmon nets", retriever="bm25")}
    for density in (1, 3, 10):
        near = index.reader.edge_neighbours(list(ids.values()), "keyword", density, 50, 200)
        assert (ids["nets"] in near[ids["captain"]]) == (ids["captain"] in near[ids["nets"]])


def test_a_title_is_a_keyword_besides_the_best(kg: KnowledgeGraph, made: tuple[Path, str]) -> None:
    """Compare the passages connected by a keyword with the ones connected by a title."""
    assert list(measured(kg, made, "keyword+title")) == list(KINDS["keyword+title"])
    index = kg[made[1]].context
    ids = [hit.passage.id for hit in kg[made[1]].search("salmon nets", retriever="bm25")]

    def tied(kind: str, density: float) -> dict[str, set[str]]:
        found = index.reader.edge_neighbours(ids, kind, density, 50, 200)
        return {id: set(near) for id, near in found.items()}

    both, words, titles = tied("keyword+title", 10), tied("keyword", 10), tied("title", 50)
    assert any(titles.values())
    assert all(both.get(id, set()) == words.get(id, set()) | titles.get(id, set()) for id in ids)


def test_the_command(made: tuple[Path, str], kg: KnowledgeGraph, neo4j_env: dict[str, str], tmp_path: Path) -> None:
    def run(*arguments: object, code: int = 0) -> str:
        result = run_kgrag(neo4j_env, "lab", "graph-quality", made[0], *arguments, code=code)
        return result.stdout if code == 0 else result.stderr

    found = json.loads(run("--json", "-e", "title", "-e", "mention"))
    assert found["questions"] == 2
    assert [q["edges"] for q in found["quality"]] == ["title"] * len(KINDS["title"]) + ["mention"] * len(
        KINDS["mention"]
    )
    assert "SF-EM" in run("-e", "keyword", "--limit", 1)
    walked = json.loads(run("--json", "-e", "title", "-e", "similar", "-e", "tagme", "--walk", "kgp(seeds=1, cap=3)"))
    assert walked["walk"] == "kgp(seeds=1, cap=3)"
    by_kind = {(q["edges"].split()[0], q["setting"]): q for q in walked["quality"]}
    assert by_kind["title", 1]["walk"] == 1
    assert by_kind["similar", 1]["walk"] >= 0.75
    assert by_kind["similar", 20]["walk"] is None  # the graph does not store as many
    assert (by_kind["tagme", 0.1]["neighbours"], by_kind["tagme", 0.1]["walk"]) == (0, 0.75)
    assert "walk ms" in run("-e", "title", "--walk", "kgp")
    assert "walks over no edges of choice" in run("--walk", "bm25", code=2)
    assert "no kind of edges" in run("-e", "friend", code=2)


def test_a_graph_for_each_question_and_no_cap(
    made: tuple[Path, str], kg: KnowledgeGraph, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    """Each question has three of 60 documents about ships; without a cap, their common word connects them all."""
    corpus = [{"id": f"d{i}", "title": f"N{i}", "text": f"Word{i} is a ship."} for i in range(60)]
    queries = [{"id": f"q{i}", "question": f"word{i}?", "gold": [f"d{i}", f"d{i + 1}"]} for i in (0, 30)]
    folder = write_set(tmp_path / "ships", corpus, queries, None)

    def run(*arguments: object) -> dict[str, Any]:
        words = ["lab", "graph-quality", folder, "-e", "keyword", "--seeds", 1, "--json", *arguments]
        found: dict[str, Any] = json.loads(run_kgrag(neo4j_env, *words).stdout)
        return found | {"last": found["quality"][-1]}

    apart = run("--per-question", 3, "--cap", 0)
    own = read_dataset(folder).collection("wordllama")
    assert not [info.name for info in kg.collections() if info.name.startswith(own)]
    assert apart["passages"] == 3
    assert (apart["last"]["sf_em"], apart["last"]["density"], apart["last"]["pairs"]) == (1, 1, 3)
    assert apart["last"]["precision"] == pytest.approx(2 / 3)
    capped, whole = run(), run("--cap", 0)
    assert (capped["passages"], capped["last"]["sf_em"]) == (60, 0)  # 60 passages have the word, more than 50
    assert (whole["last"]["sf_em"], whole["last"]["neighbours"]) == (1, 59)
    kg[own].delete()


def test_an_unknown_kind_is_refused() -> None:
    check_kinds(["title"])
    with pytest.raises(ConfigurationError, match="no kind of edges 'tag'"):
        check_kinds(["tag"])
