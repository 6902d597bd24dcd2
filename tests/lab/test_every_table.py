"""Every table and figure of the papers, from the command to the numbers, with a scripted reader and tiny models."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run_kgrag
from made_models import generator, late_interaction, sentence_encoder
from question_set import write_set
from scripted import Scripted
from tagging import LocalTagme

from kgrag.lab.papers import PaperTable, find_paper

pytestmark = [pytest.mark.models, pytest.mark.usefixtures("evaluations_are_deleted")]

PLACES = ("Bergen", "Larvik", "Molde", "Narvik", "Skien", "Vardo")
CORPUS = [
    {"id": f"{kind}{n}", "title": f"{kind} {place}", "text": f"The {kind} {place} was built by {builder} of {home}."}
    for n, (place, builder, home) in enumerate(
        (p, f"Master {p[::-1].title()}", PLACES[(i + 1) % 6]) for i, p in enumerate(PLACES)
    )
    for kind in ("Ship", "Mill", "Yard")
]
QUERIES = [
    {
        "id": f"q{n}",
        "question": f"Who built the Ship {place}, and the Mill {place}?",
        "gold": [f"Ship{n}", f"Mill{n}"],
        "answers": [f"Master {place[::-1].title()}"],
        "type": "bridge",
    }
    for n, place in enumerate(PLACES[:2])
]
TRIPLES = [
    {
        "passage": row["id"],
        "subject": row["title"],
        "predicate": "built by",
        "object": row["text"].split(" by ")[1][:-1],
    }
    for row in CORPUS
]
KEPT_OUT = {"HippoRAG, two calls", "HippoRAG w/ IRCoT, two calls"}
"""Rows that no system of kgrag measures."""
ALL = [
    (name, table)
    for name in ("gear", "kgp", "bdtr", "gnn-ret")
    for table in (*find_paper(name).tables.values(), *find_paper(name).figures.values())
    if table.rows and not table.command
]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The inputs that rows need from the user: tiny generated models."""
    import torch

    from kgrag.models.gfm import Network, save

    folder = tmp_path_factory.mktemp("models")
    texts = [f"{row['title']} {row['text']}" for row in CORPUS] + [str(row["question"]) for row in QUERIES]
    encoder = sentence_encoder(folder / "encoder", texts)
    torch.manual_seed(0)
    save(Network(256, 8, 2), folder / "gfm.pth", "wordllama", {"seed": 0})
    numbers = dict.fromkeys(("alphas", "alphas_mean", "alphas_only", "rgnn_alphas", "alphas_y", "alphas_yt"), "(0.4,)")
    numbers |= {"alphas2": "(0.5, 0.6)", "alphas3": "(0.5, 0.6, 0.7)", "alphas_o10": "(0.3,)", "alphas_o50": "(0.6,)"}
    numbers |= {"rgnn_alphas_o25": "(0.3,)", "rgnn_alphas_o50": "(0.6,)", "beta_o25": "0.7", "beta_o50": "0.6"}
    return {
        **numbers, **dict.fromkeys(("beta", "beta_only", "beta_y", "beta_yt"), "0.8"),
        "dpr": f"dpr:{encoder},{encoder}", "encoder": f"sbert:{encoder}",
        "t5": str(generator(folder / "t5", texts, "t5", "built")),
        "llama": str(generator(folder / "llama", texts, "llama", "built")),
        "colbert": str(late_interaction(folder, texts)), "weights": str(folder / "gfm.pth"), "qwen": "other",
        "gemma": "other",
    }  # fmt: skip


@pytest.fixture(scope="module")
def tagme() -> Iterator[LocalTagme]:
    with LocalTagme({place: [place, 0.6] for place in PLACES}) as server:
        yield server


def say(scripted: Scripted, *models: str) -> None:
    """Script every task; rows with a separate model use it for all of their tasks, so one reply fits each."""
    reply = {"triples": [["Ship Bergen", "built by", "Master Negreb"]], "names": ["Ship Bergen"], "kept": [1]}
    for model in models:
        scripted.say(model, reply | {"answerable": True, "answer": "Master Negreb"})
    entities = [{"name": f"{kind} {place}"} for place in PLACES for kind in ("Ship", "Mill", "Yard")]
    scripted.say("extract", {"entities": entities, "triples": [["Ship Bergen", "built by", "Mill Bergen"]]})
    scripted.say("read", {"triples": [["Ship Bergen", "built by", "Master Negreb"]]})
    scripted.say("reason", {"answerable": True, "answer": "Master Negreb"})
    scripted.say("think", "So the answer is: Master Negreb")
    scripted.say("name", {"names": ["Ship Bergen"]})
    scripted.say("recognise", {"kept": [1]})
    scripted.say("grade", {"correct": True})
    scripted.say("answer", "Master Negreb")
    scripted.say("summarise", {"title": "Ships", "summary": "They were built by masters. " * 9})
    scripted.say("report", {"title": "Ships", "summary": "They were built by masters. " * 9, "findings": []})
    scripted.say("evidence", "Who built the mill.")
    scripted.say("dual-thought", {"fast": "Who built the mill?", "slow": "Who was its master?", "chain": ""})
    scripted.say("verify", {"covered_doc_indices": [1]})
    scripted.say("sub-question", "Who built the Ship Bergen?")
    scripted.say("sub-answer", "Master Negreb built the Ship Bergen.")
    scripted.say("critique", {"analysis": "", "enough": True})
    scripted.say("final-answer", "Master Negreb")
    scripted.say("self-ask", "So the final answer is: Master Negreb")
    scripted.say("retgen", "So the answer is Master Negreb")


@pytest.mark.parametrize(("name", "table"), ALL, ids=[f"{n}-{'figure-' * bool(t.drawn)}{t.number}" for n, t in ALL])
def test_every_row_is_measured_as_what_it_says(
    name: str,
    table: PaperTable,
    given: dict[str, str],
    tagme: LocalTagme,
    neo4j_env: dict[str, str],
    scripted: Scripted,
    tmp_path: Path,
) -> None:
    folder = write_set(tmp_path / "ships", CORPUS, QUERIES, TRIPLES)
    env = {
        **neo4j_env,
        **scripted.env(),
        "KGRAG_TAGME__ENDPOINT": tagme.endpoint,
        "KGRAG_TAGME__TOKEN": "good-token",
        "KGRAG_TAGME__CACHE": "false",
    }
    paper = find_paper(name)
    taken = [
        word
        for key in paper.inputs
        if f"{{{key}}}" in str(table) and key in given
        for word in ("--set", f"{key}={given[key]}")
    ]
    models = {str(row.settings["chat.model"]).strip("{}") for row in table.rows if "chat.model" in row.settings}
    say(scripted, *(given.get(model) or paper.inputs[model][1] or "" for model in models))
    which = ["--figure" if table.drawn else "--table", table.number]
    data = ["--data", f"{table.data[0]}={folder}", "--embedder", "wordllama", "--sample", "1"]
    arguments = ["lab", "reproduce", name, *which, *data, *taken, "--prepare", "--json"]
    result = run_kgrag(env, *arguments)
    found: dict[str, Any] = json.loads(result.stdout)
    assert set(found["missing"]) == {row.label for row in table.rows} & KEPT_OUT
    assert found["differs"]
    measured = found["systems"]
    assert set(measured) == {row.label for row in table.rows} - KEPT_OUT
    for row in table.rows:
        if row.label in measured and row.system is not None:
            strategy, _, retriever = row.system.partition("(")[0].partition("+")
            assert all(strategy in system and retriever in system for system in measured[row.label][table.data[0]])
    if not table.drawn and table.by is None:
        for label, its in found["rows"].items():
            assert None not in [cell["ours"] for cell in its[table.data[0]].values()], (label, its, result.stderr)
