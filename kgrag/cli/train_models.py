"""kgrag lab train gfm, next-fact, next-evidence: models that say what is relevant, or which passage comes next."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import load_settings, note, print_json, progress_bars
from kgrag.cli.measuring import dataset_argument, format_option, limit_option, print_sheet
from kgrag.values.errors import InputError

_PATH = click.Path(path_type=Path)
_SEED = click.option("--seed", default=0, show_default=True, help="Of the training and of what is held out.")
_HELD_OUT = click.option(
    "--held-out", type=click.FloatRange(0, 0.9), default=0.1, show_default=True, help="Share to measure on."
)


def given_only(**values: Any) -> dict[str, Any]:
    """Those of the options that were given."""
    return {name: value for name, value in values.items() if value is not None}


@click.command("gfm")
@dataset_argument
@click.option("-c", "--collection", metavar="NAME", help="Where its corpus is.  [default: that of kgrag lab eval]")
@click.option("-o", "--out", type=_PATH, required=True, metavar="FILE", help="Where the network is saved.")
@click.option("--base", type=_PATH, metavar="PATH", help="Weights to go on from: of this command, or published.")
@click.option("--width", type=click.IntRange(1), metavar="N", help="Of an entity's vector.  [default: 512]")
@click.option("--layers", type=click.IntRange(1), metavar="N", help="Of message passing.  [default: 6]")
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Passes over the questions.  [default: 20]")
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Questions of a step.  [default: 8]")
@click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="X", help="Learning rate.  [default: 5e-4]")
@_HELD_OUT
@limit_option
@_SEED
@format_option
@as_json
def gfm(
    dataset: Path,
    collection: str | None,
    out: Path,
    base: Path | None,
    held_out: float,
    limit: int | None,
    seed: int,
    format: str | None,
    as_json: bool,
    **constants_given: Any,
) -> None:
    """Train the graph neural network of GFM-RAG: gfm(weights=FILE) (extra: gfm).

    DATASET is a question set as for `kgrag lab eval`, which also ingests it; the collection must hold triples. The
    network learns to lead from the entities that a question names to those that its gold mentions, over what surrounds
    the former, as it is set for the retriever (KGRAG_RETRIEVAL__GFM__HOPS and others). For gfm(exact=true) train it
    over the whole graph, with KGRAG_RETRIEVAL__GFM__EXACT=true: else it has never met what is out of reach. It reads
    predicates as vectors of their texts, so that it can be used in any collection. With --base its size is that of the
    weights.

    Recall is the share of the gold's entities among the 20 most relevant ones, in per cent, of questions that are held
    out and have no gold in common with the others.

    \b
    kgrag lab train gfm bench/musique -o network.pth
    kgrag lab train gfm bench/musique -o small.pth --width 64 --layers 3 --epochs 5
    kgrag search "Who led the Fjord Queen?" -c notes --retriever "gfm(weights='network.pth')"
    """
    from kgrag.evaluation import train_gfm as training
    from kgrag.evaluation.readers import read_dataset
    from kgrag.retrieval import gfm as retrieval
    from kgrag.settings import GfmTraining

    constants = GfmTraining(**given_only(**constants_given))
    if base is not None and {"width", "layers"} & given_only(**constants_given).keys():
        raise click.UsageError("--width and --layers are those of --base.")
    if out.exists():
        raise InputError(f"{out} exists already.", "Name another file with --out, or remove it.")
    data = read_dataset(dataset, format).first(limit)
    for text in data.notes:
        note(text)
    settings = load_settings()
    collection = collection or data.collection(settings.embedder, settings.max_file_mb, settings.indexing)
    with connect(settings) as kg, progress_bars() as progress:
        context = kg[collection].context
        options = retrieval.GfmOptions.model_validate(retrieval.Gfm.check({}, (), context.defaults).model_dump())
        if base is not None:
            loaded = retrieval.load(context, str(base), options.embedder)
        else:
            embedder = context.other_embedder(options.embedder or context.embedder.name)
            loaded = retrieval.new(embedder, constants, seed)
        examples = training.prepare(retrieval.Surroundings(context, options), loaded, data.questions, progress)
        if len(examples) < len(data.questions):
            lost = len(data.questions) - len(examples)
            note(f"{lost} of {len(data.questions)} questions lead to no entity of their gold: left out.")
        learned, held = training.held_out(examples, held_out, seed)
        before = training.recall(loaded, held, constants.measured) if held else None
        losses = training.train(loaded, learned, constants, seed, progress)
        after = training.recall(loaded, held, constants.measured) if held else None
    found: dict[str, Any] = {
        "dataset": data.name,
        "collection": collection,
        "embedder": loaded.embedder.name,
        "retriever": f"gfm(weights={str(out.resolve())!r})",
        "questions": len(learned),
        "held_out": len(held),
        "losses": [round(loss, 6) for loss in losses],
        "before": before,
        "after": after,
        "base": str(base) if base is not None else None,
        "seed": seed,
        **constants.model_dump(),
    }
    retrieval.network_module().save(loaded.network, out, loaded.embedder.name, found)
    if as_json:
        print_json(found)
        return
    click.echo(
        f"Learned from {len(learned)} questions, loss {losses[0]:.4f} in the first pass, {losses[-1]:.4f} at last"
    )
    click.echo(f"Retriever  {found['retriever']}")
    if before is not None and after is not None:
        click.echo(f"Held out   {len(held)} questions: recall {100 * before:.1f} before, {100 * after:.1f} after")


@click.command("next-fact")
@dataset_argument
@click.option("--out", type=_PATH, required=True, metavar="DIR", help="Where the model is saved: a new folder.")
@click.option("--base", default="minilm", show_default=True, metavar="MODEL", help="minilm, or any sentence encoder.")
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Passes over the pairs.  [default: 3]")
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Steps after which it ends in any case.")
@click.option("--batch", type=click.IntRange(2), metavar="N", help="Pairs of a step.  [default: 128]")
@click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="X", help="Learning rate.  [default: 2e-5]")
@click.option("--tokens", type=click.IntRange(8), metavar="N", help="Tokens of a text that are read.  [default: 256]")
@click.option("--single", is_flag=True, help="Learn from the question alone with each of its facts, as DPR does.")
@click.option("--apart", is_flag=True, help="Two encoders, one for questions and one for passages, as DPR has them.")
@_HELD_OUT
@click.option("--measured", type=click.IntRange(1), metavar="N", help="Passages to measure among.  [default: 20000]")
@limit_option
@_SEED
@format_option
@as_json
def next_fact(
    dataset: Path,
    out: Path,
    base: str,
    single: bool,
    apart: bool,
    held_out: float,
    limit: int | None,
    seed: int,
    format: str | None,
    as_json: bool,
    **constants_given: Any,
) -> None:
    """Fine-tune a sentence encoder to predict the next supporting fact (KGP's KNN-MDR; extra: sbert).

    DATASET is a question set as for `kgrag lab eval`. The question shall be near its first fact, and the question with
    the facts so far near the next one. Facts are sentences where the set names those that support an answer (HotpotQA,
    2WikiMultiHopQA, IIRC), else whole documents. Their order is that of the steps where the set tells them (MuSiQue,
    2WikiMultiHopQA); else the fact that the question names comes first. The saved model is an embedder like any other:
    --embedder sbert:DIR. Searches that use what it learned: kgp(guide=encoder), kgp(edges=(similar,)) and mdr. With
    --single it is an encoder as DPR's, for dense. With --apart two are trained together, and the embedder is
    --embedder dpr:DIR/questions,DIR/passages.

    What is held out shares no fact with what is learned from. SF-EM is the share of its questions whose facts are all
    among 10 TF-IDF passages and the k passages nearest to each; R@k the share of facts after the first that are among
    the k passages nearest to the question with the facts before them. Both in per cent, before and after.

    \b
    kgrag lab train next-fact hotpot_train_v1.1.json --out models/next-fact
    kgrag lab train next-fact chains --base sentence-transformers/all-mpnet-base-v2 --out model --epochs 1 --tokens 96
    kgrag lab train next-fact chains --single --apart --out dpr
    kgrag ingest notes/ -c notes --embedder sbert:model
    kgrag search "Where does the firm that employs Ada sit?" -c notes --retriever 'kgp(guide=encoder)'
    """
    from kgrag.evaluation import chains
    from kgrag.evaluation import train_next_fact as training
    from kgrag.evaluation.readers import read_dataset
    from kgrag.evaluation.report import Sheet
    from kgrag.settings import NextFactTraining

    constants = NextFactTraining(**given_only(**constants_given))
    training.check_out(out)
    data = read_dataset(dataset, format).first(limit)
    for text in data.notes:
        note(text)
    with progress_bars() as progress:
        documents = chains.read_corpus(data, progress)
        usable, corpus = chains.chains(data.questions, documents), chains.facts(data.questions, documents)
        if len(usable) < len(data.questions):
            lost = len(data.questions) - len(usable)
            note(f"{lost} of {len(data.questions)} questions have gold that is not in the corpus: left out.")
        learned, held = chains.split(usable, held_out, seed)
        pairs = list(training.rows(learned, corpus, seed, single=single))
        encoders = training.Encoders.load(base, apart=apart)
        found: dict[str, Any] = {
            "dataset": data.name,
            "base": base,
            "single": single,
            "apart": apart,
            "embedder": encoders.embedder(out),
            "questions": len(learned),
            "pairs": len(pairs),
            "held_out": len(held),
            "seed": seed,
            **constants.model_dump(),
        }

        def measure(stage: str) -> None:
            if held:
                encode, ask = (training.encoder(m, progress, stage) for m in (encoders.passages, encoders.questions))
                found[stage] = asdict(training.measure(encode, held, corpus, constants, seed, ask))

        measure("before")
        found["loss"] = round(training.train(encoders, pairs, constants, seed, progress), 6)
        measure("after")
        training.save([encoders], out, found)
    if as_json:
        print_json(found)
        return
    click.echo(f"Learned from {len(pairs)} pairs of {len(learned)} questions, loss {found['loss']:.4f}")
    click.echo(f"Embedder  {found['embedder']}")
    if held:
        columns = [(name, head, k) for name, head in (("sf_em", "SF-EM"), ("recall", "R")) for k in training.NEIGHBOURS]
        head = ("encoder", *(f"{head}@{k}" for _, head, k in columns))
        rows = [(s, *(f"{100 * found[s][name][k]:.1f}" for name, _, k in columns)) for s in ("before", "after")]
        print_sheet(Sheet(f"{len(held)} questions held out, {constants.seeds} seeds", head, tuple(rows)))


@click.command("next-evidence")
@dataset_argument
@click.option("--export", "file", type=_PATH, metavar="FILE", help="Write the rows as JSON Lines for chat models.")
@click.option("--base", metavar="MODEL", help="An encoder-decoder or causal model: a name on the hub or a folder.")
@click.option("--out", type=_PATH, metavar="DIR", help="Where the fine-tuned model is saved: a new folder.")
@click.option("--merge", is_flag=True, help="Save the whole model, not the LoRA adapter alone.")
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Passes over the rows.  [default: 3]")
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Steps after which it ends in any case.")
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Rows of a step.  [default: 8]")
@click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="X", help="Learning rate.  [default: 2e-4]")
@click.option("--tokens", type=click.IntRange(16), metavar="N", help="Tokens of a row that are read.  [default: 1024]")
@click.option("--rank", type=click.IntRange(1), metavar="N", help="r of LoRA.  [default: 8]")
@click.option("--lora/--full", default=None, help="By LoRA, or all weights, as T5 in the paper.  [default: --lora]")
@_HELD_OUT
@limit_option
@_SEED
@format_option
@as_json
def next_evidence(
    dataset: Path,
    file: Path | None,
    base: str | None,
    out: Path | None,
    merge: bool,
    held_out: float,
    limit: int | None,
    seed: int,
    format: str | None,
    as_json: bool,
    **constants_given: Any,
) -> None:
    """Fine-tune a language model to write the next supporting fact (KGP-T5, KGP-LLaMA; extra: train).

    DATASET is a question set as for `kgrag lab eval`. A row holds the prompt `next-evidence` with a question and its
    facts so far, and the next fact as the reply, so that the model learns what kgp(guide=chat) asks of it; facts and
    their order are those of `kgrag lab train next-fact`. --export writes
    the rows for any service or tool that fine-tunes chat models; with --base and --out the model is fine-tuned here by
    LoRA, or with --full all of it. kgp(guide=generator, generator='DIR') loads it; or, served behind an
    OpenAI-compatible address, KGRAG_CHAT__MODELS='{"evidence": "..."}' names it.

    \b
    kgrag lab train next-evidence hotpot_train_v1.1.json --export rows.jsonl
    kgrag lab train next-evidence bench/musique --base google/flan-t5-large --out models/evidence --full
    """
    if (base is None) != (out is None):
        raise click.UsageError("--base and --out belong together.")
    if file is None and out is None:
        raise click.UsageError("Nothing to do: name --export FILE, or --base MODEL and --out DIR.")
    from kgrag.evaluation import chains
    from kgrag.evaluation import train_next_evidence as tuning
    from kgrag.evaluation import train_next_fact as training
    from kgrag.evaluation.readers import read_dataset
    from kgrag.models.prompts import load_prompt
    from kgrag.settings import NextEvidenceTraining

    constants = NextEvidenceTraining(**given_only(**constants_given))
    if out is not None:
        training.check_out(out)
    data = read_dataset(dataset, format).first(limit)
    prompt = load_prompt("next-evidence", load_settings().chat.prompts)
    with progress_bars() as progress:
        usable = chains.chains(data.questions, chains.read_corpus(data, progress))
        found: dict[str, Any] = {"dataset": data.name, "questions": len(usable), "prompt": prompt.version, "seed": seed}
        if file is not None:
            exported = tuning.rows(usable, prompt)
            tuning.export(exported, file)
            found |= {"rows": len(exported), "exported": str(file)}
        if base is not None and out is not None:
            learned, held = (tuning.rows(part, prompt) for part in chains.split(usable, held_out, seed))
            tuned = tuning.tune(base, learned, held, constants, seed, progress)
            losses = {"loss": tuned.loss, "held_out_before": tuned.before, "held_out_after": tuned.after}
            found |= {"base": base, "model": str(out), "learned": len(learned), "held_out": len(held), **losses}
            found |= constants.model_dump()
            training.save(tuning.files(tuned, merge=merge), out, found)
    if as_json:
        print_json(found)
        return
    if file is not None:
        click.echo(f"Rows      {found['rows']} of {found['questions']} questions: {file}")
    if out is not None:
        click.echo(f"Model     {out}: learned from {found['learned']} rows, loss {found['loss']:.4f}")
        if found["held_out"]:
            before, after = found["held_out_before"], found["held_out_after"]
            click.echo(f"Held out  {found['held_out']} rows: loss {before:.4f} before, {after:.4f} after")
