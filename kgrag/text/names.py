"""Names: the phrases of a text that may be names, and the known names that it mentions.

Source: the PathRank recipe (index, steps 1 and 4).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate, chain, pairwise, takewhile
from typing import Literal, NamedTuple

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import APOSTROPHES, JOINING, Memo, is_number, without_possessive, word_lists
from kgrag.text.tokens import UNSPACED_LETTER, Token, Words, is_unspaced, join_name, name_words

LONGEST_CAPTION = 14  # words
LONGEST_RUN = 6
"""Maximum capitalised words that are taken as one name if no title or other text has it."""
SURE_WORDS = 3
"""Words of a known name that is recognised within a longer run."""
_NO_INITIALS = "aioey"  # words of one letter
_INNER_WORDS = frozenset("of the and de van von der la le du del des di da bin ibn al ben zu y for in on at".split())
_PARTICLES = frozenset("de van von der du del della di da dos das bin ibn ben zu".split())  # within names of persons
_COORDINATING = frozenset("and y in on at for".split())
_SUBORDINATING = frozenset(("of",))
_LISTS = word_lists("kgrag.text")
_INSTITUTIONS = _LISTS["institutions"]  # their names include "of ...", unlike "Mayor of Ocala", "Martin of Aragon"
_TOPICAL = _LISTS["topical"]
_SAINT = frozenset("st ste saint".split())
_FIRST_OF_NAMES = frozenset("all first my no one our three too two".split())  # stop words: "Three Mile Island"
RANKS = _LISTS["ranks"]  # words before a person's name that do not belong to it
_OFFICES = _LISTS["offices"]  # the ranks that never begin names of places or things
_ABBREVIATIONS = _LISTS["abbreviations"]
_INSIDE_NAMES = _LISTS["inside_names"]
_TITLES = _LISTS["titles"]
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")  # initials, "J.K", and states, "U.S"
SIGNED_LETTER = re.compile(r"[a-z](?:\+\+|#)")  # names of one letter: "C++", "F#"
_BEFORE_YEARS = frozenset("in since by from to until till during before after around about circa".split())
_ORDINAL = re.compile(r"\d{1,2}|[IVX]+")  # "1. FC Köln", "Ludwig XIV. Straße"
_NTH = re.compile(r"\d+(?:st|nd|rd|th)")
_SECTION = re.compile(r"(?:\d+|[A-Z])(?:\.\d+)+")
_LONGEST_HEADING = 8  # words
_BESIDE = 8  # neighbouring words that show whether a text is a table
_NUMBERED = re.compile(r"v\d[\d.]+[a-z]?|[a-z](?:\.\d+)+")  # versions and sections, in normal form
_GREEK = re.compile(r"[\u0370-\u03ff]")
_LATIN = re.compile(r"[^\W\d_\u0370-\uffff]")
_PARTS = _LISTS["parts"]
GENERAL = _LISTS["general"]  # headings that any document may have
_SIGNS_OF_NUMBERS = r".,:/'#%‰°+\-=^×·<>≤≥~±≈$€£¥"
_VALUES = frozenset("true false null nil nan na inf".split())
_DAYS = frozenset(
    f"{ENGLISH.months.replace('|', ' ')} jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun "
    "monday tuesday wednesday thursday friday saturday sunday accessed last".split()
)
_BEFORE_DATES = _BEFORE_YEARS | _DAYS
_WIDE = re.compile(r"[\u1100-\uffff]")  # scripts whose words are short
_ASKING = frozenset("Are Can Do Does Is are can do does is".split())
_OPENERS = _LISTS["openers"]
_ADVERB = re.compile(r"\w{3,}(?:al|ent|ant|ous|iv|ful|ed|ar|at|in|ern|less)ly")
QUESTION_WORDS = frozenset("name film movie song located born die died year date country city place".split())


def without_initials(name: str) -> str | None:
    """Return a normalised name without middle initials ("albert s rogell" -> "albert rogell"); None without any."""
    words = name.split()
    last = len(words) - 1
    rest = [w for i, w in enumerate(words) if len(w) > 1 or w in _NO_INITIALS or i in (0, last)]
    if not 1 < len(rest) < len(words) or len(rest[0]) < 2 or len(rest[-1]) < 2 or any(c.isdigit() for c in name):
        return None
    return " ".join(rest)


def number_or_date(language: Language = ENGLISH) -> str:
    """Return a pattern, for both Python and Java, of names that are only a number, with signs, or a date."""
    return rf"[0-9 {_SIGNS_OF_NUMBERS}]+|(\d+ )?({language.months})( \d+)*"


@cache
def _number_or_date(language: Language) -> re.Pattern[str]:
    return re.compile(number_or_date(language))


def begins_sentence(word: str) -> bool:
    """Return whether a normalised word is capitalised only because it begins a sentence."""
    return word in _OPENERS or _ADVERB.fullmatch(word) is not None


def names_something(words: Sequence[Token], language: Language) -> bool:
    """Return whether words may be a name: not only numbers, single letters, dates, or parts of documents (Table 2)."""
    norms = [word.norm for word in words]
    telling = set(filter(_telling_of(language).__getitem__, norms)) - (_DAYS if len(norms) > 1 else frozenset())
    numbers = sum(map(is_number, norms))
    if numbers and not any(sum(map(str.isalpha, n)) > 1 or _WIDE.search(n) for n in telling):
        return False  # cells of a table: "B6 10.4 0.34"
    return bool(telling) and (numbers < 3 or numbers < len(norms) / 2) and _VALUES.isdisjoint(norms)


def _telling(word: str, language: Language) -> bool:
    short = len(word) < 2 if word.isascii() else not word
    if short or is_number(word) or word in language.stop_words or word in _PARTS or _NUMBERED.fullmatch(word):
        return False
    return word.isascii() or not (_GREEK.search(word) and _LATIN.search(word))  # both occur in formulas: "Gρ"


@cache
def _telling_of(language: Language) -> Memo[str, bool]:
    return Memo(partial(_telling, language=language))


_Kind = Literal["name", "title", "joined", "bearer", "part", "none"]


class Phrase(NamedTuple):
    """A run of capitalised words that may be a name, or a part of one.

    Attributes:
        name: its normal form.
        first: the number of its first word.
        last: the number of its last word.
        kind: "name"; "title" for a whole title or quotation; "joined" for "Zambia and Zimbabwe", which is one name only
            if it occurs again and its sides are not titles; "bearer" for "World Cup" in "1998 World Cup" or "Edward
            Evans" in "King Edward Evans"; "part" for "Chicago" in "University of Chicago"; "none" for text that is not
            a name, such as a line in capitals.
    """

    name: str
    first: int
    last: int
    kind: _Kind


def capitalised_phrases(
    words: Sequence[Token], language: Language = ENGLISH, *, is_title: bool = False
) -> list[Phrase]:
    """Return the capitalised phrases of a text in order, each before its parts.

    A phrase is a run of capitalised words, with one or two small words allowed after the first ("House of the Seven
    Gables"), or of numbers of three or four digits. It excludes stop words, openers of sentences ("See",
    "Consequently") and dates at its ends. Numbers, values and parts of documents ("Section 4") are not names, nor is a
    single word at the start of a sentence, unless it has capitals or digits within. If all nouns are capitalised, nor
    is a single word after an article. Names joined by "and", "in" or & also count separately, and so does the name
    after "of". A fully capitalised title is one name: "Administration" is a part of "R Administration".
    """
    phrases: list[Phrase] = []
    coordinating = _COORDINATING | language.joining
    starts = [i for i, word in enumerate(words) if not (i and word.joined)] if is_title else []
    titles = [span for span in pairwise([*starts, len(words)]) if _is_one_name(words[slice(*span)], language)]
    phrases += [Phrase("", first, end - 1, "title") for first, end in titles]
    quotations = set(_quoted_titles(words, language))
    dates, common = _number_or_date(language), common_nouns(words, language)

    def add(first: int, last: int, kind: _Kind) -> Phrase | None:
        end = last
        first, last = _trimmed(words, first, last, language)
        if last < first:
            return None
        run = list(words[first : last + 1])
        if _follows_title(words, first):
            run[0] = run[0]._replace(starts=False)
        if _follows_sign(run[0]):  # "the pair & Garfunkel"
            run[0] = run[0]._replace(name=run[0].name[1:])
        name = without_possessive(join_name(name_words(run, language)))
        numbered = last + 1 < len(words) and is_number(words[last + 1].norm)
        is_cut = first == last < end and words[last + 1].raw[0].isupper()  # "County" of "County Down"
        is_name = (
            (len(name) > 2 or SIGNED_LETTER.fullmatch(name) is not None)
            and not (is_cut and words[last + 1].raw != "I")
            and not (first in common and (len(run) == 1 or any(w.norm in language.joining for w in run)))
            and dates.fullmatch(" ".join([w.norm for w in run])) is None
            and _is_phrase(run, language, numbered)
            and not in_heading(words, first, last)
        )
        phrases.append(Phrase(name, first, last, kind if is_name else "none"))
        return phrases[-1]

    spans = [match.span() for match in _PHRASE.finditer(_without_dates(_shapes(words, language), words, language))]
    for first, end in quotations.difference(spans):
        phrases.append(Phrase(join_name(name_words(words[first:end], language)), first, end - 1, "title"))
    titles += quotations
    for begin, end in spans:
        begin -= begin > 0 and _is_numbered(words[begin - 1], words[begin])
        sides = _split(words, begin, end, coordinating)
        is_part = any(first <= begin and end <= last and (begin, end) != (first, last) for first, last in titles)
        kind: _Kind = "part" if is_part else "name"
        if len(sides) > 1:  # joined by a word, or only by a possessive 's
            kind = "joined" if any(word.raw.islower() for word in words[begin:end]) else "none"
        is_quoted = (begin, end) in quotations
        if is_quoted and kind == "joined":  # “Puss in Boots”
            sides, kind = [(begin, end - 1)], "name"
        whole = add(begin, end - 1, kind)
        for first, last in sides:
            side = whole if len(sides) == 1 else add(first, last, "name")
            if side is None:
                continue
            for tail, end_of_tail in _split(words, first, last + 1, _SUBORDINATING)[1:]:
                inside = is_quoted or any(word.norm in _INSTITUTIONS for word in words[side.first : tail])
                add(tail, end_of_tail, "part" if inside or _follows_sign(words[tail]) else "name")
            bearer = side.first
            while bearer < last and (words[bearer].norm in RANKS or words[bearer].raw[0].isdigit()):
                bearer += 1
            if side.first < bearer < side.last and words[bearer].raw[0].isupper():
                is_person = words[bearer - 1].norm in _OFFICES
                add(bearer, side.last, "name" if is_person else "bearer")
                if is_person:
                    phrases[phrases.index(side)] = side._replace(kind="joined")
    return phrases


def _is_numbered(word: Token, after: Token) -> bool:
    """Return whether a word numbers the next one within a name: "20th Century Fox", unlike "20th President"."""
    return after.joined and after.norm not in RANKS and _NTH.fullmatch(word.raw) is not None


def _quoted_titles(words: Sequence[Token], language: Language) -> Iterator[tuple[int, int]]:
    """Yield the first word and the end of each fully capitalised quotation, without its article."""
    for first, last in words.quotations() if isinstance(words, Words) and language.capitals == "names" else ():
        first += words[first].norm in language.articles
        if 0 < last - first < LONGEST_CAPTION and _is_one_name(words[first : last + 1], language):
            yield first, last + 1


def _is_one_name(words: Sequence[Token], language: Language) -> bool:
    """Return whether a title, or a part separated by signs, is fully capitalised: "Joy to the World (song)"."""
    return len(words) > 1 and all(word.is_capital or word.norm in language.stop_words for word in words)


def in_heading(words: Sequence[Token], first: int, last: int) -> bool:
    """Return whether words are in a line that is a numbered heading: "5.10.2 Specific Options"."""
    begin, least = first, max(0, first - _LONGEST_HEADING)
    while begin > least and not words[begin].starts:
        begin -= 1
    if begin == first or not words[begin].starts or _SECTION.fullmatch(words[begin].raw) is None:
        return False
    after = words[last + 1 : last + _LONGEST_HEADING]
    return not after or any(word.starts for word in after)


def _trimmed(words: Sequence[Token], first: int, last: int, language: Language) -> tuple[int, int]:
    """Return the first and last word of a run without stop words and openers of sentences at its ends."""
    while last >= first and (
        (words[last].norm in language.stop_words and not _is_numeral(words, last))
        or (last > first and words[last].raw.isdigit() and words[last - 1].name.endswith("'s"))  # "Einstein's 1905"
    ):
        last -= 1
    while first < last and (
        _is_stop(words[first], language)
        or begins_sentence(words[first].norm)
        or (
            (len(words[first].norm) == 1 or words[first].raw.isdigit()) and words[first + 1].raw.islower()
        )  # "Z in the"
        or (words[first].norm in _DAYS and words[first + 1].norm in language.stop_words)  # "every June the Oerol"
        or (words[first].raw.isdigit() and (last == first + 1 or _is_no_part(words, first, language)))
        or words[first].raw[0].islower()
        or (words[first].starts and _SECTION.fullmatch(words[first].raw) is not None)
    ):
        first += 1
    return first, last


def _is_numeral(words: Sequence[Token], place: int) -> bool:
    """Return whether "I" after a name belongs to it: "World War I in", unlike "in Oslo I saw"."""
    after = words[place + 1] if place + 1 < len(words) else None
    ends = after is None or after.starts or not after.joined or after.norm in _INNER_WORDS or after.raw[0].isupper()
    return words[place].raw == "I" and ends and place > 0 and words[place - 1].is_capital and words[place].joined


def _is_no_part(words: Sequence[Token], place: int, language: Language) -> bool:
    """Return whether a number is not part of the name after it: "in 1912 Amundsen", "17,000 Cherokees", "1767 An"."""
    word, after = words[place], words[place + 1]
    follows = place > 0 and word.joined and words[place - 1].norm in _BEFORE_DATES
    return follows or word.name[0] in _SIGNS_OF_NUMBERS or after.norm in language.stop_words


def _without_dates(shapes: str, words: Sequence[Token], language: Language) -> str:
    """Return the shapes of words with gaps for dates, which separate names: "February 1912 Lieutenant Edward Evans"."""
    months = language.months.split("|")
    for i in [i for i, word in enumerate(words) if word.norm in months]:
        first, last = i - (i > 0 and words[i - 1].raw.isdigit()), i + 1
        while last < len(words) and words[last].raw.isdigit() and last < i + 3:
            last += 1
        if last - first > 1:
            shapes = f"{shapes[:first]}{_ALL_SHAPES[0] * (last - first)}{shapes[last:]}"
    return shapes


def _follows_sign(word: Token) -> bool:
    """Return whether a sign joins a word to the one before it: "Simon & Garfunkel"."""
    return word.joined and word.name[:1] in JOINING


def _is_stop(word: Token, language: Language) -> bool:
    """Return whether a word is a stop word, unlike "U.S" and the first word of "First World War"."""
    norm = word.norm
    begins = norm in _FIRST_OF_NAMES and word.raw[0].isupper() and (not word.starts or norm == "first")
    return norm in language.stop_words and not begins and _DOTTED.fullmatch(word.raw) is None


def _follows_title(words: Sequence[Token], place: int) -> bool:
    """Return whether a person's title with a full stop precedes a word: "Dr. Watson"."""
    before = words[place - 1] if place and words[place].apart else None
    return before is not None and before.norm in _TITLES and before.raw[0].isupper()


def common_nouns(words: Sequence[Token], language: Language) -> frozenset[int]:
    """Return the positions of words after an article, or an article and an adjective, if all nouns are capitalised.

    Examples are "der Leuchtturm" and "am alten Leuchtturm", but not "in Bergen".
    """
    if language.capitals != "nouns":
        return frozenset()

    def is_common(i: int) -> bool:
        before = words[max(0, i - 2) : i]
        if not words[i].raw[0].isupper() or not before or not words[i].joined:
            return False
        adjective = before[-1].raw.islower() and before[-1].norm not in language.stop_words and before[-1].joined
        return language.is_determiner(before[-1].norm) or (
            adjective and len(before) > 1 and language.is_determiner(before[0].norm)
        )

    return frozenset(i for i in range(len(words)) if is_common(i))


def _is_phrase(words: Sequence[Token], language: Language, numbered: bool) -> bool:
    """Return whether capitalised words may be a name.

    A single word is not a name if it is capitalised only as the beginning of a sentence.

    `numbered`: a number follows them ("Chap. 4"), so they mean a part of a document; without one, a word that the
    corpus mostly capitalises may be a name ("State").
    """
    if len(words) == 1:
        word = words[0]
        starts = word.starts and word.raw[1:].islower()
        something = (word.norm in _PARTS and not numbered) or names_something(words, language)
        something = something or SIGNED_LETTER.fullmatch(word.name) is not None
        common = word.norm in _TITLES or word.norm in _DAYS or word.norm in GENERAL
        return something and not begins_sentence(word.norm) and not starts and not common
    norms = {word.norm for word in words}
    shouted = _is_shouted(words) and not language.stop_words.isdisjoint(norms)
    twice = len(norms) < len(words) and not all(word.raw.istitle() for word in words)
    short = len(words) > 2 and all(len(w.norm) < 4 and (w.raw.isupper() or w.raw.isdigit()) for w in words)
    signs = short and any(len(name) == 1 for name in norms)  # "L 0 LR AAX"
    brief = all(len(name) < 3 for name in norms) and not any(map(_WIDE.search, norms))  # symbols of a formula
    after_initial = len(words) == 2 and len(words[0].norm) == 1 and begins_sentence(words[1].norm)  # "of G. Consider"
    general = not norms - GENERAL - _PARTS - language.stop_words  # "Table of Contents", "Specific Options"
    return names_something(words, language) and not (shouted or twice or signs or brief or after_initial or general)


def _is_shouted(words: Sequence[Token]) -> bool:
    """Return whether words are a line in capitals, or a word of one, rather than a name."""
    long = len(words) > 3 or (len(words) == 1 and len(words[0].raw) > 9 and words[0].raw.isalpha())
    return long and all(word.raw.isupper() for word in words)


def _is_reference(words: Sequence[Token], first: int, last: int) -> bool:
    """Return whether words are a heading but not a name: "see Section 3.1 [What is S?]", "See also Build options"."""
    before = [word.norm for word in words[max(0, first - 2) : first]]
    is_section = len(before) > 1 and before[0] in _PARTS and before[1][0].isdigit()
    is_heading = any(word.raw[0].islower() and word.norm not in _INNER_WORDS for word in words[first : last + 1])
    is_question = not _ASKING.isdisjoint(word.raw for word in words[first : first + 2])
    return is_heading and (is_section or "see" in before or is_question)


def _split(words: Sequence[Token], first: int, end: int, joining: frozenset[str]) -> list[tuple[int, int]]:
    """Return the first and last word of each part of a run: "Zambia" and "Zimbabwe" of "Zambia and Zimbabwe".

    Words in `joining` separate parts; so do signs such as & if it has "of", and a possessive 's if it has "and".
    """
    parts = [first]
    for i in range(first + 1, end):
        word, length = words[i], i - parts[-1] - (words[parts[-1]].norm in _SAINT)
        signed = "of" in joining and _follows_sign(word) and not word.inside
        owned = "and" in joining and length > 1 and words[i - 1].name.endswith("'s")  # unlike "St John's College"
        owned = owned and words[i - 2].raw[0].isupper()  # and unlike "Miracle of Morgan's Creek"
        if word.norm in joining and word.raw.islower():
            if (word.norm != "for" or words[i - 1].norm not in _TOPICAL) and not _is_topical(words, i):
                parts.append(i + 1)  # unlike "Center for Disease Control"
        elif signed or owned:
            parts.append(i)
    if len(parts) == 1:
        return [(first, end - 1)]
    ends = [begin - 1 - (words[begin - 1].norm in joining and words[begin - 1].raw.islower()) for begin in parts[1:]]
    return list(zip(parts, [*ends, end - 1], strict=True))


def _is_topical(words: Sequence[Token], place: int) -> bool:
    """Return whether "and" or "of" is within an institution's name: "Society for the Social Studies of Science"."""
    small = place - 1
    while small > 1 and words[small].joined and (words[small].raw[0].isupper() or words[small].norm == "the"):
        small -= 1
    joining = (words[place].norm, words[small].norm)
    if joining not in (("and", "of"), ("and", "for"), ("of", "for")) or small < 1 or place + 1 >= len(words):
        return False
    head, after = words[small - 1], words[place + 1]
    after = words[place + 2] if after.norm == "the" and place + 2 < len(words) else after
    return head.norm in _TOPICAL and head.is_capital and after.is_capital and after.norm not in _INSTITUTIONS


# Names are matched in the shapes of words, one character per word, whose bits are its possible roles in a name.
_CAPITAL, _UPPER, _DIGIT, _FIRST, _INNER, _INITIAL, _SHORT, _JOINED, _HEAD, _OF_PERSON = (1 << i for i in range(10))
_ALL_SHAPES = [chr(0x100 + bits) for bits in range(1024)]


def _shape(word: Token, language: Language) -> str:
    raw, norm, upper = word.raw, word.norm, word.raw.lstrip(APOSTROPHES)[:1].isupper()
    first = not _is_stop(word, language) and (upper or (raw.isdigit() and 3 <= len(raw) <= 4))
    bits = _CAPITAL * word.is_capital | _UPPER * upper | _DIGIT * raw[0].isdigit() | _FIRST * first
    bits |= _INNER * (norm in _INNER_WORDS or norm in language.inner)
    bits |= _INITIAL * (len(norm) == 1 and norm not in _NO_INITIALS)
    bits |= _SHORT * (upper and (norm in _INSIDE_NAMES or _DOTTED.fullmatch(raw) is not None))
    bits |= _HEAD * (upper and norm in _INSTITUTIONS) | _OF_PERSON * (raw in _PARTICLES)
    return _ALL_SHAPES[bits | _JOINED * word.joined]


def _shapes(words: Sequence[Token], language: Language) -> str:
    shape = _shape_of(language)
    shapes = "".join([shape[word] for word in words])
    for match in _SHORTENED.finditer(shapes):
        after = words[match.end()]
        if after.apart and after.norm not in language.stop_words:  # "on Main St. The shop"
            joined = chr(ord(shapes[match.end()]) | _JOINED)
            shapes = f"{shapes[: match.end()]}{joined}{shapes[match.end() + 1 :]}"
    for first, end in words.addresses() if isinstance(words, Words) else ():
        shapes = f"{shapes[:first]}{_ALL_SHAPES[0] * (end - first)}{shapes[end:]}"
    if not _HEADS.isdisjoint(shapes):
        for i in [i for i, word in enumerate(words) if word.norm in ("and", "of") and _is_topical(words, i)]:
            end = i + 1 + (words[i + 1].norm == "the")
            shapes = f"{shapes[:i]}{_ALL_SHAPES[_UPPER | _JOINED] * (end - i)}{shapes[end:]}"
    return shapes


@cache
def _shape_of(language: Language) -> Memo[Token, str]:
    return Memo(partial(_shape, language=language))


def _having(all_of: int, any_of: int) -> str:
    """Return the shapes with these bits, as a pattern."""
    return f"[{''.join(s for bits, s in enumerate(_ALL_SHAPES) if bits & all_of == all_of and bits & any_of)}]"


_CAPITALS = frozenset(_having(_CAPITAL, _CAPITAL))
_HEADS = frozenset(_having(_HEAD, _HEAD))
_INITIALS = frozenset(_having(_INITIAL, _INITIAL))
_SHORTENED = re.compile(f"{_having(_SHORT, _SHORT)}(?=.)")  # a word that a full stop may follow within a name
_SMALL = f"{_having(_JOINED, _INNER)}{{1,2}}+"  # small words before a capitalised one
_PHRASE = re.compile(  # small words are allowed after the first word, and after "Court", "Ministry" and the like
    f"{_having(_FIRST, _FIRST)}(?:{_SMALL}{_having(_JOINED, _UPPER)})?"
    f"(?:{_having(_JOINED, _UPPER | _DIGIT)}|(?<={_having(_HEAD, _HEAD)}){_SMALL}{_having(_JOINED, _UPPER)}"
    f"|{_having(_JOINED, _OF_PERSON)}{{1,2}}+{_having(_JOINED, _UPPER)})*"
)


def find_names(
    words: Sequence[Token], is_name: Callable[[str], bool], skip: Collection[str] = (), language: Language = ENGLISH
) -> list[Phrase]:
    """Return the known names in a text, from left to right, the longest at each position, and the names within them.

    The kind is "name", or "part" for a name of several words within a longer one: "George VI" of "King George VI".

    A name begins and ends with a capital, a digit or a letter without case, and never begins within a Korean word. A
    single word must be longer than two letters, and not a stop word or a number. A name never crosses the end of a
    sentence; in scripts without spaces, no sign separates a single letter from the rest. `skip`: names to ignore, so
    that names within them are found.
    """
    names: list[Phrase] = []
    ends = [i for i, word in enumerate(words) if word.apart and i and not _abbreviates(words[i - 1])]
    ends.append(len(words))
    sentence = 0  # index into the ends of sentences
    shapes = _shapes(words, language)
    capitals = [i for i, shape in enumerate(shapes) if shape in _CAPITALS]
    initials = not _INITIALS.isdisjoint(shapes)
    norms = name_words(words, language)
    text = " ".join(norms)
    owned = "'s" in text or "*" in text
    unspaced = not text.isascii() and UNSPACED_LETTER.search(text) is not None
    begins = list(accumulate([len(norm) + 1 for norm in norms], initial=0))
    first = beyond = 0  # indexes into the capitals
    while first < len(capitals):
        i = capitals[first]
        while ends[sentence] <= i:
            sentence += 1
        while beyond < len(capitals) and capitals[beyond] < min(i + LONGEST_CAPTION, ends[sentence]):
            beyond += 1
        if words[i].inside:
            first += 1
            continue
        begin = begins[i] + _follows_sign(words[i])
        for last in range(beyond - 1, first, -1):
            j = capitals[last]
            if unspaced and (_is_apart(words, i, i + 1) or _is_apart(words, j, j)):
                continue
            name = text[begin : begins[j + 1] - 1]
            if unspaced:
                name = join_name((name,))
            if not is_name(name) and not (owned and is_name(name := without_possessive(name))):
                if not initials or _INITIALS.isdisjoint(shapes[i + 1 : j]):
                    continue
                name = without_initials(name) or ""
                if not name or not is_name(name):
                    continue
            if name not in skip:
                names.append(Phrase(name, i, j, "name"))
                inside = _within(text, begins, capitals[first : last + 1], is_name)
                names += [inner for inner in inside if inner.name not in skip]
                first = last
                break
        else:
            name = norms[i][begin - begins[i] :]
            name = name if is_name(name) else without_possessive(name)
            alone = SIGNED_LETTER.fullmatch(name) is not None or _can_stand_alone(words[i].norm, i, language)
            alone = alone and not (words[i].starts and _begins_title(words, i, ends[sentence], text[begin:], is_name))
            refers = words[i].norm in _PARTS and i + 1 < len(words) and is_number(words[i + 1].norm)  # "Section 5.2"
            if is_name(name) and alone and not refers and words[i].norm not in GENERAL and name not in skip:
                names.append(Phrase(name, i, i, "name"))
        first += 1
    return names


def _begins_title(words: Sequence[Token], first: int, end: int, text: str, is_name: Callable[[str], bool]) -> bool:
    """Return whether a known name continues in lower case: "Association" of "Association football was"."""
    after = list(takewhile(lambda word: word.raw.islower(), words[first + 1 : min(end, first + 4)]))
    names = text.split(" ", len(after) + 1)
    return any(is_name(" ".join(names[: i + 2])) for i in range(len(after)))


def whole_names(
    words: Sequence[Token],
    names: Sequence[Phrase],
    runs: Sequence[Phrase],
    titles: Container[str] = (),
    gazetteer: Container[str] = (),
    language: Language = ENGLISH,
) -> Iterator[Phrase]:
    """Yield the known names of a text that are not only a part of a longer name.

    "Kansas" is a part of "Kansas City Chiefs". A run filled by known names, of which the last has several words, is not
    a longer name ("Vermont Governor Jerry Smith"). A run of many words is a list or a table line: its names count,
    except single words that follow no other name. A name of three words counts within any run ("United States
    Geological Survey Thiel Mountains").

    Args:
        words: The words of the text.
        names: The names, from `find_names`.
        runs: The capitalised phrases of the same text.
        titles: The names of titles. "Bern in Switzerland" is two names if the last is a title.
        gazetteer: All names. "India and Pakistan" is two names if both are known.
        language: If it capitalises nouns, "Befehl von Ole Brandt" is a longer name only if it is known.
    """
    if language.capitals == "nouns":
        runs = [run for run in runs if run.kind != "part" and run.name in gazetteer]
    runs = [run for run in runs if not owned_names(words, run, gazetteer)]
    names = list(chain.from_iterable(_sides(words, name, runs, titles, gazetteer) for name in names))
    kinds = {(run.first, run.last): run.kind for run in runs}
    longer: dict[int, tuple[int, int]] = {}
    for first, last in sorted(kinds, key=lambda place: kinds[place] != "title"):
        if kinds[first, last] in ("title", "name", "none"):
            longer |= {i: (first, last) for i in range(first, last + 1) if i not in longer}
    inside: defaultdict[tuple[int, int], list[Phrase]] = defaultdict(list)
    for name in names:
        if name.first in longer and name.kind == "name":
            inside[longer[name.first]].append(name)
    beside = {name.last + 1 for name in names}
    filled = {run for run, its_names in inside.items() if kinds[run] != "title" and _fill(words, run, its_names)}
    for name in names:
        place = (name.first, name.last)
        run = longer.get(name.first, place)
        kind = kinds.get(place)
        if in_heading(words, *place) or _is_shouted(words[name.first : name.last + 1]) or _is_reference(words, *place):
            continue
        is_part = kind == "part"
        if kind == "bearer":  # even if the name with the rank is known: "George VI" of "King George VI"
            is_part = name.kind == "part" and name.name not in titles
        elif kind is None:
            is_within = run != place and name.last <= run[1] and run not in filled
            if kinds.get(run) != "title" and run[1] - run[0] >= LONGEST_RUN:  # "Milwaukee Brewers Ben Sheets"
                is_within = is_within and name.first == name.last > run[0] and name.first not in beside
                is_within = is_within and not words[name.first - 1].raw[0].isdigit()
            is_part = name.kind == "part" or (is_within and name.last - name.first < SURE_WORDS - 1)
        if not is_part:
            yield name


def owned_names(words: Sequence[Token], run: Phrase, gazetteer: Container[str]) -> bool:
    """Return whether a possessive 's splits a run, itself not a known name, into two: "Boeing's Renton"."""
    first = run.first + 1 + (words[run.first].norm in _SAINT)
    parts = [i for i in range(first, run.last + 1) if words[i - 1].name.endswith("'s")]
    names = [(words[run.first : i], words[i : run.last + 1]) for i in parts if run.name not in gazetteer]
    return any(all(without_possessive(join_name(w.name for w in side)) in gazetteer for side in pair) for pair in names)


def is_listed(words: Sequence[Token], run: Phrase, language: Language) -> bool:
    """Return whether a run is in a table or list without a sign at its end, so that its last word may be a label."""
    beside = [*words[max(0, run.first - _BESIDE) : run.first], *words[run.last + 1 : run.last + 1 + _BESIDE]]
    after = words[run.last + 1] if run.last + 1 < len(words) else None
    if after is None or not after.joined or (after.raw in language.stop_words and after.raw != "by"):
        return False
    return 3 * sum(word.raw[0].islower() for word in beside) < len(beside)


def _sides(
    words: Sequence[Token], name: Phrase, runs: Sequence[Phrase], titles: Container[str], gazetteer: Container[str]
) -> list[Phrase]:
    """Return a name, or the known names that a word joins in it if it is not a title."""
    sides = [run for run in runs if run.kind == "name" and name.first <= run.first and run.last <= name.last]
    if len(sides) < 2 or name.name in titles or all(run[1:] != (name.first, name.last, "joined") for run in runs):
        return [name]
    names = [side for side in sides if side.name in gazetteer or side.name in titles]
    is_place = all(word.norm != "and" for word in words[name.first : name.last]) and sides[-1].name in titles
    return names if len(names) == len(sides) or is_place else [name]


def _fill(words: Sequence[Token], run: tuple[int, int], names: Sequence[Phrase]) -> bool:
    """Return whether names, ranks and numbers fill a run that ends with a name of several words."""
    rest = {i for i in range(run[0], run[1] + 1) if words[i].norm not in RANKS and not words[i].raw.isdigit()}
    rest -= {i for name in names for i in range(name.first, name.last + 1)}
    return not rest and names[-1].last == run[1] > names[-1].first > run[0]


def _within(
    text: str, begins: Sequence[int], capitals: Sequence[int], is_name: Callable[[str], bool]
) -> Iterator[Phrase]:
    """Yield the known names of several words within a name, longest first and from left to right.

    `begins`: the offset of each word in the text; `capitals`: the positions of words with which a name may begin.
    """
    first, end = 0, len(capitals)
    while first < end - 1:
        for last in range(end - 1 - (first == 0), first, -1):
            name = text[begins[capitals[first]] : begins[capitals[last] + 1] - 1]
            if " " in name and is_name(name):
                yield Phrase(name, capitals[first], capitals[last], "part")
                first = last
                break
        first += 1


def _abbreviates(word: Token) -> bool:
    """Return whether a full stop after a word may not end a sentence."""
    short = word.norm in _ABBREVIATIONS or "." in word.raw or (word.raw.islower() and len(word.raw) < 5)
    return short or _ORDINAL.fullmatch(word.raw) is not None


def _is_apart(words: Sequence[Token], single: int, behind: int) -> bool:
    """Return whether a sign separates a letter of a script without spaces from its neighbours.

    `behind`: the position of the letter after the sign.
    """
    word = words[behind]
    return not (word.joined or word.starts) and is_unspaced(words[single].norm)


def _can_stand_alone(word: str, place: int, language: Language) -> bool:
    """Return whether a word may be a whole name; words that questions begin with are not names at the beginning."""
    short = len(word) < 3 and (word.isascii() or (len(word) < 2 and is_unspaced(word)))
    if short or word in language.stop_words or is_number(word):
        return False
    return place > 0 or word not in QUESTION_WORDS
