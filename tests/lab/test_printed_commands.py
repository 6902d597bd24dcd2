"""Every command that kgrag prints about experiments runs unchanged, on small sets in the published formats.

Without torch, a command that needs models is refused with the name of the extra; with it all commands run.
"""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from made_models import generator, sentence_encoder
from published_formats import HOTPOT, MUSIQUE, lines
from question_set import write_set
from scripted import TASKS, Scripted
from tagging import LocalTagme

from kgrag import KnowledgeGraph
from kgrag.cli import main
from kgrag.lab.papers import find_paper, papers

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("evaluations_are_deleted")]

ROOT = Path(__file__).parents[2]
MODELS = find_spec("torch") is not None
NOTES = {"Fram": "The Fram was designed by Colin Archer.", "Colin Archer": "Colin Archer was born in Larvik."}
FACT = {"triples": [["Fram", "designed by", "Colin Archer"]], "names": ["Fram"], "kept": [1]}
WORDS = {
    "--articles FILE": "--articles wiki.jsonl", "--plot FILE": "--plot figure.png", "ENCODER": "sbert:encoder",
    "NAME=DATASET": "{data}=ships.json", "DATASET": "ships.json", "ANSWERS": "answers.jsonl",
}  # fmt: skip
"""Placeholders in the commands of tables and figures -> the user's files."""


def examples(command: click.Command | None, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield the examples in the help of a command and its subcommands, by name."""
    assert command is not None
    if isinstance(command, click.Group):
        for own in command.list_commands(click.Context(command)):
            yield from examples(command.get_command(click.Context(command), own), f"{name} {own}")
    if printed := re.findall(r"^ *(kgrag (?:\S+ )*\S+)", command.help or "", re.MULTILINE):
        yield name.strip(), printed


EXAMPLES = dict(examples(main.get_command(click.Context(main), "lab")))
COMMANDS = {
    f"{name} {option} {part.number}": part
    for name in papers()
    for option, parts in (("--table", find_paper(name).tables), ("--figure", find_paper(name).figures))
    for part in parts.values()
    if part.command
}
COUNTED = {
    "gear --table 5": '"Document": 5, "Passage": 5,',
    "gears --table 0": '"correctness": 1.0, "faithfulness": 0.5 }, "agreement"',
    "gnn-ret --table 5": '"density": 0.1, "pairs": 1,',
    "kgp --table 4": f'"density": {5 / 28}, "pairs": 5.0,',
    "kgp --figure 4": f'"density": {4 / 21}, "pairs": 4.0,',
    "kgp --figure 9a": f'"density": {4 / 21}, "pairs": 4.0,',
}
"""The counts of ships.json by hand. Its five documents have seven sentences, eight with the article: three name Larvik,
two Norway, and with the article two the Fram. One document states the triple, and two contain a name of it."""


def _distinct(n: int) -> dict[str, Any]:
    """Return a question of HotpotQA on two facts that no other question has."""
    context = [[f"{kind} {n}", [f"The {kind} {n} was built in {1800 + n}."]] for kind in ("Mill", "Yard")]
    return {
        **HOTPOT[0], "_id": f"m{n}", "question": f"Is the Mill {n} as old as the Yard {n}?", "context": context,
        "supporting_facts": [[title, 0] for title, _ in context],
    }  # fmt: skip


def _steps(n: int) -> dict[str, Any]:
    """Return MuSiQue's question with unique words over its own paragraphs."""
    own = [{**p, "title": f"{p['title']} {n}", "paragraph_text": f"{n}: Colin {p['paragraph_text']}"}
           for p in MUSIQUE[0]["paragraphs"]]  # fmt: skip
    return {**MUSIQUE[0], "id": f"3hop1__{n}", "question": f"{n}: {MUSIQUE[0]['question']}", "paragraphs": own}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, kg: KnowledgeGraph) -> Iterator[Path]:
    """A folder with all files that the commands name, and the collections."""
    folder = tmp_path_factory.mktemp("printed")
    for name in ("hotpot", "hotpot_dev_distractor_v1", "hotpot_train_v1.1", "2wiki"):
        more = {"evidences": [["Fram", "designer", "Colin Archer"]]} if name == "2wiki" else {}
        rows = [{**row, **more} for row in (*HOTPOT, *map(_distinct, range(8)))]
        (folder / f"{name}.json").write_text(json.dumps(rows))
    (folder / "ships.json").write_text(json.dumps(HOTPOT))
    for name in ("musique", "train"):
        (folder / f"{name}.jsonl").write_text(lines([_steps(n) for n in range(9)]))
    corpus = [{"id": f"d{n}", "title": f"Ship {n}", "text": f"The Ship {n} had {n} masts."} for n in range(18)]
    questions = [{"id": f"q{n}", "question": f"Has Ship {n} masts?", "gold": [f"d{n}", f"d{n + 9}"]} for n in range(9)]
    write_set(folder / "chains", corpus, questions, None)
    article = lines([{"title": "Fram (ship)", "text": "The Fram is a ship."}])
    (folder / "extracted").mkdir()
    for name in ("wiki.jsonl", "extracted/wiki_00"):
        (folder / name).write_text(article)
    (folder / "notes").mkdir()
    for title, text in NOTES.items():
        (folder / "notes" / f"{title}.md").write_text(f"# {title}\n\n{text}")
    answer = {"id": "a", "question": "Who?", "answers": ["Ada"], "said": "Ada", "shown": ["It was Ada."]}
    (folder / "answers.jsonl").write_text(lines([answer]))
    (folder / "by-hand.jsonl").write_text(lines([{"id": "a", "correctness": 1, "faithfulness": 1}]))
    (folder / "docs").symlink_to(ROOT / "docs")
    (folder / "reranked.jsonl.gz").symlink_to(ROOT / "docs/ranks/2wiki-1000.jsonl.gz")
    for name in ("manuals", "notes"):
        kg[name].ingest(folder / "notes", root=folder / "notes")
    if MODELS:
        _make_models(folder)
    yield folder
    for name in {"manuals", "notes", "mine"} & {info.name for info in kg.collections()}:
        kg[name].delete()


def _make_models(folder: Path) -> None:
    """Make minimal models under names of the hub."""
    import torch

    from kgrag.models.gfm import Network, save

    texts = [*NOTES.values(), "Where was the designer of the Fram born?"]
    made = sentence_encoder(folder / "encoder", texts)
    hub = ("sentence-transformers/all-mpnet-base-v2", "nvidia/NV-Embed-v2", "facebook/contriever")
    for name in (*hub, "multi-qa-MiniLM-L6-cos-v1", "multi-qa-mpnet-base-cos-v1", "all-mpnet-base-v2", "model"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(made)
    generator(folder / "google/flan-t5-large", texts, "t5")
    torch.manual_seed(0)
    save(Network(256, 8, 2), folder / "gfm.pt", "wordllama", {"seed": 0})


@pytest.fixture(scope="module")
def tagme() -> Iterator[LocalTagme]:
    with LocalTagme({name: [name, 0.6] for name in ("Fram", "Larvik", "Norway", "Oslo")}) as server:
        yield server


@pytest.fixture
def env(
    folder: Path, tagme: LocalTagme, neo4j_env: dict[str, str], scripted: Scripted, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, str]:  # fmt: skip
    monkeypatch.chdir(shutil.copytree(folder, tmp_path / "own", symlinks=True))
    for task in TASKS:
        scripted.say(task, FACT | {"answerable": True, "answer": "Larvik"})
    scripted.say("extract", {**FACT, "entities": [{"name": "Fram"}, {"name": "Colin Archer"}]})
    scripted.say("answer", "Larvik [1]")
    scripted.say("think", "So the answer is: Larvik.")
    scripted.say("grade", {"correct": True})
    scripted.say("correctness", {"mark": 2})
    scripted.say("claims", {"claims": [{"claim": word, "supported": word == "a"} for word in "ab"]})
    scripted.say("make-question", {"question": "Who designed the ship?", "answer": "Colin Archer"})
    scripted.say("check-question", {"sound": True, "needed": [1], "reason": ""})
    scripted.say("report", {"title": "Ships", "summary": "They were built by masters. " * 9, "findings": []})
    scripted.say("summarise", {"title": "Ships", "summary": "They were built by masters. " * 9})
    prices = dict.fromkeys((*TASKS, "other"), (0.0, 0.0))
    own = {"KGRAG_TAGME__ENDPOINT": tagme.endpoint, "KGRAG_TAGME__TOKEN": "good-token", "KGRAG_TAGME__CACHE": "false"}
    own |= {} if MODELS else {"KGRAG_EMBEDDER": "wordllama"}
    return {**neo4j_env, **scripted.env(prices=prices), **own}


def run(env: dict[str, str], command: str) -> Result:
    """Run a command; if it names a command to run first, run that one, and then the command again."""
    words = shlex.split(command.partition(" | ")[0])
    assert words[0] == "kgrag"
    result = CliRunner().invoke(main, words[1:], env=env, prog_name="kgrag")
    told = dict.fromkeys(re.findall(r"`(kgrag enrich [^`]* -c [^`]*)`", result.stderr))
    if result.exit_code in (2, 5) and told:
        for each in told:
            run(env, each)
        result = CliRunner().invoke(main, words[1:], env=env, prog_name="kgrag")
    refused = not MODELS and result.exit_code == 2 and "Install it: make extra EXTRA=" in result.stderr
    assert refused or result.exit_code == 0, f"{command}: {result.output}"
    return result


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_help_run(name: str, env: dict[str, str], kg: KnowledgeGraph) -> None:
    if name == "generate-questions":
        run(env, "kgrag ask 'Who designed the Fram?' -c manuals --save")
        kg["manuals"].rate(next(row.id for row in kg.runs() if row.collection == "manuals"), good=True)
    if name in ("train", "train next-fact"):
        Path("model").unlink(missing_ok=True)  # these commands make it
    for text in EXAMPLES[name]:
        if "ingest notes" in text:
            if not MODELS:
                continue
            kg["notes"].delete()
        run(env, text)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_of_a_table_counts_what_is_there(name: str, env: dict[str, str]) -> None:
    printed = run(env, f"kgrag lab reproduce {name}").stdout.splitlines()[-1].rpartition(": ")[2]
    for word, value in WORDS.items():
        printed = printed.replace(word, value.format(data=COMMANDS[name].data[0]))
    *first, last = reversed(printed.split(", after "))
    for command in first:
        run(env, command)
    counted = run(env, last if "--json" in last else f"{last} --json")
    assert counted.exit_code or COUNTED[name] in " ".join(counted.stdout.split())
