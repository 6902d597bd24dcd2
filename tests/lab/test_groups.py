from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from question_set import CORPUS, QUERIES, write_set

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.reader import Reader
from kgrag.lab.datasets import Dataset, Question
from kgrag.lab.experiment import density_group, grouped
from kgrag.lab.readers import read_dataset
from kgrag.lab.variants import join
from kgrag.values.errors import ConfigurationError


@pytest.mark.parametrize(
    ("density", "name"),
    [(0, "< 9"), (8.99, "< 9"), (9, "9-11"), (10.5, "9-11"), (11, "11-13"), (13, ">= 13"), (99, ">= 13")],
)
def test_a_group_begins_at_its_lower_bound(density: float, name: str) -> None:
    assert density_group(density)[1] == name


def test_groups_stand_in_order() -> None:
    densities = [None, 14, 12, 10, 8]
    assert [name for _, name in sorted(map(density_group, densities))] == ["< 9", "9-11", "11-13", ">= 13", "(none)"]


def test_groups_by_type_and_by_hops() -> None:
    """Groups by hops are in numerical order; a question without a type has a group, too."""
    questions = (
        Question("a", "A?", (), steps=10),
        Question("b", "B?", ("x", "y"), type="bridge"),
        Question("c", "C?", ("x",), steps=2),
    )
    data = Dataset(Path(), questions, frozenset(), lambda keys: iter(()))
    assert grouped(data, "hops") == {"a": (10, "10"), "b": (2, "2"), "c": (2, "2")}
    assert grouped(data, "type") == {"a": (0, "(none)"), "b": (0, "bridge"), "c": (0, "(none)")}
    for what in ("length", "density"):  # densities need a collection
        with pytest.raises(ConfigurationError, match=f"cannot be grouped by '{what}'") as error:
            grouped(data, what)
        assert error.value.remedy == "Choose type, hops or density."
    counts: Any = SimpleNamespace(triple_counts=lambda keys: {"x": (3, 30), "y": (1, 6)})  # passages and triples
    assert {id: name for id, (_, name) in grouped(data, "density", counts).items()} == {
        "a": "(none)", "b": "9-11", "c": "9-11",
    }  # fmt: skip


def test_density_is_the_triples_of_a_gold_passage(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    """fram has 14 triples and archer 6, on average 10; larvik has 13, and lost is not in the graph."""
    numbers = {"fram": 14, "archer": 6, "larvik": 13}
    triples = [
        {
            "passage": key,
            "subject": next(d["title"] for d in CORPUS if d["id"] == key),
            "predicate": "p",
            "object": f"o{n}",
        }
        for key, number in numbers.items()
        for n in range(number)
    ]
    queries = [*QUERIES, {"id": "q4", "question": "Lost?", "gold": ["lost"]}]
    data = read_dataset(write_set(tmp_path / "dense", queries=queries, triples=triples))
    kg[collection_name].ingest(data.documents())
    reader = Reader(kg.graph, open_collection(kg.graph, collection_name))
    found = {id: name for id, (_, name) in grouped(data, "density", reader).items()}
    assert found == {"q1": "9-11", "q2": ">= 13", "q3": "< 9", "q4": "(none)"}
    assert reader.triple_counts(["fram", "lost"]) == {"fram": (1, 14)}
    assert {name for _, name in grouped(data, "type", reader).values()} == {"2hop", "(none)"}
    assert grouped(data, "hops", reader)["q1"] == (2, "2")
    assert set(grouped(join(data, 2), "density", reader).values()) == {density_group(None)}  # other documents
