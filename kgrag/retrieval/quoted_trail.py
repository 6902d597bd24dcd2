"""Explain trails and connections by quotations: each step quotes the sentence that leads to the next.

`told_trail` explains the ranking of a question, in the command line, pages, REST and MCP; `told_connection` explains
paths of the graph between two names.
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
"""Top hits whose trails are considered; an answer uses about as many."""
_COVERED = 2 / 3
"""Minimum share of the question's words in the sentences of a trail; with less it explains nothing."""
_TITLED = 2
"""Bonus in ranks for a trail whose last passage has the name in the previous one as its title."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A step of a trail in words: the sentence of a passage that names the next one.

    `passage`: its id, or "" if only its title is known; `name` is at `start` to `end` (exclusive) in the sentence. The
    last hop has no name; its sentence is the one most relevant to the question.
    """

    passage: str
    title: str
    sentence: str
    name: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Tie:
    """A step of a connection: two names, and the sentence of a passage that connects them.

    `passage`: its id, or "" for a fact that no passage states, whose text is the `sentence`; `marks`: the positions of
    the names in the sentence, as start and exclusive end.
    """

    one: str
    other: str
    passage: str
    title: str
    sentence: str
    marks: tuple[tuple[int, int], ...]


def told_trail(hits: Sequence[Hit], sought: str, context: Sequence[Hit] = ()) -> list[Hop]:
    """Return the trail that explains a ranking: the trail of its best hit that covers the question.

    Args:
        hits: the ranking, best first; only the first five are considered.
        sought: the question, with the answer if there is one.
        context: further hits, whose texts may be quoted.

    Returns:
        Hops between distinct passages of the ranking. Empty if every trail has only one passage, has sentences with
        less than two thirds of the words of `sought`, or begins with a passage whose title has all these words.

    """
    passages, stems = by_title([*hits, *context]), stems_in(sought)
    best, trail = 0.0, list[Hop]()
    for rank, hit in enumerate(hits[:_EXPLAINED]):
        way = hops(hit, sought, passages)
        words = stems & {stem for hop in way for stem in stems_in(f"{hop.title} {hop.sentence}")}
        titled = _TITLED if hit.why and hit.why[-1].edge == "ABOUT" else 0
        worth = 1 + (titled - rank) / (_EXPLAINED + _TITLED)
        if not way or stems <= stems_in(way[0].title):  # the first passage is already the answer
            continue
        if len(words) >= _COVERED * len(stems) and worth > best:
            best, trail = worth, way
    return trail


def hops(hit: Hit, sought: str, passages_by_title: Mapping[str, Passage]) -> list[Hop]:
    """Return the trail of a hit as sentences, each leading to the next passage, and the last one to `sought`.

    `passages_by_title`: the passages that can be quoted. Returns an empty list for a trail that explains nothing: of
    one passage only, through the same node twice, or with a step that cannot be quoted or contradicts the end.
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
    """Return the names of a passage in steps of trails: its title alone, with its heading, and with its number, too."""
    title, section = passage.title, passage.section
    return title, passage_name(title, section), passage_name(title, section, passage.ordinal + 1)


def by_title(hits: Sequence[Hit]) -> dict[str, Passage]:
    """Return the passages of hits by their names in steps of a trail; the best hit wins among equal names."""
    passages: dict[str, Passage] = {}
    for hit in hits:
        for name in names_of(hit.passage):
            passages.setdefault(name, hit.passage)
    return passages


def told_connection(ways: Iterable[Sequence[Mapping[str, Any]]], passages: Mapping[str, Passage]) -> list[Tie]:
    """Return the best supported path between two names, with a sentence for each pair of neighbours on it.

    Args:
        ways: the nodes of each path: `entity` if the node is one, its `name`, the `text` of a fact, and `passage`, the
            id of a passage that states it. Each path begins and ends with an entity.
        passages: the passages by id.

    Returns:
        The path whose sentences have most of the names, the first among ties; empty without paths.
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
    """Return the connection of two names by the nodes between them: the best sentence that names both."""
    sources = [passages[node["passage"]] for node in between if node["passage"] in passages]
    facts = [node["text"] for node in between if node["text"] and not node["passage"]]
    ties = [Tie(one, other, source.id, source.title, *_quote(one, other, source.text)) for source in sources]
    ties += [Tie(one, other, "", "", text, _marks(text, one, other)) for text in facts]
    return max(ties, key=_worth, default=Tie(one, other, "", "", "", ()))


def _worth(tie: Tie) -> int:
    """Return the number of the two names in a sentence, plus their number in the sentence with its title."""
    text = f"{tie.title}: {tie.sentence}"
    return len(tie.marks) + sum(_place(text, name) is not None for name in (tie.one, tie.other))


def _quote(one: str, other: str, text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the first sentence with both names, and their positions; else the first sentence with each."""
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
    """Return the positions of names in a sentence, in order; a name inside another one is left out."""
    places = sorted({place for name in names if (place := _place(line, name))}, key=lambda span: (span[0], -span[1]))
    return tuple(span for at, span in enumerate(places) if at == 0 or span[0] >= places[at - 1][1])


def _naming(passage: Passage, name: str) -> Hop | None:
    """Return the first sentence of a passage with a name in any form, or None."""
    for start, end in sentences(passage.text):
        line = one_line(passage.text[start:end])
        if place := _place(line, name):
            return Hop(passage.id, passage.title, line, name, *place)
    return None


def _place(line: str, name: str) -> tuple[int, int] | None:
    """Return the position of a name, in any form, in a sentence."""
    short = without_parenthesis(name)
    at = line.casefold().find(short.casefold())
    if at >= 0:
        return at, at + len(short)
    name_stems = stems_in(short)
    words = [(m.start(), m.end()) for m in _WORD.finditer(line)]
    there = stems([search_form(line[a:b]) for a, b in words])
    spans = [span for span, stem in zip(words, there, strict=True) if stem in name_stems]
    return (spans[0][0], spans[-1][1]) if name_stems and name_stems <= set(there) else None
