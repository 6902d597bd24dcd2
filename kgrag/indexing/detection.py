"""Which language documents are in, by the first of them."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import Any, TypeVar

from kgrag.settings import Settings
from kgrag.text.languages import check_language, is_known
from kgrag.values.documents import Document

T = TypeVar("T")

_DOCUMENTS = 50
_CHARACTERS = 20_000
_LEAST = 300  # bytes; less says too little
_SURE = 0.8
_ENGLISH = frozenset("the of and with from that which were his she their been".split())  # of no other language
_ENGLISH_SHARE = 0.12  # of the words of a text; English has .15 to .22, a text that is half in English less than .11
_CALLED = {"no": "nb"}
_SPOKEN = re.compile(r"[^\W\d_]+")


def first_language(items: Iterable[T]) -> tuple[Iterable[T], str]:
    """Return the items, unchanged, and the language of the first documents among them."""
    stream = iter(items)
    seen: list[T] = []
    texts: list[str] = []
    for item in stream:
        seen.append(item)
        if isinstance(item, Document):
            texts.append("\n".join([item.title, *[section.text[:_CHARACTERS] for section in item.sections[:20]]]))
        if len(texts) == _DOCUMENTS or sum(map(len, texts)) >= _CHARACTERS:
            break
    return chain(seen, stream), detect_language(texts)


def detect_language(texts: Iterable[str]) -> str:
    """Return the language of most of the texts, an ISO 639-1 code; English where they are too short."""
    words = _SPOKEN.findall(" ".join(texts)[: 2 * _CHARACTERS])
    sample = " ".join(words)[:_CHARACTERS]
    if len(sample.encode("utf-8", "ignore")) < _LEAST or _is_plainly_english(sample.lower().split()):
        return "en"
    code, share = _identifier().classify(sample)
    code = _CALLED.get(code, code)
    return code if share >= _SURE and is_known(code) else "en"


def _is_plainly_english(words: list[str]) -> bool:
    """Return whether no model is needed to tell: loading one takes half a second."""
    return sum(map(_ENGLISH.__contains__, words)) > _ENGLISH_SHARE * len(words)


def in_language(settings: Settings, language: str) -> Settings:
    """Return the settings, for a collection in that language. Raises ConfigurationError for an unknown code."""
    check_language(language)
    return settings.model_copy(update={"indexing": settings.indexing.model_copy(update={"language": language})})


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # which takes half a second

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
