"""Recall does not fall: retrievers, and GEAR with an oracle reader, against recorded values.

pytest tests/quality                                    measure, and compare
pytest tests/quality --write-floors                     record deliberately, in a separate commit
pytest tests/quality --pathrank 'pathrank(cap=20)'      the cost of an option
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import floors
import pytest
from question_sets import DEMO, FILES, SETS, QuestionSet
from scripted import Scripted

from kgrag import Collection, KnowledgeGraph
from kgrag.lab.datasets import Dataset
from kgrag.lab.experiment import Experiment
from kgrag.lab.readers import read_dataset
from kgrag.settings import Settings

pytestmark = [pytest.mark.quality, pytest.mark.timeout(900)]
ORACLE = Path(__file__).parents[2] / "bench" / "oracle_brain.py"
THREADS = 2  # the questions of a retriever are asked one after another
HARMED = "pathrank(names=1)"
"""Only one name of a passage is expanded."""

Found = dict[str, dict[str, floors.Found]]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Set -> its folder."""
    parent = tmp_path_factory.mktemp("sets")
    return {part.name: part.write(parent) for part in SETS if part.exists}


@pytest.fixture(scope="session")
def reading(
    graph_settings: Settings, folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    """A client whose language model answers GEAR's prompts perfectly."""
    known = tmp_path_factory.mktemp("known")
    asked = [folders[part.name] for part in SETS if part.name in folders and "gear" in part.systems]
    for name in FILES:
        text = "".join((folder / f"{name}.jsonl").read_text(encoding="utf-8") for folder in asked)
        (known / f"{name}.jsonl").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAG_ORACLE", str(known))
        server = Scripted(ORACLE)
    with server, KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"chat": server.settings()})) as kg:
        yield kg


@pytest.fixture(scope="session")
def collections(reading: KnowledgeGraph, folders: dict[str, Path]) -> dict[str, tuple[Dataset, Collection]]:
    """Set -> its questions, and its passages in the graph.

    All exist before the first question, since Neo4j discards its plans whenever an index is made.
    """

    def ingest(folder: Path) -> tuple[Dataset, Collection]:
        data = read_dataset(folder)
        return data, data.ingest(reading).collection

    with ThreadPoolExecutor(THREADS) as pool:
        return dict(zip(folders, pool.map(ingest, folders.values()), strict=True))


@pytest.fixture(scope="session")
def found(collections: dict[str, tuple[Dataset, Collection]], pytestconfig: pytest.Config) -> Found:
    """Set -> system -> the ranks of the gold of each question."""
    in_place = {"pathrank": pytestconfig.getoption("--pathrank", "pathrank")}

    def measure(part: QuestionSet) -> dict[str, floors.Found]:
        return {system: asked(*collections[part.name], in_place.get(system, system)) for system in part.systems}

    there = [part for part in SETS if part.name in collections]
    with ThreadPoolExecutor(THREADS) as pool:
        found = dict(zip([part.name for part in there], pool.map(measure, there), strict=True))
    if pytestconfig.getoption("--write-floors", False):
        floors.write(found)
    return found


def asked(data: Dataset, collection: Collection, system: str) -> floors.Found:
    result = Experiment([system], data, collection=collection, threads=THREADS, anyway=True).run()
    assert not result.errors, result.errors
    return {record.question.id: record.ranks for record in result.records}


@pytest.mark.parametrize("part", [part for part in SETS if part.exists], ids=lambda part: part.name)
def test_recall_does_not_fall(part: QuestionSet, found: Found, capsys: pytest.CaptureFixture[str]) -> None:
    changes = [change for system, its in found[part.name].items() for change in floors.compare(part.name, system, its)]
    if higher := [change for change in changes if change.rises]:
        with capsys.disabled():
            print(f"\nHigher than recorded; record it with --write-floors:\n{floors.table(higher)}")
    if lower := [change for change in changes if change.falls]:
        pytest.fail(f"Lower than recorded:\n{floors.table(lower)}", pytrace=False)


def test_harm_shows(collections: dict[str, tuple[Dataset, Collection]]) -> None:
    """A harmful option falls below the floors."""
    changes = floors.compare(DEMO.name, "pathrank", asked(*collections[DEMO.name], HARMED))
    assert any(change.falls for change in changes), floors.table(changes)


def test_one_question_may_be_lost() -> None:
    found = dict(floors.ranks(DEMO.name, "gear"))
    for lost, falls in enumerate((False, False, True)):
        changes = floors.compare(DEMO.name, "gear", found)
        assert [c.falls for c in changes if c.measure == "perfect@8"] == [falls]
        assert {len(c.questions) for c in changes} == {lost}
        id = next(id for id, ranks in found.items() if 1 in ranks)
        found[id] = [None] * len(found[id])


def test_a_gain_shows() -> None:
    best = {id: [*range(1, len(ranks) + 1)] for id, ranks in floors.ranks(DEMO.name, "bm25").items()}
    changes = floors.compare(DEMO.name, "bm25", best)
    assert all(change.rises for change in changes)
    assert not any(change.falls or change.questions for change in changes)
