"""kgrag demo."""

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from command_line import CommandLine

from kgrag.cli.demo import PASSAGES
from kgrag.client import KnowledgeGraph
from kgrag.demo import COLLECTION, questions
from kgrag.graph.browser import demo_guide, steps
from kgrag.values.errors import NotFoundError

pytestmark = pytest.mark.long


@pytest.fixture
def _no_demo(kg: KnowledgeGraph) -> Iterator[None]:
    yield
    with suppress(NotFoundError):
        kg[COLLECTION].delete()


@pytest.mark.usefixtures("_no_demo")
def test_demo_ingests_asks_and_shows_the_way_to_the_graph(cli: CommandLine, kg: KnowledgeGraph) -> None:
    began = time.monotonic()
    result = cli("demo")
    assert time.monotonic() - began < 60
    assert "0 unchanged" in result.stdout and "problem" not in result.stderr
    for question in questions()[:3]:
        block = result.stdout.partition(question.question)[2]
        assert "The chain to find: " in block and f"which says: {question.answer}\n" in block
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
        assert asked["found"], "the first article of the chain shares words with the question"

    (kept,) = kg[COLLECTION].runs()  # once, for the guide
    assert (kept.question, kept.system, kept.steps) == (questions()[0].question, "pathrank", 1)
    for title, query in steps(demo_guide("http://localhost/")):
        assert len(kg.cypher(query)) > 0, title
