"""CSV for Neo4j's import tool: exact vectors, unrepresentable values, files in parts."""

import csv
import pickle
from pathlib import Path

import numpy as np
import pytest

from kgrag.graph.csv_files import FoundColumns, Lines, Table, array, fields, floats


def test_vectors_are_written_as_they_are() -> None:
    rng = np.random.default_rng(1)
    small = rng.normal(size=(50, 7)).astype(np.float32)
    small[0] = [0.0, -0.0, 1.0, -1.0, 9.5, 1e-5, 0.1]
    large = np.array([[10.0, -3.4e38, 1e-30]], np.float32)
    for vectors in (small, large):
        read = np.array([[float(n) for n in line.split(";")] for line in floats(vectors)], np.float32)
        assert np.allclose(read, vectors, rtol=0, atol=5e-13)
    assert (np.abs(small) < 2e-5).sum() < 5 and np.array_equal(read, large)
    assert floats(np.empty((2, 0), np.float32)) == ["", ""]
    assert floats(np.array([[np.nan]], np.float32)) == ["nan"]


def test_rows_are_read_back(tmp_path: Path) -> None:
    table = Table(tmp_path, "t", ["a", "b"], part=12)
    table.write('say "x"', 1, None, True, None)
    held = Lines()
    held.write("two\nlines", -0.5)
    held.link("p1", "p2")
    held.link("p1", "p2", 0.5, "x", None)
    table.take(pickle.loads(pickle.dumps(held)))
    table.write()
    table.close()
    assert (table.rows, table.multiline, len(table.parts)) == (5, True, 3)
    assert table.longest == len('"say ""x""",1,,true')
    assert table.header.read_text() == "a,b\n"
    assert [path.name for path in table.parts] == ["t.csv", "t-2.csv", "t-3.csv"]
    with table.path.open(newline="") as file:
        assert list(csv.reader(file)) == [['say "x"', "1", "", "true"]]
    assert table.parts[1].read_text() == '"two\nlines",-0.5\np1,p2\np1,p2,0.5,"x"\n'


def test_lists_that_are_fields_and_lists_that_are_none() -> None:
    assert fields([1, 2], [], None, ["a", "b"]) == "1;2,,,a;b"
    assert (array(["a", ""]), array(["", ""]), array(["a;b", "c"]), array([])) == ("a;", None, None, None)
    assert fields("a,b", 2) == '"a,b",2'


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"n": 2**63}, None),  # too large for a long
        ({"n": -(2**63) + 1}, [None, None, -(2**63) + 1]),
        ({"x": float("inf")}, None),
        ({"a": 1}, None),  # another type than before
        ({"tags": ["a;b"]}, None), ({"tags": [1, 2]}, [None, None, "1;2"]), ({"a": {}}, None),
        ({"one\ntwo": "x"}, None), ({"curly}": "x"}, None), ({"b": True, "a": "y"}, ["y", True]),
    ],
)  # fmt: skip
def test_columns_that_are_found(tmp_path: Path, properties: dict[str, object], expected: list[object] | None) -> None:
    table = Table(tmp_path, "t", ["id"])
    columns = FoundColumns(table)
    assert columns.values({"a": "x", "b": False}) == ["x", False]
    assert columns.values({f"k{n}": n for n in range(200)}) is None  # too many columns, so none is added
    assert columns.values(properties) == expected
    table.close()
    assert table.columns[:3] == ["id", "a:string", "b:boolean"]
    assert len(table.columns) == (4 if expected and len(expected) > 2 else 3)
