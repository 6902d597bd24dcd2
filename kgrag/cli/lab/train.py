"""kgrag lab train: learn the settings of a retriever, or train a model, from questions with known answers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import Field

from kgrag.cli.console import load_settings, note, print_json, print_pairs, progress_bars
from kgrag.cli.lab.measuring import OnCollection, OnQuestions, options, print_frames
from kgrag.lab import constants
from kgrag.values.errors import InputError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

    from kgrag.lab.datasets import Dataset

_FEW = 0.2  # share of the questions


class _ForSettings(OnCollection):
    layers: int | None = Field(None, ge=1, le=5, description="Layers of the network.  [default: the setting, or 1]")
    out: Path | None = Field(None, title="-o", description="Write the learned weights, for the option.")


class _ForGnnRet(_ForSettings):
    folds: int | None = Field(None, ge=2, description="Cross-validate: is it worth it?")
    seed: int = Field(0, description="Seed of the folds and of the resampling.")


class _HeldOut(OnQuestions):
    held_out: float = Field(0.1, ge=0, le=0.9, description="Share to measure on.")
    seed: int = Field(0, description="Seed of the training and of the held-out questions.")


class _ForGfm(_HeldOut, OnCollection):
    out: Path = Field(..., title="-o", description="File for the network.")
    base: Path | None = Field(None, title="PATH", description="Weights to go on from: of this command, or published.")


class _ForNextFact(_HeldOut):
    out: Path = Field(..., title="DIR", description="New folder for the model.")
    base: str = Field("minilm", title="MODEL", description="minilm, or any sentence encoder.")
    single: bool = Field(False, description="Learn from the question alone with each of its facts, as DPR does.")
    apart: bool = Field(False, description="Two encoders, one for questions and one for passages, as DPR has them.")


class _ForNextEvidence(_HeldOut):
    export: Path | None = Field(None, description="Write the rows as JSON Lines for chat models.")
    base: str | None = Field(None, title="MODEL", description="An encoder-decoder or causal model: a name or a folder.")
    out: Path | None = Field(None, title="DIR", description="New folder for the fine-tuned model.")
    merge: bool = Field(False, description="Save the whole model, not the LoRA adapter alone.")


@click.group()
def train() -> None:
    """Learn settings of a retriever, or train a model, from questions with known gold.

    \b
    kgrag lab train gnn-ret musique.jsonl --out alphas.json
    kgrag lab train rgnn musique.jsonl --limit 5 --out rgnn.json
    kgrag lab train gfm musique.jsonl --out network.pth
    kgrag lab train next-fact musique.jsonl --out model
    kgrag lab train next-evidence musique.jsonl --export rows.jsonl
    """


@train.command("gnn-ret")
@options
def gnn_ret(args: _ForGnnRet, training: constants.GnnRetTraining) -> None:
    """Learn how much of its own distance a passage keeps in each layer of GNN-Ret: its alphas.

    DATASET is a question set as for `kgrag lab eval`, which also ingests it; 20 questions are enough. The number of
    senders and the kinds of edges come from [retrieval.gnn_ret] in kgrag.toml. The loss is the hinge loss of the gold's
    mean distance against the mean distance of the nearest other passages.

    With --folds each question is ranked with alphas learned from the other folds, and untrained, with a = 0.5 in each
    layer. A row "as set" is added if the settings differ from that. The difference to untrained is given with its 95 %
    interval: if the interval includes 0, the difference is noise.

    --out writes a file for the option gnn-ret(alphas='FILE'). --paper gnn-ret uses the collection and the settings of
    `kgrag lab reproduce gnn-ret`.

    \b
    kgrag lab train gnn-ret musique.jsonl
    kgrag lab train gnn-ret train.jsonl --limit 20 --paper gnn-ret --out alphas.json
    kgrag lab train gnn-ret 2wiki.json -c mine --layers 1 --folds 5
    """
    from kgrag.lab import train_gnn
    from kgrag.lab.report import Result
    from kgrag.lab.retrieving import DEPTH
    from kgrag.retrieval.gnn_ret import GnnRet

    data, folds, seed, result = _read(args), args.folds, args.seed, None
    with args.opened(data) as (collection, progress):
        retriever = GnnRet(collection)
        set_ = retriever.settings
        layers = args.layers or len(set_.alphas)
        examples = train_gnn.prepare(train_gnn.Example, retriever, data.questions, training, progress)
        _tell_lost(data, examples, f"have no gold in collection {collection.name}")
        learned = train_gnn.train(examples, layers, set_.k, training, progress)
        if learned.active < _FEW * len(examples):
            note(
                f"Only {learned.active} of {len(examples)} questions have a loss to learn from: of the others the gold "
                "is ahead already. A larger --margin or fewer --competitors make more of them."
            )
        untrained, _ = train_gnn.mean_loss(examples, (0.5,) * layers, set_.k, training)
        alphas = _rounded(learned.alphas)
        record: dict[str, Any] = {
            "dataset": data.name, "collection": collection.name, "embedder": retriever.context.embedder.name,
            "questions": len(examples), "trained_on": [e.question.id for e in examples], "alphas": alphas,
            "retriever": f"gnn-ret(alphas={tuple(alphas)})", "loss": round(learned.loss, 6),
            "untrained_loss": round(untrained, 6), "iteration": learned.iteration, "active": learned.active,
        }  # fmt: skip
        if folds is not None:
            records, parts = train_gnn.cross_validate(
                retriever, data, examples, layers, folds, training, progress, seed
            )
            title = f"{data.name}: {folds} folds, seed {seed}, {record['embedder']}"
            result = Result.of(title, records, DEPTH, baseline=train_gnn.UNTRAINED, seed=seed)
            record["cross_validation"] = {
                "folds": folds,
                "seed": seed,
                "alphas": [_rounded(part.alphas) for part in parts],
                "systems": result.rows,
                "differences": result.differences,
            }
    _keep(args, record, {} if result is None else result.frames())


@train.command()
@options
def rgnn(args: _ForSettings, training: constants.RgnnTraining) -> None:
    """Learn the alphas of GNN-Ret, and beta, from questions with their single-hop steps (RGNN-Ret).

    DATASET is a question set as for `kgrag lab eval`, whose questions have steps, like MuSiQue's; five are enough
    (--limit). By default, the gold of a step includes the gold of later steps (--labels). The number of senders and the
    kinds of edges come from [retrieval.gnn_ret] in kgrag.toml. --out writes a file for both options. --paper gnn-ret
    works as for `kgrag lab train gnn-ret`.

    \b
    kgrag lab train rgnn musique.jsonl --limit 5 --out rgnn.json
    kgrag ask "..." -c notes --system "rgnn+gnn-ret(alphas='rgnn.json', beta='rgnn.json')"
    """
    from kgrag.lab import train_gnn
    from kgrag.retrieval.gnn_ret import GnnRet

    data = _read(args)
    with args.opened(data) as (collection, progress):
        retriever = GnnRet(collection)
        examples = train_gnn.prepare(train_gnn.RecurrentExample, retriever, data.questions, training, progress)
        learned = train_gnn.train(examples, args.layers or 1, retriever.settings.k, training, progress)
    alphas, beta = _rounded(learned.alphas), max(0.0001, round(learned.beta, 4))
    record = {
        "dataset": data.name, "collection": collection.name, "questions": len(examples),
        "trained_on": [e.question.id for e in examples], "alphas": alphas, "beta": beta,
        "retriever": f"gnn-ret(alphas={tuple(alphas)}, beta={beta})", "loss": round(learned.loss, 6),
        "iteration": learned.iteration,
    }  # fmt: skip
    _keep(args, record)


@train.command()
@options
def gfm(args: _ForGfm, training: constants.GfmTraining) -> None:
    """Train the graph neural network of GFM-RAG: gfm(weights=FILE) (extra: gfm).

    DATASET is a question set as for `kgrag lab eval`, which also ingests it; the collection must have triples. The
    network learns paths from the entities named in a question to the entities that its gold mentions. It sees the
    neighbourhood of the former, set in kgrag.toml under [retrieval.gfm] (`hops` and others). For gfm(exact=true), train
    over the whole graph, with `exact = true` there; otherwise the network never sees distant nodes. It reads predicates
    as vectors of their texts, so it works in any collection. With --base the network has the size of those weights.

    Recall is the share of the gold's entities among the 20 most relevant ones, in per cent, over held-out questions
    that share no gold with the training questions.

    \b
    kgrag lab train gfm musique.jsonl -o network.pth
    kgrag lab train gfm musique.jsonl -o small.pth --width 64 --layers 3 --epochs 5
    kgrag search "Who led the Fjord Queen?" -c notes --retriever "gfm(weights='network.pth')"
    """
    from kgrag.lab import train_gfm
    from kgrag.retrieval import gfm as retrieval

    if args.base is not None and {"width", "layers"} & training.model_fields_set:
        raise click.UsageError("--width and --layers are those of --base.")
    if args.out.exists():
        raise InputError(f"{args.out} exists already.", "Name another file with --out, or remove it.")
    data = _read(args)
    with args.opened(data) as (collection, progress):
        context = collection.context
        set_ = retrieval.GfmOptions.model_validate(retrieval.Gfm.check({}, (), context.defaults).model_dump())
        if args.base is not None:
            loaded = retrieval.load(context, str(args.base), set_.embedder)
        else:
            embedder = context.other_embedder(set_.embedder or context.embedder.name)
            loaded = retrieval.new(embedder, training.width, training.layers, args.seed)
        examples = train_gfm.prepare(retrieval.Surroundings(context, set_), loaded, data.questions, progress)
        _tell_lost(data, examples, "lead to no entity of their gold")
        learned, test = train_gfm.held_out(examples, args.held_out, args.seed)
        before = train_gfm.recall(loaded, test, training.measured) if test else None
        losses = train_gfm.train(loaded, learned, training, args.seed, progress)
        after = train_gfm.recall(loaded, test, training.measured) if test else None
    record: dict[str, Any] = {
        "dataset": data.name, "collection": collection.name, "embedder": loaded.embedder.name,
        "retriever": f"gfm(weights={str(args.out.resolve())!r})", "questions": len(learned),
        "trained_on": [e.question.id for e in learned], "held_out": len(test),
        "losses": [round(loss, 6) for loss in losses], "before": before, "after": after,
        "base": str(args.base) if args.base is not None else None, "seed": args.seed, **training.model_dump(),
    }  # fmt: skip
    retrieval.network_module().save(loaded.network, args.out, loaded.embedder.name, record)
    _show(args, record)


@train.command("next-fact")
@options
def next_fact(args: _ForNextFact, training: constants.NextFactTraining) -> None:
    """Fine-tune a sentence encoder to predict the next supporting fact (KGP's KNN-MDR; extra: sbert).

    DATASET is a question set as for `kgrag lab eval`. The encoder learns to place a question near its first fact, and
    the question with the facts so far near the next fact. Facts are sentences if the set marks supporting sentences
    (HotpotQA, 2WikiMultiHopQA, IIRC), else whole documents. They follow the order of the steps if the set has steps
    (MuSiQue, 2WikiMultiHopQA); otherwise the fact named in the question comes first. The saved model is an embedder
    like any other: --embedder sbert:DIR. kgp(guide=encoder), kgp(edges=(similar,)) and mdr use it for searches. With
    --single it is an encoder like DPR's, for dense. With --apart two encoders are trained together, and the embedder is
    --embedder dpr:DIR/questions,DIR/passages.

    Held-out questions share no fact with the training questions. SF-EM is the share of them whose facts are all among
    10 TF-IDF passages and the k passages nearest to each. R@k is the share of facts after the first that are among the
    k passages nearest to the question with the facts before them. Both are in per cent, before and after training.

    \b
    kgrag lab train next-fact hotpot_train_v1.1.json --out models/next-fact
    kgrag lab train next-fact chains --base sentence-transformers/all-mpnet-base-v2 --out model --epochs 1 --tokens 96
    kgrag lab train next-fact chains --single --apart --out dpr
    kgrag ingest notes/ -c notes --embedder sbert:model
    kgrag search "Where does the firm that employs Ada sit?" -c notes --retriever 'kgp(guide=encoder)'
    """
    from kgrag.lab import chains, train_next
    from kgrag.lab.report import frame
    from kgrag.lab.training import check_out, hold_out, ids_of, save

    check_out(args.out)
    data = _read(args)
    with progress_bars() as progress:
        documents = chains.read_corpus(data, progress)
        usable, corpus = chains.chains(data.questions, documents), chains.facts(data.questions, documents)
        _tell_lost(data, usable, "have gold that is not in the corpus")
        learned, test = hold_out(usable, lambda chain: chain.keys, args.held_out, args.seed)
        pairs = list(train_next.rows(learned, corpus, args.seed, single=args.single))
        encoders = train_next.Encoders.load(args.base, apart=args.apart)
        record: dict[str, Any] = {
            "dataset": data.name, **args.model_dump(include={"base", "single", "apart", "seed"}),
            "embedder": encoders.embedder(args.out), "questions": len(learned),
            "trained_on": ids_of(data.questions, (chain.question for chain in learned)), "pairs": len(pairs),
            "held_out": len(test), **training.model_dump(),
        }  # fmt: skip

        def measure(stage: str) -> None:
            if test:
                models = encoders.passages, encoders.questions
                encode, ask = (train_next.encoder(model, progress, stage) for model in models)
                record[stage] = asdict(train_next.measure(encode, test, corpus, training, args.seed, ask))

        measure("before")
        record["loss"] = round(train_next.train(encoders, pairs, training, args.seed, progress), 6)
        measure("after")
        save([encoders], args.out, record)
    heads = (("SF-EM", "sf_em"), ("R", "recall"))
    rows = [
        {"encoder": stage}
        | {f"{head}@{k}": 100 * record[stage][part][k] for head, part in heads for k in train_next.NEIGHBOURS}
        for stage in ("before", "after")
        if test
    ]
    title = f"{len(test)} questions held out, {training.seeds} seeds"
    _show(args, record, {title: frame(rows, "encoder").round(1)} if rows else {})


@train.command("next-evidence")
@options
def next_evidence(args: _ForNextEvidence, training: constants.NextEvidenceTraining) -> None:
    """Fine-tune a language model to write the next supporting fact (KGP-T5, KGP-LLaMA; extra: train).

    DATASET is a question set as for `kgrag lab eval`. A row is the prompt `next-evidence` with a question and its facts
    so far, and the next fact as the reply, so that the model learns the task of kgp(guide=chat). Facts and their order
    are chosen as in `kgrag lab train next-fact`. --export writes the rows for any service or tool that fine-tunes chat
    models. With --base and --out the model is fine-tuned here, by LoRA or, with --full, entirely.
    kgp(guide=generator, generator='DIR') loads it. If it is served behind an OpenAI-compatible address, name it in
    KGRAG_CHAT__MODELS='{"evidence": "..."}'.

    \b
    kgrag lab train next-evidence hotpot_train_v1.1.json --export rows.jsonl
    kgrag lab train next-evidence musique.jsonl --base google/flan-t5-large --out models/evidence --full
    """
    if (args.base is None) != (args.out is None):
        raise click.UsageError("--base and --out belong together.")
    if args.export is None and args.out is None:
        raise click.UsageError("Nothing to do: name --export FILE, or --base MODEL and --out DIR.")
    from kgrag.lab import chains, train_next
    from kgrag.lab.training import check_out, hold_out, ids_of, save
    from kgrag.models.prompts import load_prompt

    if args.out is not None:
        check_out(args.out)
    data = args.read()
    prompt = load_prompt("next-evidence", load_settings().chat.prompts)
    with progress_bars() as progress:
        usable = chains.chains(data.questions, chains.read_corpus(data, progress))
        record = {"dataset": data.name, "questions": len(usable), "prompt": prompt.version, "seed": args.seed}
        if args.export is not None:
            exported = train_next.messages_of(usable, prompt)
            train_next.export(exported, args.export)
            record |= {"rows": len(exported), "exported": str(args.export)}
        if args.base is not None and args.out is not None:
            split = hold_out(usable, lambda chain: chain.keys, args.held_out, args.seed)
            record["trained_on"] = ids_of(data.questions, (chain.question for chain in split[0]))
            learned, test = (train_next.messages_of(part, prompt) for part in split)
            tuned = train_next.tune(args.base, learned, test, training, args.seed, progress)
            losses = {"loss": tuned.loss, "held_out_before": tuned.before, "held_out_after": tuned.after}
            record |= {"base": args.base, "model": str(args.out), "learned": len(learned), "held_out": len(test)}
            record |= losses | training.model_dump()
            save(train_next.files(tuned, merge=args.merge), args.out, record)
    _show(args, record)


def _read(args: OnQuestions) -> "Dataset":
    data = args.read()
    for text in data.notes:
        note(text)
    return data


def _tell_lost(data: "Dataset", used: Sequence[Any], why: str) -> None:
    if lost := len(data.questions) - len(used):
        note(f"{lost} of {len(data.questions)} questions {why}: left out.")


def _keep(args: _ForSettings, record: dict[str, Any], frames: "Mapping[str, pd.DataFrame] | None" = None) -> None:
    from kgrag.lab.training import keep

    if args.out is not None:
        keep(args.out, record)
        note(f"Learned: {args.out}")
    _show(args, record, frames)


def _show(args: OnQuestions, record: dict[str, Any], frames: "Mapping[str, pd.DataFrame] | None" = None) -> None:
    if args.as_json:
        print_json(record)
        return
    print_pairs({n: str(value) for n, value in record.items() if not isinstance(value, dict) and n != "trained_on"})
    print_frames(frames or {})


def _rounded(alphas: Sequence[float]) -> list[float]:
    return [round(a, 4) for a in alphas]
