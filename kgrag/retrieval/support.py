"""What of a passage bears out a sentence of an answer, and what leads from one passage of a trail to the next.

Both quote: the text shown is a part of the passage, given by its start and end.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import fsum, log1p

from kgrag.retrieval.snippet import one_line
from kgrag.text.aliases import without_parenthesis
from kgrag.text.tokens import is_content, search_form, stems, words_of
from kgrag.values.results import Hit, Passage

_CLOSE = "[\"'”’」』)\\]]*"
_END = re.compile(rf"(?<=[.!?…]){_CLOSE}\s+(?![a-z])|(?<=[。！？]){_CLOSE}|\n\s*\n|\n(?![a-z])")
_SHORT = re.compile(
    r"(?:\b(?:Mrs?|Ms|Dr|Prof|St|Sr|Jr|No|Nr|vs|ca|c|cf|approx|al|pp?|(?i:figs?|vol|sec|ch|eqs?)|Gen|Col|Capt|Lt|Sgt|Rev|"
    r"Jan|Feb|Aug|Sept?|Oct|Nov|Dec|[A-Z])\.|(?<![\d–-])\d{1,2}\.)\Z"
)
_WORD = re.compile(r"\w+(?:['’.]\w+)*")
_UNPARTED = re.compile(r"(?=([\u3040-\u30ff\u3400-\u9fff]{2}))")  # characters that no spaces part, by twos
_SUBJECT, _HEADING = 0.25, 0.3
"""What a word of the title counts beside any other, and what a heading does."""
_FEW = 6  # words of a line without an end that is a heading


@dataclass(frozen=True, slots=True)
class Hop:
    """A step of a trail in words: the sentence of a passage that names where it goes on.

    `passage`: its id, "" where only its title is known; `start` to before `end` is the `name` in the sentence. The last
    hop goes on to nothing: its sentence is the one that says most about the question.
    """

    passage: str
    title: str
    sentence: str
    name: str = ""
    start: int = 0
    end: int = 0


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a text stands: from its first character to behind its last."""
    begin = 0
    for match in _END.finditer(text):
        if _SHORT.search(text[begin : match.start()].rstrip("\"'”’)]")) and "\n" not in match[0]:
            continue
        if text[begin : match.end()].strip():
            yield _trimmed(text, begin, match.end())
        begin = match.end()
    if text[begin:].strip():
        yield _trimmed(text, begin, len(text))


def support(claim: str, text: str, title: str = "") -> tuple[int, int]:
    """The sentence of a passage that bears out a claim best, the first of equals; (0, 0) if none shares a word with it.

    A word counts the more, the fewer sentences have it: names and numbers most. One of the title counts less: every
    sentence of the passage is about that.
    """
    parts = [(start, end, _stems(text[start:end])) for start, end in sentences(text)]
    often = Counter(chain.from_iterable(there for *_, there in parts))
    about = _stems(title)
    wanted = {
        stem: log1p(len(parts) / often[stem]) * (_SUBJECT if stem in about else 1.0)
        for stem in _stems(claim)
        if stem in often
    }
    best, found = 0.0, (0, 0)
    for start, end, there in parts:
        worth = fsum(wanted[stem] for stem in there & wanted.keys())
        if text[end - 1].isalnum() and len(text[start:end].split()) < _FEW:
            worth *= _HEADING
        if worth > best:
            best, found = worth, (start, end)
    return found


def hops(hit: Hit, sought: str, known: Mapping[str, Passage]) -> list[Hop]:
    """The trail to a passage as sentences that lead from one passage to the next, and at last to what is `sought`.

    `known`: passages by their titles, whose texts can be quoted. Empty for a trail of one passage, and for one of which
    a step cannot be quoted: it would explain nothing.
    """
    passages = [(place, step) for place, step in enumerate(hit.why) if step.label == "Passage" and step.name]
    found: list[Hop] = []
    for (place, step), (following, _) in pairwise(passages):
        passage = known.get(step.name)
        names = [other.name for other in hit.why[place + 1 : following + 1] if other.name]
        hop = passage and next((hop for name in names if (hop := _naming(passage, name))), None)
        if not hop:
            return []
        found.append(hop)
    if not found:
        return []
    start, end = support(f"{sought} {found[-1].name}", hit.passage.text, hit.passage.title)
    last = one_line(hit.passage.text[start:end]) or one_line(hit.passage.text[: next(sentences(hit.passage.text))[1]])
    return [*found, Hop(hit.passage.id, hit.passage.title, last)]


def by_title(hits: Sequence[Hit]) -> dict[str, Passage]:
    """The passages of hits, by what a step of a trail calls them; of equal names the best one's."""
    found: dict[str, Passage] = {}
    for hit in hits:
        for name in (hit.passage.title, f"{hit.passage.ordinal + 1} · {hit.passage.title}"):
            found.setdefault(name, hit.passage)
    return found


def _naming(passage: Passage, name: str) -> Hop | None:
    """The first sentence of a passage that has a name in it, in whatever form; None if none has."""
    short = without_parenthesis(name)
    wanted = _stems(short)
    for start, end in sentences(passage.text):
        line = one_line(passage.text[start:end])
        at = line.casefold().find(short.casefold())
        if at >= 0:
            return Hop(passage.id, passage.title, line, name, at, at + len(short))
        words = [(m.start(), m.end()) for m in _WORD.finditer(line)]
        there = stems([search_form(line[a:b]) for a, b in words])
        spans = [span for span, stem in zip(words, there, strict=True) if stem in wanted]
        if wanted and wanted <= set(there):
            return Hop(passage.id, passage.title, line, name, spans[0][0], spans[-1][1])
    return None


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def _stems(text: str) -> set[str]:
    return {*stems([word for word in words_of(text) if is_content(word)]), *_UNPARTED.findall(text)}
