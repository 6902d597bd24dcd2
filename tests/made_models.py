"""Generated models of a few thousand weights: untrained, but trainable."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kgrag.text.tokens import tokens

_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "</s>"]


def _tokenizer(texts: Iterable[str], encoder: bool) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast

    words = sorted({t.raw.lower() for text in texts for t in tokens(text)})
    tokenizer = Tokenizer(WordLevel({w: i for i, w in enumerate([*_SPECIAL, *words])}, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
    names |= {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"} if encoder else {"eos_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def sentence_encoder(folder: Path, texts: Iterable[str], seed: int = 0) -> Path:
    """Make a sentence encoder of one layer and 32 dimensions that knows the words of the texts."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    tokenizer = _tokenizer(texts, encoder=True)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(tokenizer), **shape)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def pair_scorer(folder: Path, texts: Iterable[str]) -> Path:
    """Make a cross-encoder of one layer that gives a pair of texts one score."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    tokenizer = _tokenizer(texts, encoder=True)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=len(tokenizer), num_labels=1, **shape)  # type: ignore[call-arg, unused-ignore]
    model = BertForSequenceClassification(config)
    torch.nn.init.normal_(model.classifier.weight, std=2.0)  # so that scores differ
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def generator(folder: Path, texts: Iterable[str], kind: str, says: str = "") -> Path:
    """Make a generator, `t5` (encoder-decoder) or `llama` (causal); `says`: the only word that it writes."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    tokenizer = _tokenizer(texts, encoder=False)
    size, pad, end = len(tokenizer), tokenizer.pad_token_id, tokenizer.eos_token_id
    ends = {"pad_token_id": pad, "eos_token_id": end}
    model: Any
    if kind == "t5":
        shape = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2}
        config = T5Config(vocab_size=size, decoder_start_token_id=pad, **shape, **ends)  # type: ignore[call-arg, unused-ignore]
        model = T5ForConditionalGeneration(config)
    else:
        shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
        model = LlamaForCausalLM(LlamaConfig(vocab_size=size, **shape, **ends))
    if says:
        with torch.no_grad():  # all tokens are alike, nothing is added, and only one token is read out
            for name, weights in model.named_parameters():
                if "norm" not in name:
                    weights.zero_()
            for layer in (model.get_input_embeddings(), model.lm_head):  # they may be the same
                layer.weight.fill_(1.0)
                layer.weight[tokenizer.convert_tokens_to_ids(says)] = 2.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def late_interaction(folder: Path, texts: Iterable[str]) -> Path:
    """Make a late-interaction model in `folder`/colbert: a one-layer BERT, a tokenizer, a projection to 16 numbers."""
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=200, special_tokens=special))
    ends = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    bert = folder / "bert"
    names = {f"{name[1:-1].lower()}_token": name for name in special}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, model_max_length=64).save_pretrained(bert)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=64, **shape)
    BertModel(config).save_pretrained(bert)
    to_16: dict[str, Any] = {"module_input_name": "token_embeddings", "activation_function": torch.nn.Identity()}
    modules = [
        Transformer(str(bert)),
        Dense(32, 16, bias=False, **to_16),
        MultiVectorMask(),
        Normalize(module_input_name="token_embeddings"),
    ]
    MultiVectorEncoder(modules=modules).save_pretrained(str(folder / "colbert"))
    return folder / "colbert"
