"""The names of a text as maps, for comparisons in tests."""

from collections.abc import Callable, Collection

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.names import capitalised_phrases, find_names
from kgrag.text.tokens import Words


def known_names(
    words: Words, is_name: Callable[[str], bool], skip: Collection[str] = (), language: Language = ENGLISH
) -> dict[str, list[int]]:
    """Return the known names in a text: normal form -> numbers of their first words."""
    places: dict[str, list[int]] = {}
    for name in find_names(words, is_name, skip, language):
        places.setdefault(name.name, []).append(name.first)
    return places


def phrases_of(words: Words, language: Language = ENGLISH) -> dict[str, str]:
    """Return the phrases of a text that count as names: normal form -> form in the text."""
    phrases = [p for p in capitalised_phrases(words, language) if p.kind != "none"]
    result: dict[str, str] = {}
    for phrase in phrases:
        result.setdefault(phrase.name, words.written(phrase.first, phrase.last, phrase.name))
    return result
