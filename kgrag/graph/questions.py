"""Questions that the graph suggests, without a language model: to a whole collection, and after an answer."""

import re
from collections.abc import Iterable, Sequence

from kgrag.graph.connection import Graph

_FACTS, _PASSAGES = 300, 100  # that are looked at
_CAP = 20  # facts that the name in the middle of a chain may begin
_SHORT, _LONGEST = 3, 30  # characters of a name
_ROWS = 50
_MENTIONED = 1000  # passages that mention a name; names with more are connected to everything
_PAIRED = 12  # names from which pairs for questions are formed
_DULL = "What is known about"  # used if no document describes the name
_Question = tuple[str, tuple[str, ...]]  # a question and the names that it is about
_PERSON = re.compile(r"\b(?:born|he|she)\b", re.IGNORECASE)


def example_questions(graph: Graph, collection: str, most: int = 3) -> list[str]:
    """Return at most so many questions, each about other names: how two are connected, and what one is."""
    chains = graph.run("look_up/example_chains", collection=collection, reach=_FACTS, cap=_CAP, longest=_LONGEST,
                       limit=_ROWS)  # fmt: skip
    names = graph.run("look_up/example_names", collection=collection, reach=_PASSAGES, longest=_LONGEST, limit=_ROWS)
    pairs = _unused([(_connected(row["one"], row["other"]), (row["one"], row["via"], row["other"])) for row in chains])
    used = [name for _, names in pairs for name in names]
    abouts = [(_about(row["name"], row["text"]), (row["name"],)) for row in names]
    singles = _unused(sorted(abouts, key=lambda pair: pair[0].startswith(_DULL)), used)
    return [question for question, _ in [*pairs[: max(1, most - 1)], *singles]][:most]


def follow_ups(graph: Graph, passages: Sequence[str], answer: str, earlier: Sequence[str], most: int = 3) -> list[str]:
    """Return at most so many questions that an answer leads on to; one of them may be how two names are connected.

    Args:
        graph: the database.
        passages: ids of the passages that the answer cites.
        answer: the question and the answer.
        earlier: the questions of the conversation, whose subjects are not asked about again.
        most: the most questions.
    """
    if not passages:
        return []
    (row,) = graph.run("look_up/follow_ups", passages=list(passages), said=answer, longest=_LONGEST, cap=_MENTIONED,
                       reach=_PAIRED, limit=_ROWS)  # fmt: skip
    leads = [(_about(lead["name"], lead["text"]), (lead["name"],)) for lead in row["leads"]]
    pairs = [(_connected(pair["one"], pair["other"]), (pair["one"], pair["other"])) for pair in row["pairs"]]
    more = [(f"What else is known about {name}?", (name,)) for name in row["more"]]
    before = [text.casefold() for text in earlier]

    def fresh(questions: Iterable[_Question]) -> list[_Question]:
        return _unused(
            candidate
            for candidate in questions
            if not any(all(n.casefold() in text for n in candidate[1]) for text in before)
        )

    return [question for question, _ in [*fresh(pairs)[:1], *fresh([*leads, *more])]][:most]


def _unused(questions: Iterable[_Question], used: Iterable[str] = ()) -> list[_Question]:
    """Return questions without those about a name of one before, and about headings."""
    names_used, unused = set(used), list[_Question]()
    for question, names in questions:
        if all(map(_is_name, names)) and not names_used.intersection(names):
            names_used.update(names)
            unused.append((question, names))
    return unused


def _connected(one: str, other: str) -> str:
    return f"How are {one} and {other} connected?"


def _about(name: str, text: str | None) -> str:
    """Return the question of what a name is, in the words of the document on it: who, what, and whether it still is.

    >>> _about("Roald Amundsen", "Roald Amundsen (1872-1928) was an explorer. He was born in Borge.")
    'Who was Roald Amundsen?'
    """
    match = text and re.search(
        rf"\b(the )?{re.escape(name)}(?: *\([^)]*\))?,? (is|was|are|were)\b", text, re.IGNORECASE
    )
    if not text or not match:
        return f"{_DULL} {name}?"
    who = "Who" if not match[1] and _PERSON.search(text) else "What"
    return f"{who} {match[2].lower()} {(match[1] or '').lower()}{name}?"


def _is_name(name: str) -> bool:
    """Return whether a name is one of something, not a heading such as FAQ: of two words, or in small letters, too."""
    return " " in name or (name[1:].islower() and len(name) > _SHORT)
