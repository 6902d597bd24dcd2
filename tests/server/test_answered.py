"""Answers that the pages keep on disk: whose they are, how many stay, and what a file that is damaged costs."""

import logging
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kgrag.server.answered import Answers
from kgrag.values.events import Answer, Retrieved
from kgrag.values.results import Ranking

_ASKED = ("key", "ships", "single+bm25", "model", "Who built the Fram?")


def answer(text: str) -> Answer:
    return Answer(_ASKED[-1], text, True, "single", Ranking(_ASKED[-1], "bm25"), trace=(Retrieved(query="x", hits=()),))


def test_what_was_answered_is_shown_to_who_asked_the_same(tmp_path: Path) -> None:
    answers = Answers(tmp_path / "kept" / "answers.sqlite3", 5)
    assert answers.get(*_ASKED) is None
    answers.put(answer("Colin Archer"), *_ASKED)
    again = Answers(tmp_path / "kept" / "answers.sqlite3", 5).get(*_ASKED)  # after a restart
    assert again is not None
    assert again[0] == answer("Colin Archer")
    for place in range(len(_ASKED)):  # another key, collection, system, model or question
        asked = [*_ASKED]
        asked[place] += "!"
        assert answers.get(*asked) is None, place
    assert answers.get("keyships", *_ASKED[2:]) is None
    answers.put(answer("Somebody else"), *_ASKED)
    last = answers.get(*_ASKED)
    assert last is not None
    assert (last[0].text, last[1] >= again[1], last[1].tzinfo is not None) == ("Somebody else", True, True)
    assert [path.stat().st_mode & 0o777 for path in ((tmp_path / "kept"), *(tmp_path / "kept").iterdir())] == [
        0o700,
        0o600,
    ]


def test_the_oldest_go(tmp_path: Path) -> None:
    answers = Answers(tmp_path / "answers.sqlite3", 2)
    for text in ("one", "two", "three"):
        answers.put(answer(text), text)
    kept = [answers.get(text) for text in ("one", "two", "three")]
    assert [found and found[0].text for found in kept] == [None, "two", "three"]


def test_none_are_kept_where_none_are_wanted(tmp_path: Path) -> None:
    answers = Answers(tmp_path / "kept" / "answers.sqlite3", 0)
    answers.put(answer("one"), *_ASKED)
    assert answers.get(*_ASKED) is None
    assert not (tmp_path / "kept").exists()


def _no_file(path: Path) -> None:
    path.write_bytes(b"no database, and longer than the head of one " * 9)


def _no_answer(path: Path, said: bytes = b'{"is": "no answer"}') -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE answers SET answer = ?", (zlib.compress(said),))


def _no_json(path: Path) -> None:
    _no_answer(path, b"no JSON")


def _not_compressed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE answers SET answer = x'00'")


@pytest.mark.parametrize("damage", [_no_file, _no_answer, _no_json, _not_compressed])
def test_a_damaged_file_is_as_if_nothing_was_asked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "answers.sqlite3"
    answers = Answers(path, 5)
    answers.put(answer("one"), *_ASKED)
    damage(path)
    with caplog.at_level(logging.WARNING):
        assert answers.get(*_ASKED) is None
    assert "A kept answer cannot be read" in caplog.text


def test_a_place_that_cannot_be_written_costs_no_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("no folder")
    with caplog.at_level(logging.WARNING):
        Answers(tmp_path / "file" / "answers.sqlite3", 5).put(answer("one"), *_ASKED)
    assert "An answer cannot be kept" in caplog.text
