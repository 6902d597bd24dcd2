"""Run five tasks with one system, timed and checked; print a line of JSON for each.

A script in this folder has functions, plain or awaited, that `main` calls. `start(store)` returns the first argument of
the others: `ingest(system, folder)`; `ask(system, question)`, the texts of at most five passages, best first;
`change(system, folder, file)`; `delete(system, folder, file)`; `explain(system, question)`; `only(system, question,
kind)`, like `ask` for one kind of document only. LACKS lists what a system cannot do: name of the function -> why. The
script needs only the standard library, and `wordllama` for the vectors that all systems share.
"""

import asyncio
import inspect
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

TOP = 5
OLD, NEW = "Zembrik", "Quorvax"
"""Words that occur in only one document, before and after it is changed."""
_ALL = "MATCH (n) RETURN properties(n) AS its UNION ALL MATCH ()-[r]->() RETURN properties(r) AS its"


class NoModelError(Exception):
    """A system needs a language model, which is absent."""


async def no_model(*_: Any, **__: Any) -> str:
    """Stand in for a language model. Raises NoModelError."""
    raise NoModelError


@cache
def _model() -> Any:
    import wordllama

    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True, dim=256)


def embed(texts: Sequence[str]) -> Any:
    """Return vectors of 256 numbers, of length 1: float32 [n, 256]."""
    return _model().embed([text or " " for text in texts], norm=True)


class Tokens:
    """A tokenizer that needs no download."""

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens."""
        return list(_model().tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: list[int]) -> str:
        """Return the text of tokens."""
        return str(_model().tokenizer.decode(tokens))


def documents(folder: Path) -> dict[str, str]:
    """Return path within the folder -> text, for every document."""
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}


def driver() -> Any:
    """Return Neo4j's driver, connected to the server of this run."""
    import neo4j

    return neo4j.GraphDatabase.driver(
        os.environ["NEO4J_URI"], auth=(os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
    )


def main(functions: dict[str, Any]) -> None:
    """Run the tasks: FOLDER STORE QUESTIONS on the command line."""
    folder, store, questions = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text())
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    lacks = functions.get("LACKS", {})

    def call(name: str, *arguments: Any) -> Any:
        given = functions[name](*arguments)
        return loop.run_until_complete(given) if inspect.isawaitable(given) else given

    def tell(task: str, work: Any) -> None:
        begun = time.perf_counter()
        told = {"outcome": lacks[task], "lacks": True} if task in lacks else {"outcome": work()}
        seconds = time.perf_counter() - begun if task != "ask" else told["outcome"]["median"]
        print(json.dumps({"task": task, "seconds": seconds, **told}), file=out, flush=True)

    out, sys.stdout = sys.stdout, sys.stderr  # peers print to standard output
    changed = folder / questions["changed"]
    texts = documents(folder)
    embed(["warm up"])
    system = call("start", store)

    def ask() -> dict[str, Any]:
        seconds, whole = [], []
        for question in questions["questions"]:
            begun = time.perf_counter()
            found = call("ask", system, question["question"])[:TOP]
            seconds.append(time.perf_counter() - begun)
            whole.append(all(any(_is_of(passage, texts[gold]) for passage in found) for gold in question["gold"]))
        return {"both": whole[0], "whole": sum(whole), "of": len(whole), "median": statistics.median(seconds)}

    def change() -> dict[str, Any]:
        changed.write_text(texts[questions["changed"]].replace(OLD, NEW), encoding="utf-8")
        call("change", system, folder, changed)
        found = call("ask", system, f"Which yacht was called {NEW}?")[:TOP]
        return {"found": any(NEW in text for text in found), "left": _left(OLD, store)}

    def delete() -> dict[str, Any]:
        changed.unlink()
        call("delete", system, folder, changed)
        return {"left": _left(NEW, store)}

    def only() -> dict[str, Any]:
        found = call("only", system, questions["questions"][0]["question"], "people")
        people = [text for name, text in texts.items() if name.startswith("people/")]
        return {"found": len(found), "of that kind": sum(any(_is_of(f, text) for text in people) for f in found)}

    first = questions["questions"][0]["question"]
    try:
        tell("ingest", lambda: call("ingest", system, folder))
    except NoModelError:
        lacks = {"ingest": "stops: it asks a language model"}
        tell("ingest", None)
        return
    tell("ask", ask)
    tell("explain", lambda: call("explain", system, first))
    tell("only", only)
    tell("change", change)
    tell("delete", delete)
    if "stop" in functions:
        call("stop", system)


def _is_of(passage: str, document: str) -> bool:
    """Return whether a document contains the end of a passage."""
    return " ".join(passage.split())[-60:] in " ".join(document.split())


def _left(word: str, store: Path) -> int:
    """Return how many files of the store, nodes and relationships still contain a word, in any case."""
    word = word.lower()
    files = sum(word.encode() in path.read_bytes().lower() for path in store.rglob("*") if path.is_file())
    if "NEO4J_URI" not in os.environ:
        return files
    with driver() as neo4j:
        return files + sum(word in str(record["its"]).lower() for record in neo4j.execute_query(_ALL).records)
