"""Training of a sentence encoder to find the next supporting fact, or of a language model to write it.

Training moves the question near its first fact, and the question with the facts so far near the next one: pairs (q,
s1), (q + s1, s2), ... Negatives are the other facts of a batch, and a random passage for each pair. There is either one
encoder for both (MDR), or two with equal initial weights, for queries and passages (DPR).
Source: KGP, section 3.2 and appendix A.2.1, after MDR (Xiong et al., 2021) and DPR (Karpukhin et al., 2020).

A language model learns rows: the prompt `next-evidence` of `kgp(guide=chat)` with a question and the facts so far, and
the next fact as the reply. Any encoder-decoder or causal model learns them, by LoRA (as LLaMA in the paper) or with all
of its weights (as T5). Source: KGP, section 4 and appendices A.1.3 and A.2.2 (KGP-T5 and KGP-LLaMA).
"""

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from kgrag.indexing.similar import nearest
from kgrag.lab.chains import Chain, Fact, content_stems, text_of
from kgrag.lab.constants import NextEvidenceTraining, NextFactTraining
from kgrag.models.chat import Message
from kgrag.models.embed import Vectors, sentence_transformer, unit
from kgrag.models.generator import load_model, prompt_tokens
from kgrag.models.prompts import Prompt
from kgrag.runtime.files import user_file
from kgrag.values.errors import InputError
from kgrag.values.events import Progress
from kgrag.values.installing import require_extra

NEIGHBOURS = (1, 2, 5, 10, 20)
"""The numbers of neighbours per seed at which SF-EM is measured."""
NO_EVIDENCE = "(none)"
_PACKAGES = "Training needs packages that are not installed ({})."
_IGNORED = -100  # the label of a token without loss


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of an encoder's search for facts. All are shares, 0 to 1.

    `sf_em`: neighbours of a seed -> share of questions whose facts are all among the seeds and their neighbours.
    `recall`: k -> share of facts, except the first ones, among the k passages nearest to the question with the earlier
    facts.
    """

    sf_em: Mapping[int, float]
    recall: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Encoders:
    """Sentence-transformers models of one dimension for queries and for passages: one for both, or two."""

    questions: Any
    passages: Any

    @classmethod
    def load(cls, base: str, *, apart: bool) -> Self:
        """Load both from the model `base`. Raises ConfigurationError as `sentence_transformer`."""
        model = sentence_transformer(base)
        return cls(model, sentence_transformer(base) if apart else model)

    @property
    def apart(self) -> bool:
        """Whether there are two."""
        return self.questions is not self.passages

    def embedder(self, folder: Path) -> str:
        """Return the embedder's name for the encoders once saved in this folder."""
        path = folder.resolve()
        return f"dpr:{path / 'questions'},{path / 'passages'}" if self.apart else f"sbert:{path}"

    def save_pretrained(self, folder: str) -> None:
        """Save one encoder to the folder, or two to subfolders."""
        if not self.apart:
            self.passages.save_pretrained(folder)
            return
        self.questions.save_pretrained(f"{folder}/questions")
        self.passages.save_pretrained(f"{folder}/passages")

    def whole(self) -> tuple[Any, dict[str, str]]:
        """Return one model to train, which shares their weights.

        Also return the column of the pairs -> the encoder of its texts.
        """
        if not self.apart:
            return self.passages, {}
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Router

        asking, answering = (list(model.children()) for model in (self.questions, self.passages))
        routes = {"anchor": "query", "positive": "document", "negative": "document"}
        return SentenceTransformer(modules=[Router.for_query_document(asking, answering)]), routes


def rows(
    chains: Sequence[Chain], corpus: Mapping[str, Fact], seed: int, *, single: bool = False
) -> Iterator[dict[str, str]]:
    """Yield the pairs of the chains with a random passage outside the question's gold: anchor, positive, negative.

    `single`: pair the question alone with each of its facts, as DPR does (KGP, appendix A.2.1).
    """
    chance, keys = random.Random(seed), sorted(corpus)
    for chain in chains:
        for anchor, positive in ((chain.question, text) if single else (so_far, text) for so_far, text in chain.steps):
            other = next((k for k in chance.sample(keys, min(len(keys), 9)) if k not in chain.keys), None)
            if other is not None:
                yield {"anchor": anchor, "positive": positive, "negative": text_of(corpus[other])}


def measure(
    encode: Callable[[Sequence[str]], Vectors],
    chains: Sequence[Chain],
    corpus: Mapping[str, Fact],
    training: NextFactTraining,
    seed: int,
    ask: Callable[[Sequence[str]], Vectors] | None = None,
) -> Measured:
    """Measure an encoder on chains: their facts against the corpus, or against a part of it that has all their facts.

    `ask`: encodes questions with their facts so far; None: the encoder of passages does.
    """
    gold = {key for chain in chains for key in chain.keys}
    others = sorted(corpus.keys() - gold)
    some = random.Random(seed).sample(others, min(len(others), max(0, training.measured - len(gold))))
    ids = sorted([*gold, *some])
    place = {id: i for i, id in enumerate(ids)}
    vectors = encode([text_of(corpus[id]) for id in ids])
    seeds = _tfidf([chain.question for chain in chains], [" ".join(corpus[id]) for id in ids], training.seeds)
    near = {
        row: [other for other, _ in neighbours]
        for row, neighbours in nearest(vectors, ids, np.unique(np.concatenate(seeds)), max(NEIGHBOURS))
    }
    covered = dict.fromkeys(NEIGHBOURS, 0)
    for chain, seed_rows in zip(chains, seeds, strict=True):
        facts = {place[key] for key in chain.keys}
        for k in NEIGHBOURS:
            covered[k] += facts <= set(seed_rows).union(*(near[int(row)][:k] for row in seed_rows))
    anchors = [anchor for chain in chains for anchor, _ in chain.steps[1:]]
    paths = [[place[key] for key in chain.keys[: i + 1]] for chain in chains for i in range(1, len(chain.keys))]
    ranks = ranks_of((ask or encode)(anchors), vectors, paths) if paths else []
    recall = {k: sum(rank <= k for rank in ranks) / len(ranks) if ranks else 0.0 for k in NEIGHBOURS}
    return Measured({k: n / len(chains) for k, n in covered.items()}, recall)


def _tfidf(questions: Sequence[str], texts: Sequence[str], n: int) -> list[Any]:
    """Return for each question the indices of the n texts with the highest TF-IDF cosine."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=content_stems, sublinear_tf=True, dtype=np.float32)
    matrix = vectorizer.fit_transform(texts)
    vectors = vectorizer.transform(questions)
    places: list[Any] = []
    for start in range(0, len(questions), 256):
        scores = (vectors[start : start + 256] @ matrix.T).toarray()
        places.extend(np.argsort(-scores, axis=1, kind="stable")[:, :n])
    return places


def ranks_of(questions: Vectors, passages: Vectors, paths: Sequence[Sequence[int]]) -> list[int]:
    """Return for each question the rank, from 1, of its path's last passage, ignoring the others of the path."""
    ranks: list[int] = []
    for question, (*before, last) in zip(questions, paths, strict=True):
        scores = passages @ question
        scores[before] = -np.inf
        ranks.append(1 + int((scores > scores[last]).sum()))
    return ranks


def encoder(model: Any, progress: Progress, stage: str) -> Callable[[Sequence[str]], Vectors]:
    """Return a function that computes unit vectors of texts by a sentence-transformers model."""

    def encode(texts: Sequence[str]) -> Vectors:
        parts = []
        for start in range(0, len(texts), 1024):
            progress(stage, start, len(texts))
            parts.append(unit(model.encode(list(texts[start : start + 1024]), batch_size=64, show_progress_bar=False)))
        progress(stage, len(texts), len(texts))
        return np.concatenate(parts)

    return encode


def train(
    encoders: Encoders, pairs: Sequence[dict[str, str]], training: NextFactTraining, seed: int, progress: Progress
) -> float:
    """Fine-tune one encoder, or two together, in place on rows of `rows`; return the mean loss of the last epoch.

    Raises ConfigurationError when the packages for training are missing, InputError for fewer than two pairs.
    """
    with require_extra("sbert", _PACKAGES):
        from datasets import Dataset as Table
        from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
        from sentence_transformers.sentence_transformer.training_args import BatchSamplers
    if len(pairs) < 2:
        raise InputError(f"{len(pairs)} pairs of a question and a fact cannot be learned from.", "Take more questions.")

    class _Plain(SentenceTransformerTrainer):  # type: ignore[misc, unused-ignore]
        def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
            """Write no model card: `training.json` tells more."""

    steps = training.steps or max(1, -(-len(pairs) // training.batch)) * training.epochs
    before = [(model, model.max_seq_length) for model in (encoders.questions, encoders.passages)]
    for model, _ in before:
        model.max_seq_length = training.tokens
    whole, routes = encoders.whole()
    extra = {
        "per_device_train_batch_size": min(training.batch, len(pairs)),
        "warmup_steps": min(training.warmup, steps // 10),
        "max_grad_norm": training.clip,
        "batch_sampler": BatchSamplers.NO_DUPLICATES,
        "router_mapping": routes,
    }
    table, loss = Table.from_list(list(pairs)), MultipleNegativesRankingLoss(whole)
    kinds = _Plain, SentenceTransformerTrainingArguments
    with fine_tuning(*kinds, training, seed, progress, extra, model=whole, train_dataset=table, loss=loss) as trainer:
        result = trainer.train()
    for model, tokens in before:
        model.max_seq_length = tokens
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return float(losses[-1]) if losses else float(result.training_loss)


@contextmanager
def fine_tuning(
    trainer: Any,
    arguments: Any,
    training: NextFactTraining | NextEvidenceTraining,
    seed: int,
    progress: Progress,
    own: Mapping[str, Any],
    **parts: Any,
) -> Iterator[Any]:
    """Create a transformers trainer from its `parts`, the constants and its `own` arguments.

    It reports progress, prints nothing, and saves nothing to disk.
    """
    from transformers import PrinterCallback, TrainerCallback

    class ProgressCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            progress("training", state.global_step, state.max_steps)

    common = {
        "num_train_epochs": training.epochs, "max_steps": training.steps or -1,
        "per_device_train_batch_size": training.batch, "learning_rate": training.rate, "seed": seed, "data_seed": seed,
        "save_strategy": "no", "logging_strategy": "epoch", "report_to": [], "disable_tqdm": True,
        "dataloader_pin_memory": False,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        built = trainer(args=arguments(output_dir=folder, **{**common, **own}), callbacks=[ProgressCallback()], **parts)
        built.remove_callback(PrinterCallback)  # it prints losses to standard output
        yield built


@dataclass(frozen=True, slots=True)
class Row:
    """The input of a model, and the reply that it learns."""

    shown: tuple[Message, ...]
    reply: str


def messages_of(chains: Sequence[Chain], prompt: Prompt) -> list[Row]:
    """Return a row for each fact of each chain."""
    messages = []
    for chain in chains:
        texts = [f"{title}: {text}" if title else text for title, text in chain.facts]
        for number, reply in enumerate(texts):
            evidence = "\n\n".join(texts[:number]) or NO_EVIDENCE
            prompted = prompt.messages(question=chain.question, evidence=evidence)
            messages.append(Row(tuple(prompted), reply))
    return messages


def export(rows: Sequence[Row], path: Path) -> None:
    """Write rows as JSON Lines for the fine-tuning of chat models: {"messages": [{"role", "content"}, ...]}.

    Raises InputError when the file cannot be written.
    """
    with user_file(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                messages = [asdict(message) for message in (*row.shown, Message("assistant", row.reply))]
                file.write(f"{json.dumps({'messages': messages}, ensure_ascii=False)}\n")


@dataclass(frozen=True, slots=True)
class Tuned:
    """A model with its tokenizer, and the mean token loss of held-out replies before and after (or None)."""

    model: Any
    tokenizer: Any
    loss: float
    before: float | None
    after: float | None


def tune(
    base: str,
    learned: Sequence[Row],
    test: Sequence[Row],
    training: NextEvidenceTraining,
    seed: int,
    progress: Progress,
) -> Tuned:
    """Fine-tune a model, by its name on the hub or its folder: with LoRA, or all of its weights.

    Raises ConfigurationError when packages are missing or the model cannot be loaded.
    """
    with require_extra("train", _PACKAGES):
        from datasets import Dataset as Table
        from peft import LoraConfig, get_peft_model
        from transformers import DataCollatorForSeq2Seq, Trainer, TrainingArguments, set_seed
    set_seed(seed)
    model, tokenizer, seq2seq = load_model(base)
    if not training.full:
        lora = LoraConfig(
            task_type="SEQ_2_SEQ_LM" if seq2seq else "CAUSAL_LM",
            r=training.rank,
            lora_alpha=training.alpha,
            lora_dropout=training.dropout,
            target_modules="all-linear",
        )
        model = get_peft_model(model, lora)
    tables = [
        Table.from_list([features(row, tokenizer, seq2seq, training.tokens) for row in part])
        for part in (learned, test)
    ]
    parts = {
        "model": model,
        "train_dataset": tables[0],
        "data_collator": DataCollatorForSeq2Seq(tokenizer, model=model, label_pad_token_id=_IGNORED),
    }
    extra = {"per_device_eval_batch_size": training.batch}
    with fine_tuning(Trainer, TrainingArguments, training, seed, progress, extra, **parts) as trainer:
        before = trainer.evaluate(tables[1])["eval_loss"] if test else None
        result = trainer.train()
        after = trainer.evaluate(tables[1])["eval_loss"] if test else None
    return Tuned(model, tokenizer, float(result.training_loss), before, after)


def features(row: Row, tokenizer: Any, seq2seq: bool, most: int) -> dict[str, list[int]]:
    """Return the tokens of a row; only the reply's tokens have a loss.

    A causal model reads the prompt first.
    """
    end = [tokenizer.eos_token_id] if tokenizer.eos_token_id is not None else []
    reply = tokenizer(row.reply, add_special_tokens=False)["input_ids"][: most // 2 - 1] + end
    tokens = prompt_tokens(row.shown, tokenizer, seq2seq, most if seq2seq else most - len(reply))
    if seq2seq:
        return {"input_ids": tokens, "attention_mask": [1] * len(tokens), "labels": reply}
    labels = [_IGNORED] * len(tokens) + reply
    return {"input_ids": tokens + reply, "attention_mask": [1] * len(labels), "labels": labels}


def files(tuned: Tuned, *, merge: bool) -> list[Any]:
    """Return the parts to save: the adapter, or the whole trained model, and the tokenizer."""
    adapted = hasattr(tuned.model, "merge_and_unload")
    return [tuned.model.merge_and_unload() if merge and adapted else tuned.model, tuned.tokenizer]
