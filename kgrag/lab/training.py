"""Shared parts of the trainers: examples, held-out questions, and the saving of weights."""

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kgrag.lab.datasets import Question
from kgrag.runtime.files import user_file
from kgrag.values.errors import InputError
from kgrag.values.events import Progress

T = TypeVar("T")
_FEWEST = 2  # examples


def prepare(
    questions: Sequence[Question], read: Callable[[Question], T | None], progress: Progress, lack: str, remedy: str
) -> list[T]:
    """Read the training example of each question; questions without one are left out.

    Raises InputError if fewer than two are left: `lack` describes the rare property, `remedy` the solution.
    """
    examples = []
    for number, question in enumerate(questions):
        progress("neighbourhoods", number, len(questions))
        if (example := read(question)) is not None:
            examples.append(example)
    progress("neighbourhoods", len(questions), len(questions))
    if len(examples) < _FEWEST:
        raise InputError(f"{len(examples)} of {len(questions)} questions {lack}; training needs {_FEWEST}.", remedy)
    return examples


def hold_out(
    items: Sequence[T], keys: Callable[[T], Sequence[str]], share: float, seed: int
) -> tuple[list[T], list[T]]:
    """Split items into a training set, and about `share` (0 to 1) held out, without common `keys`.

    Raises InputError if either part would be empty although some are to be held out.
    """
    groups: dict[str, list[T]] = {}
    group_of: dict[str, str] = {}
    for one in items:
        joined = {group_of.get(key, key) for key in keys(one)}
        first = min(joined)
        members = [one]
        for name in joined:
            members = groups.pop(name, []) + members
        groups[first] = members
        group_of.update(dict.fromkeys((key for member in members for key in keys(member)), first))
    size = round(share * len(items))
    learned: list[T] = []
    test: list[T] = []
    names = sorted(groups)
    random.Random(seed).shuffle(names)
    for name in names:
        (test if len(test) + len(groups[name]) <= size else learned).extend(groups[name])
    if not learned or (share and not test):
        raise InputError(
            f"{len(items)} questions with gold in the corpus are too few: {len(learned)} to learn from, {len(test)} "
            "held out.",
            "Take a larger question set, or hold out another share: --held-out 0 holds none.",
        )
    return learned, test


def ids_of(questions: Iterable[Question], texts: Iterable[str]) -> list[str]:
    """Return the ids of the questions with these texts."""
    learned = set(texts)
    return sorted(question.id for question in questions if question.text in learned)


def trained_on(value: str) -> frozenset[str]:
    """Return the ids of the questions that trained a value, saved by `kgrag lab train`; else an empty set.

    `value`: in the form of options: a file or folder, an embedder of folders, or a number. Raises ConfigurationError
    for a file of weights if torch is not installed.
    """
    names: set[str] = set()
    for name in value.removeprefix("sbert:").removeprefix("dpr:").split(","):
        path = Path(name).expanduser()
        files = (path, path / "training.json", path.parent / "training.json")
        named = path.exists() and name.strip("()., 0123456789")
        file = next((file for file in files if file.is_file()), None) if named else None
        if file is None:
            continue
        try:
            about = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:  # weights
            from kgrag.retrieval.gfm import network_module

            about = network_module().load(file).training
        names.update(about.get("trained_on", ()))
    return frozenset(names)


def check_out(out: Path) -> None:
    """Check early that a model can be saved. Raises InputError."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists already.", "Name another folder with --out, or remove it.")


def keep(out: Path, learned: Mapping[str, object]) -> None:
    """Write the learned weights in the form of the option. Raises InputError if they cannot be written."""
    with user_file(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(learned, indent=2, ensure_ascii=False), encoding="utf-8")


def save(parts: Sequence[Any], out: Path, about: Mapping[str, Any]) -> None:
    """Save the parts of a model, and `training.json`, a description of its training: completely or not at all.

    Raises InputError when it cannot be written.
    """
    with user_file(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}-"))
        try:
            for thing in parts:
                thing.save_pretrained(str(part))
            (part / "training.json").write_text(json.dumps(about, indent=2, ensure_ascii=False), encoding="utf-8")
            part.chmod(0o755)
            part.replace(out)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
