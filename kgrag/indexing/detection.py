"""Detect the language of documents from the first ones."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain, islice
from typing import Any, TypeVar

from kgrag.settings import Settings
from kgrag.text.languages import check_language, is_known
from kgrag.text.letters import HANGUL
from kgrag.values.documents import Document

T = TypeVar("T")

_DOCUMENTS = 50
_ITEMS = 1000  # items searched for documents, since unchanged files are passed on without texts
_CHARACTERS = 20_000
_LEAST = 300  # bytes; a model cannot detect the language of less
_SURE = 0.8
_ENGLISH = frozenset("the of and with from that which were his she their been".split())  # words only in English
_ENGLISH_SHARE = 0.12  # share of a text's words; English has .15 to .22, a half English text less than .11
_CALLED = {"no": "nb"}
_SPOKEN = re.compile(r"[^\W\d_]+")
_HAN, _KANA = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"), re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_KANA_SHARE = 0.05  # share of kana in a Japanese text; Chinese text with Japanese names has less
_OWN_SCRIPTS = {  # scripts that only one language uses
    "am": "\u1200-\u139f", "bn": "\u0980-\u09ff", "bo": "\u0f00-\u0fff", "el": "\u0370-\u03ff\u1f00-\u1fff",
    "gu": "\u0a80-\u0aff", "he": "\u05d0-\u05ea", "hy": "\u0531-\u0587", "kn": "\u0c80-\u0cff", "ko": HANGUL,
    "lo": "\u0e81-\u0edf", "ml": "\u0d00-\u0d7f", "si": "\u0d80-\u0dff", "ta": "\u0b80-\u0bff", "te": "\u0c00-\u0c7f",
    "th": "\u0e01-\u0e4e",
}  # fmt: skip
_LETTERS_A_WORD = {"zh": 2, "ja": 2, "ko": 3}
_LONG_WORD = 5  # letters per word in other languages


def first_language(items: Iterable[T], before: Iterable[str] = ()) -> tuple[Iterable[T], str | None]:
    """Return the items, unchanged, and the language of the first documents among them.

    `before`: texts already in the collection. The language is None if it cannot be detected yet.
    """
    stream = iter(items)
    seen: list[T] = []
    texts = dict.fromkeys(islice(before, _DOCUMENTS))  # a repeated document adds no evidence about the language
    earlier = len(texts)
    for item in islice(stream, _ITEMS):
        seen.append(item)
        if isinstance(item, Document):
            texts["\n".join([item.title, *[section.text[:_CHARACTERS] for section in item.sections[:20]]])] = None
        if len(texts) >= earlier + _DOCUMENTS or sum(map(len, texts)) >= _CHARACTERS:
            break
    return chain(seen, stream), detect_language(texts)


def detect_language(texts: Iterable[str]) -> str | None:
    """Return the language of most of the texts as an ISO 639-1 code, or None if they are too short or too mixed.

    A script that only one language uses decides at any length.
    """
    words = _SPOKEN.findall(" ".join(texts)[: 2 * _CHARACTERS])
    sample = " ".join(words)[:_CHARACTERS]
    if (code := _by_script(sample)) is not None:
        return code
    if len(sample.encode("utf-8", "ignore")) < _LEAST:
        return None
    if _is_plainly_english(sample.lower().split()):
        return "en"
    code, share = _identifier().classify(sample)
    code = _CALLED.get(code, code)
    return code if share >= _SURE and is_known(code) else None


def _by_script(sample: str) -> str | None:
    """Return the language whose script most words of a sample have, if only one language uses it."""
    if sample.isascii():
        return None
    han, kana = len(_HAN.findall(sample)), len(_KANA.findall(sample))
    letters = {code: len(re.findall(f"[{script}]", sample)) for code, script in _OWN_SCRIPTS.items()}
    letters["ja" if kana > _KANA_SHARE * (han + kana) else "zh"] = han + kana
    code = max(letters, key=lambda code: _words(code, letters[code]))
    others = sum(map(len, sample.split())) - letters[code]
    return code if _words(code, letters[code]) > others / _LONG_WORD else None


def _words(code: str, letters: int) -> float:
    return letters / _LETTERS_A_WORD.get(code, _LONG_WORD)


def _is_plainly_english(words: list[str]) -> bool:
    """Return whether a text is clearly English, so that the model, slow to load, is not needed."""
    return sum(map(_ENGLISH.__contains__, words)) > _ENGLISH_SHARE * len(words)


def in_language(settings: Settings, language: str | None) -> Settings:
    """Return the settings for a collection in a language. Raises ConfigurationError for an unknown code."""
    if language is not None:
        check_language(language)
    return settings.model_copy(update={"indexing": settings.indexing.model_copy(update={"language": language})})


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # the import takes half a second

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
