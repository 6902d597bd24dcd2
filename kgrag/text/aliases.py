"""Aliases: the names that a title, a heading or the beginning of a text gives an entity.

Source: the PathRank recipe (index, step 1).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.names import LONGEST_CAPTION, begins_sentence, names_something, without_initials
from kgrag.text.tokens import normalise, tokens

_PARENTHESIS = re.compile(r"\s*\([^)]*\)\s*$")
_LEAD = re.compile(r"^[\"“]?([^,(\"”.\n]{3,60}?)[\"”]?\s*(?:\(|,| is | was | are | were )")
_OTHER_LEAD = re.compile(  # of other languages
    r"^[\"“„«]?([^,(\"”“».\n]{3,60}?)[\"”“»]?\s*"
    r"(?:\(|,| [–—] | (?:ist|war|sind|est|était|fut|es|era|fue|è|fu|é|foi|is|was) )"
)
_PREPOSITIONS = frozenset("at by from in near on to".split())  # after a first word that is no name: "Born in Larvik"
_LEAD_CHARACTERS = 200
_LONGEST_HEADING = 120  # characters
_NUMBERED = re.compile(r"^(?P<number>\d{1,2})(?P<dotted>(?:\.\d{1,2})*\.?)\s+(?=\S)|^[A-Z](?:\.\d{1,2})+\.?\s+(?=\S)")
_CAPTION = re.compile(r"(?:table|figure|fig\.|listing|algorithm)\s+[A-Z]?\.?\d", re.IGNORECASE)
_NO_NAME = re.compile(r"[=%;{}<>|~\\]")
_GENERAL = frozenset(  # headings that any document may have
    """abstract acknowledgements acknowledgments appendices arguments authors author availability background
    bibliography bugs caveats changes comments conclusion conclusions configuration contents copying copyright default
    defaults description details diagnostics discussion environment errors examples exceptions exit files footnotes
    format functions general glossary history implementation index information introduction keywords license licence
    methods miscellaneous motivation name names notes options other output overview parameters preface purpose
    recommended reference references related remarks requirements results return returns security settings specific
    status summary syntax synopsis terminology types usage value values warning warnings""".split()
)


@dataclass(frozen=True, slots=True)
class Alias:
    """A name that a title gives: its normal form, how it is written, and how surely it means the title (0 to 1)."""

    normal: str
    surface: str
    weight: float


def without_parenthesis(title: str) -> str:
    """Return `title` without a trailing parenthesis: "Mercury (planet)" -> "Mercury"."""
    return _PARENTHESIS.sub("", title).strip()


def title_aliases(title: str, lead: str, language: Language = ENGLISH) -> list[Alias]:
    """Return the names of a document with this title; `lead` is the beginning of its text.

    Weights: the title and the title without its parenthesis 1; without article .9; without middle initials .8; the
    name that the text begins with .8; the part before a comma .6.
    """
    if not title:
        return []
    bare = without_parenthesis(title) or title
    aliases: dict[str, Alias] = {}

    def add(surface: str, weight: float, normal: str | None = None) -> None:
        normal = normalise(surface, language) if normal is None else normal
        if len(normal) > 1 and normal not in language.stop_words and normal not in aliases:
            aliases[normal] = Alias(normal, surface, weight)

    if whole := normalise(title, language):  # also one that is a stop word, or one letter: "It", "C"
        aliases[whole] = Alias(whole, title, 1.0)
    add(bare, 1.0)
    for alias in list(aliases.values()):
        first, _, short = alias.normal.partition(" ")
        if first in language.articles and len(short) > 3:
            add(alias.surface.split(" ", 1)[-1], 0.9, short)
    for alias in list(aliases.values()):
        shorter = without_initials(alias.normal)
        if shorter:
            add(alias.surface if language.inflects else shorter.title(), 0.8, shorter)
    if "," in bare:
        add(bare.split(",")[0].strip(), 0.6)
    name = _lead_name(lead, language)
    if name:
        add(name, 0.8)
    return list(aliases.values())


def _lead_name(text: str, language: Language) -> str | None:
    """Return the name at the beginning of a text ("Fram" of "The Fram was a ship"), if there is one."""
    match = (_LEAD if language is ENGLISH else _OTHER_LEAD).match(text)
    if not match:
        return None
    words = match[1].split()
    first = words[0].lower()
    opens = first in language.stop_words and (first != "the" if language is ENGLISH else first not in language.articles)
    if not match[1][0].isupper() or opens or not 1 < len(words) <= 7 or words[1] in _PREPOSITIONS:
        return None
    return match[1].split(" ", 1)[-1] if first in language.articles else match[1]


def passage_aliases(
    section: str, text: str, captions: Collection[str] = (), language: Language = ENGLISH
) -> list[Alias]:
    """Return the names of a passage of a long document: its headings, and names at the beginning of its paragraphs.

    `section`: the path of headings it stands under; `captions`: the document's headings, which may end on a stop; other
    lines of the text are headings by their looks, if it has none. Headings weigh what titles weigh, the other names .8.
    Numbers do not belong to headings, and one that any document may have ("3.1 Purpose") names nothing.
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
    is_own = _is_heading(own, language) or (own in captions and _may_name(own, language))
    for heading in [own] * is_own + [lines[i] for i in sorted(headings)]:
        for alias in _heading_aliases(heading, captions, language):
            add(alias)
    for i, line in enumerate(lines):
        name = None if i in headings else _lead_name(line[:_LEAD_CHARACTERS], language)
        if name and ":" not in name and _may_name(name, language) and not begins_sentence(name.split()[0].lower()):
            add(Alias(normalise(name, language), name, 0.8))
    return list(aliases.values())


def _heading_aliases(heading: str, captions: Collection[str], language: Language) -> list[Alias]:
    """Return the names in a heading, without its number; a single number may belong to the name: "12 Angry Men".

    It does not where the heading after it, or before, of those `captions` has the next number.
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
    """Return whether a line of a text looks like a heading that names something: one that does not end on a stop."""
    return _may_name(line, language) and line[-1] not in ".,:;!?"


def _may_name(heading: str, language: Language) -> bool:
    """Return whether a heading may name something: it is short, its first and last word capitals."""
    words = tokens(_PARENTHESIS.sub("", heading), language) if 1 < len(heading) <= _LONGEST_HEADING else []
    return (
        0 < len(words) <= LONGEST_CAPTION
        and not _NO_NAME.search(heading)
        and not _CAPTION.match(heading)
        and words[0].is_capital
        and words[-1].is_capital
        and not all(w.norm in _GENERAL or w.norm in language.stop_words for w in words)
        and names_something(words, language)
    )
