"""Decide whether two names may mean one entity, by their words and by the passages that contain both.

The rules, strongest first: the same words, another spelling or order, a person's initials and middle names, a short
form of a longer name. Contradictions are decided separately, so that whole groups can be checked for them.
Background: Christen, Data Matching (2012), chapters 4 to 6. Names of works, places and years are common here, so words
that only one of the names has count as a difference unless a rule explains them.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from kgrag.indexing.resolution.words import Name, acronyms, is_generic, parse, particles, spelling
from kgrag.text.tokens import search_form

Kind = Literal["form", "spelling", "person", "short", "letters", "resembling"]
"""form: the same words; spelling: another spelling; person: initials or middle names; short: part of a longer name;
letters: an acronym; resembling: only the vectors are close."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """The certainty from 0 to 1 that two names mean one entity, judged by the names alone, and the reason."""

    kind: Kind
    score: float
    evidence: str


def contradiction(a: Name, b: Name) -> str:
    """Return why two names cannot mean one entity; empty if they can."""
    if a.numbers and b.numbers and a.numbers != b.numbers:
        return "other numbers"
    if a.signs != b.signs:
        return "other signs"
    if a.generation and b.generation and a.generation != b.generation:
        return "junior and senior"
    if a.gender and b.gender and a.gender != b.gender:
        return "other titles"
    one, other = set(a.qualifier), set(b.qualifier)
    if one and other and not (one <= other or other <= one) and not _inverted(a, b):
        return "told apart by their parentheses or the words after a comma"
    if a.is_acronym != b.is_acronym or _joined(a) == _joined(b) or _inverted(a, b):
        return ""  # the letters of an acronym cannot contradict its expansion
    only_a, only_b = ([name.words[i] for i in places] for name, places in zip((a, b), _apart(a, b), strict=True))
    if not (one and other):  # words after a comma may be words of the other name
        only_a = [w for w in only_a if w not in other] + [w for w in a.qualifier if w not in b.words]
        only_b = [w for w in only_b if w not in one] + [w for w in b.qualifier if w not in a.words]
    if only_a and only_b:
        return f"“{only_a[0]}” and “{only_b[0]}”"
    if a.is_person and b.is_person and not (_fit(a, 0, b, 0) and _fit(a, len(a.words) - 1, b, len(b.words) - 1)):
        return "other first or last names"
    return ""


def compare(a: Name, b: Name) -> Likeness | None:
    """Return the certainty that two names mean one entity.

    Returns None if the names contradict each other or have nothing in common.
    """
    if contradiction(a, b):
        return None
    if _inverted(a, b):
        return Likeness("spelling", 0.92, "the last name first")
    if _letters(a, b):
        short, long = (a, b) if a.is_acronym else (b, a)
        if long.qualifier == (short.plain,):
            return Likeness("letters", 0.95, "the long name says so")
        is_organisation = long.is_proper and not long.is_person
        return Likeness("letters", 0.5, "the first letters of the other") if is_organisation else None
    only_a, only_b = _apart(a, b)
    if not only_a and not only_b:
        return _same_words(a, b)
    if _joined(a) == _joined(b):
        sure = min(len(a.words), len(b.words)) > 1
        return Likeness("spelling", 0.92 if sure else 0.75, "the same letters")
    if only_a and only_b:
        return None
    short, long, extra = (a, b, only_b) if only_b else (b, a, only_a)
    likeness = _short_and_long(short, long, extra)
    return likeness and _less_sure(likeness, a, b)


def _same_words(a: Name, b: Name) -> Likeness | None:
    """Return the likeness of two names whose words match."""
    likeness = _as_written(a, b)
    return likeness and _less_sure(likeness, a, b)


def _less_sure(likeness: Likeness, a: Name, b: Name) -> Likeness:
    """Lower the likeness if the names differ in titles, articles and other additions to their words."""
    if likeness.evidence.startswith("both"):
        return likeness  # the words after a comma are words of the other name
    for most, difference in _differences(a, b):
        if most < likeness.score:
            likeness = Likeness("short" if most < 0.7 else likeness.kind, most, difference)
    return likeness


def _as_written(a: Name, b: Name) -> Likeness | None:
    if a.words == b.words:
        short = len(a.words) == 1 and not (a.titles or a.legal) and a.plain.split()[-1] != b.plain.split()[-1]
        return Likeness("form", 0.6 if short else 0.97, "an abbreviation" if short else "the same words")
    persons = a.is_person or b.is_person
    if len(a.words) != len(b.words) or not all(_fit(a, i, b, i) for i in range(len(a.words))):
        is_sure = not persons and ((a.numbers and len(a.words) > 2) or any(is_generic(w) for w in a.words))
        return Likeness("spelling", 0.85, "the same words in another order") if is_sure else None
    initials = [i for i in range(len(a.words)) if (i in a.initials) != (i in b.initials)]
    if initials and not persons:
        joined = len(initials) > 1 and initials == list(range(initials[0], initials[0] + len(initials)))
        return Likeness("letters", 0.86, "initials of the other") if joined else None
    if initials:
        several = len(initials) > 1 or initials[0] > 0 or len(a.words) > 2
        return Likeness("person", 0.87 if several else 0.6, "initials of the other")
    return Likeness("spelling", 0.6 if _only_word(a) else 0.78 if persons else 0.87, "another spelling")


def _differences(a: Name, b: Name) -> Iterator[tuple[float, str]]:
    """Yield the differences of two names besides their words, each with the highest score it allows."""
    if a.qualifier != b.qualifier:
        yield 0.55, f"without “{_only(set(a.qualifier), set(b.qualifier))}”"
    if a.generation != b.generation:
        yield 0.55, f"without “{a.generation or b.generation}”"
    if a.legal != b.legal and not (a.legal and b.legal):
        sure = len(a.words) > 1 and bool(a.ordinary)
        yield 0.88 if sure else 0.6, f"without “{_only(a.legal, b.legal)}”"
    if a.titles != b.titles:
        yield 0.6 if _only_word(a) or (a.titles and b.titles) else 0.92, f"without “{_only(a.titles, b.titles)}”"
    if a.article.lower() != b.article.lower():
        in_a_sentence = (a.article or b.article)[0].islower() and a.words[0] not in a.ordinary
        yield 0.93 if len(a.words) > 1 else 0.87 if in_a_sentence else 0.7, "without the article"
    if a.words == b.words and _little(a) != _little(b):
        yield 0.6, "other little words"


def _only_word(name: Name) -> bool:
    """Return whether a name has only one word besides numbers, like a king or a yearly event."""
    return sum(word.isalpha() for word in name.words) < 2


def _little(name: Name) -> list[str]:
    """Return the prepositions of a name."""
    return [w for w in name.plain.split() if w in ("of", "in", "at", "on", "for")]


def _short_and_long(short: Name, long: Name, extra: Sequence[int]) -> Likeness | None:
    """Compare a short and a long name; `extra` holds the positions of the words that only the long name has."""
    words = [long.words[i] for i in extra]
    if any(any(c.isdigit() for c in word) for word in words) or short.legal - long.legal or short.generation:
        return None
    if long.is_person and not short.is_acronym:
        last = len(long.words) - 1
        if len(short.words) == 1:
            alone = not (short.article or short.qualifier or short.titles)
            if alone and short.words[0] == long.words[last] and "," not in long.text:
                return Likeness("short", 0.45, f"the last name of {long.text}")
            return None
        if not short.is_person or 0 in extra or last in extra:
            return None
        if all(word in particles() for word in words):
            return Likeness("person", 0.86, f"without “{' '.join(words)}”")
        if 0 in short.initials ^ long.initials:
            return Likeness("person", 0.5, "initials of the other")
        if len(short.words) > 2:
            return Likeness("person", 0.6, "without one of the middle names")
        initials = all(i in long.initials for i in extra)
        return Likeness("person", 0.87 if initials else 0.78, "without a middle name")
    begin = long.words[: len(short.words)] == short.words
    if not begin or not _tail(long, extra):
        return None
    if short.qualifier and "," in short.text:
        agreed = set(words) & set(short.qualifier)
        return Likeness("form", 0.86, f"both “{' '.join(words)}”") if agreed and short.numbers else None
    if len(short.words) == 1 or long.generation or (short.titles and long.titles != short.titles and not short.numbers):
        return None
    return Likeness("short", 0.6, f"without “{' '.join(words)}”")


def _tail(long: Name, extra: Sequence[int]) -> bool:
    """Return whether the extra words follow a preposition, like "of London" at the end."""
    plain = long.plain.split()
    first = long.words[extra[0]]
    places = [i for i, w in enumerate(plain) if w == first]
    return bool(places) and any(w in ("of", "in", "at", "for") for w in plain[max(0, places[-1] - 2) : places[-1]])


def _letters(a: Name, b: Name) -> bool:
    """Return whether one name is an acronym of the other."""
    return (a.is_acronym and not b.is_acronym and a.plain in acronyms(b)) or (
        b.is_acronym and not a.is_acronym and b.plain in acronyms(a)
    )


def _inverted(a: Name, b: Name) -> bool:
    """Return whether one name is the other with the last name first: "Lund, Ada"."""
    return bool(
        (a.qualifier and not b.qualifier and "," in a.text and a.qualifier + a.words == b.words)
        or (b.qualifier and not a.qualifier and "," in b.text and b.qualifier + b.words == a.words)
    )


def _joined(name: Name) -> str:
    """Return the letters of a name without initials or a qualifier; for any other name its text, which is unique."""
    return spelling("".join(name.words)) if not name.qualifier and not name.initials else name.text


def _fit(a: Name, i: int, b: Name, j: int) -> bool:
    """Return whether two words match: they are equal, spelling variants, or one is the initial of the other."""
    one, other = a.words[i], b.words[j]
    if one == other:
        return True
    if i in a.initials or j in b.initials:
        return one[0] == other[0]
    return spelling(one) == spelling(other)


def _apart(a: Name, b: Name) -> tuple[list[int], list[int]]:
    """Return the positions of the unmatched words of each name; equal words match first, then others in order."""
    free = list(range(len(b.words)))
    open_ = []
    for i, word in enumerate(a.words):
        same = next((j for j in free if b.words[j] == word), None)
        if same is None:
            open_.append(i)
        else:
            free.remove(same)
    only = []
    for i in open_:
        fitting = next((j for j in free if _fit(a, i, b, j)), None)
        if fitting is None:
            only.append(i)
        else:
            free.remove(fitting)
    return only, free


def _only(one: Set[str], other: Set[str]) -> str:
    return " ".join(sorted(one ^ other))


# Evidence from the passages that contain the two names.
#
# A short name means the long one in the same document (one sense per discourse: Gale, Church and Yarowsky, 1992).
# Names in the titles of different documents mean different things, and so do, probably, frequent names whose passages
# have nothing in common. An acronym means the long name if a text defines it so: Schwartz and Hearst (2003).


SURE = 0.8
"""The score from which two names are taken to mean one entity."""
_MANY = 3  # documents each name needs before having nothing in common counts against them
_NOTHING = 0.15  # the penalty for that
_IN_PARENTHESES = re.compile(r"\(([^()]{2,80})\)")
_WORDS_BEFORE = 10
_ACRONYM = re.compile(r"^(?:the )?([A-Z][A-Za-z.&]{1,9})$")


@dataclass(frozen=True, slots=True)
class Seen:
    """The occurrences of a name, as sets of hashes; the sets of a frequent name are samples.

    `documents`: all documents with the name; `alone`: documents where it occurs outside longer names.
    `titles`: documents with the name as their title.
    `company`: the other names that its passages mention.
    """

    documents: frozenset[int] = frozenset()
    alone: frozenset[int] = frozenset()
    titles: frozenset[int] = frozenset()
    company: frozenset[int] = frozenset()


def homonyms(a: Seen, b: Seen) -> str:
    """Return why the titles show that two names mean different things; empty if they do not."""
    if a.titles - b.titles and b.titles - a.titles:
        return "titles of different documents"
    if a.titles and b.titles and a.titles != b.titles:
        return "one is the title of several documents"
    return ""


def weigh(likeness: Likeness, short: Seen, long: Seen, defined: bool = False) -> Likeness:
    """Return the likeness of two names, adjusted by the evidence of their passages.

    `defined`: a text defines one of the names by the other.
    """
    if reason := homonyms(short, long):
        return replace(likeness, score=0.0, evidence=f"{likeness.evidence}; {reason}")
    score, evidence = likeness.score, [likeness.evidence]
    if defined:
        score += 0.45
        evidence.append("a text says so")
    if short.titles and short.titles == long.titles:
        score += 0.3
        evidence.append("titles of one document")
    elif likeness.kind == "short" and short.titles and not long.titles:
        score -= 0.3  # an entity with a document of its own needs no longer name
        evidence.append("the title of a document")
    shared, company = short.alone & long.documents, short.company & long.company
    if shared and 2 * len(shared) >= len(short.alone):
        score += 0.35 if likeness.kind in ("short", "letters", "form") else 0.06
        evidence.append(f"{len(shared)} of {len(short.alone)} documents hold both")
    elif len(company) > 1 and len(company) ** 2 >= 0.04 * len(short.company) * len(long.company):
        score += 0.1
        evidence.append(f"{len(company)} names beside both")
    elif (
        not short.documents & long.documents and not company and min(len(short.documents), len(long.documents)) >= _MANY
    ):
        score -= _NOTHING
        evidence.append("nothing in common")
    if likeness.kind == "resembling":
        score = min(score, SURE - 0.05)
    return replace(likeness, score=round(max(0.0, min(0.99, score)), 3), evidence="; ".join(evidence))


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """Yield each acronym that a text defines with its expansion, in normal form: ("who", "world health organization").

    Both "World Health Organization (WHO)" and "WHO (World Health Organization)" are recognised.
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
