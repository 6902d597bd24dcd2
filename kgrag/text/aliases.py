"""Aliases: the names that a title, a heading or the beginning of a text gives an entity.

Source: the PathRank recipe (index, step 1).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import word_lists
from kgrag.text.names import (
    GENERAL,
    LONGEST_CAPTION,
    RANKS,
    Phrase,
    capitalised_phrases,
    names_something,
    without_initials,
)
from kgrag.text.tokens import normalise, tokens

_PARENTHESIS = re.compile(r"\s*\([^)]*\)\s*$")
_SUBJECT = re.compile(
    r"[\"“„«]?([^,(\"“”„«».\n]{3,60}?)[\"”“»]?\s*"
    r"(?:\(|,| [–—] | or | (?:is|was|are|were|ist|war|sind|est|était|fut|es|era|fue|è|fu|é|foi) )"
)
_COMPANY = re.compile(  # "Nottingham Forest" of "Nottingham Forest F.C."
    r"(?<=\w)(?:,? (?:A\.?)?F\.?C\.?|,? (?:Inc|Ltd|Corp|Co)\.?|,? (?:PLC|plc|LLC|GmbH|AG|AB|A/S|S\.A\.))$|^FC (?=\w)"
)
_ALSO = re.compile(  # words that introduce another name of the same thing
    r"(?:\b(?:known|called|styled|credited|referred to|abbreviated|spelled)(?: simply| professionally)? as"
    r"|\b(?:nicknamed|abbreviated|stylized as|stylised as|née|alias|aka|a\.k\.a\.|born|or|[Oo]fficially))"
    r"(?: the| simply)? [\"“]?"
)
_SHORT = re.compile(r"\s*\([\"“]?([A-Z][A-Za-z&.-]*[A-Z.])[\"”]?[);,]")
_PERSON = re.compile(r"born\b")
_LIFE = re.compile(r"[\"”»]?\s*\([^()]*(?:\bborn\b|\b\d{4}\b)")  # behind the full name of "Chuck Brown"
_LISTS = word_lists("kgrag.text")
_KINDS = _LISTS["kinds"]  # before "of" and a name: "Province of East Jersey"
_OTHER_WAYS = 3  # other names taken from one sentence
_LONGEST_HEADING = 120  # characters
_REPEATED = 3  # a heading on as many sections of a document names none of them
_NUMBERED = re.compile(r"^(?P<number>\d{1,2})(?P<dotted>(?:\.\d{1,2})*\.?)\s+(?=\S)|^[A-Z](?:\.\d{1,2})+\.?\s+(?=\S)")
_CAPTION = re.compile(r"(?:table|figure|fig\.|listing|algorithm)\s+[A-Z]?\.?\d", re.IGNORECASE)
_NO_NAME = re.compile(r"[=%;{}<>|~\\]")


@dataclass(frozen=True, slots=True)
class Alias:
    """A name derived from a title: its normal form, its spelling, and how surely it means the title (0 to 1)."""

    normal: str
    surface: str
    weight: float


def without_parenthesis(title: str) -> str:
    """Return `title` without a trailing parenthesis: "Mercury (planet)" -> "Mercury"."""
    return _PARENTHESIS.sub("", title).strip()


def title_aliases(title: str, lead: str, language: Language = ENGLISH) -> list[Alias]:
    """Return the names of a document with this title; `lead` is the beginning of its text.

    Weights: the title, and the title without its parenthesis, 1; without article .9; without middle initials, or the
    legal form of a company or club, .8; other names from the first sentence .8; the part before a comma .6.
    """
    if not title:
        return []
    bare = without_parenthesis(title) or title
    aliases: dict[str, Alias] = {}

    def add(surface: str, weight: float, normal: str | None = None) -> None:
        normal = normalise(surface, language) if normal is None else normal
        if len(normal) > 1 and normal not in language.stop_words and normal not in aliases:
            aliases[normal] = Alias(normal, surface, weight)

    if whole := normalise(title, language):  # even a stop word or a single letter: "It", "C"
        aliases[whole] = Alias(whole, title, 1.0)
    add(bare, 1.0)
    for alias in list(aliases.values()):
        first, _, short = alias.normal.partition(" ")
        if first in language.articles and len(short) > 3:
            add(alias.surface.split(" ", 1)[-1], 0.9, short)
    for alias in list(aliases.values()):
        shorter = without_initials(alias.normal)
        if shorter and alias.normal.split()[0] not in language.articles:  # unlike "The L Word"
            initials = set(alias.normal.split()) - set(shorter.split())
            parts = alias.surface.split()
            others = [word for word in parts if word.rstrip(".").lower() not in initials]
            if initials.isdisjoint(word.rstrip(".") for word in parts):  # unlike "Batman v Superman"
                add(alias.surface if language.inflects else " ".join(others), 0.8, shorter)
    if _has_rest(bare, language):
        add(bare.partition(", ")[0], 0.6)
    for name in (_COMPANY.sub("", bare), *_lead_names(bare, lead, language)):
        add(name, 0.8)
    return list(aliases.values())


def _has_rest(title: str, language: Language) -> bool:
    """Return whether a comma separates a name from its qualifier: "Berlin, New Jersey"."""
    first, _, rest = title.partition(", ")
    words, after = first.split(), rest.split()
    if not words or not after or ":" in first or words[0] == after[0] or not {"and", "&"}.isdisjoint(after):
        return False
    if normalise(after[0], language).removesuffix("'s") in language.stop_words:  # "Baby, It's Cold Outside"
        return False
    return all(word.is_capital or word.norm in language.stop_words for word in tokens(first, language))


def _lead_names(title: str, text: str, language: Language) -> Iterator[str]:
    """Yield other names of the entity in the title, from the first sentence of a text.

    These are the full form ("Charles Leo Goodrum" for "Charles Goodrum"), its abbreviation in brackets, and names
    after "or", "born", "known as" and the like.
    """
    match = _SUBJECT.match(text)
    if match is None:
        return
    words = tokens(match[1], language)
    own = [word for word in normalise(title, language).split() if word not in language.articles]
    begin = int(len(words) > 1 and words[0].norm in language.articles)
    full = [word.name for word in words[begin:]]
    is_longer = bool(own) and full[: len(own)] == own and full[len(own) : len(own) + 1] == ["of"]
    if not words or words[begin].norm in language.stop_words:  # "During World War I"
        return
    if words[-1].is_capital and (is_longer or _is_shorter([w for w in full if w not in language.articles], own)):
        whole = Phrase(" ".join(full), begin, len(words) - 1, "name")  # "United States of America"
    else:
        phrases = capitalised_phrases(words, language)
        whole = max(phrases, key=lambda phrase: phrase.last - phrase.first, default=Phrase("", 0, -1, "none"))
        full = [word for word in whole.name.split() if word not in language.articles]
        if not own or full[-1:] != own[-1:] or len(set(full)) < len(full):
            return
        before = full[: -len(own)]
        is_person = _PERSON.match(text, match.end()) is not None or text[match.end() - 1] == "("
        is_rank = all(word in RANKS or word in _KINDS or word == "of" for word in before)
        is_longer = _holds(full[:1], own[:1]) or is_rank or (is_person and "of" not in before)
        is_nickname = len(own) > 1 < len(full) and "of" not in own + full and _LIFE.match(text, match.end(1))
        if not (is_longer and _holds(full, own)) and not is_nickname:
            return
    yield words.written(whole.first, whole.last, whole.name)
    if short := _SHORT.match(text, match.end(1)):
        yield short[1]
    sentence = text[match.end(1) :].partition(". ")[0]
    for also in islice(_ALSO.finditer(sentence), _OTHER_WAYS):
        words = tokens(sentence[also.end() :], language)
        first = next((phrase for phrase in capitalised_phrases(words, language) if phrase.first == 0), None)
        if first is not None and first.kind in ("name", "joined"):
            yield words.written(first.first, first.last, first.name)


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether a longer form has all words of a name, or words with its initials, in the same order."""
    rest = iter(words)
    return all(any(word == other or word == other[0] for other in rest) for word in part)


def _is_shorter(short: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a name omits words: "Standing Rules of the Senate" for "... of the United States Senate"."""
    if len(short) < 2 or short[-1:] != words[-1:] or short[0] not in words or words[0][0].isdigit():
        return False
    return _holds(words, short) and words[: words.index(short[0])][-1:] not in (
        ["of"],
        ["for"],
        ["in"],
    )  # "Death of Wang Yue"


def telling_headings(paths: Iterable[str]) -> set[str]:
    """Return the last headings of paths, except repeated ones under other numbers: "3.3 Specific Options"."""
    headings = [path.rsplit(" > ", 1)[-1].strip() for path in paths]
    counts = Counter(_NUMBERED.sub("", heading) for heading in headings)
    return {heading for heading in headings if heading and counts[_NUMBERED.sub("", heading)] < _REPEATED}


def passage_aliases(
    section: str, text: str, captions: Collection[str] = (), language: Language = ENGLISH
) -> list[Alias]:
    """Return the names of a passage of a long document from its headings, with the weights of titles.

    `section`: the path of headings above it; `captions`: the document's headings, which may end with a full stop; if
    there are none, lines of the text that look like headings are used. Numbers do not belong to headings, and general
    headings ("3.1 Purpose") are not names.
    """
    aliases: dict[str, Alias] = {}

    def add(alias: Alias) -> None:
        previous = aliases.get(alias.normal)
        if previous is None or previous.weight < alias.weight:
            aliases[alias.normal] = alias

    lines = [line.strip() for line in text.splitlines() if line.strip()]
    headings = {
        i
        for i, line in enumerate(lines[:-1])
        if (line in captions if captions else _is_heading(line, language) and not _is_heading(lines[i + 1], language))
        and _may_name(line, language)
    }
    own = section.rsplit(" > ", 1)[-1].strip()
    is_own = (own in captions and _may_name(own, language)) if captions else _is_heading(own, language)
    for heading in [own] * is_own + [lines[i] for i in sorted(headings)]:
        for alias in _heading_aliases(heading, captions, language):
            add(alias)
    return list(aliases.values())


def _heading_aliases(heading: str, captions: Collection[str], language: Language) -> list[Alias]:
    """Return the names in a heading, without its number; a single number may belong to the name: "12 Angry Men".

    It does not if the next or previous heading in `captions` has the adjacent number.
    """
    number = _NUMBERED.match(heading)
    if number is None:
        return title_aliases(heading, "", language)
    rest = heading[number.end() :]
    if not _may_name(rest, language):
        return []
    numbered = not number["number"] or bool(number["dotted"]) or _in_sequence(int(number["number"]), captions)
    return [*(() if numbered else title_aliases(heading, "", language)), *title_aliases(rest, "", language)]


def _in_sequence(number: int, captions: Collection[str]) -> bool:
    beside = tuple(f"{n}{end}" for n in (number - 1, number + 1) for end in (" ", ".", "\t"))
    return any(heading.startswith(beside) for heading in captions)


def _is_heading(line: str, language: Language) -> bool:
    """Return whether a line of a text looks like a heading that may be a name, which never ends with a full stop."""
    return _may_name(line, language) and line[-1] not in ".,:;!?"


def _may_name(heading: str, language: Language) -> bool:
    """Return whether a heading may be a name: it is short, and its first and last word are capitalised."""
    words = tokens(_PARENTHESIS.sub("", heading), language) if 1 < len(heading) <= _LONGEST_HEADING else []
    return (
        0 < len(words) <= LONGEST_CAPTION
        and not _NO_NAME.search(heading)
        and not _CAPTION.match(heading)
        and words[0].is_capital
        and words[-1].is_capital
        and not all(w.norm in GENERAL or w.norm in language.stop_words for w in words)
        and names_something(words, language)
    )
