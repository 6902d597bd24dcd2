"""Errors in the user's own files, disks and pipes are reported as such, with the place and a remedy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_UTF_16 = "KGRAG_WRITERS=3\n".encode("utf-16")
_LATIN = b"# caf\xe9\n"


def _kgrag(folder: Path, *arguments: str, output: int | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KGRAG_NEO4J_URI": "bolt://127.0.0.1:1", "KGRAG_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, "-m", "kgrag", *arguments],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False, text=True,
        stdout=subprocess.PIPE if output is None else output, stderr=subprocess.PIPE,
    )  # fmt: skip


def _is_told(shown: subprocess.CompletedProcess[str], *texts: str) -> None:
    assert shown.returncode
    assert all(text in shown.stderr for text in texts), shown.stderr
    assert "defect" not in shown.stderr and "Traceback" not in shown.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
@pytest.mark.parametrize(
    "arguments", [("list", "settings"), ("list", "retrievers", "--json"), ("--help",), ("--version",)]
)
def test_a_full_disk_behind_standard_output(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        _is_told(_kgrag(tmp_path, *arguments, output=full.fileno()), "Standard output", "No space left", "Free some")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (".env", _UTF_16, ".env is not UTF-8"), (".env", _LATIN, ".env is not UTF-8"),
        ("kgrag.toml", _UTF_16, "kgrag.toml"), ("kgrag.toml", _LATIN, "kgrag.toml"),
        ("kgrag.toml", None, "kgrag.toml is a folder"),
    ],
)  # fmt: skip
def test_settings_files(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    (tmp_path / name).mkdir() if content is None else (tmp_path / name).write_bytes(content)
    _is_told(_kgrag(tmp_path, "list", "settings"), says)


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "prompts", "--copy", "file/inside"),
        ("cypher", "--favourites", "file/inside.zip", "-c", "demo"),
        ("cypher", "--favourites", "none/inside.cypher", "-c", "demo"),
        ("cypher", "--favourites", ".", "-c", "demo"),
    ],
)
def test_copies(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "file").touch()
    _is_told(_kgrag(tmp_path, *arguments), "cannot be written", "Is the path right")


def test_a_statement_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "q.cypher").write_bytes(b'RETURN "\xe9"')
    _is_told(_kgrag(tmp_path, "cypher", "--file", "q.cypher"), "q.cypher is not a text in UTF-8")
