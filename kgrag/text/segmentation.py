"""Texts -> sentences, by the rules of their language."""

from collections.abc import Iterator

from sentencex import segment

from kgrag.text.languages import check_language

_BLOCK = 50_000  # characters that are cut at once: runs of opening quotation marks take time in their square


def sentences(paragraph: str, language: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, stripped, by the rules of a language ("en", "de", ...).

    Where a language has no rules of its own, those of a related one or of English serve ("xx": of several). Raises
    ConfigurationError for a code that names no language.
    """
    check_language(language)
    for start in range(0, len(paragraph), _BLOCK):
        yield from filter(None, map(str.strip, segment(language, paragraph[start : start + _BLOCK])))
