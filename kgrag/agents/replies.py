"""Parse replies of language models: citations in all common forms, and whether a reply answers the question."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from kgrag.retrieval.claims import claims_nothing, has_content
from kgrag.retrieval.clauses import sentences
from kgrag.retrieval.support import claims_of, doubts_of, verdict
from kgrag.values.events import Citation
from kgrag.values.results import Item, Summary

_LONGEST = 500
"""Characters within which a model says that it found no answer."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|\n")
_LINES = files("kgrag.agents").joinpath("not_found.txt").read_text(encoding="utf-8").splitlines()
_WORDINGS = re.compile("|".join(line for line in _LINES if not line.startswith("#")), re.IGNORECASE)
_IN_A_WORD = re.compile(
    r"\W*(unknown|none|n/?a|not (mentioned|stated|specified|given|found|known|available|provided)|"
    r"unbekannt|nicht (bekannt|genannt|angegeben)|inconnue?|non (mentionnée?|précisée?)|"
    r"desconocid[oa]|no (se menciona|especificad[oa]))\W*",
    re.IGNORECASE,
)
NOT_FOUND = "Not in the evidence."
_NUMBERS = r"\d{1,3}(?:\s*(?:[,;–—-]|and|&)\s*\d{1,3})*"
_NAMED = r"(?:passages?|sources?|documents?|p\.)\s*"
CITED = re.compile(
    rf"\s?(?:\[\^?(?:{_NAMED})?({_NUMBERS})\]|【({_NUMBERS})(?:†[^】]*)?】|\({_NAMED}({_NUMBERS})\))", re.IGNORECASE
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_INDEXED = re.compile(r"(?<![\w\]])([A-Za-z_]\w*)(?:\[\d+\])+")
"""Text that may be unmarked code: x[0][1]."""
_ROUND = re.compile(rf"(?<=[\w\"'”»)])\s?\(({_NUMBERS})\)")
_BEHIND = re.compile(r"([.!?])((?:\s?\[\d{1,3}\])+)(?=\s|\Z)")
"""Citations behind the end of a sentence."""
_MARKER = re.compile(r"\A\s*(?:\d{1,2}[.)]|[-*•])\s+")
"""The marker of a list item."""


def says_not_found(text: str) -> bool:
    """Return whether the first sentence of a reply says that the evidence does not contain the answer.

    Recognised in English, German, French and Spanish, and in the wording that the prompts ask for.
    """
    reply = text.strip()
    first = _SENTENCE.split(reply[:_LONGEST], maxsplit=1)[0]
    return bool(_WORDINGS.search(first) or _IN_A_WORD.fullmatch(reply))


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A reply of a model. `found`: the passages contain the answer; `unsupported`, `unchecked`: see `Answer`."""

    text: str
    found: bool
    citations: tuple[Citation, ...] = ()
    unsupported: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()


def read_reply(text: str, items: Sequence[Item], question: str) -> ModelAnswer:
    """Return the answer in a reply of sentences; `found` is false if the reply does not answer.

    A reply that calls the evidence insufficient still counts if a cited passage supports one of its sentences, or any
    passage supports the first. It then keeps its supported sentences and later remarks on missing information; the
    rest is listed as unsupported. A reply without content ("See [1].") is not an answer.
    """
    reply = cited(_BEHIND.sub(r"\2\1", text), items)
    parts = [reply.text[start:end] for start, end in sentences(reply.text)]
    lacking = [says_not_found(CITED.sub("", _MARKER.sub("", part))) for part in parts]
    if not any(lacking):
        if items and parts and not any(map(has_content, parts)):
            return ModelAnswer(text, False)
        listed, unchecked = doubts_of(reply.text, items, question, short=False)
        return replace(reply, unsupported=listed, unchecked=unchecked)
    holds = [
        not no and has_content(part) and _is_supported_as_cited(part, items, question, first=place == 0)
        for place, (part, no) in enumerate(zip(parts, lacking, strict=True))
    ]
    if not any(holds):
        return ModelAnswer(text, False)
    first = holds.index(True)
    sentences_used = [
        part
        for place, part in enumerate(parts)
        if holds[place] or (lacking[place] and place > first and not part.startswith(NOT_FOUND))
    ]
    rest = [part for place, part in enumerate(parts) if not holds[place] and not lacking[place]]
    return replace(cited(" ".join(sentences_used), items), unsupported=tuple(CITED.sub("", part) for part in rest))


def _is_supported_as_cited(sentence: str, items: Sequence[Item], question: str, *, first: bool) -> bool:
    """Return whether the citations of a sentence support each part of it; the `first` sentence may lack citations."""
    if first and claims_nothing(sentence):
        return not any(doubts_of(CITED.sub("", sentence), items, question, short=True))
    return all(numbers or first for _, numbers in claims_of(sentence)) and verdict(sentence, items) == "supported"


def cited(text: str, items: Sequence[Item]) -> ModelAnswer:
    """Return the text with each citation of an item's passages as [number]; other numbers are removed.

    The passages of a summary are its sources.

    Recognised forms are [1], [1, 2], [1-3], [^1], [Passage 1], 【1】, (Passage 1), and (1) in a text without the
    others. An index in code is not a citation.
    """
    used: dict[int, None] = {}
    places = citing(text)
    starts = {match.start() for match in places}

    def keep(match: re.Match[str]) -> str:
        if match.start() not in starts:
            return match[0]
        valid = [n for n in numbers_of(match) if 1 <= n <= len(items)]
        used.update(dict.fromkeys(valid))
        return (" " if match[0].startswith(" ") and valid else "") + "".join(f"[{n}]" for n in valid)

    def keep_round(match: re.Match[str]) -> str:
        numbers = numbers_of(match)
        if not all(1 <= n <= len(items) for n in numbers):
            return match[0]  # the number means something else
        used.update(dict.fromkeys(numbers))
        return (" " if match[0].startswith(" ") else "") + "".join(f"[{n}]" for n in numbers)

    clean = _ROUND.sub(keep_round, text) if places and places[0].re is _ROUND else CITED.sub(keep, text)
    return ModelAnswer(clean, True, tuple(c for n in sorted(used) for c in _citations(n, items[n - 1])))


def citing(text: str) -> list[re.Match[str]]:
    """Return the citations in any of the forms of `cited`; `numbers_of` reads their numbers.

    Indexes in marked code are left out, and so are indexes of apparent variables if the text puts spaces before its
    citations.
    """
    marks = list(CITED.finditer(text))
    code = [match.span() for match in _CODE.finditer(text)]
    indexed = [match for match in _INDEXED.finditer(text) if not _within(match.start(), code)]
    variables = [match.span() for match in indexed if len(match[1]) == 1 or "_" in match[1] or "[0]" in match[0]]
    attached = [match.span() for match in indexed]
    if any(not _within(match.start(), code + attached) for match in marks):
        variables = attached
    cites = [match for match in marks if not _within(match.start(), code + variables)]
    return cites or [match for match in _ROUND.finditer(text) if not _within(match.start(), code)]


def _within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def numbers_of(match: re.Match[str]) -> list[int]:
    """Return the numbers that a citation names."""
    return _listed(next(filter(None, match.groups())))


def citations_of(items: Iterable[Item]) -> tuple[Citation, ...]:
    """Return all citations that an answer based on these items may use."""
    return tuple(citation for number, item in enumerate(items, 1) for citation in _citations(number, item))


def _citations(number: int, item: Item) -> list[Citation]:
    if isinstance(item, Summary):
        return [Citation(number, passage, item.title) for passage in item.passages]
    return [Citation(number, passage) for passage in item]


def _listed(numbers: str) -> list[int]:
    """Return the numbers of "1, 3-5"."""
    result: list[int] = []
    for first, last in re.findall(r"(\d+)(?:\s*[–—-]\s*(\d+))?", numbers):
        result += range(int(first), int(last or first) + 1)
    return result
