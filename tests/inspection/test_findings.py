"""Findings of an inspection as text, each with a remedy to paste into a shell."""

from dataclasses import replace

from kgrag.graph.collections import Collection
from kgrag.indexing.index_sync import Difference
from kgrag.inspection.inspect import EXAMPLES, Largest, find_apart, find_indexes, find_vectors, read_in_part
from kgrag.inspection.result import Coverage, Reading
from kgrag.settings import IndexingSettings

COLLECTION = Collection("my ships", 7, "wordllama", 256, "embedding", 9, IndexingSettings())


def row(state: str = "ONLINE", percent: float = 100.0, quantization: str = "SCALAR") -> dict[str, object]:
    return {"state": state, "percent": percent, "quantization": quantization}


def test_indexes_that_do_not_answer() -> None:
    found = list(
        find_indexes(
            COLLECTION,
            {
                "passage_text_c7": {}, "passage_stems_c7": row("FAILED"), "passage_id": row("FAILED"),
                "entity_embedding_c7": row("POPULATING", 41.7),
                "passage_embedding_c7": row(quantization="BINARY"), "entity_stemmed_c7": row(),
            },
        )
    )  # fmt: skip
    again = "kgrag db repair 'my ships'"
    assert [(f.name, f.level, f.number, f.examples) for f in found] == [
        ("indexes missing", "error", 1, ("passage_text_c7",)),
        ("indexes failed", "error", 2, ("passage_stems_c7", "passage_id")),
        ("indexes filling", "warning", 1, ("entity_embedding_c7 (42 %)",)),
        ("binary indexes", "warning", 1, ("passage_embedding_c7",)),
    ]
    assert found[0].remedy == f"Make them again: {again}"
    assert found[1].remedy.startswith("In Neo4j Browser, DROP INDEX passage_id ")  # a repair does not drop it
    assert found[1].remedy.endswith(again)
    assert list(find_indexes(COLLECTION, {"passage_text_c7": row()})) == []


def test_vectors_that_are_missing() -> None:
    coverage = [
        Coverage("passages with a vector", 7, 9),
        Coverage("triples with a vector", 4, 4),
        Coverage("names with a vector", 1, 50),
        Coverage("passages with a keyword", 0, 9),
    ]
    (found,) = find_vectors(COLLECTION, coverage)
    assert (found.name, found.level, found.number) == ("passages without a vector", "error", 2)
    assert "2 passages have no vector of wordllama" in found.message
    assert found.remedy == "Embed them: kgrag db repair 'my ships'"


def test_an_index_outside_the_graph() -> None:
    (found,) = find_apart(COLLECTION, Difference([f"m{n}" for n in range(9)], ["s"]))
    assert (found.number, found.examples) == (10, tuple(f"m{n}" for n in range(EXAMPLES)))
    assert found.message == "It lacks 9 passages and holds 1 that are gone."
    assert list(find_apart(COLLECTION, Difference([], []))) == list(find_apart(COLLECTION, None)) == []


def test_what_a_model_has_not_read_or_read_otherwise() -> None:
    readings = [
        Reading("extract", "1", True, 5), Reading("extract", "0", False, 4), Reading("extract", "", False, 3),
        Reading("tag", "x", False, 2), Reading("tag", "", False, 1),
    ]  # fmt: skip
    assert [(f.name, f.number, f.remedy) for f in read_in_part(COLLECTION, readings)] == [
        ("extracted otherwise", 4, "To have them read again: kgrag enrich extract -c 'my ships'"),
        ("not extracted", 3, "To go on: kgrag enrich extract -c 'my ships'"),
        ("tagged otherwise", 2, "To have them read again: kgrag enrich tag -c 'my ships'"),
        ("not tagged", 1, "To go on: kgrag enrich tag -c 'my ships'"),
    ]
    plain = replace(COLLECTION, name="ships")
    assert [f.remedy for f in read_in_part(plain, readings[2:3])] == ["To go on: kgrag enrich extract -c ships"]


def test_the_largest_of_very_many_are_the_examples() -> None:
    kept = Largest()
    for n in range(3000):
        kept.add(n % 1500, (f"{n:04}", ""), str(n))
    assert kept.number == 3000
    assert kept.examples() == ["1499", "2999", "1498", "2998", "1497"]  # ties by name
    assert len(kept._largest) < 100 * EXAMPLES
