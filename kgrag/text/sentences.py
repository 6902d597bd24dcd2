"""Sentences of a text by the rules of its language; their stems are stored as one string that is fast to search.

Stems are between spaces and sentences between bars. A caret follows a word that may be a name: a capitalised word that
is neither at the beginning of its sentence nor in the passage's title.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise

from sentencex import segment

from kgrag.text.languages import check_language, language_of
from kgrag.text.tokens import Token, glued_ends

_RUN, _CODE = re.compile(r"\S+"), re.compile(r"[/\\:=_(<@#]|\w\.\w+\.\w")
_LONGEST_ABBREVIATION = 24  # characters with the word before it
_BEFORE_NUMBER = re.compile(r"\b(?:approx|art|ca|chap|eqs?|figs?|kl|nos?|nr|pag|pp?|sec|tab|vol)\.\Z", re.IGNORECASE)
_LETTER = re.compile(r"\b[^\W\d_]\.\Z")  # "5 p. m. del lunes"
_TITLE = re.compile(r"\b(?:Dr|Prof)\.[^\W\d_]\Z")
_RULES = {  # by language: false ends of sentences found by segmentation
    "de": re.compile(r"\b(?:[dD](?:as|e[mnrs]|ie)|[iaIA]m|[vV]om|[zZ]u[mr]|[bB]eim)\s\d{1,3}\.[A-ZÄÖÜ]\Z"),
    "fr": re.compile(r"\b(?:MM?|M(?:mes?|lles?|gr|e)|Drs|Pr|Ste?)\.[^\W\d_]\Z"),
    "ja": re.compile("[。！？][」』]と\\Z"),
}
_BLOCK = 50_000  # characters segmented at once; runs of opening quotation marks take quadratic time


def sentences(text: str, language: str) -> Iterator[str]:
    """Yield the sentences of a text, stripped, by the rules of a language ("en", "de", ...).

    A language without rules uses the rules of a related language or of English ("xx" means several languages). Raises
    ConfigurationError for an unknown code.
    """
    return (text[start:end] for start, end in sentence_spans(text, language))


def sentence_spans(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence that `sentences` yields.

    Text without white space is never split ("Console.WriteLine", "a!=b", "https://example.org/Ships.Html"), unless a
    sentence ends without a space ("in Oslo.The ship"), or with a sign of a script without spaces.
    """
    check_language(language)
    glued = glued_sentence_ends(text, language)
    begin = place = 0
    for start in range(0, len(text), _BLOCK):
        for part in segment(language, text[start : start + _BLOCK]):
            place += len(part)
            if place < len(text) and (_is_within_word(text, place, glued) or _goes_on(text, place, language)):
                continue
            sentence = text[begin:place]
            if sentence.strip():
                yield begin + len(sentence) - len(sentence.lstrip()), begin + len(sentence.rstrip())
            begin = place


def _is_within_word(text: str, place: int, glued: Container[int]) -> bool:
    around = text[place - 1 : place + 1]
    return around.isascii() and not any(map(str.isspace, around)) and place not in glued


def _goes_on(text: str, place: int, language: str) -> bool:
    """Return whether a sentence continues at a position, after an abbreviation, an ordinal number or a quotation."""
    before, after = text[max(0, place - _LONGEST_ABBREVIATION) : place].rstrip(), text[place]
    if after.isdigit():
        return _BEFORE_NUMBER.search(before) is not None
    if after.islower() and _LETTER.search(before) is not None:
        return True
    return any(rule.search(before + after) for rule in (_TITLE, _RULES.get(language)) if rule is not None)


def glued_sentence_ends(text: str, language: str) -> set[int]:
    """Return the positions after points that end a sentence without a following space, outside addresses and code."""
    ends = glued_ends(text, language_of(language))
    for run in _RUN.finditer(text) if ends else ():
        if _CODE.search(run[0]):
            ends.difference_update(range(*run.span()))
    return ends


_BAR, _CARET = "|", "^"


def join_sentences(words: Sequence[Token], stems: Sequence[str], title: Iterable[str]) -> str:
    """Return the sentences of a text, given its words, the stem of each, and the stems of its title."""
    parts = [" "]
    spent = set(title)
    for i, (word, stem) in enumerate(zip(words, stems, strict=True)):
        first = word.starts or i == 0
        if first and i > 0:
            parts.append(f"{_BAR} ")
        parts.append(f"{stem} ")
        if not first and word.raw[0].isupper() and stem not in spent:
            parts.append(f"{_CARET} ")
    return "".join(parts)


def split_sentences(joined: str) -> list[str]:
    """Return the sentences of a text, each with its stems between spaces."""
    return joined.split(_BAR)


def names_in(sentence: str) -> list[str]:
    """Return the stems in a sentence that may be names."""
    return [stem for stem, mark in pairwise(sentence.split()) if mark == _CARET]
