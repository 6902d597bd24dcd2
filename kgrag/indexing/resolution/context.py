"""What the passages that hold two names say about whether these are one entity's.

A short name stands for a long one that the same document holds (one sense per discourse: Gale, Church and Yarowsky,
1992); names that titles of different documents bear are of different things; names whose many passages have nothing in
common are likely so. An acronym is the long name's where a text says so: Schwartz and Hearst (2003).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kgrag.indexing.resolution.name_rules import Likeness
from kgrag.indexing.resolution.words import acronyms, parse
from kgrag.text.tokens import search_form

SURE = 0.8
"""The score from which two names are taken for one entity's."""
_MANY = 3  # documents from which having nothing in common says something
_NOTHING = 0.15  # what it takes off
_IN_PARENTHESES = re.compile(r"\(([^()]{2,80})\)")
_WORDS_BEFORE = 10
_ACRONYM = re.compile(r"^(?:the )?([A-Z][A-Za-z.&]{1,9})$")


@dataclass(frozen=True, slots=True)
class Seen:
    """Where a name stands: its documents, those where it stands by itself (not only within a longer name), those whose
    title it is, and the other names that its passages mention.

    All are sets of hashes; of a frequent name, some of them.
    """

    documents: frozenset[int] = frozenset()
    alone: frozenset[int] = frozenset()
    titles: frozenset[int] = frozenset()
    company: frozenset[int] = frozenset()


def homonyms(a: Seen, b: Seen) -> str:
    """Why two names are of different things by the titles that bear them; empty if these do not say so."""
    if a.titles - b.titles and b.titles - a.titles:
        return "titles of different documents"
    if a.titles and b.titles and a.titles != b.titles:
        return "one is the title of several documents"
    return ""


def weigh(likeness: Likeness, short: Seen, long: Seen, defined: bool = False) -> Likeness:
    """The likeness of two names, with what their passages say; `defined`: a text explains one by the other."""
    if reason := homonyms(short, long):
        return replace(likeness, score=0.0, evidence=f"{likeness.evidence}; {reason}")
    score, said = likeness.score, [likeness.evidence]
    if defined:
        score += 0.45
        said.append("a text says so")
    if short.titles and short.titles == long.titles:
        score += 0.3
        said.append("titles of one document")
    elif likeness.kind == "short" and short.titles and not long.titles:
        score -= 0.3  # what has a document of its own needs no longer name
        said.append("the title of a document")
    shared, company = short.alone & long.documents, short.company & long.company
    if shared and 2 * len(shared) >= len(short.alone):
        score += 0.35 if likeness.kind in ("short", "letters", "form") else 0.06
        said.append(f"{len(shared)} of {len(short.alone)} documents hold both")
    elif len(company) > 1 and len(company) ** 2 >= 0.04 * len(short.company) * len(long.company):
        score += 0.1
        said.append(f"{len(company)} names beside both")
    elif (
        not short.documents & long.documents and not company and min(len(short.documents), len(long.documents)) >= _MANY
    ):
        score -= _NOTHING
        said.append("nothing in common")
    if likeness.kind == "resembling":
        score = min(score, SURE - 0.05)
    return replace(likeness, score=round(max(0.0, min(0.99, score)), 3), evidence="; ".join(said))


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """The acronyms that a text explains, in normal form: ("who", "world health organization").

    Both "World Health Organization (WHO)" and "WHO (World Health Organization)" are read.
    """
    for match in _IN_PARENTHESES.finditer(text):
        inside, before = match[1].strip(), text[: match.start()].split()[-_WORDS_BEFORE:]
        if acronym := _ACRONYM.match(inside):
            letters = search_form(acronym[1])
            for n in range(len(before), 1, -1):
                name = search_form(" ".join(before[-n:]))
                if before[-n][:1].isupper() and letters in acronyms(parse(" ".join(before[-n:]))):
                    yield letters, name.removeprefix("the ")
                    break
        elif before and (acronym := _ACRONYM.match(before[-1])) and inside[:1].isupper():
            letters = search_form(acronym[1])
            if letters in acronyms(parse(inside)):
                yield letters, search_form(inside).removeprefix("the ")
