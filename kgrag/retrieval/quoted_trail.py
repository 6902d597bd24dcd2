"""The trail of a ranking in the words of its passages: each hop quotes the sentence that leads to the next passage.

One function makes it for the command line, pages, REST and MCP: `told_trail`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgrag.retrieval.snippet import one_line
from kgrag.retrieval.support import nearest_sentence, sentences
from kgrag.text.aliases import without_parenthesis
from kgrag.text.tokens import search_form, stems, stems_in
from kgrag.values.results import Hit, Passage

_WORD = re.compile(r"\w+(?:['’.]\w+)*")
_EXPLAINED = 5
"""Hits whose ways are looked at: an answer is read from so many."""
_COVERED = 2 / 3
"""Part of the question's words that the sentences of a trail have together; with less it explains nothing."""
_TITLED = 2
"""Ranks that a way counts for whose last passage is about what the one before names, not only mentions it."""


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


def told_trail(hits: Sequence[Hit], sought: str, known: Sequence[Hit] = ()) -> list[Hop]:
    """Return the way of the graph that explains a ranking: that of its best hit whose way answers to the question.

    Args:
        hits: what is to be explained, best first; the first five are looked at.
        sought: the question, with the answer where there is one.
        known: hits besides, whose texts may be quoted.

    Returns:
        Hops between passages of the ranking, none of them twice; empty where no way leads over two passages, and where
        the sentences of each way have less than two thirds of the words of what is sought, or its first passage bears
        all of them in its title.
    """
    passages, wanted = by_title([*hits, *known]), stems_in(sought)
    best, trail = 0.0, list[Hop]()
    for rank, hit in enumerate(hits[:_EXPLAINED]):
        way = hops(hit, sought, passages)
        words = wanted & {stem for hop in way for stem in stems_in(f"{hop.title} {hop.sentence}")}
        titled = _TITLED if hit.why and hit.why[-1].edge == "ABOUT" else 0
        worth = 1 + (titled - rank) / (_EXPLAINED + _TITLED)
        if not way or wanted <= stems_in(way[0].title):  # where the first passage is what is sought, none leads on
            continue
        if len(words) >= _COVERED * len(wanted) and worth > best:
            best, trail = worth, way
    return trail


def hops(hit: Hit, sought: str, known: Mapping[str, Passage]) -> list[Hop]:
    """Return the way to a passage as sentences that lead from one passage to the next, and last to what is `sought`.

    `known`: passages by their titles, whose texts can be quoted. Empty for a way of one passage, for one that comes to
    the same node twice, and for one of which a step cannot be quoted: these would explain nothing.
    """
    steps = [(step.label, step.name) for step in hit.why if step.name]
    passages = [(place, step) for place, step in enumerate(hit.why) if step.label == "Passage" and step.name]
    if len(passages) < 2 or len(set(steps)) < len(steps) or not hit.passage.text.strip():
        return []
    way: list[Hop] = []
    for (place, step), (following, _) in pairwise(passages):
        passage = known.get(step.name)
        names = [other.name for other in hit.why[place + 1 : following + 1] if other.name]
        hop = passage and next((hop for name in names if (hop := _naming(passage, name))), None)
        if not hop:
            return []
        way.append(hop)
    if len({*(hop.passage for hop in way), hit.passage.id}) <= len(way):
        return []
    text = hit.passage.text
    start, end = nearest_sentence(f"{sought} {way[-1].name}", text, hit.passage.title)
    last = one_line(text[start:end]) or one_line(text[: next(sentences(text))[1]])
    return [*way, Hop(hit.passage.id, hit.passage.title, last)]


def by_title(hits: Sequence[Hit]) -> dict[str, Passage]:
    """Return the passages of hits, by what a step of a trail calls them; of equal names the best one's."""
    passages: dict[str, Passage] = {}
    for hit in hits:
        for name in (hit.passage.title, f"{hit.passage.ordinal + 1} · {hit.passage.title}"):
            passages.setdefault(name, hit.passage)
    return passages


def _naming(passage: Passage, name: str) -> Hop | None:
    """Return the first sentence of a passage that has a name in it, in whatever form; None if none has."""
    short = without_parenthesis(name)
    wanted = stems_in(short)
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
