"""The package as published, used by a stranger: the wheel from an index, in separate environments.

The index is a folder of PEP 503 that this machine serves locally, in addition to the main index. `make test-wheel`
prints the duration of each step.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from code_blocks import differs_from_readme

from kgrag import __version__

pytestmark = [pytest.mark.wheel, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".venv-wheel" / "bin"
MOST_MB, MOST_WHEEL_MB, MOST_IMPORT_MS = 450, 3, 150
INSTALL = re.compile(r"(?:\bEXTRA=|'\.\[)([a-z][a-z0-9,-]*)")


def interpreters() -> dict[str, str]:
    """Return the supported Pythons of this machine: "3.12" -> its path."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    path = [Path(folder) for folder in os.get_exec_path() if Path(folder).name != "shims"]
    folders = [Path(sys.executable).resolve().parent, *pyenv.glob("*/bin"), *path]
    found: dict[str, str] = {}
    for minor in range(11, 20):
        name = f"python3.{minor}"
        there = next((folder / name for folder in folders if (folder / name).exists()), None)
        if there is not None:
            found[f"3.{minor}"] = str(there)
    return found


PYTHONS = interpreters()


class Shell:
    """A separate folder with its own home, in which commands run and print their time."""

    def __init__(self, folder: Path, index: str) -> None:
        self.folder = folder
        ours = ("KGRAG_", "PYTHON", "VIRTUAL_ENV", "COVERAGE")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        self.env = {**kept, "KGRAG_HOME": str(folder / "home"), "PIP_EXTRA_INDEX_URL": index, "UV_INDEX": index,
                    "UV_CACHE_DIR": str(folder.parent / "uv"), "PIPX_HOME": str(folder / "pipx"),
                    "UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never", "UV_SYSTEM_CERTS": "1"}  # fmt: skip

    def run(self, *words: str | Path, **more: Any) -> str:
        """Return the output of a command, which must succeed."""
        began = time.monotonic()
        done = subprocess.run([*map(str, words)], cwd=self.folder, env=self.env, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=900, **more)  # fmt: skip
        line = " ".join([Path(words[0]).name, *(Path(w).name if str(w).startswith("/") else str(w) for w in words[1:])])
        print(f"  {time.monotonic() - began:6.1f} s  {line}")
        assert done.returncode == 0, f"{line}: {done.stdout[-3000:]}"
        return done.stdout

    def megabytes(self, folder: Path) -> float:
        """Return the size of a folder on disk."""
        return int(self.run("du", "-sk", folder).split()[0]) / 1024


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution as a publisher does."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def index(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an index that has only kgrag."""
    root = tmp_path_factory.mktemp("index")
    folder = root / "simple" / "kgrag"
    folder.mkdir(parents=True)
    for made in built.parent.iterdir():
        shutil.copy(made, folder)
    links = "".join(f'<a href="{made.name}">{made.name}</a>\n' for made in sorted(folder.iterdir()))
    folder.joinpath("index.html").write_text(f"<!DOCTYPE html>\n{links}", encoding="utf-8")
    handler: Callable[..., Any] = partial(_Quiet, directory=str(root))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/simple/"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def shell(index: str, tmp_path: Path) -> Shell:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Shell(folder, index)


def test_the_wheel_is_small_and_whole(built: Path) -> None:
    size = built.stat().st_size / 2**20
    print(f"  {size:.2f} MB {built.name}")
    assert size < MOST_WHEEL_MB
    listed = subprocess.run([sys.executable, "-m", "zipfile", "-l", built], capture_output=True, text=True).stdout
    for part in (
        "py.typed",
        "NOTICE",
        "LICENSE",
        "cypher/write/",
        "demo/corpus/",
        "web/static/app.js",
        "neo4j-5.26.lock",
    ):
        assert part in listed, part
    assert "tests/" not in listed and "bench/" not in listed


@pytest.mark.parametrize("version", PYTHONS)
def test_a_stranger_installs_runs_the_demo_and_uninstalls(version: str, shell: Shell) -> None:
    """On each Python, kgrag installs by name from an index, without the developers' extra."""
    print()
    venv = shell.folder / "venv"
    shell.run(PYTHONS[version], "-m", "venv", venv)
    python, kgrag = venv / "bin" / "python", venv / "bin" / "kgrag"
    shell.run(python, "-m", "pip", "install", "kgrag[local]")
    size = shell.megabytes(venv)
    print(f"  {size:6.0f} MB with Python {version}")
    assert size <= MOST_MB
    assert shell.run(kgrag, "--version").startswith(f"kgrag {__version__} (Neo4j 5.26 or later")
    imported = "import time; b = time.perf_counter(); import kgrag; print(1000 * (time.perf_counter() - b))"
    fastest = min(float(shell.run(python, "-c", imported)) for _ in range(3))
    print(f"  {fastest:6.0f} ms import kgrag")
    assert fastest < MOST_IMPORT_MS
    try:
        assert differs_from_readme(shell.run(kgrag, "demo")) == ""
        refused = subprocess.run([kgrag, "serve"], env=shell.env, capture_output=True, text=True)
        assert refused.returncode != 0 and "pip install 'kgrag[serve]'" in refused.stderr
    finally:
        shell.run(kgrag, "down")
    shell.run(python, "-m", "pip", "uninstall", "-y", "kgrag")
    assert [p for p in venv.rglob("*kgrag*") if "__pycache__" not in p.parts] == []


@pytest.mark.parametrize("how", ["uvx", "pipx"])
def test_it_runs_without_being_installed(how: str, built: Path, shell: Shell) -> None:
    print()
    words = {
        "uvx": [TOOLS / "uvx", "--from", f"{built}[local]", "kgrag"],
        "pipx": [TOOLS / "pipx", "run", "--python", sys.executable, "--spec", f"{built}[local]", "kgrag"],
    }[how]
    try:
        assert differs_from_readme(shell.run(*words, "demo")) == ""
    finally:
        shell.run(*words, "down")


def _extras() -> set[str]:
    """Return the sets of extras that README and docs install together, each once: "serve,mcp,pdf"."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return {found for page in pages for found in INSTALL.findall(page.read_text(encoding="utf-8"))}


def test_every_line_that_installs_finds_its_packages(shell: Shell) -> None:
    """The packages of each line resolve together, from the index by name and from the folder."""
    print()
    sets = _extras()
    assert {"pdf,office", "serve,mcp,pdf", "local,pdf", "langchain", "neo4j-graphrag"} <= sets
    for extras in sorted(sets):
        for wanted in (f"kgrag[{extras}]", f"{ROOT}[{extras}]"):
            shell.run(TOOLS / "uv", "pip", "install", "--dry-run", "--python", sys.executable, wanted)


def test_every_block_of_the_docs_runs_with_the_wheel(built: Path, shell: Shell) -> None:
    """The page tests pass in a folder without the source."""
    print()
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in tracked:
        if name.split("/")[0] not in ("kgrag", "loaders", "cypher") and (ROOT / name).is_file():
            target = shell.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
    venv = shell.folder / ".venv"
    shell.run(sys.executable, "-m", "venv", venv)
    shell.run(TOOLS / "uv", "pip", "install", "--python", venv / "bin" / "python", "-c", ROOT / "constraints.txt",
              f"{built}[local,dev]")  # fmt: skip
    imported = shell.run(venv / "bin" / "python", "-c", "import kgrag; print(kgrag.__file__)")
    assert imported.startswith(str(venv))
    said = shell.run(venv / "bin" / "python", "-m", "pytest", "-q", "-m", "", "tests/docs/test_docs.py",
                     "-k", "every_block or commands_within")  # fmt: skip
    print(f"  {said.splitlines()[-1]}")
    assert " passed" in said and "failed" not in said
