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
NUMBER_OR_DATE = rf"[0-9 ]+|(\d+ )?({_MONTHS})( \d+)*"
"""The pattern of a normalised name that is only a number or a date."""
_NUMBER_OR_DATE = re.compile(NUMBER_OR_DATE)
_PARENTHESIS = re.compile(r"\s*\([^)]*\)\s*$")
_ARTICLE = re.compile(r"^(the|a|an) ")
_LEAD = re.compile(r"^[\"“]?([^,(\"”.\n]{3,60}?)[\"”]?\s*(?:\(|,| is | was | are | were )")
_LEAD_CHARACTERS = 200
_LONGEST_HEADING = 120  # characters
_NUMBERED = re.compile(r"^(?P<number>\d{1,2})(?P<dotted>(?:\.\d{1,2})*\.?)\s+(?=\S)|^[A-Z](?:\.\d{1,2})+\.?\s+(?=\S)")
_CAPTION = re.compile(r"(?:table|figure|fig\.|listing|algorithm)\s+[A-Z]?\.?\d", re.IGNORECASE)
_VERSION = re.compile(r"v\d{2,}[a-z]?")
_GREEK = re.compile(r"[\u0370-\u03ff]")
_LATIN = re.compile(r"[^\W\d_\u0370-\uffff]")
_PARTS = frozenset(  # of documents: with a number they name no thing, "Section 4.8", "Table 2"
    """affiliation appendix author bit case chap chapter class column day debug definition edition eq eqn equation
    example exercise fig figure figures file group inc item lemma level line listing method model note option page
    part phase population proof release row sec sect section sections state step subject subjects tab table tables
    term test theorem time type version vol volume year""".split()
)
_VALUES = frozenset("true false null nil nan na inf".split())
_DAYS = frozenset(
    f"{_MONTHS.replace('|', ' ')} jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun "
    "monday tuesday wednesday thursday friday saturday sunday accessed last".split()
)
_WIDE = re.compile(r"[\u1100-\uffff]")  # scripts whose words are short
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
_OPENERS = frozenset(  # what sentences and headings begin with, written with a capital for no other reason
    """add added adds allow alternatively apply applying approach assume assuming avoid based call calling change
    changing check choose choosing clarify combine compare compute computing consequently consider convert create
    creating declare define defining delete describe despite display do document enable enables ensure ensuring
    except execute executing fighting fix fixed following get getting give given hence however identical ignore
    implement improve include including indeed install installing instance instances instead let like list look
    looking make making moreover move nevertheless note notice obtain obtaining omit otherwise outside perform
    please possibilities print provide put raise raises read reads recall referring regardless remove removing
    replace replacing return returning returns run running see select send set sets setting show similarly simply
    specify specifying start starting store subclass subclassing subsequent suppose take tell tells test testing
    therefore thus try turn unfortunately unlike update updating use using verify view when write writing""".split()
)
_ADVERB = re.compile(r"\w{3,}(?:al|ent|ant|ous|iv|ful|ed|ar|at|in|ern|less)ly")
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
    lines of the text are headings by their looks, if it has none. Headings weigh what titles weigh, the other names .8.
    Numbers do not belong to headings, and one that any document may have ("3.1 Purpose") names nothing.
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
        if (line in known if known else _is_heading(line) and not _is_heading(lines[i + 1])) and _may_name(line)
    }
    own = section.rsplit(" > ", 1)[-1].strip()
    for heading in [own] * (_is_heading(own) or (own in known and _may_name(own))) + [
        lines[i] for i in sorted(headings)
    ]:
        for alias in _heading_aliases(heading, known):
            add(alias)
    for i, line in enumerate(lines):
        name = None if i in headings else _lead_name(line[:_LEAD_CHARACTERS])
        if name and ":" not in name and _may_name(name) and not _opens(name.split()[0].lower()):
            add(Alias(normalise(name), name, 0.8))
    return list(found.values())


def _heading_aliases(heading: str, known: Collection[str]) -> list[Alias]:
    """The names that a heading gives, without its number; a single number may belong to the name: "12 Angry Men".

    It does not where the heading after it, or before, of those `known` has the next number.
    """
    number = _NUMBERED.match(heading)
    if number is None:
        return title_aliases(heading, "")
    rest = heading[number.end() :]
    if not _may_name(rest):
        return []
    numbered = not number["number"] or bool(number["dotted"]) or _in_sequence(int(number["number"]), known)
    return [*(() if numbered else title_aliases(heading, "")), *title_aliases(rest, "")]


def _in_sequence(number: int, known: Collection[str]) -> bool:
    beside = tuple(f"{n}{end}" for n in (number - 1, number + 1) for end in (" ", ".", "\t"))
    return any(heading.startswith(beside) for heading in known)


def _is_heading(line: str) -> bool:
    """Whether a line of a text looks like a heading that names something: one that does not end on a stop."""
    return _may_name(line) and line[-1] not in ".,:;!?"


def _may_name(heading: str) -> bool:
    """Whether a heading may name something: it is short, its first and last word capitals."""
    words = tokens(_PARENTHESIS.sub("", heading)) if 1 < len(heading) <= _LONGEST_HEADING else []
    return (
        0 < len(words) <= LONGEST_NAME
        and not _NO_NAME.search(heading)
        and not _CAPTION.match(heading)
        and words[0].is_capital
        and words[-1].is_capital
        and not all(w.norm in _GENERAL or w.norm in STOP_WORDS for w in words)
        and _names_something(words)
    )


def _opens(word: str) -> bool:
    """Whether a normalised word has a capital only because a sentence begins with it."""
    return word in _OPENERS or _ADVERB.fullmatch(word) is not None


def _names_something(words: Sequence[Token]) -> bool:
    """Whether words may be a name: not only numbers, single letters, dates, or parts of documents (Table 2)."""
    norms = [word.norm for word in words]
    telling = {n for n in norms if _telling(n)} - (_DAYS if len(norms) > 1 else frozenset())
    numbers = sum(map(str.isdigit, norms))
    if numbers and not any(sum(map(str.isalpha, n)) > 1 or _WIDE.search(n) for n in telling):
        return False  # cells of a table: "B6 10.4 0.34"
    return bool(telling) and (numbers < 3 or numbers < len(norms) / 2) and _VALUES.isdisjoint(norms)


def _telling(word: str) -> bool:
    short = len(word) < 2 if word.isascii() else not word
    if short or word in STOP_WORDS or word in _PARTS or _VERSION.fullmatch(word):
        return False
    return word.isascii() or not (_GREEK.search(word) and _LATIN.search(word))  # of a formula: "Gρ"


def capitalised_phrases(words: Sequence[Token]) -> dict[str, str]:
    """The capitalised phrases of a text, which may be names: normal form -> how it is written.

    A run of capitalised words, with a small word or two allowed after the first ("House of the Seven Gables"), or of
    numbers of three or four digits; stop words at its ends do not belong to it, nor does what sentences begin with
    ("See", "Consequently"). Numbers, dates, values and parts of documents ("Section 4") are none, and neither is one
    word that begins a sentence, unless it has capitals or digits within. What "and" or "of" joins counts itself, too.
    """
    found: dict[str, str] = {}
    for match in _PHRASE.finditer(_shapes(words)):
        run = list(words[match.start() : match.end()])
        for part in (run, *_split(run)) if match[1] else (run,):
            while part and part[-1].norm in STOP_WORDS:
                part.pop()
            while len(part) > 1 and (part[0].norm in STOP_WORDS or _opens(part[0].norm) or _is_mark(part)):
                del part[0]
                while len(part) > 1 and part[0].raw.islower():
                    del part[0]
            name = " ".join([w.norm for w in part])
            if len(name) > 2 and name not in found and not _NUMBER_OR_DATE.fullmatch(name) and _is_phrase(part):
                found[name] = " ".join([w.raw for w in part])
    return found


def _is_mark(words: Sequence[Token]) -> bool:
    """Whether what a phrase begins with is a sign or a quantity before a common word: "Z in the Cholesky"."""
    return (len(words[0].norm) == 1 or words[0].raw.isdigit()) and words[1].raw.islower()


def _is_phrase(words: Sequence[Token]) -> bool:
    """Whether capitalised words may be a name: one word is none that has its capital from a sentence's beginning."""
    if len(words) == 1:
        word = words[0]
        return _names_something(words) and not _opens(word.norm) and not (word.starts and word.raw[1:].islower())
    said = {word.norm for word in words}
    shouted = len(words) > 3 and all(word.raw.isupper() for word in words) and not STOP_WORDS.isdisjoint(said)
    twice = len(said) < len(words) and not all(word.raw.istitle() for word in words)
    short = len(words) > 2 and all(len(w.norm) < 4 and (w.raw.isupper() or w.raw.isdigit()) for w in words)
    signs = short and any(len(name) == 1 for name in said)  # "L 0 LR AAX"
    brief = all(len(name) < 3 for name in said) and not any(map(_WIDE.search, said))  # symbols of a formula
    after_initial = len(words) == 2 and len(words[0].norm) == 1 and _opens(words[1].norm)  # "of G. Consider"
    return _names_something(words) and not (shouted or twice or signs or brief or after_initial)


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
