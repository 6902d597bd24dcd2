"""Fine-tuning of a language model to write the next supporting fact, from questions whose gold is known.

A row is the prompt `next-evidence` with a question and the facts so far, as `kgp(guide=chat)` asks it, and the next
fact as the reply. Any encoder-decoder or causal model learns them, by LoRA (as LLaMA in the paper) or with all of its
weights (as T5).
Source: KGP, section 4 and appendices A.1.3 and A.2.2 (KGP-T5 and KGP-LLaMA).
"""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kgrag.evaluation.chains import Chain
from kgrag.evaluation.constants import NextEvidenceTraining
from kgrag.evaluation.train_next_fact import reported_steps
from kgrag.models.chat import Message
from kgrag.models.generator import load_model, prompt_tokens
from kgrag.models.prompts import Prompt
from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.events import Progress
from kgrag.values.installing import install_hint

NO_EVIDENCE = "(none)"
_IGNORED = -100  # the label of a token that is not learned


@dataclass(frozen=True, slots=True)
class Row:
    """What a model is shown, and the reply that it is to learn."""

    shown: tuple[Message, ...]
    reply: str


def rows(chains: Sequence[Chain], prompt: Prompt) -> list[Row]:
    """A row for each fact of each chain."""
    found = []
    for chain in chains:
        texts = [f"{title}: {text}" if title else text for title, text in chain.facts]
        for number, reply in enumerate(texts):
            evidence = "\n\n".join(texts[:number]) or NO_EVIDENCE
            shown = prompt.messages(question=chain.question, evidence=evidence)
            found.append(Row(tuple(shown), reply))
    return found


def export(found: Sequence[Row], path: Path) -> None:
    """Write rows as JSON Lines for the fine-tuning of chat models: {"messages": [{"role", "content"}, ...]}.

    Raises InputError when the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for row in found:
                messages = [asdict(message) for message in (*row.shown, Message("assistant", row.reply))]
                file.write(f"{json.dumps({'messages': messages}, ensure_ascii=False)}\n")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}).", "Name another file with --export.") from error


@dataclass(frozen=True, slots=True)
class Tuned:
    """A model with its tokenizer, and the mean loss of a token of held-out replies before and after (None: none)."""

    model: Any
    tokenizer: Any
    loss: float
    before: float | None
    after: float | None


def tune(
    base: str,
    learned: Sequence[Row],
    held: Sequence[Row],
    training: NextEvidenceTraining,
    seed: int,
    progress: Progress,
) -> Tuned:
    """Fine-tune a model, by its name on the hub or its folder: by LoRA, or all of its weights.

    Raises ConfigurationError when the packages for it are missing or the model cannot be loaded.
    """
    try:
        from datasets import Dataset as Table
        from peft import LoraConfig, get_peft_model
        from transformers import DataCollatorForSeq2Seq, PrinterCallback, Trainer, TrainingArguments, set_seed
    except ImportError as error:
        raise ConfigurationError(
            f"Training needs packages that are not installed ({error.name}).",
            f"Install them: {install_hint('train')}",
        ) from error
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
        Table.from_list([_features(row, tokenizer, seq2seq, training.tokens) for row in part])
        for part in (learned, held)
    ]
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=training.epochs,
            max_steps=training.steps or -1,
            per_device_train_batch_size=training.batch,
            per_device_eval_batch_size=training.batch,
            learning_rate=training.rate,
            seed=seed,
            data_seed=seed,
            save_strategy="no",
            logging_strategy="epoch",
            report_to=[],
            disable_tqdm=True,
            dataloader_pin_memory=False,
        )
        trainer = Trainer(
            model=model,
            args=arguments,
            train_dataset=tables[0],
            data_collator=DataCollatorForSeq2Seq(tokenizer, model=model, label_pad_token_id=_IGNORED),
            callbacks=[reported_steps(progress)],
        )
        trainer.remove_callback(PrinterCallback)  # it prints losses to standard output
        before = _loss(trainer, tables[1])
        result = trainer.train()
        after = _loss(trainer, tables[1])
    return Tuned(model, tokenizer, float(result.training_loss), before, after)


def _loss(trainer: Any, table: Any) -> float | None:
    return float(trainer.evaluate(table)["eval_loss"]) if len(table) else None


def _features(row: Row, tokenizer: Any, seq2seq: bool, most: int) -> dict[str, list[int]]:
    """The tokens of a row; only those of the reply are learned. A causal model reads the prompt before it."""
    end = [tokenizer.eos_token_id] if tokenizer.eos_token_id is not None else []
    reply = tokenizer(row.reply, add_special_tokens=False)["input_ids"][: most // 2 - 1] + end
    shown = prompt_tokens(row.shown, tokenizer, seq2seq, most if seq2seq else most - len(reply))
    if seq2seq:
        return {"input_ids": shown, "attention_mask": [1] * len(shown), "labels": reply}
    labels = [_IGNORED] * len(shown) + reply
    return {"input_ids": shown + reply, "attention_mask": [1] * len(labels), "labels": labels}


def files(tuned: Tuned, *, merge: bool) -> list[Any]:
    """What is saved: the adapter, or the whole model with what it learned, and the tokenizer."""
    adapted = hasattr(tuned.model, "merge_and_unload")
    return [tuned.model.merge_and_unload() if merge and adapted else tuned.model, tuned.tokenizer]
