"""kgrag lab train: learn what a retriever's settings should be, or a model, from questions with known answers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import load_settings, note, print_json, progress_bars
from kgrag.cli.measuring import dataset_argument, limit_option, print_sheet
from kgrag.cli.papers import as_paper, paper_option
from kgrag.cli.train_models import gfm, given_only, next_evidence, next_fact
from kgrag.values.errors import InputError

if TYPE_CHECKING:
    from kgrag.evaluation.train_gnn_ret import Trained

_FEW = 0.2  # share of the questions
_OUT = click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write what was learned, for the option."
)


@click.group()
def train() -> None:
    """Learn settings of a retriever, or a model, from questions whose gold is known.

    \b
    kgrag lab train gnn-ret bench/musique --out alphas.json
    kgrag lab train rgnn bench/musique --limit 5 --out rgnn.json
    kgrag lab train gfm bench/musique --out network.pth
    kgrag lab train next-fact bench/musique --out model
    kgrag lab train next-evidence bench/musique --export rows.jsonl
    """


train.add_command(gfm)
train.add_command(next_fact)
train.add_command(next_evidence)


@train.command("gnn-ret")
@dataset_argument
@click.option("-c", "--collection", metavar="NAME", help="Where its corpus is.  [default: that of kgrag lab eval]")
@limit_option
@click.option("--layers", type=click.IntRange(1, 5), metavar="N", help="Of the network.  [default: as it is set]")
@click.option("--folds", type=click.IntRange(2), metavar="N", help="Cross-validate: is it worth it?")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the folds and of the resampling.")
@click.option("--margin", type=click.FloatRange(0), metavar="R", help="r of the hinge loss.  [default: 0.01]")
@click.option("--competitors", type=click.IntRange(1), metavar="O", help="Passages to stay ahead of.  [default: 25]")
@paper_option
@_OUT
@as_json
def gnn_ret(
    dataset: Path,
    collection: str | None,
    paper: str | None,
    out: Path | None,
    limit: int | None,
    layers: int | None,
    folds: int | None,
    seed: int,
    margin: float | None,
    competitors: int | None,
    as_json: bool,
) -> None:
    """Learn how much of its own distance a passage keeps in each layer of GNN-Ret: its alphas.

    DATASET is a question set as for `kgrag lab eval`, which also ingests it; 20 questions are enough. The number of
    senders and the kinds of edges are those of the settings (KGRAG_RETRIEVAL__GNN_RET__K and others). The loss is the
    hinge loss of the gold's mean distance against that of the nearest other passages.

    With --folds each question is ranked with what was learned from the other folds, and untrained, with a = 0.5 in
    each layer; "as set" is what the settings say, where that is something else. The difference to untrained is given
    with its 95 % interval: where that includes 0, it is noise.

    --out writes a file that the option takes: gnn-ret(alphas='FILE'). With --paper gnn-ret the collection and the
    settings are those of `kgrag lab reproduce gnn-ret`.

    \b
    kgrag lab train gnn-ret bench/musique
    kgrag lab train gnn-ret train.jsonl --limit 20 --paper gnn-ret --out alphas.json
    kgrag lab train gnn-ret bench/2wiki -c mine --layers 1 --folds 5
    export KGRAG_RETRIEVAL__GNN_RET__ALPHAS="$(kgrag lab train gnn-ret bench/musique --json | jq -c .alphas)"
    """
    from kgrag.evaluation import summary
    from kgrag.evaluation import train_gnn_ret as training
    from kgrag.evaluation.readers import read_dataset
    from kgrag.evaluation.report import differences_sheet, measures_sheet
    from kgrag.retrieval.gnn_ret import GnnRet
    from kgrag.settings import GnnRetTraining

    data = read_dataset(dataset).first(limit)
    for text in data.notes:
        note(text)
    settings, its = as_paper(load_settings(), paper)
    constants = GnnRetTraining(**given_only(margin=margin, competitors=competitors))
    collection = collection or data.collection(settings.embedder, settings.max_file_mb, settings.indexing, its)
    with connect(settings) as kg, progress_bars() as progress:
        retriever = GnnRet(kg[collection])
        set_ = retriever.settings
        layers = layers or len(set_.alphas)
        examples = training.prepare(retriever, data.questions, constants, progress)
        left_out = len(data.questions) - len(examples)
        if left_out:
            note(f"{left_out} of {len(data.questions)} questions have no gold in collection {collection}: left out.")
        learned = training.train(examples, layers, set_.k, constants, progress)
        if learned.active < _FEW * len(examples):
            note(
                f"Only {learned.active} of {len(examples)} questions have a loss to learn from: of the others the gold "
                "is ahead already. A larger --margin or fewer --competitors make more of them."
            )
        untrained, _ = training.mean_loss(examples, (0.5,) * layers, set_.k, constants)
        found: dict[str, Any] = {
            "dataset": data.name,
            "collection": collection,
            "embedder": retriever.context.embedder.name,
            "questions": len(examples),
            **_use(learned),
            "loss": round(learned.loss, 6),
            "untrained_loss": round(untrained, 6),
            "iteration": learned.iteration,
            "active": learned.active,
        }
        if folds is not None:
            records, parts = training.cross_validate(
                retriever, data, examples, layers, folds, constants, progress, seed
            )
            found["cross_validation"] = {
                "folds": folds,
                "seed": seed,
                "alphas": [_use(part)["alphas"] for part in parts],
                "systems": summary.table(records),
                "differences": summary.differences(records, training.UNTRAINED, seed=seed),
            }
    _keep(out, found)
    if as_json:
        print_json(found)
        return
    for text in (
        f"Learned from {len(examples)} questions ({learned.active} with a loss), iteration {learned.iteration}: "
        f"loss {learned.loss:.4f}, untrained {untrained:.4f}",
        f"Retriever    {found['retriever']}",
        f"Environment  {found['environment']}",
    ):
        click.echo(text)
    if folds is not None:
        validation = found["cross_validation"]
        title = f"{data.name}: {folds} folds, seed {seed}, {found['embedder']}"
        print_sheet(measures_sheet(title, validation["systems"]))
        print_sheet(differences_sheet(training.UNTRAINED, validation["differences"]))


@train.command()
@dataset_argument
@click.option("-c", "--collection", metavar="NAME", help="Where its corpus is.  [default: that of kgrag lab eval]")
@limit_option
@click.option("--layers", type=click.IntRange(1, 5), metavar="N", default=1, show_default=True, help="Of the network.")
@click.option("--margin", type=click.FloatRange(0), metavar="R", help="r of the hinge loss.  [default: 0.01]")
@click.option("--competitors", type=click.IntRange(1), metavar="O", help="Passages to stay ahead of.  [default: 10]")
@click.option("--labels", type=click.Choice(["all", "own", "later"]), help="Gold of a step.  [default: later]")
@click.option("--only", type=click.Choice(["alphas", "beta"]), help="Learn these alone; the others stay 1.")
@paper_option
@_OUT
@as_json
def rgnn(
    dataset: Path,
    collection: str | None,
    limit: int | None,
    layers: int,
    paper: str | None,
    out: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Learn the alphas of GNN-Ret, and beta, from questions with the single questions that they are made of (RGNN-Ret).

    DATASET is a question set as for `kgrag lab eval`, whose questions have steps, as MuSiQue's have; five are enough
    (--limit). The gold of a step is its own and that of the steps after it (--labels). The number of senders and the
    kinds of edges are those of the settings (KGRAG_RETRIEVAL__GNN_RET__K and others). --out writes a file that both
    options take; --paper gnn-ret is as for `kgrag lab train gnn-ret`.

    \b
    kgrag lab train rgnn bench/musique --limit 5 --out rgnn.json
    kgrag ask "..." --system "rgnn+gnn-ret(alphas='rgnn.json', beta='rgnn.json')"
    """
    from kgrag.evaluation import train_rgnn as training
    from kgrag.evaluation.readers import read_dataset
    from kgrag.retrieval.gnn_ret import GnnRet
    from kgrag.settings import RgnnTraining

    data = read_dataset(dataset).first(limit)
    settings, its = as_paper(load_settings(), paper)
    constants = RgnnTraining(**given_only(**given))
    collection = collection or data.collection(settings.embedder, settings.max_file_mb, settings.indexing, its)
    with connect(settings) as kg, progress_bars() as progress:
        retriever = GnnRet(kg[collection])
        examples = training.prepare(retriever, data.questions, constants, progress)
        learned = training.train(examples, layers, retriever.settings.k, constants, progress)
    alphas, beta = _rounded(learned.alphas), max(0.0001, round(learned.beta, 4))
    found = {
        "dataset": data.name,
        "collection": collection,
        "questions": len(examples),
        "alphas": alphas,
        "beta": beta,
        "retriever": f"gnn-ret(alphas=({_written(alphas)}), beta={beta})",
        "loss": round(learned.loss, 6),
        "iteration": learned.iteration,
    }
    _keep(out, found)
    if as_json:
        print_json(found)
        return
    click.echo(f"Learned from {len(examples)} questions, iteration {learned.iteration}: loss {learned.loss:.4f}")
    click.echo(f"Retriever    {found['retriever']}")


def _keep(out: Path | None, found: dict[str, Any]) -> None:
    """Write what was learned, where a file is wanted. Raises InputError when it cannot be."""
    if out is None:
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(found, indent=2, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}).", "Name another file with --out.") from error
    note(f"Learned: {out}")


def _rounded(alphas: Sequence[float]) -> list[float]:
    return [round(a, 4) for a in alphas]


def _written(alphas: Sequence[float]) -> str:
    return ", ".join(map(str, alphas)) + ("," if len(alphas) == 1 else "")


def _use(learned: "Trained") -> dict[str, Any]:
    """The alphas, and how to put them to use."""
    alphas = _rounded(learned.alphas)
    return {
        "alphas": alphas,
        "retriever": f"gnn-ret(alphas=({_written(alphas)}))",
        "environment": f"KGRAG_RETRIEVAL__GNN_RET__ALPHAS={alphas}".replace(" ", ""),
    }
