"""kgrag train next-fact and next-evidence: models that say which passage is wanted next."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import note, print_json, progress_bars, stdout_console

_PATH = click.Path(path_type=Path)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


@click.command("next-fact")
@click.argument("dataset", type=_PATH)
@click.option("--out", type=_PATH, required=True, metavar="DIR", help="Where the model is saved: a new folder.")
@click.option("--base", default="minilm", show_default=True, metavar="MODEL", help="minilm, or any sentence encoder.")
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Passes over the pairs.  [default: 3]")
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Steps after which it ends in any case.")
@click.option("--batch", type=click.IntRange(2), metavar="N", help="Pairs of a step.  [default: 128]")
@click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="X", help="Learning rate.  [default: 2e-5]")
@click.option("--tokens", type=click.IntRange(8), metavar="N", help="Tokens of a text that are read.  [default: 256]")
@click.option("--held-out", type=click.FloatRange(0, 0.9), default=0.1, show_default=True, help="Share to measure on.")
@click.option("--measured", type=click.IntRange(1), metavar="N", help="Passages to measure among.  [default: 20000]")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The first N questions only.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the training and of what is held out.")
@click.option("--format", "format", metavar="NAME", help="Read the data as this format, whatever it looks like.")
@as_json
def next_fact(
    dataset: Path,
    out: Path,
    base: str,
    epochs: int | None,
    steps: int | None,
    batch: int | None,
    rate: float | None,
    tokens: int | None,
    held_out: float,
    measured: int | None,
    limit: int | None,
    seed: int,
    format: str | None,
    as_json: bool,
) -> None:
    """Fine-tune a sentence encoder to predict the next supporting fact (KGP's KNN-MDR; extra: sbert).

    DATASET is a question set as for `kgrag eval`. The question shall be near its first fact, and the question with the
    facts so far near the next one. Their order is that of the steps where the set tells them; else the fact that the
    question names comes first. The saved model is an embedder like any other: --embedder sbert:DIR. Searches that use
    what it learned: kgp(guide=encoder), kgp(edges=(similar,)) and mdr.

    What is held out shares no fact with what is learned from. SF-EM is the share of its questions whose facts are all
    among 10 TF-IDF passages and the k passages nearest to each; R@k the share of facts after the first that are among
    the k passages nearest to the question with the facts before them. Both in per cent, before and after.

    \b
    kgrag train next-fact hotpot_train_v1.1.json --out models/next-fact
    kgrag train next-fact chains --base sentence-transformers/all-mpnet-base-v2 --out model --epochs 1 --tokens 96
    kgrag ingest notes/ -c notes --embedder sbert:model
    kgrag search "Where does the firm that employs Ada sit?" -c notes --retriever 'kgp(guide=encoder)'
    """
    from kgrag.evaluation import train_next_fact as training
    from kgrag.evaluation.readers import read_dataset
    from kgrag.models.embed import sentence_transformer
    from kgrag.settings import NextFactTraining

    given = _given(epochs=epochs, steps=steps, batch=batch, rate=rate, tokens=tokens, measured=measured)
    constants = NextFactTraining(**given)
    training.check_out(out)
    data = read_dataset(dataset, format).first(limit)
    for text in data.notes:
        note(text)
    with progress_bars() as progress:
        corpus = training.read_corpus(data, progress)
        chains = training.chains(data.questions, corpus)
        if len(chains) < len(data.questions):
            lost = len(data.questions) - len(chains)
            note(f"{lost} of {len(data.questions)} questions have gold that is not in the corpus: left out.")
        learned, held = training.split(chains, held_out, seed)
        pairs = list(training.rows(learned, corpus, seed))
        model = sentence_transformer(base)
        found: dict[str, Any] = {
            "dataset": data.name,
            "base": base,
            "embedder": f"sbert:{out.resolve()}",
            "questions": len(learned),
            "pairs": len(pairs),
            "held_out": len(held),
            "seed": seed,
            **constants.model_dump(),
        }

        def measure(stage: str) -> None:
            if held:
                encode = training.encoder(model, progress, stage)
                found[stage] = asdict(training.measure(encode, held, corpus, constants, seed))

        measure("before")
        found["loss"] = round(training.train(model, pairs, constants, seed, progress), 6)
        measure("after")
        training.save(model, out, found)
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: dict[str, Any]) -> None:
    from rich.table import Table

    console = stdout_console()
    console.print(f"Learned from {found['pairs']} pairs of {found['questions']} questions, loss {found['loss']:.4f}")
    console.print(f"Embedder  {found['embedder']}", markup=False)
    if "before" not in found:
        return
    shown = Table(title=f"{found['held_out']} questions held out, {found['seeds']} seeds", title_justify="left")
    columns = [(name, head, k) for name, head in (("sf_em", "SF-EM"), ("recall", "R")) for k in found["before"][name]]
    shown.add_column("encoder")
    for _, head, k in columns:
        shown.add_column(f"{head}@{k}", justify="right")
    for stage in ("before", "after"):
        shown.add_row(stage, *(f"{100 * found[stage][name][k]:.1f}" for name, _, k in columns))
    console.print(shown)
