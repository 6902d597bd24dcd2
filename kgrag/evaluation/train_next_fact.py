"""Training of a sentence encoder to predict the next supporting fact, from questions whose gold is known.

The question is to be near the first fact, and the question with the facts so far near the next one: pairs (q, s1),
(q + s1, s2), ... Negatives are the other facts of a batch, and a passage at random for each pair.
Source: KGP, section 3.2 and appendix A.2.1, after MDR (Xiong et al., 2021).
"""

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgrag.errors import ConfigurationError, InputError
from kgrag.evaluation.datasets import Dataset, Question
from kgrag.indexing.documents import embedding_text
from kgrag.indexing.neighbours import nearest
from kgrag.models.embed import Vectors, unit
from kgrag.retrieval.hops import so_far
from kgrag.settings import NextFactTraining
from kgrag.text import is_content, stems, tokens
from kgrag.types import Document, Progress

NEIGHBOURS = (1, 2, 5, 10, 20)
"""How many neighbours each seed has where SF-EM is measured."""

Fact = tuple[str, str]
"""The title and text of a passage."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A question with the passages that lead to its answer, in their order, and their keys."""

    question: str
    keys: tuple[str, ...]
    facts: tuple[Fact, ...]

    @property
    def steps(self) -> list[tuple[str, str]]:
        """For each fact what is asked (the question and the facts before it), and the fact's own text."""
        return [(so_far(self.question, self.facts[:i]), text_of(fact)) for i, fact in enumerate(self.facts)]


@dataclass(frozen=True, slots=True)
class Measured:
    """How well an encoder finds facts. All are shares, 0 to 1.

    `sf_em`: neighbours of a seed -> share of questions whose facts are all among the seeds and their neighbours.
    `recall`: k -> share of facts, the first ones left out, among the k passages nearest to the question with the facts
    before.
    """

    sf_em: Mapping[int, float]
    recall: Mapping[int, float]


def text_of(fact: Fact) -> str:
    """A passage as its vector is made in a collection."""
    return embedding_text(fact[0], "", fact[1])


def read_corpus(data: Dataset, progress: Progress) -> dict[str, Fact]:
    """Document key -> its title and text."""
    found: dict[str, Fact] = {}
    for item in data.documents():
        if isinstance(item, Document):
            found[item.key] = (item.title, item.text)
            progress("reading", len(found), None)
    return found


def chains(questions: Sequence[Question], corpus: Mapping[str, Fact]) -> list[Chain]:
    """The questions whose gold is all in the corpus, each with its facts in order."""
    found = []
    for question in questions:
        if question.gold and all(key in corpus for key in question.gold):
            keys = question.path or ordered(question.text, {key: corpus[key] for key in question.gold})
            found.append(Chain(question.text, keys, tuple(corpus[key] for key in keys)))
    return found


def ordered(question: str, gold: Mapping[str, Fact]) -> tuple[str, ...]:
    """The gold in the order in which it is led to: next is always the fact that is named best by what is known.

    That is, the one of whose title the question and the facts before hold most words, then the one of whose text.
    """
    known, left, path = _words(question), dict(gold), []
    while left:
        key = max(left, key=lambda key: (_share(left[key][0], known), _share(left[key][1], known)))
        path.append(key)
        known |= _words(" ".join(left.pop(key)))
    return tuple(path)


def _share(text: str, known: Collection[str]) -> float:
    words = _words(text)
    return len(words & set(known)) / len(words) if words else 0.0


def _words(text: str) -> set[str]:
    return set(_terms(text))


def _terms(text: str) -> list[str]:
    return stems([t.norm for t in tokens(text) if is_content(t.norm)])


def split(found: Sequence[Chain], share: float, seed: int) -> tuple[list[Chain], list[Chain]]:
    """Chains to learn from, and about `share` (0 to 1) of all held out, none of whose facts is in one of the former.

    Raises InputError when either part would be empty although something is to be held out.
    """
    groups: dict[str, list[Chain]] = {}
    group_of: dict[str, str] = {}
    for chain in found:
        joined = {group_of.get(key, key) for key in chain.keys}
        first = min(joined)
        members = [chain]
        for name in joined:
            members = groups.pop(name, []) + members
        groups[first] = members
        group_of.update(dict.fromkeys((key for member in members for key in member.keys), first))
    wanted = round(share * len(found))
    learned: list[Chain] = []
    held: list[Chain] = []
    names = sorted(groups)
    random.Random(seed).shuffle(names)
    for name in names:
        (held if len(held) + len(groups[name]) <= wanted else learned).extend(groups[name])
    if not learned or (share and not held):
        raise InputError(
            f"{len(found)} questions with gold in the corpus are too few: {len(learned)} to learn from, {len(held)} "
            "held out.",
            "Take a larger question set, or hold out another share: --held-out 0 holds none.",
        )
    return learned, held


def rows(found: Sequence[Chain], corpus: Mapping[str, Fact], seed: int) -> Iterator[dict[str, str]]:
    """The pairs of the chains with a passage at random that is no gold of the question: anchor, positive, negative."""
    chance, keys = random.Random(seed), sorted(corpus)
    for chain in found:
        for anchor, positive in chain.steps:
            other = next((k for k in chance.sample(keys, min(len(keys), 9)) if k not in chain.keys), None)
            if other is not None:
                yield {"anchor": anchor, "positive": positive, "negative": text_of(corpus[other])}


def measure(
    encode: Callable[[Sequence[str]], Vectors],
    held: Sequence[Chain],
    corpus: Mapping[str, Fact],
    training: NextFactTraining,
    seed: int,
) -> Measured:
    """Measure an encoder on chains: their facts among those of the corpus, or a part of it with all their facts."""
    gold = {key for chain in held for key in chain.keys}
    others = sorted(corpus.keys() - gold)
    some = random.Random(seed).sample(others, min(len(others), max(0, training.measured - len(gold))))
    ids = sorted([*gold, *some])
    place = {id: i for i, id in enumerate(ids)}
    vectors = encode([text_of(corpus[id]) for id in ids])
    seeds = _tfidf([chain.question for chain in held], [" ".join(corpus[id]) for id in ids], training.seeds)
    near = {
        row: [other for other, _ in found]
        for row, found in nearest(vectors, ids, np.unique(np.concatenate(seeds)), max(NEIGHBOURS))
    }
    covered = dict.fromkeys(NEIGHBOURS, 0)
    for chain, its in zip(held, seeds, strict=True):
        facts = {place[key] for key in chain.keys}
        for k in NEIGHBOURS:
            covered[k] += facts <= set(its).union(*(near[int(row)][:k] for row in its))
    anchors = [anchor for chain in held for anchor, _ in chain.steps[1:]]
    paths = [[place[key] for key in chain.keys[: i + 1]] for chain in held for i in range(1, len(chain.keys))]
    ranks = _ranks(encode(anchors), vectors, paths) if paths else []
    recall = {k: sum(rank <= k for rank in ranks) / len(ranks) if ranks else 0.0 for k in NEIGHBOURS}
    return Measured({k: n / len(held) for k, n in covered.items()}, recall)


def _tfidf(questions: Sequence[str], texts: Sequence[str], n: int) -> list[Any]:
    """For each question the places of the n texts of highest cosine of TF-IDF."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=_terms, sublinear_tf=True, dtype=np.float32)
    matrix = vectorizer.fit_transform(texts)
    asked = vectorizer.transform(questions)
    found = []
    for start in range(0, len(questions), 256):
        scores = (asked[start : start + 256] @ matrix.T).toarray()
        found.extend(np.argsort(-scores, axis=1, kind="stable")[:, :n])
    return found


def _ranks(questions: Vectors, passages: Vectors, paths: Sequence[Sequence[int]]) -> list[int]:
    """For each question the rank, from 1, of the last passage of its path; the others of the path have none."""
    ranks: list[int] = []
    for question, (*before, last) in zip(questions, paths, strict=True):
        scores = passages @ question
        scores[before] = -np.inf
        ranks.append(1 + int((scores > scores[last]).sum()))
    return ranks


def encoder(model: Any, progress: Progress, stage: str) -> Callable[[Sequence[str]], Vectors]:
    """The unit vectors of texts by a sentence-transformers model."""

    def encode(texts: Sequence[str]) -> Vectors:
        parts = []
        for start in range(0, len(texts), 1024):
            progress(stage, start, len(texts))
            parts.append(unit(model.encode(list(texts[start : start + 1024]), batch_size=64, show_progress_bar=False)))
        progress(stage, len(texts), len(texts))
        return np.concatenate(parts)

    return encode


def check_out(out: Path) -> None:
    """Raises InputError when a model cannot be saved there: training comes before."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists already.", "Name another folder with --out, or remove it.")


def train(
    model: Any, pairs: Sequence[dict[str, str]], training: NextFactTraining, seed: int, progress: Progress
) -> float:
    """Fine-tune a sentence-transformers model in place on rows of `rows`; returns the mean loss of the last epoch.

    Raises ConfigurationError when the packages for training are missing, InputError for fewer than two pairs.
    """
    try:
        from datasets import Dataset as Table
        from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
        from sentence_transformers.sentence_transformer.training_args import BatchSamplers
    except ImportError as error:
        raise ConfigurationError(
            f"Training needs packages that are not installed ({error.name}).",
            "Install them: pip install 'kgrag[sbert]'.",
        ) from error
    if len(pairs) < 2:
        raise InputError(f"{len(pairs)} pairs of a question and a fact cannot be learned from.", "Take more questions.")
    steps = training.steps or max(1, -(-len(pairs) // training.batch)) * training.epochs
    before, model.max_seq_length = model.max_seq_length, training.tokens
    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=folder,
            num_train_epochs=training.epochs,
            max_steps=training.steps or -1,
            per_device_train_batch_size=min(training.batch, len(pairs)),
            learning_rate=training.rate,
            warmup_steps=min(training.warmup, steps // 10),
            max_grad_norm=training.clip,
            batch_sampler=BatchSamplers.NO_DUPLICATES,
            seed=seed,
            data_seed=seed,
            save_strategy="no",
            logging_strategy="epoch",
            report_to=[],
            disable_tqdm=True,
            dataloader_pin_memory=False,
        )
        trainer = SentenceTransformerTrainer(
            model=model,
            args=arguments,
            train_dataset=Table.from_list(list(pairs)),
            loss=MultipleNegativesRankingLoss(model),
            callbacks=[_told(progress)],
        )
        _quiet(trainer)
        told = trainer.train()
    model.max_seq_length = before
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return float(losses[-1]) if losses else float(told.training_loss)


def _told(progress: Progress) -> Any:
    """A callback of the trainer that tells the progress."""
    from transformers import TrainerCallback

    class Told(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            progress("training", state.global_step, state.max_steps)

    return Told()


def _quiet(trainer: Any) -> None:
    """Take off the callbacks that print losses, and that lay out a model card."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
    for callback in list(trainer.callback_handler.callbacks):
        if "ModelCard" in type(callback).__name__:
            trainer.remove_callback(callback)


def save(model: Any, out: Path, told: Mapping[str, Any]) -> None:
    """Save a model with `training.json`, what is told of its training; the folder is there whole or not at all.

    Raises InputError when it cannot be written.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}-"))
        try:
            model.save_pretrained(str(part), create_model_card=False)
            (part / "training.json").write_text(json.dumps(told, indent=2, ensure_ascii=False), encoding="utf-8")
            part.chmod(0o755)
            part.replace(out)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}).", "Name another folder with --out.") from error
