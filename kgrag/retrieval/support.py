"""Which sentence of a passage supports a claim, and which sentences of an answer none supports.

Words are compared, not meanings: what is called supported says the same names, numbers and words, with the same
negation, of the same subject. A claim in other words than its passage may be missed; a claim on something else is not
to pass. English has all rules; in other languages, and where answer and passage differ in theirs, names and numbers
count alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import fsum, log1p

from kgrag.retrieval.claims import ARTICLES, CITATION, claims_nothing, says
from kgrag.text.sentences import glued_sentence_ends
from kgrag.text.tokens import UNSPACED_LETTER, is_content, is_unspaced, stems_in, words_of
from kgrag.values.results import Item, Passage, Summary

_CLOSE = "[\"'”’」』)\\]]*"
_END = re.compile(rf"(?<=[.!?…]){_CLOSE}\s+(?![a-z])|(?<=[。！？]){_CLOSE}|\n\s*\n|\n(?![a-z])")
_SHORT = re.compile(
    r"(?:\b(?:Mrs?|Ms|Dr|Prof|St|Sr|Jr|No|Nr|vs|ca|c|cf|approx|al|pp?|(?i:figs?|vol|sec|ch|eqs?)|Gen|Col|Capt|Lt|Sgt|Rev|"
    r"Jan|Feb|Aug|Sept?|Oct|Nov|Dec|[A-Z])\.|(?<![\d–-])\d{1,2}\.)\Z"
)
_MONTH = re.compile("jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|o[kc]t|nov|de[zc]", re.IGNORECASE)
_SUBJECT, _HEADING = 0.25, 0.3
"""Weights of a word of the title and of a heading, beside any other word."""
_FEW = 6  # words of a line without an end that is a heading

_ENGLISH = frozenset("the of and is by with from has were an are had at on".split())
_BETWEEN = re.compile(r"\s+(?:(?:of|the|de|di|du|la|le|von|van|der|den|af|al)\s+)*")
_NAME_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHOSEN = frozenset(("yes", "no", "true", "false", "both", "neither", "ja", "nein", "oui", "non", "si", "sí"))
"""Short answers that no passage has to hold."""
_LEAST = 3
"""Letters of a word that counts."""


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a text stands: from its first character to behind its last."""
    begin = 0
    ends = [(match.start(), match.end(), "\n" in match[0]) for match in _END.finditer(text)]
    for start, end, is_line in sorted([*ends, *((place, place, False) for place in glued_sentence_ends(text, "en"))]):
        if not is_line and _is_short(text[begin:start].rstrip("\"'”’)]"), text[end:]):
            continue
        if text[begin:end].strip():
            yield _trimmed(text, begin, end)
        begin = end
    if text[begin:].strip():
        yield _trimmed(text, begin, len(text))


def _is_short(text: str, following: str) -> bool:
    """Return whether a text ends with an abbreviation; a letter or a number behind a noun ("hall B.") is none.

    A number is one where it begins a line or a month follows it: "1. First", "3. Mai".
    """
    match = _SHORT.search(text)
    if match is None:
        return False
    if match[0][0].isdigit():
        return match.start() == 0 or text[match.start() - 1] == "\n" or _MONTH.match(following) is not None
    before = text[: match.start()].split()[-1:] if len(match[0]) == 2 else []
    return not any(word.islower() and is_content(word) for word in before)


def nearest_sentence(claim: str, text: str, title: str = "") -> tuple[int, int]:
    """Return where the sentence stands that shares most with a claim, the first of equals; (0, 0): none shares a word.

    A word counts the more, the fewer sentences have it: names and numbers most. One of the title counts less: every
    sentence of the passage is about that.
    """
    best, place = 0.0, (0, 0)
    for worth, start, end in _worths(claim, text, title):
        if worth > best:
            best, place = worth, (start, end)
    return place


def support(claim: str, text: str, title: str = "", others: Sequence[Passage] = ()) -> tuple[int, int]:
    """Return where the sentence of a passage stands that supports a claim; (0, 0) where none does.

    Args:
        claim: a sentence, or a part of one, of an answer.
        text: the text of the passage.
        title: what the passage is about, which its sentences may leave out.
        others: passages that are cited beside it, which may say who is meant: "the designer of the Fram".
    """
    if not (_is_english(claim) and _is_english(text)):
        place = nearest_sentence(claim, text, title)
        forms = _forms(f"{title} {text}")
        return place if all(_forms(part) <= forms for part in _names_and_numbers(claim)) else (0, 0)
    ranked = sorted(_worths(claim, text, title), key=lambda row: (-row[0], row[1]))
    parts = list(sentences(text))
    for worth, start, end in ranked:
        if worth <= 0:
            break
        before = text[slice(*parts[parts.index((start, end)) - 1])] if (start, end) != parts[0] else ""
        if says(claim, text[start:end], title, before, text, others):
            return start, end
    return 0, 0


def unsupported(text: str, items: Sequence[Item], question: str, *, short: bool) -> tuple[str, ...]:
    """Return what of an answer no passage supports: of a short answer all of it, of a longer one whole sentences.

    A short answer is supported when one passage, or the question, has each of its words. A sentence is supported when
    each part of it is supported by what is cited behind that part; where nothing is cited, by any item.
    """
    if short:
        texts = [_forms(f"{part.title} {part.text}") for item in items for part in _parts(item)]
        repeated = _forms(question)
        words = [w for w in _in_order(text) if len(w) >= _LEAST or w.isdigit() or (len(w) > 1 and is_unspaced(w))]
        bare = not words or set(words) <= _CHOSEN
        return () if bare or any(their | repeated >= set(words) for their in texts) else (text,)
    return tuple(
        dict.fromkeys(
            CITATION.sub("", text[start:end]).strip(" *_#-")
            for start, end in sentences(text)
            if not all(
                claims_nothing(claim) or is_supported(claim, _cited(items, numbers))
                for claim, numbers in claims_of(text[start:end])
            )
        )
    )


def claims_of(sentence: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the parts of a sentence, each with the numbers that are cited behind it; none: nothing is cited at all."""
    marks = [(match.start(), match.end(), int(match[0].strip(" []"))) for match in CITATION.finditer(sentence)]
    if not marks:
        yield sentence, []
        return
    begin, claim, numbers = 0, "", list[int]()
    for start, end, number in marks:
        if sentence[begin:start].strip(" ,.;"):
            if numbers:
                yield claim, numbers
            claim, numbers = sentence[begin:start], []
        numbers.append(number)
        begin = end
    yield f"{claim}{sentence[begin:]}" if not claims_nothing(sentence[begin:]) else claim, numbers


def is_supported(claim: str, items: Sequence[Item]) -> bool:
    """Return whether a sentence of one of the items supports a claim."""
    parts = [part for item in items for part in _parts(item)]
    passages = [part for part in parts if isinstance(part, Passage)]
    return any(
        support(claim, part.text, part.title, [other for other in passages if other is not part])[1] > 0
        for part in parts
    )


def _cited(items: Sequence[Item], numbers: Sequence[int]) -> Sequence[Item]:
    cited = [items[number - 1] for number in numbers if 1 <= number <= len(items)]
    return cited or items


def _worths(claim: str, text: str, title: str) -> Iterator[tuple[float, int, int]]:
    """Yield how much each sentence shares with a claim, and where it stands."""
    parts = [(start, end, stems_in(text[start:end])) for start, end in sentences(text)]
    often = Counter(chain.from_iterable(there for *_, there in parts))
    about = stems_in(title)
    weights = {
        stem: log1p(len(parts) / often[stem]) * (_SUBJECT if stem in about else 1.0)
        for stem in stems_in(claim)
        if stem in often
    }
    for start, end, there in parts:
        worth = fsum(weights[stem] for stem in there & weights.keys())
        if text[end - 1].isalnum() and len(text[start:end].split()) < _FEW:
            worth *= _HEADING
        yield worth, start, end


def _is_english(text: str) -> bool:
    words = set(text.lower().split())
    if len(UNSPACED_LETTER.findall(text)) > len(words):
        return False
    return "the" in words or len(words & _ENGLISH) > 1 or not words & _OTHER


_OTHER = frozenset(
    "der die das und ist ein eine wurde nicht le la les des est une dans el los las una es en y il di che het een och "
    "att som på av".split()
)
"""Words that English has not, of languages with the same letters."""


def _names_and_numbers(text: str) -> list[str]:
    """Return names of several words, and numbers of several digits."""
    plain = CITATION.sub("", text)
    return [*_names(plain), *(number for number in _NUMBER.findall(plain) if len(number) > 1)]


def _parts(item: Item) -> Iterable[Passage | Summary]:
    return [item] if isinstance(item, Summary) else item


def _in_order(text: str) -> list[str]:
    return words_of(text)


def _forms(text: str) -> frozenset[str]:
    return frozenset(_in_order(text))


def _names(text: str) -> list[str]:
    """Return runs of two or more capitalised words, without an article before them."""
    names: list[str] = []
    row: list[re.Match[str]] = []
    for word in _NAME_WORD.finditer(text):
        if not word[0][0].isupper():
            continue
        if row and not _BETWEEN.fullmatch(text, row[-1].end(), word.start()):
            names, row = [*names, _name(text, row)], []
        if row or word[0].lower() not in ARTICLES:
            row.append(word)
    return [name for name in [*names, _name(text, row)] if " " in name]


def _name(text: str, row: Sequence[re.Match[str]]) -> str:
    return text[row[0].start() : row[-1].end()] if row else ""


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())
