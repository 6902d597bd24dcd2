"""Headings that a question names by their words: "what does section Oars say", "the chapter on rowing".

Which words are the heading, the headings themselves decide: the longest run of words beside "section" or "chapter"
that is one. What is none is only said to be missing where the question can ask for nothing else.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from kgrag.agents.structure.words import (
    BEGINS,
    DOCUMENT_WORDS,
    Named,
    Ref,
    asks_where,
    is_heading_noun,
    is_request,
    parts,
    spelt,
    spelt_as_written,
)
from kgrag.text import STOP_WORDS, stems

NUMBER = re.compile(r"(?:section|chapter|appendix|part|§)?\s*([0-9]+(?:\.[0-9]+)*|[ivxlc]+|[a-z])(?=[.):\s-]|$)", re.I)
_KIND = re.compile(r"(?:section|chapter|part)\s+(?=\S)", re.I)
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]+)[\"“”»]|(?<!\w)['‘‚]([^'‘’]+)['’](?!\w)")
_QUOTES = frozenset("\"“”„«»'‘’‚")
_TITLED = frozenset("titled entitled called named headed labelled labeled".split())
_ON = frozenset("on about regarding concerning covering".split())
_OF = frozenset("of in from inside within".split())
_ARTICLES = frozenset("the a an this that its".split())
_SAYS = frozenset(
    """say says tell tells read reads contain contains state states mention mentions cover covers show give print
    display open quote summarise summarize explain describe translate cite paraphrase content contents text""".split()
)
_ORDERS = frozenset("summarise summarize explain describe translate quote cite paraphrase analyse analyze".split())
_ENDS = frozenset("please about stand stands".split())
_BEFORE = frozenset(["", "in", "within", "under", "to", "from", "of", "does", "do", "and", *_SAYS])
_NEAREST = 3
_LIKE = 0.6  # of the letters of a word
_LONGEST = 16  # words of a heading that are looked at

Key = tuple[str, ...]


class Headings:
    """The headings of a document, by the words that they are named by."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self._tops: dict[str, str] = {}
        self._keys: dict[Key, list[str]] = {}
        for path in paths:
            steps = path.split(" > ")
            for depth, heading in enumerate(steps, 1):
                top = " > ".join(steps[:depth])
                if top not in self._tops:
                    self._tops[top] = heading
                    for form in _forms(heading):
                        self._keys.setdefault(key_of(spelt(form)), []).append(top)
        self._keys.pop((), None)

    def under(self, top: str) -> list[str]:
        """The paths of a heading and of all below it."""
        return [p for p in self.paths if p == top or p.startswith(f"{top} > ")]

    def named(self, key: Key, written: str = "") -> list[str]:
        """The paths of the headings of these words, whatever their case and marks; those `written` so go first."""
        found = list(dict.fromkeys(self._keys.get(key, ())))
        return [top for top in found if self.stands(top, written)] or found

    def stands(self, top: str, written: str) -> bool:
        """Whether a heading stands in a text letter by letter, with or without its number."""
        whole = _plain(written)
        return any(re.search(rf"(?<!\w){re.escape(_plain(form))}(?!\w)", whole) for form in _forms(self._tops[top]))

    def holding(self, key: Key) -> list[str]:
        """The path of the one heading that holds these words and others; none where several do."""
        wanted = _stemmed(key)
        holding = [tops for held, tops in self._keys.items() if wanted and _holds(_stemmed(held), wanted)]
        found = list(dict.fromkeys(top for tops in holding for top in tops))
        return found if len(found) == 1 else []

    def find(self, key: Key, written: str = "") -> list[str]:
        """The paths of the headings of these words, else that of the one that holds them."""
        return self.named(key, written) or self.holding(key)

    def nearest(self, key: Key) -> list[str]:
        """The headings that are most like these words, best first."""
        wanted = [word for word in key if word not in STOP_WORDS] or key or ("",)
        scores: dict[str, float] = {}
        for held, tops in self._keys.items():
            like = fmean(max(difflib.SequenceMatcher(None, word, other).ratio() for other in held) for word in wanted)
            for top in tops:
                scores[self._tops[top]] = max(scores.get(self._tops[top], 0.0), like)
        return sorted((heading for heading in scores if scores[heading] >= _LIKE), key=lambda h: -scores[h])[:_NEAREST]


@dataclass(frozen=True, slots=True)
class Wording:
    """A run of words, `start` to before `end`, that may be a heading; `noun` is the place of the word "section".

    `sure`: it is called a heading, by quotation marks or a word such as "titled". `before`: it stands before the noun.
    """

    start: int
    end: int
    noun: int
    sure: bool = False
    before: bool = False


class HeadingQuestion:
    """A question that may name a heading by its words."""

    def __init__(self, question: str) -> None:
        self.text = question
        self.words = tuple(spelt(question))
        self._raw = spelt_as_written(question)
        self._nouns = [i for i, word in enumerate(self.words) if is_heading_noun(word)]
        self._quoted = list(self._quotations())

    @property
    def is_one(self) -> bool:
        """Whether any words could be a heading."""
        return any(True for _ in self._wordings())

    @property
    def is_quoted(self) -> bool:
        """Whether a heading is named within quotation marks."""
        return bool(self._quoted)

    def read(self, documents: Sequence[Headings], covered: set[int]) -> Named | None:
        """What the question names, if any of the documents has such a heading; `covered` as in `guess`."""
        for wording in sorted(self._wordings(), key=lambda w: (not w.sure, w.start - w.end)):
            key = self._key(wording)
            tops = [(headings, top) for headings in documents for top in headings.named(key, self.text)]
            if not tops:
                continue
            asked = self._named(wording)
            written = any(headings.stands(top, self.text) for headings, top in tops)
            if wording.sure or covered >= set(asked.rest) or self._within(wording, written=written):
                return asked
        return None

    def guess(self, documents: Sequence[Headings], covered: set[int]) -> Named | None:
        """What the question must mean, although no heading has these words: one that holds them, or that is missing.

        `covered`: the numbers of the words that name a document.
        """
        for wording in self._trimmed(covered):
            asked = self._named(wording)
            left = [i for i in asked.rest if i not in covered and self.words[i] not in _ORDERS]
            if left and not wording.sure:
                continue
            held = any(headings.holding(self._key(wording)) for headings in documents)
            if held or self._is_sure(wording, covered):
                return asked
        return None

    def _wordings(self) -> Iterator[Wording]:
        """Longer ones before those within them."""
        if self._quoted:
            yield from self._quoted
            return
        for noun in self._nouns:
            first, sure = self._first(noun)
            for start in (first, first + 1) if first < len(self.words) and self.words[first] in _ARTICLES else (first,):
                for end in range(min(len(self.words), start + _LONGEST), start, -1):
                    yield Wording(start, end, noun, sure)
            for end in range(min(len(self.words), noun + _LONGEST), noun + 1, -1):
                yield Wording(noun, end, noun)  # "Chapter One" is its own heading
            for start in range(max(0, noun - _LONGEST), noun):
                yield Wording(start, noun, noun, before=True)
            if self.words[noun] == "appendix":
                yield Wording(noun, noun + 1, noun)

    def _first(self, noun: int) -> tuple[int, bool]:
        """Where a heading behind "section" begins, and whether it is said that it is one."""
        at = noun + 1
        following = self.words[at : at + 4]
        if following[:1] and following[0] in _TITLED:
            return at + 1, True
        if following[:3] in (("with", "the", "heading"), ("with", "the", "title"), ("under", "the", "heading")):
            return at + 3, True
        return (at + 1, False) if following[:1] and following[0] in _ON else (at, False)

    def _quotations(self) -> Iterator[Wording]:
        """Quoted words beside a noun: the section "Oars", the "Oars" section, the section that is called "Oars"."""
        for match in _QUOTED.finditer(unicodedata.normalize("NFKC", self.text)):
            inner = spelt(match[1] or match[2])
            for start in range(1, len(self.words) - len(inner)):
                end = start + len(inner)
                if list(self.words[start:end]) != inner or self.words[start - 1] not in _QUOTES or not key_of(inner):
                    continue
                behind = next((n for n in reversed(self._nouns) if n < start), None)
                between = () if behind is None else self.words[behind + 1 : start - 1]
                if behind is not None and all(w in _TITLED or w in _ON or is_request(w) for w in between):
                    yield Wording(start, end, behind, sure=True)
                elif (closed := end + 1) < len(self.words) and is_heading_noun(self.words[closed]):
                    yield Wording(start, end, closed, sure=True, before=True)

    def _trimmed(self, covered: set[int]) -> Iterator[Wording]:
        """The runs of words without what asks for them, and without the document."""
        if self._quoted:
            yield from self._quoted
            return
        for noun in self._nouns:
            start, sure = self._first(noun)
            while start < len(self.words) and self.words[start] in _ARTICLES:
                start += 1
            end = next((i for i in range(start, len(self.words)) if self._ends(i, covered)), len(self.words))
            if end > start and self.words[start] not in _OF:
                yield Wording(start, end, noun, sure)
            if self.words[noun] == "appendix":
                yield Wording(noun, noun + 1, noun)
            start = noun
            while start and not is_request(self.words[start - 1]) and self.words[start - 1] not in _ORDERS:
                start -= 1
            if start < noun:
                yield Wording(start, noun, noun, before=True)

    def _ends(self, at: int, covered: set[int]) -> bool:
        """Whether a heading that is looked for ends before a word."""
        word = self.words[at]
        if word in _OF:
            behind = next((i for i in range(at + 1, len(self.words)) if self.words[i] not in _ARTICLES), at)
            return behind in covered or self.words[behind] in DOCUMENT_WORDS
        return not word[0].isalnum() or word in _SAYS or word in BEGINS or word in _ENDS

    def _is_sure(self, wording: Wording, covered: set[int]) -> bool:
        """Whether a heading is meant even if there is none such: it is called one, or what it says is asked for."""
        if wording.sure:
            return True
        words, inner = self.words, range(wording.start, wording.end)
        outer = {i for i in range(len(words)) if i not in inner and i not in covered and i != wording.noun}
        bare = bool(covered) and all(words[i] in _ARTICLES or words[i] in _OF for i in outer)  # "section Oars of x.pdf"
        if covered.intersection(inner) or not (bare or _SAYS & {words[i] for i in outer}):
            return False
        if {"did", "said"} & set(words):
            return False
        capital = self._raw[wording.start][:1].isupper()
        if any(words[i] in _OF and self._raw[i + 1][:1].isupper() for i in inner if i + 1 < wording.end):
            return False  # "the chapter on whales in Moby Dick"
        on = wording.start > wording.noun + 1
        article = wording.noun > 0 and words[wording.noun - 1] in _ARTICLES
        return capital or (not wording.before and (on or not article))

    def _within(self, wording: Wording, *, written: bool) -> bool:
        """Whether something is looked for under the heading, rather than that its words happen to stand there.

        "Who played in the rhythm section?" asks of no heading "Rhythm".
        """
        first = min(wording.start, wording.noun)
        while first and self.words[first - 1] in _ARTICLES:
            first -= 1
        led = (self.words[first - 1] if first else "") in _BEFORE
        return led and (written or not wording.before) and self._may_follow(max(wording.end, wording.noun + 1))

    def _may_follow(self, at: int) -> bool:
        """Whether a heading may end before a word: the question ends there, or says what is asked of it."""
        if at >= len(self.words):
            return True
        word = self.words[at]
        return not word[0].isalnum() or word in _SAYS or word in _OF or word in ("about", "name", "give", "gives")

    def _named(self, wording: Wording) -> Named:
        first, last = min(wording.start, wording.noun), max(wording.end, wording.noun + 1)
        inner = self.words[wording.start : wording.end]
        label = " ".join(self._raw[wording.start : wording.end])
        ref = Ref("section", 0, label, first, last, key=key_of(inner))
        where = asks_where(list(self.words))
        rest = tuple(
            i for i, word in enumerate(self.words) if not first <= i < last and i not in where and not is_request(word)
        )
        return Named("section", "where" if where else "text", (ref,), (), self.words, rest)

    def _key(self, wording: Wording) -> Key:
        return key_of(self.words[wording.start : wording.end])


def key_of(words: Sequence[str]) -> Key:
    """Words as they are compared: without case, marks and what joins them."""
    return tuple(part for word in words for part in parts(word))


def _forms(heading: str) -> list[str]:
    """A heading as it stands, and without what comes before its words: "Chapter 3: Oars", "3: Oars", "Oars"."""
    forms = [heading]
    if kind := _KIND.match(heading):
        forms.append(heading[kind.end() :])
    if number := NUMBER.match(heading):
        forms.append(heading[number.end() :].lstrip(" .):-–—"))
    return [form for form in dict.fromkeys(forms) if parts(form)]


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()


def _stemmed(key: Key) -> Key:
    return tuple(stems(list(key)))


def _holds(words: Key, wanted: Key) -> bool:
    """Whether some words stand within others; scripts without blanks have no words to tell apart."""
    if any(words[i : i + len(wanted)] == wanted for i in range(len(words) - len(wanted) + 1)):
        return True
    joined = " ".join(wanted)
    return not joined.isascii() and joined.lower() == joined.upper() and joined in " ".join(words)
