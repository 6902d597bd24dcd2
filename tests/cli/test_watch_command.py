"""kgrag watch: a collection follows its folder, whatever happens to the folder and the command."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import CommandLine

from kgrag import KnowledgeGraph

pytestmark = pytest.mark.long


class Watching:
    """A running `kgrag watch`, with its output in a file."""

    def __init__(self, cli: CommandLine, kg: KnowledgeGraph, collection: str, folder: Path, log: Path) -> None:
        self._kg = kg
        self._collection = collection
        self.log = log
        with log.open("ab") as out:
            self.process = cli.start(
                "watch", str(folder), "--root", str(folder), "-c", collection, "--quiet", "1",
                stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def titles(self) -> dict[str, str]:
        """Return key -> text of the collection's documents."""
        found = self._kg[self._collection].cypher(
            "MATCH (d:Document {collection: $collection})-[:HAS_PASSAGE]->(p) RETURN d.key AS key, p.text AS text"
        )
        return {row["key"]: row["text"] for row in found}

    def until(self, expected: dict[str, str], seconds: float = 90) -> None:
        end = time.monotonic() + seconds
        while self.titles() != expected:
            assert self.process.poll() is None and time.monotonic() < end, (self.titles(), self.log.read_text())
            time.sleep(0.2)

    def said(self, words: str, times: int = 1, seconds: float = 90) -> None:
        end = time.monotonic() + seconds
        while self.log.read_text().count(words) < times:
            assert self.process.poll() is None and time.monotonic() < end, self.log.read_text()
            time.sleep(0.2)


@pytest.fixture
def watching(
    cli: CommandLine, kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> Iterator[Callable[[Path], Watching]]:
    started: list[Watching] = []

    def start(folder: Path) -> Watching:
        started.append(Watching(cli, kg, collection_name, folder, tmp_path / "log"))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


def test_a_collection_is_kept_in_step(watching: Callable[[Path], Watching], tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("The Fram lay at Larvik.")
    run = watching(folder)
    run.said("Ctrl-C ends it")
    run.until({"a.txt": "The Fram lay at Larvik."})

    (folder / "b.txt").write_text("The Gauss lay at Kiel.")
    (folder / "a.txt").rename(folder / "c.txt")
    run.until({"b.txt": "The Gauss lay at Kiel.", "c.txt": "The Fram lay at Larvik."})

    with (folder / "slow.txt").open("w") as slow:  # the half-written file is never read
        for word in ("The", "Nimrod", "lay", "at", "Lyttelton."):
            slow.write(f"{word} ")
            slow.flush()
            assert set(run.titles()) == {"b.txt", "c.txt"}
            time.sleep(0.6)
    (folder / "b.txt").unlink()
    run.until({"c.txt": "The Fram lay at Larvik.", "slow.txt": "The Nimrod lay at Lyttelton."})

    run.process.kill()  # the next run finds the changes in between
    run.process.wait()
    (folder / "c.txt").write_text("The Fram lay at Bergen.")
    (folder / "slow.txt").unlink()
    run = watching(folder)
    run.until({"c.txt": "The Fram lay at Bergen."})
    run.said("Ctrl-C ends it", times=2)

    (folder / "c.txt").unlink()  # a folder without files may be unmounted
    run.said("holds no files")
    assert run.titles() == {"c.txt": "The Fram lay at Bergen."}
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(timeout=20) == 130
    assert "Stopped; committed data stays" in run.log.read_text()
    assert "Traceback" not in run.log.read_text()


def test_what_is_no_folder_is_not_watched(cli: CommandLine, collection_name: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    assert "not a folder" in cli("watch", str(tmp_path / "a.txt"), "-c", collection_name, code=5).stderr
    assert "not a folder" in cli("watch", os.fspath(tmp_path / "no-such"), "-c", collection_name, code=5).stderr
