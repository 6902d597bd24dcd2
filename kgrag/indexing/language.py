"""spaCy: the sentences of many languages, and the names that a trained pipeline finds.

Imported where they are needed: spaCy takes a second to load, and short documents never need it.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from kgrag.text.languages import ENGLISH, Language, check_language
from kgrag.text.tokens import normalise
from kgrag.values.errors import ConfigurationError

_LOG = logging.getLogger(__name__)
_BLOCK = 50_000  # characters that spaCy is given at once; its memory grows with the text
_NO_WORD = re.compile(r"(?:[^\w\s]|_){40,}|[!-~]{200,}")
"""Rules, dot leaders, encoded data: spaCy's tokenizer parts signs from a token one by one, each time in its length."""
_NO_NAMES = frozenset("DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL".split())


def sentences(paragraph: str, language: str) -> Iterator[str]:
    """The sentences of a paragraph, by the rules of a language ("en", "de", ...; "xx": of several).

    Where spaCy needs another package for a language, those of several serve. Raises ConfigurationError for a language
    that spaCy does not know.
    """
    masked = _NO_WORD.sub(lambda found: "x" * len(found[0]), paragraph)
    for start in range(0, len(paragraph), _BLOCK):
        for sentence in _sentencizer(language)(masked[start : start + _BLOCK]).sents:
            text = paragraph[start + sentence.start_char : start + sentence.end_char].strip()
            if text:
                yield text


def named_entities(text: str, pipeline: str | None, language: Language = ENGLISH) -> Mapping[str, str]:
    """The names that a trained pipeline finds in a text: normal form -> how it is written. None finds none.

    Numbers, dates and the like are no names. Raises ConfigurationError if there is no such pipeline.
    """
    return _found(text, pipeline, language) if pipeline else {}


@lru_cache(maxsize=4096)  # statistics and mentions ask for the same texts, a batch apart
def _found(text: str, pipeline: str, language: Language) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for entity in _trained(pipeline)(text).ents:
        words = entity.text.split()
        surface = " ".join(words[1:] if words[:1] and words[0].lower() in language.articles else words)
        normal = normalise(surface, language)
        short = 2 if language.unparted else 3
        if entity.label_ not in _NO_NAMES and len(normal) >= short and normal not in language.stop_words:
            found.setdefault(normal, surface)
    return found


@cache
def _sentencizer(language: str) -> Any:
    import spacy

    try:
        pipeline = spacy.blank(language)
    except ImportError as error:
        check_language(language)
        said = " ".join(str(error).split())
        _LOG.warning("Sentences in %r are found by the rules for several languages: %s", language, said)
        pipeline = spacy.blank("xx")
    pipeline.add_pipe("sentencizer")
    return pipeline


@cache
def _trained(pipeline: str) -> Any:
    import spacy

    try:
        return spacy.load(pipeline, exclude=["parser", "lemmatizer"])  # neither finds names, and they take longest
    except (OSError, ImportError, ValueError) as error:
        raise ConfigurationError(
            f"spaCy cannot load the pipeline {pipeline!r}: {' '.join(str(error).split())[:300]}",
            f"Install it (python -m spacy download {pipeline}), or unset KGRAG_INDEXING__PIPELINE.",
        ) from error
