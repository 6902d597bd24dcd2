"""Names: the aliases that a title gives an entity, and the names that a text mentions.

Source: the PathRank recipe (index, steps 1 and 4).
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

from kgrag.text import STOP_WORDS, Token, normalise, tokens

LONGEST_NAME = 14  # words
_INNER_WORDS = frozenset("of the and de van von der la le du del des di da bin ibn al ben zu y for in on at".split())
_JOINING_WORDS = frozenset("and y for in on at of".split())
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
    kept = [w for i, w in enumerate(words) if len(w) > 1 or w in "aioey" or i in (0, last)]
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


def passage_aliases(section: str, text: str) -> list[Alias]:
    """The names by which a passage of a long document is known: its headings, and names that its paragraphs begin with.

    `section`: the path of headings it stands under. Headings weigh what titles weigh, the other names .8.
    """
    found: dict[str, Alias] = {}

    def add(alias: Alias) -> None:
        known = found.get(alias.normal)
        if known is None or known.weight < alias.weight:
            found[alias.normal] = alias

    lines = [line.strip() for line in text.splitlines() if line.strip()]
    headings = {i for i, line in enumerate(lines[:-1]) if _is_heading(line) and not _is_heading(lines[i + 1])}
    own = section.rsplit(" > ", 1)[-1]
    for alias in title_aliases(own, "") if _is_heading(own) else ():
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
    """Whether a line may be a heading that names something: short, without a stop, its first and last word capitals."""
    words = tokens(_PARENTHESIS.sub("", line)) if 1 < len(line) <= _LONGEST_HEADING else []
    return (
        0 < len(words) <= LONGEST_NAME
        and line[-1] not in ".,:;!?"
        and words[0].is_capital
        and words[-1].is_capital
        and not line.replace(" ", "").isdigit()
    )


def capitalised_phrases(words: Sequence[Token]) -> dict[str, str]:
    """The capitalised phrases of a text, which may be names: normal form -> how it is written.

    A run of capitalised words, with a small word or two allowed after the first ("House of the Seven Gables"), or of
    numbers of three or four digits; stop words at its ends do not belong to it. Numbers and dates are none. What "and"
    or "of" joins counts by itself, too.
    """
    found: dict[str, str] = {}
    i = 0
    while i < len(words):
        if words[i].norm in STOP_WORDS or not _begins_phrase(words[i].raw):
            i += 1
            continue
        end = _end_of_phrase(words, i)
        run = list(words[i:end])
        i = end
        for part in (run, *_split(run)):
            while part and part[-1].norm in STOP_WORDS:
                part.pop()
            name = " ".join(w.norm for w in part)
            if len(name) > 2 and not name.replace(" ", "").isdigit() and not _DATE.match(name):
                found.setdefault(name, " ".join(w.raw for w in part))
    return found


def _split(run: Sequence[Token]) -> list[list[Token]]:
    """The parts of a phrase that a small word joins, "Zambia" and "Zimbabwe" of "Zambia and Zimbabwe"; or nothing."""
    cuts = [i for i, word in enumerate(run) if word.norm in _JOINING_WORDS and word.raw.islower()]
    if not cuts:
        return []
    return [list(run[start + 1 : end]) for start, end in zip((-1, *cuts), (*cuts, len(run)), strict=True)]


def _begins_phrase(raw: str) -> bool:
    return raw[0].isupper() or (raw.isdigit() and 3 <= len(raw) <= 4)


def _end_of_phrase(words: Sequence[Token], start: int) -> int:
    """One past the last word of the phrase that begins at `start`."""
    end = start + 1
    inner = end
    while inner < min(end + 2, len(words)) and words[inner].joined and words[inner].norm in _INNER_WORDS:
        inner += 1
    if end < inner < len(words) and words[inner].joined and words[inner].raw[0].isupper():
        end = inner + 1
    while end < len(words) and words[end].joined and (words[end].raw[0].isupper() or words[end].raw[0].isdigit()):
        end += 1
    return end


def find_names(
    words: Sequence[Token], known: Callable[[str], bool], skip: Collection[str] = ()
) -> dict[str, list[int]]:
    """The known names in a text, longest first and from left to right: normal form -> positions (word numbers from 0).

    A name begins and ends on a capital, a digit or a letter without case; one word alone must be longer than two
    letters, no stop word, and no number. `skip`: names that are passed over, so that names within them are found.
    """
    found: dict[str, list[int]] = {}
    capital = [w.is_capital for w in words]
    norms = [w.norm for w in words]
    text = " ".join(norms)
    begins = list(accumulate((len(norm) + 1 for norm in norms), initial=0))
    letters = list(accumulate((len(norm) == 1 for norm in norms), initial=0))  # words of one letter before each word
    i = 0
    while i < len(words):
        length = 0
        if capital[i]:
            for n in range(min(LONGEST_NAME, len(words) - i), 0, -1):
                if not capital[i + n - 1]:
                    continue
                if n == 1:
                    name = _known_word(norms[i], i, known)
                else:
                    inner = letters[i + n - 1] > letters[i + 1]
                    name = _known_phrase(text[begins[i] : begins[i + n] - 1], inner, known)
                if name is not None and name not in skip:
                    found.setdefault(name, []).append(i)
                    length = n
                    break
        i += length or 1
    return found


def _known_word(name: str, start: int, known: Callable[[str], bool]) -> str | None:
    if (len(name) < 3 and name.isascii()) or name in STOP_WORDS or name.isdigit():
        return None
    if start == 0 and name in QUESTION_WORDS:
        return None
    return name if known(name) else None


def _known_phrase(name: str, has_initials: bool, known: Callable[[str], bool]) -> str | None:
    if known(name):
        return name
    shorter = without_initials(name) if has_initials else None
    return shorter if shorter is not None and known(shorter) else None


def names_in(text: str, known: Callable[[str], bool], skip: Collection[str] = ()) -> dict[str, list[int]]:
    """`find_names` over the words of a text."""
    return find_names(tokens(text), known, skip)
