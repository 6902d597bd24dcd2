"""Generate the next fact in this process by an encoder-decoder (T5) or causal model (LLaMA) of transformers.

The model is the output of `kgrag lab train next-evidence`, a LoRA adapter or a whole model, or any other of the kind.
Source: KGP, section 4 and appendix A.2.2.
"""

import threading
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from kgrag.models.chat import Message
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import require_extra

_NEW_TOKENS = 128  # maximum tokens of a reply; a passage is a sentence or two
_SHOWN_TOKENS = 1024
_BATCH = 16
_ADAPTER = "adapter_config.json"


class Generator:
    """A loaded model; safe to share between threads."""

    def __init__(self, model: Any, tokenizer: Any, encoder_decoder: bool) -> None:
        self._model, self._tokenizer, self._encoder_decoder = model.eval(), tokenizer, encoder_decoder
        self._lock = threading.Lock()  # one model, many threads: torch would fight over the cores

    def write(self, prompts: Sequence[Sequence[Message]]) -> list[str]:
        """Return the reply to each prompt by greedy decoding."""
        import torch

        replies: list[str] = []
        with self._lock, torch.inference_mode():
            for start in range(0, len(prompts), _BATCH):
                rows = [
                    prompt_tokens(messages, self._tokenizer, self._encoder_decoder, _SHOWN_TOKENS)
                    for messages in prompts[start : start + _BATCH]
                ]
                side = "right" if self._encoder_decoder else "left"  # a causal model continues from the last token
                batch = self._tokenizer.pad({"input_ids": rows}, padding_side=side, return_tensors="pt")
                output = self._model.generate(
                    input_ids=batch["input_ids"],
                    attention_mask=batch["attention_mask"],
                    max_new_tokens=_NEW_TOKENS,
                    do_sample=False,
                    pad_token_id=self._tokenizer.pad_token_id,
                )
                if not self._encoder_decoder:
                    output = output[:, batch["input_ids"].shape[1] :]
                replies += self._tokenizer.batch_decode(output, skip_special_tokens=True)
        return replies


def prompt_tokens(messages: Sequence[Message], tokenizer: Any, encoder_decoder: bool, most: int) -> list[int]:
    """Return the tokens of a prompt, cut to a limit; a causal model gets the last ones."""
    plain = "\n\n".join(message.content for message in messages)
    if encoder_decoder:
        return list(tokenizer(plain, truncation=True, max_length=most)["input_ids"])
    if tokenizer.chat_template:
        turns = [asdict(message) for message in messages]
        text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    else:
        tokens = tokenizer(f"{plain}\n")["input_ids"]
    return list(tokens[-most:])  # keep the end of the prompt


@cache
def load_generator(name: str) -> Generator:
    """Load a generator by its name or folder, once. Raises ConfigurationError if that fails."""
    with require_extra("train", "A generator needs packages that are not installed ({})."):
        return Generator(*load_model(name))


def load_model(name: str) -> tuple[Any, Any, bool]:
    """Load a model by its name on the hub or its folder, its tokenizer, and whether it is an encoder-decoder.

    A folder may hold a LoRA adapter, whose base is loaded with it. Raises ImportError without transformers,
    ConfigurationError for an unknown model.
    """
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    try:
        base = name
        if (Path(name) / _ADAPTER).is_file():
            from peft import PeftConfig, PeftModel

            base = str(PeftConfig.from_pretrained(name).base_model_name_or_path)
        encoder_decoder = bool(AutoConfig.from_pretrained(base).is_encoder_decoder)
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = (AutoModelForSeq2SeqLM if encoder_decoder else AutoModelForCausalLM).from_pretrained(base)
        if base != name:
            model = PeftModel.from_pretrained(model, name)
    except ImportError:
        raise
    except Exception as error:  # the hub's errors have no common type
        raise ConfigurationError(
            f"The model {name!r} cannot be loaded: {error}", "Check its name, or give the path of a saved model."
        ) from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer, encoder_decoder
