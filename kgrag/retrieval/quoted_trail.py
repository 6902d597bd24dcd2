"""Trails and connections in the words of passages: each step quotes the sentence that leads to the next.

`told_trail` is for the ranking of a question, in the command line, pages, REST and MCP; `told_connection` for the ways
of the graph between two names.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kgrag.retrieval.claims import disagreements
from kgrag.retrieval.clauses import sentences
from kgrag.retrieval.snippet import one_line
from kgrag.retrieval.support import nearest_sentence
from kgrag.text.aliases import without_parenthesis
from kgrag.text.tokens import passage_name, search_form, stems, stems_in
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


@dataclass(frozen=True, slots=True)
class Tie:
    """A step of a connection: two names, and the sentence of a passage that ties them.

    `passage`: its id, "" for a fact that no passage states, whose text is the `sentence`; `marks`: where the names
    stand in the sentence, each from its start to before its end.
    """

    one: str
    other: str
    passage: str
    title: str
    sentence: str
    marks: tuple[tuple[int, int], ...]


def told_trail(hits: Sequence[Hit], sought: str, context: Sequence[Hit] = ()) -> list[Hop]:
    """Return the path that explains a ranking: the path of its best hit whose end fits the question.

    Args:
        hits: the ranking, best first; the first five are looked at.
        sought: the question, with the answer where there is one.
        context: hits besides, whose texts may be quoted.

    Returns:
        Hops between passages of the ranking, none of them twice; empty where no way leads over two passages, and where
        the sentences of each way have less than two thirds of the words of what is sought, or its first passage bears
        all of them in its title.
    """
    passages, stems = by_title([*hits, *context]), stems_in(sought)
    best, trail = 0.0, list[Hop]()
    for rank, hit in enumerate(hits[:_EXPLAINED]):
        way = hops(hit, sought, passages)
        words = stems & {stem for hop in way for stem in stems_in(f"{hop.title} {hop.sentence}")}
        titled = _TITLED if hit.why and hit.why[-1].edge == "ABOUT" else 0
        worth = 1 + (titled - rank) / (_EXPLAINED + _TITLED)
        if not way or stems <= stems_in(way[0].title):  # the first passage is the answer, so no step leads on
            continue
        if len(words) >= _COVERED * len(stems) and worth > best:
            best, trail = worth, way
    return trail


def hops(hit: Hit, sought: str, passages_by_title: Mapping[str, Passage]) -> list[Hop]:
    """Return the way to a passage as sentences that lead from one passage to the next, and last to what is `sought`.

    `passages_by_title`: those whose texts can be quoted. Empty for a way of one passage, for one that comes to the same
    node twice, and for one of which a step cannot be quoted or contradicts the end: these would explain nothing.
    """
    steps = [(step.label, step.name) for step in hit.why if step.name]
    passages = [(place, step) for place, step in enumerate(hit.why) if step.label == "Passage" and step.name]
    if len(passages) < 2 or len(set(steps)) < len(steps) or not hit.passage.text.strip():
        return []
    way: list[Hop] = []
    for (place, step), (following, _) in pairwise(passages):
        passage = passages_by_title.get(step.name)
        names = [other.name for other in hit.why[place + 1 : following + 1] if other.name]
        hop = passage and next((hop for name in names if (hop := _naming(passage, name))), None)
        if not passage or not hop or disagreements([passage, hit.passage]):
            return []
        way.append(hop)
    if len({*(hop.passage for hop in way), hit.passage.id}) <= len(way):
        return []
    text = hit.passage.text
    start, end = nearest_sentence(f"{sought} {way[-1].name}", text, hit.passage.title)
    last = one_line(text[start:end]) or one_line(text[: next(sentences(text))[1]])
    return [*way, Hop(hit.passage.id, hit.passage.title, last)]


def names_of(passage: Passage) -> tuple[str, str, str]:
    """Return the names that a step of a trail may give a passage: its title, with its heading, with its number, too."""
    title, section = passage.title, passage.section
    return title, passage_name(title, section), passage_name(title, section, passage.ordinal + 1)


def by_title(hits: Sequence[Hit]) -> dict[str, Passage]:
    """Return the passages of hits by their names in steps of a trail; the best one wins among equal names."""
    passages: dict[str, Passage] = {}
    for hit in hits:
        for name in names_of(hit.passage):
            passages.setdefault(name, hit.passage)
    return passages


def told_connection(ways: Iterable[Sequence[Mapping[str, Any]]], passages: Mapping[str, Passage]) -> list[Tie]:
    """Return the best supported way between two names, with a sentence for each pair of neighbours on it.

    Args:
        ways: the nodes of each: `entity` where the node is one, its `name`, the `text` of a fact, and `passage`, the id
            of one that says it. Each way begins and ends with an entity.
        passages: by their ids.

    Returns:
        The first way of those whose sentences have most of the names; empty without ways.
    """
    best, connection = -1.0, list[Tie]()
    for nodes in ways:
        names = [place for place, node in enumerate(nodes) if node["entity"]]
        ties = [
            _tie(nodes[start]["name"], nodes[end]["name"], nodes[start + 1 : end], passages)
            for start, end in pairwise(names)
        ]
        worth = sum(map(_worth, ties)) / len(ties)
        if worth > best:
            best, connection = worth, ties
    return connection


def _tie(one: str, other: str, between: Sequence[Mapping[str, Any]], passages: Mapping[str, Passage]) -> Tie:
    """Return what ties two names, said by the nodes between them: the passage that names both in the best sentence."""
    sources = [passages[node["passage"]] for node in between if node["passage"] in passages]
    facts = [node["text"] for node in between if node["text"] and not node["passage"]]
    ties = [Tie(one, other, source.id, source.title, *_quote(one, other, source.text)) for source in sources]
    ties += [Tie(one, other, "", "", text, _marks(text, one, other)) for text in facts]
    return max(ties, key=_worth, default=Tie(one, other, "", "", "", ()))


def _worth(tie: Tie) -> int:
    """Return how many of the two names a sentence has, and with its title, which says who "he" is."""
    text = f"{tie.title}: {tie.sentence}"
    return len(tie.marks) + sum(_place(text, name) is not None for name in (tie.one, tie.other))


def _quote(one: str, other: str, text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the first sentence with both names, and where they stand; else the first sentence with each."""
    lines = [one_line(text[start:end]) for start, end in sentences(text)]
    both = next((line for line in lines if len(_marks(line, one, other)) > 1), "")
    if not both:
        naming = {next((place for place, line in enumerate(lines) if _place(line, name)), -1) for name in (one, other)}
        both = " … ".join(lines[place] for place in sorted(naming) if place >= 0)
    if not both:
        start, end = nearest_sentence(f"{one} {other}", text)
        both = one_line(text[start:end]) or lines[0]
    return both, _marks(both, one, other)


def _marks(line: str, *names: str) -> tuple[tuple[int, int], ...]:
    """Return where names stand in a sentence, in its order; one within another is left out."""
    places = sorted({place for name in names if (place := _place(line, name))}, key=lambda span: (span[0], -span[1]))
    return tuple(span for at, span in enumerate(places) if at == 0 or span[0] >= places[at - 1][1])


def _naming(passage: Passage, name: str) -> Hop | None:
    """Return the first sentence of a passage that has a name in it, in whatever form; None if none has."""
    for start, end in sentences(passage.text):
        line = one_line(passage.text[start:end])
        if place := _place(line, name):
            return Hop(passage.id, passage.title, line, name, *place)
    return None


def _place(line: str, name: str) -> tuple[int, int] | None:
    """Return where a sentence has a name, in whatever form."""
    short = without_parenthesis(name)
    at = line.casefold().find(short.casefold())
    if at >= 0:
        return at, at + len(short)
    name_stems = stems_in(short)
    words = [(m.start(), m.end()) for m in _WORD.finditer(line)]
    there = stems([search_form(line[a:b]) for a, b in words])
    spans = [span for span, stem in zip(words, there, strict=True) if stem in name_stems]
    return (spans[0][0], spans[-1][1]) if name_stems and name_stems <= set(there) else None
