"""Find the pages, tables and sections that a question names, by a small grammar of numbers, labels and headings.

It sees only the wording and decides only unambiguous cases; a language model, if configured, decides the rest.
Source: KGP, section 4 (questions on the structure of documents).
"""

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from kgrag.text.languages import STOP_WORDS
from kgrag.text.letters import fold, word_lists

Kind = Literal["page", "table", "section"]
Ask = Literal["text", "count"]
Span = tuple[int, int]
Key = tuple[str, ...]

_CARDINALS = "one two three four five six seven eight nine ten eleven twelve".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()
_NUMBERS = {word: n for words in (_CARDINALS, _ORDINALS, _ROMAN) for n, word in enumerate(words, 1)}
_FROM_THE_END = {"last": -1, "final": -1, "penultimate": -2}

_KINDS: dict[str, Kind] = {"page": "page", "slide": "page", "sheet": "page", "table": "table"}
_HEADED = "section|subsection|chapter|heading|appendix"
_ONE = rf"page|slide|sheet|table|{_HEADED}"
_ANY = rf"(?:{_ONE})s?|appendices"
_VALUE = (
    rf"(?:\d{{1,5}}(?:\.\d{{1,3}})*[a-z]?|[a-z]{{1,2}}-?\d{{1,3}}(?:\.\d{{1,3}})*|{'|'.join(_CARDINALS + _ROMAN[1:])}"
    r"|[ivx](?=\s*(?:$|[^\s\w]|of\b|in\b))|(?-i:[B-HJ-Z])|(?<=appendix )(?-i:A))(?!\w)"
)
_JOINED = r"\s*(?:,\s*and\b|,|\band\b|\bor\b|\bto\b|\bthrough\b|[-–])\s*"
_BESIDE = re.compile(r",?\s*\b(?:and|or|to|with|from|vs)\b\.?\s*(?:the\s+)?", re.I)
_NAMED = re.compile(
    rf"\b(?:(?P<place>{'|'.join([*_ORDINALS, *_FROM_THE_END])}|\d+(?=st|nd|rd|th))(?:st|nd|rd|th)?\s+(?P<one>{_ONE})\b"
    rf"|(?P<any>{_ANY})\s+(?P<values>{_VALUE}(?:{_JOINED}{_VALUE})*))",
    re.I,
)
_COUNTED = re.compile(rf"\b(?:how many|number of)\s+(?:the\s+)?({_ANY})\b", re.I)
_TABLE = re.compile(r"\btables?\b", re.I)
_NOUN = re.compile(rf"\b(?:{_ANY})\b", re.I)
_BEFORE_HEADING = re.compile(
    rf"\b(?:{_HEADED})\b(?:\s+(?:titled|entitled|called|named|on|about)\b)?(?:\s+the\b)?", re.I
)
_SPELT = (
    (r"['’]s\b", ""),
    (r"§+\s*", " section "),
    (r"\bpp\b\.?\s*(?=\d)", "pages "),
    (r"\b(?:p|pgs?)\b\.?\s*(?=\d)|\bp\.\s*(?=[ivxl]+\b)", "page "),
    (r"\b(?:sec|chap|ch)\.\s*(?=\d)", "section "),
    (rf"\b({_ANY})\s*(?:(?:number|nr|no)\b\.?|#|№)?\s*(?=\d)", r"\1 "),
)
_ASKING = (STOP_WORDS | word_lists("kgrag.agents")["asking"]) - set(  # words that only ask, or refer to a document
    "after before about where who whom why when first one two three".split()
)


class Part(NamedTuple):
    """A page, table or section: by number (from 1; negative: from the end), by label, or by its heading's words."""

    number: int = 0
    label: str = ""
    heading: Key = ()

    @property
    def called(self) -> str:
        """The words that name the part in a question."""
        last = {number: word for word, number in reversed(_FROM_THE_END.items())}
        return f'"{self.label}"' if self.heading else self.label or last.get(self.number) or str(self.number)


@dataclass(frozen=True, slots=True)
class PartRequest:
    """The request of a question: the text of `parts` (all parts if it names none), or their number.

    `on`: the pages with the requested tables. `spans`: the characters of the question with the request. `beside`:
    another requested part ("page 1 and table 1").
    """

    kind: Kind
    ask: Ask
    parts: tuple[Part, ...] = ()
    on: tuple[Part, ...] = ()
    spans: tuple[Span, ...] = ()
    beside: "PartRequest | None" = None


class Question:
    """The wording of a question with abbreviations expanded; `words`: each in the form of `key`, with start and end."""

    def __init__(self, question: str) -> None:
        text = unicodedata.normalize("NFKC", question)
        for pattern, replacement in _SPELT:
            text = re.sub(pattern, replacement, text, flags=re.I)
        self.text = " ".join(text.split())
        self.words = [(key(m[0])[0], m.start(), m.end()) for m in re.finditer(r"[^\W_]+", self.text) if key(m[0])]
        self.kinds: set[Kind] = {_kind_of(m[0]) for m in _NOUN.finditer(self.text)}

    def part(self) -> PartRequest | None:
        """Return the part that the question names by number or label, or None."""
        mentions = list(self._named())
        kinds = {kind for kind, _, _ in mentions} - {"page"}
        parts = tuple(p for kind, own, _ in mentions if kind != "page" for p in own)
        pages = tuple(p for kind, own, _ in mentions if kind == "page" for p in own)
        spans = tuple(span for _, _, span in mentions)
        if counted := _COUNTED.search(self.text):
            kind = _kind_of(counted[1])
            if kinds or (pages and kind != "table"):
                return None
            return PartRequest(kind, "count", on=pages, spans=(*spans, counted.span()))
        if pages and kinds and self._stand_beside(mentions):
            pages, beside = (), PartRequest("page", "text", pages)
        else:
            beside = None
        if kinds:
            return PartRequest(kinds.pop(), "text", parts, pages, spans, beside) if len(kinds) == 1 else None
        if pages and (table := _TABLE.search(self.text)):
            return PartRequest("table", "text", on=pages, spans=(*spans, table.span()))
        return PartRequest("page", "text", pages, spans=spans) if pages else None

    def _stand_beside(self, mentions: Sequence[tuple[Kind, list[Part], Span]]) -> bool:
        """Return whether a page is named as a separate part, and not as the location of another part."""
        between = (
            (self.text[first[1] : second[0]], kind, other)
            for (kind, _, first), (other, _, second) in pairwise(mentions)
        )
        return any(_BESIDE.fullmatch(text) and "page" in (one, other) and one != other for text, one, other in between)

    def _named(self) -> Iterator[tuple[Kind, list[Part], Span]]:
        """Yield nouns with values after them or an ordinal before them: "page 3", "tables 1 and 2", "the last page"."""
        for match in _NAMED.finditer(self.text):
            if place := match["place"]:
                parts = [Part(_FROM_THE_END.get(place.lower()) or int(number_of(place)))]
            else:
                parts = [part_of(value) for value in re.split(_JOINED, match["values"], flags=re.I)]
                if len(parts) == 2 and re.search(r"\d\s*[-–]|\bto\b|\bthrough\b", match["values"]):
                    first, last = parts[0].number, min(parts[1].number, parts[0].number + 99)
                    parts = [part_of(str(number)) for number in range(first, last + 1)] if 0 < first < last else parts
            yield _kind_of(match["one"] or match["any"]), parts, match.span()

    def headings(self) -> Iterator[PartRequest]:
        """Yield the sections that the question may name by words next to "section", the longest first."""
        runs: list[tuple[int, int, Span]] = []
        for noun in _BEFORE_HEADING.finditer(self.text):
            after = [(start, end) for _, start, end in self.words if start >= noun.end()][:8]
            before = [(start, end) for _, start, end in self.words if end < noun.start()][-8:]
            runs += [(after[0][0], end, (noun.start(), end)) for _, end in after]
            runs += [(start, before[-1][1], (start, noun.end())) for start, _ in before]
        for start, end, span in sorted(runs, key=lambda run: run[0] - run[1]):
            words = key(self.text[start:end])
            if not all(_only_asks(word) or word.isdigit() for word in words):
                yield PartRequest("section", "text", (Part(0, self.text[start:end], words),), spans=(span,))

    def asks_only_for(self, request: PartRequest, named: Container[int]) -> bool:
        """Return whether every other word belongs to the request, or starts at one of the characters `named`."""
        left = [(word, at) for word, at, _ in self.words if not any(a <= at < b for a, b in request.spans)]
        return all(_only_asks(word) or at in named for word, at in left)


def key(text: str) -> Key:
    """Return the words of a name for comparison, without case, diacritics and punctuation."""
    return tuple(re.findall(r"[^\W_]+", fold(unicodedata.normalize("NFKC", text)).casefold()))


def _only_asks(word: str) -> bool:
    return word in _ASKING or _NOUN.fullmatch(word) is not None


def _kind_of(noun: str) -> Kind:
    return _KINDS.get(noun.lower().removesuffix("s"), "section")


def number_of(text: str) -> str:
    """Return a number written as "4", "four" or "iv" in digits; other text in lower case."""
    return str(_NUMBERS.get(text.lower(), text.lower()))


def part_of(text: str) -> Part:
    """Return the part that a number or label names: "-1", "3", "three", "iv", "4.2", "B"."""
    label = number_of(text) if text.lower() in _CARDINALS else text.lower()
    number = int(label) if re.fullmatch(r"-?\d{1,5}", label) else 0
    return Part(number, "" if number < 0 else label)


def heading_number(heading: str) -> str:
    """Return the number (in digits) or letter at the start of a heading; empty if it has neither."""
    match = _HEADING_NUMBER.match(heading)
    return number_of(match[1]) if match else ""


def heading_forms(heading: str) -> tuple[Key, Key]:
    """Return all words of a heading, and the words after its number ("Chapter 3: Oars", "3.2 Oars")."""
    return key(heading), key(_HEADING_NUMBER.sub("", heading))


_HEADING_NUMBER = re.compile(
    rf"^(?:(?:section|chapter|appendix|part)\s+|§\s*)?"
    rf"(\d+(?:\.\d+)*|[ivx]+|[a-z]|(?<=\w\s)(?:{'|'.join(_CARDINALS)}))(?=[.):\s–-]|$)[.):\s–-]*",
    re.I,
)
