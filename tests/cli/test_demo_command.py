"""kgrag demo."""

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from code_blocks import differs_from_readme
from command_line import CommandLine

from kgrag import KnowledgeGraph
from kgrag.cli.demo import PASSAGES, progress_of
from kgrag.demo import COLLECTION, Question, questions
from kgrag.graph.browser import demo_guide, steps
from kgrag.values.errors import NotFoundError

ASKED = Question("Who?", "Ada", 3, ("A", "B", "C"))


@pytest.mark.parametrize(("found", "said"), [
    (["A", "B", "C"], "Known answer: Ada. The search finds each article on the way to it (✓): A → B → C"),
    (["A", "B"], "Among the first 6 passages the search finds A → B (✓), but not the article with the answer."),
    (["A", "C"], "Among the first 6 passages the search finds A → C (✓), but not every article on the way."),
    ([], "None of the articles that lead to the answer is among the first 6 passages."),
])  # fmt: skip
def test_the_way_to_an_answer_is_told_as_far_as_it_is_found(found: list[str], said: str) -> None:
    assert progress_of(ASKED, found) == said


@pytest.fixture
def _no_demo(kg: KnowledgeGraph) -> Iterator[None]:
    yield
    with suppress(NotFoundError):
        kg[COLLECTION].delete()


@pytest.mark.long
@pytest.mark.usefixtures("_no_demo")
def test_demo_ingests_asks_and_shows_the_way_to_the_graph(cli: CommandLine, kg: KnowledgeGraph) -> None:
    began = time.monotonic()
    result = cli("demo")
    assert time.monotonic() - began < 60
    assert "0 unchanged" in result.stdout and "problem" not in result.stderr
    for question in questions()[:3]:
        block = result.stdout.partition(question.question)[2]
        way = " → ".join(question.documents)
        assert block.startswith(
            f"\nKnown answer: {question.answer}. The search finds each article on the way to it (✓): {way}\n"
        )
        _, _, last = block.partition("\n\n")[0].rpartition(f"  {question.documents[-1]} ✓  ")
        assert question.answer in last.splitlines()[1], "the excerpt of the last article says the answer"
    assert differs_from_readme(result.stdout) == ""
    assert len(result.output.splitlines()) < 75, "with the set-up, `make demo` is to print at most 80 lines"
    assert cli.env["KGRAG_NEO4J_URI"] in result.stdout and "KGRAG_NEO4J_PASSWORD" in result.stdout
    assert cli.env["KGRAG_NEO4J_PASSWORD"] not in result.stdout + result.stderr

    began = time.monotonic()
    again = cli.json("demo")
    assert time.monotonic() - began < 10
    assert again["ingest"]["added"] == 0 and again["ingest"]["unchanged"] > 50
    assert [q["query"] for q in again["questions"]] == [q.question for q in questions()[:3]]
    for asked in again["questions"]:
        assert len(asked["hits"]) == PASSAGES
        assert set(asked["found"]) == {h["passage"]["title"] for h in asked["hits"]} & set(asked["documents"])
        assert asked["found"] == asked["documents"], "the whole chain is among the first passages"
        by_keywords = kg[COLLECTION].search(asked["query"], k=PASSAGES, retriever="bm25")
        assert asked["documents"][-1] not in {hit.passage.title for hit in by_keywords}, (
            "keywords do not reach the answer"
        )

    (kept,) = kg[COLLECTION].runs()  # saved once, for the guide
    assert (kept.question, kept.system, kept.steps) == (questions()[0].question, "pathrank", 1)
    for title, query in steps(demo_guide("http://localhost/")):
        assert len(kg.cypher(query)) > 0, title
