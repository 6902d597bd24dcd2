"""The names that a trained pipeline of spaCy finds in texts, where one is set."""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.tokens import is_unspaced, normalise
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import require_extra

_NO_NAMES = frozenset("DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL".split())


def named_entities(text: str, pipeline: str | None, language: Language = ENGLISH) -> Mapping[str, str]:
    """Return the names that a trained pipeline finds in a text: normal form -> spelling.

    None finds none.

    Numbers, dates and the like are no names. Raises ConfigurationError without spaCy, or if there is no such pipeline.
    """
    return _names(text, pipeline, language) if pipeline else {}


@lru_cache(maxsize=4096)  # statistics and mentions ask for the same texts, a batch apart
def _names(text: str, pipeline: str, language: Language) -> Mapping[str, str]:
    names: dict[str, str] = {}
    for entity in _trained(pipeline)(text).ents:
        words = entity.text.split()
        surface = " ".join(words[1:] if words[:1] and words[0].lower() in language.articles else words)
        normal = normalise(surface, language)
        short = len(normal) < (2 if is_unspaced(normal) else 3)
        if entity.label_ not in _NO_NAMES and not short and normal not in language.stop_words:
            names.setdefault(normal, surface)
    return names


@cache
def _trained(pipeline: str) -> Any:
    remedy = f"Run `{{}}` and `python -m spacy download {pipeline}`, or unset KGRAG_INDEXING__PIPELINE."
    with require_extra("spacy", f"The pipeline {pipeline!r} needs spaCy, which is not installed.", remedy):
        import spacy
    try:
        return spacy.load(pipeline, exclude=["parser", "lemmatizer"])  # neither finds names, and they take longest
    except (OSError, ImportError, ValueError) as error:
        raise ConfigurationError(
            f"spaCy cannot load the pipeline {pipeline!r}: {' '.join(str(error).split())[:300]}",
            f"Install it (python -m spacy download {pipeline}), or unset KGRAG_INDEXING__PIPELINE.",
        ) from error
