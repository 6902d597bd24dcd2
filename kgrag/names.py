"""Names: the aliases that a title gives an entity, and the names that a text mentions.

Source: the PathRank recipe (index, steps 1 and 4).
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from kgrag.text import STOP_WORDS, Memo, Token, normalise, tokens

LONGEST_NAME = 14  # words
_INNER_WORDS = frozenset("of the and de van von der la le du del des di da bin ibn al ben zu y for in on at".split())
_JOINING_WORDS = frozenset("and y for in on at of".split())
_NO_INITIALS = "aioey"  # words of one letter
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DATE = re.compile(rf"^(\d+ )?({_MONTHS})( \d+)*$")
_PARENTHESIS = re.compile(r"\s*\([^)]*\)\s*$")
_ARTICLE = re.compile(r"^(the|a|an) ")
_LEAD = re.compile(r"^[\"“]?([^,(\"”.\n]{3,60}?)[\"”]?\s*(?:\(|,| is | was | are | were )")
_LEAD_CHARACTERS = 200
_LONGEST_HEADING = 120  # characters
QUESTION_WORDS = frozenset("name film movie song located born die died year date country city place".split())


@dataclass(frozen=True, slots=True)
class Alias:
    """A name that a title gives: its normal form, how it is written, and how surely it means the title (0 to 1)."""

    normal: str
    surface: str
    weight: float


def without_parenthesis(title: str) -> str:
    """`title` without a trailing parenthesis: "Mercury (planet)" -> "Mercury"."""
    return _PARENTHESIS.sub("", title).strip()


def without_initials(name: str) -> str | None:
    """A normalised name without its middle initials ("albert s rogell" -> "albert rogell"), or None if it has none."""
    words = name.split()
    last = len(words) - 1
    kept = [w for i, w in enumerate(words) if len(w) > 1 or w in _NO_INITIALS or i in (0, last)]
    if not 1 < len(kept) < len(words) or len(kept[0]) < 2 or len(kept[-1]) < 2 or any(c.isdigit() for c in name):
        return None
    return " ".join(kept)


def title_aliases(title: str, lead: str) -> list[Alias]:
    """The names by which a document of this title is known; `lead` is the beginning of its text.

    Weights: the title and the title without its parenthesis 1; without article .9; without middle initials .8; the
    name that the text begins with .8; the part before a comma .6.
    """
    if not title:
        return []
    bare = without_parenthesis(title) or title
    found: dict[str, Alias] = {}

    def add(surface: str, weight: float, normal: str | None = None) -> None:
        normal = normalise(surface) if normal is None else normal
        if len(normal) > 1 and normal not in STOP_WORDS and normal not in found:
            found[normal] = Alias(normal, surface, weight)

    add(title, 1.0)
    add(bare, 1.0)
    for alias in list(found.values()):
        short = _ARTICLE.sub("", alias.normal)
        if len(short) > 3 and short != alias.normal:
            add(alias.surface.split(" ", 1)[-1], 0.9, short)
    for alias in list(found.values()):
        shorter = without_initials(alias.normal)
        if shorter:
            add(shorter.title(), 0.8, shorter)
    if "," in bare:
        add(bare.split(",")[0].strip(), 0.6)
    name = _lead_name(lead)
    if name:
        add(name, 0.8)
    return list(found.values())


def _lead_name(text: str) -> str | None:
    """The name that a text begins with ("Fram" of "The Fram was a ship"), if it does."""
    match = _LEAD.match(text)
    if not match:
        return None
    words = match[1].split()
    if not match[1][0].isupper() or words[0].lower() in STOP_WORDS - {"the"} or not 1 < len(words) <= 7:
        return None
    return match[1].split(" ", 1)[-1] if words[0].lower() in ("the", "a", "an") else match[1]


def passage_aliases(section: str, text: str, known: Collection[str] = ()) -> list[Alias]:
    """The names by which a passage of a long document is known: its headings, and names that its paragraphs begin with.

    `section`: the path of headings it stands under; `known`: the document's headings, which may end on a stop; other
    lines of the text are headings by their looks. Headings weigh what titles weigh, the other names .8.
    """
    found: dict[str, Alias] = {}

    def add(alias: Alias) -> None:
        known = found.get(alias.normal)
        if known is None or known.weight < alias.weight:
            found[alias.normal] = alias

    lines = [line.strip() for line in text.splitlines() if line.strip()]
    headings = {
        i
        for i, line in enumerate(lines[:-1])
        if (line in known and _may_name(line)) or (_is_heading(line) and not _is_heading(lines[i + 1]))
    }
    own = section.rsplit(" > ", 1)[-1].strip()
    for alias in title_aliases(own, "") if _is_heading(own) or (own in known and _may_name(own)) else ():
        add(alias)
    for i, line in enumerate(lines):
        if i in headings:
            for alias in title_aliases(line, lines[i + 1][:_LEAD_CHARACTERS]):
                add(alias)
        elif i - 1 not in headings:
            name = _lead_name(line[:_LEAD_CHARACTERS])
            normal = normalise(name) if name else ""
            if name and normal not in STOP_WORDS:
                add(Alias(normal, name, 0.8))
    return list(found.values())


def _is_heading(line: str) -> bool:
    """Whether a line of a text looks like a heading that names something: one that does not end on a stop."""
    return _may_name(line) and line[-1] not in ".,:;!?"


def _may_name(heading: str) -> bool:
    """Whether a heading may name something: it is short, its first and last word capitals."""
    words = tokens(_PARENTHESIS.sub("", heading)) if 1 < len(heading) <= _LONGEST_HEADING else []
    return (
        0 < len(words) <= LONGEST_NAME
        and words[0].is_capital
        and words[-1].is_capital
        and not heading.replace(" ", "").isdigit()
    )


def capitalised_phrases(words: Sequence[Token]) -> dict[str, str]:
    """The capitalised phrases of a text, which may be names: normal form -> how it is written.

    A run of capitalised words, with a small word or two allowed after the first ("House of the Seven Gables"), or of
    numbers of three or four digits; stop words at its ends do not belong to it. Numbers and dates are none. What "and"
    or "of" joins counts by itself, too.
    """
    found: dict[str, str] = {}
    for match in _PHRASE.finditer(_shapes(words)):
        run = list(words[match.start() : match.end()])
        for part in (run, *_split(run)) if match[1] else (run,):
            while part and part[-1].norm in STOP_WORDS:
                part.pop()
            name = " ".join([w.norm for w in part])
            if len(name) > 2 and name not in found and not _is_number_or_date(name):
                found[name] = " ".join([w.raw for w in part])
    return found


def _is_number_or_date(name: str) -> bool:
    return (name[0].isdigit() and name.replace(" ", "").isdigit()) or _DATE.match(name) is not None


def _split(run: Sequence[Token]) -> list[list[Token]]:
    """The parts of a phrase that a small word joins, "Zambia" and "Zimbabwe" of "Zambia and Zimbabwe"; or nothing."""
    cuts = [i for i, word in enumerate(run) if word.norm in _JOINING_WORDS and word.raw.islower()]
    if not cuts:
        return []
    return [list(run[start + 1 : end]) for start, end in zip((-1, *cuts), (*cuts, len(run)), strict=True)]


# Names are found in the shapes of words, a character each: what a word is to a name, as bits.
_CAPITAL, _UPPER, _DIGIT, _FIRST, _INNER, _INITIAL, _JOINED = (1 << i for i in range(7))
_ALL_SHAPES = [chr(0x100 + bits) for bits in range(128)]


def _shape(word: Token) -> str:
    raw, norm, upper = word.raw, word.norm, word.raw[0].isupper()
    first = norm not in STOP_WORDS and (upper or (raw.isdigit() and 3 <= len(raw) <= 4))
    bits = _CAPITAL * word.is_capital | _UPPER * upper | _DIGIT * raw[0].isdigit() | _FIRST * first
    bits |= _INNER * (norm in _INNER_WORDS) | _INITIAL * (len(norm) == 1 and norm not in _NO_INITIALS)
    return _ALL_SHAPES[bits | _JOINED * word.joined]


def _shapes(words: Iterable[Token]) -> str:
    return "".join([_SHAPE[word] for word in words])


def _having(all_of: int, any_of: int) -> str:
    """The shapes with these bits, as a pattern."""
    return f"[{''.join(s for bits, s in enumerate(_ALL_SHAPES) if bits & all_of == all_of and bits & any_of)}]"


_SHAPE = Memo(_shape)
_CAPITALS = frozenset(_having(_CAPITAL, _CAPITAL))
_INITIALS = frozenset(_having(_INITIAL, _INITIAL))
_PHRASE = re.compile(  # first word, one or two small ones before a capital, what is joined to them
    f"{_having(_FIRST, _FIRST)}(?:({_having(_JOINED, _INNER)}{{1,2}}+){_having(_JOINED, _UPPER)})?"
    f"{_having(_JOINED, _UPPER | _DIGIT)}*"
)


def find_names(
    words: Sequence[Token], known: Callable[[str], bool], skip: Collection[str] = ()
) -> dict[str, list[int]]:
    """The known names in a text, longest first and from left to right: normal form -> positions (word numbers from 0).

    A name begins and ends on a capital, a digit or a letter without case; one word alone must be longer than two
    letters, no stop word, and no number. `skip`: names that are passed over, so that names within them are found.
    """
    found: dict[str, list[int]] = {}
    shapes = _shapes(words)
    capitals = [i for i, shape in enumerate(shapes) if shape in _CAPITALS]
    initials = not _INITIALS.isdisjoint(shapes)
    norms = [word.norm for word in words]
    text = " ".join(norms)
    begins = list(accumulate([len(norm) + 1 for norm in norms], initial=0))
    first = beyond = 0  # among the capitals
    while first < len(capitals):
        i = capitals[first]
        while beyond < len(capitals) and capitals[beyond] < i + LONGEST_NAME:
            beyond += 1
        begin = begins[i]
        for last in range(beyond - 1, first, -1):
            j = capitals[last]
            name = text[begin : begins[j + 1] - 1]
            if not known(name):
                if not initials or _INITIALS.isdisjoint(shapes[i + 1 : j]):
                    continue
                name = without_initials(name) or ""
                if not name or not known(name):
                    continue
            if name not in skip:
                found.setdefault(name, []).append(i)
                first = last
                break
        else:
            name = norms[i]
            if known(name) and _can_stand_alone(name, i) and name not in skip:
                found.setdefault(name, []).append(i)
        first += 1
    return found


def _can_stand_alone(word: str, place: int) -> bool:
    """Whether a word may be a whole name; the words that questions begin with are none at the beginning."""
    if (len(word) < 3 and word.isascii()) or word in STOP_WORDS or word.isdigit():
        return False
    return place > 0 or word not in QUESTION_WORDS
