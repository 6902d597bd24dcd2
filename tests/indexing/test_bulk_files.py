import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from kgrag.graph.csv_files import FoundColumns, Table, floats
from kgrag.indexing.new_collection.tables import Partitions, Spill, partition


def test_vectors_keep_their_numbers() -> None:
    chance = np.random.default_rng(1)
    vectors = chance.standard_normal((50, 33)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[0, :4] = (1, -1, 0, -0.5)
    read = np.array([[np.float32(x) for x in row.split(";")] for row in floats(vectors)])
    assert np.array_equal(np.where(np.abs(vectors) > 2e-5, vectors, read), read)
    assert np.abs(read - vectors).max() < 1e-12
    big = np.array([[12345.678, -1e-9, 3]], np.float32)
    assert [np.float32(x) for x in floats(big)[0].split(";")] == big[0].tolist()


def test_rows(tmp_path: Path) -> None:
    table = Table(tmp_path, "rows", ("a", "b:long", "c:long[]", "d:boolean", "e:double", "f"))
    table.write('say "no", yes', 3, [1, 2], True, 0.1, "")
    assert not table.multiline
    table.write("", None, [], None)
    table.write("two\nlines")
    table.close()
    assert table.multiline
    assert table.path.read_text() == '"say ""no"", yes",3,1;2,true,0.1,""\n""\n"two\nlines"\n'
    assert table.header.read_text() == "a,b:long,c:long[],d:boolean,e:double,f\n"


def test_metadata_finds_its_columns(tmp_path: Path) -> None:
    table = Table(tmp_path, "rows", ("id",))
    columns = FoundColumns(table)
    assert columns.values({"a": 1, "b": "x"}) == [1, "x"]
    assert columns.values({"c": True, "b": "y"}) == [None, "y", True]
    assert table.columns == ["id", "a:long", "b:string", "c:boolean"]
    lists = FoundColumns(Table(tmp_path, "lists", ("id",)))
    assert lists.values({"d": ["é, 1", ""], "e": [1, -2], "f": [True], "g": [0.5]}) == ["é, 1;", "1;-2", "true", "0.5"]
    assert lists.values({"d": "é"}) is None
    for unfit in (
        {"a": "text"},
        {"a": True},
        {"a": 2**63},
        {"d": float("nan")},
        {"e{": 1},
        {"f": ["a;b"]},
        {"g": [2**63, 1]},
    ):
        assert columns.values(unfit) is None
    assert len(columns.values({f"x{i}": i for i in range(150)}) or ()) == 153
    assert columns.values({f"y{i}": i for i in range(150)}) is None


def test_rows_wait_on_disk(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "spill")
    for i in range(5):
        spill.add([i, "é"])
    assert [list(spill), list(spill)] == [[[i, "é"] for i in range(5)]] * 2
    assert pickle.loads(pickle.dumps(spill.stored(3)))() == spill[3] == [3, "é"]  # another process can read it, too
    parts = Partitions(tmp_path, "parts")
    rows = [(f"{i:08x}", i) for i in range(10)] * 2
    for start in range(0, 20, 2):
        parts.add(partition(rows[start : start + 2]))
    found = [list(part) for part in parts]
    assert sorted(row for part in found for row in part) == sorted(rows)
    where = {(row[0], number) for number, part in enumerate(found) for row in part}
    assert len(where) == 10
    parts.close()
    spill.close()
    assert list(tmp_path.iterdir()) == []


def test_workers_end_with_the_process_that_made_them() -> None:
    code = (
        "import os, time\n"
        "from kgrag.engines import Processes\n"
        "parent = os.getpid()\n"
        "def work(n):\n"
        "    if os.getpid() == parent:\n"
        "        return\n"
        "    print(os.getpid(), flush=True)\n"
        "    time.sleep(250)\n"
        "list(Processes(2, forked=True).each(work, range(8)))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        parent.kill()
        begun = time.monotonic()
        parent.stdout.read()  # waits until nobody holds the other end of the pipe
    assert time.monotonic() - begun < 200
