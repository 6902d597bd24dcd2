"""Names: the phrases of a text that may be names, and the known names that it mentions.

Source: the PathRank recipe (index, steps 1 and 4).
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import APOSTROPHES, JOINING, Memo, is_number, with_signs, without_possessive
from kgrag.text.tokens import UNSPACED_LETTER, Token, is_unspaced, join_name, name_words

LONGEST_CAPTION = 14  # words
_NO_INITIALS = "aioey"  # words of one letter
_INNER_WORDS = frozenset("of the and de van von der la le du del des di da bin ibn al ben zu y for in on at".split())
_JOINING_WORDS = frozenset("and y for in on at of".split())
_ABBREVIATIONS = frozenset(  # before a full stop within a name; short words in small letters besides, "v.", "sv."
    """adm alb attn ave bd bldg blvd br bros capt cdr cia cmdr co col corp cpl dept dipl dr drs ed eds esq est fa feat
    fig fr ft gen gov hl hon inc ing insp jr kl lt ltd maj messrs mgr mlle mme mon mons mr mrs ms msgr mt mts mtro no
    nos nr op opp orig ph pl pres prof pt pte pts pvt rd rep res rev rt sen ser sgt sr sra srta sta ste sto st str supt
    tel tte univ vol vols""".split()
)
_INSIDE_NAMES = frozenset(  # abbreviations that a name goes on after: "St. Louis Park", "Warner Bros. Records"
    "bros ft mt mts st sta ste univ".split()
)
_TITLES = frozenset(  # abbreviations after which a person's name stands, which they are no part of: "Dr. Watson"
    "adm capt cmdr col cpl dr gen gov hon lt maj mlle mme mr mrs ms prof rep rev sen sgt".split()
)
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")  # initials, "J.K", and states, "U.S"
SIGNED_LETTER = re.compile(r"[a-z](?:\+\+|#)")  # names of one letter: "C++", "F#"
_BEFORE_YEARS = frozenset("in since by from to until till during before after around about circa".split())
_ORDINAL = re.compile(r"\d{1,2}|[IVX]+")  # "1. FC Köln", "Ludwig XIV. Straße"
_VERSION = re.compile(r"v\d[\d.]+[a-z]?")
_GREEK = re.compile(r"[\u0370-\u03ff]")
_LATIN = re.compile(r"[^\W\d_\u0370-\uffff]")
_PARTS = frozenset(  # of documents: with a number they name no thing, "Section 4.8", "Table 2"
    """affiliation appendix author bit case chap chapter class column day debug definition edition eq eqn equation
    example exercise fig figure figures file group inc item lemma level line listing method model note option page
    part phase population proof release row sec sect section sections state step subject subjects tab table tables
    term test theorem time type version vol volume year""".split()
)
_SIGNS_OF_NUMBERS = r".,:/'#%‰°+\-=^×·<>≤≥~±≈$€£¥"
_VALUES = frozenset("true false null nil nan na inf".split())
_DAYS = frozenset(
    f"{ENGLISH.months.replace('|', ' ')} jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun "
    "monday tuesday wednesday thursday friday saturday sunday accessed last".split()
)
_BEFORE_DATES = _BEFORE_YEARS | _DAYS
_WIDE = re.compile(r"[\u1100-\uffff]")  # scripts whose words are short
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


def without_initials(name: str) -> str | None:
    """Return a normalised name without middle initials ("albert s rogell" -> "albert rogell"); None without any."""
    words = name.split()
    last = len(words) - 1
    rest = [w for i, w in enumerate(words) if len(w) > 1 or w in _NO_INITIALS or i in (0, last)]
    if not 1 < len(rest) < len(words) or len(rest[0]) < 2 or len(rest[-1]) < 2 or any(c.isdigit() for c in name):
        return None
    return " ".join(rest)


def number_or_date(language: Language = ENGLISH) -> str:
    """Return the pattern, of Python and Java alike, of a name that is only a number, with its signs, or a date."""
    return rf"[0-9 {_SIGNS_OF_NUMBERS}]+|(\d+ )?({language.months})( \d+)*"


@cache
def _number_or_date(language: Language) -> re.Pattern[str]:
    return re.compile(number_or_date(language))


def begins_sentence(word: str) -> bool:
    """Return whether a normalised word has a capital only because a sentence begins with it."""
    return word in _OPENERS or _ADVERB.fullmatch(word) is not None


def names_something(words: Sequence[Token], language: Language) -> bool:
    """Return whether words may be a name: not only numbers, single letters, dates, or parts of documents (Table 2)."""
    norms = [word.norm for word in words]
    telling = {n for n in norms if _telling(n, language)} - (_DAYS if len(norms) > 1 else frozenset())
    numbers = sum(map(is_number, norms))
    if numbers and not any(sum(map(str.isalpha, n)) > 1 or _WIDE.search(n) for n in telling):
        return False  # cells of a table: "B6 10.4 0.34"
    return bool(telling) and (numbers < 3 or numbers < len(norms) / 2) and _VALUES.isdisjoint(norms)


def _telling(word: str, language: Language) -> bool:
    short = len(word) < 2 if word.isascii() else not word
    if short or is_number(word) or word in language.stop_words or word in _PARTS or _VERSION.fullmatch(word):
        return False
    return word.isascii() or not (_GREEK.search(word) and _LATIN.search(word))  # of a formula: "Gρ"


def capitalised_phrases(words: Sequence[Token], language: Language = ENGLISH) -> dict[str, str]:
    """Return the capitalised phrases of a text, which may be names: normal form -> spelling.

    A run of capitalised words, with a small word or two allowed after the first ("House of the Seven Gables"), or of
    numbers of three or four digits; stop words at its ends do not belong to it, nor does what sentences begin with
    ("See", "Consequently"). Numbers, dates, values and parts of documents ("Section 4") are none, and neither is one
    word that begins a sentence, unless it has capitals or digits within; where all nouns have capitals, neither is one
    word behind an article. What "and", "of" or & joins counts itself, too.
    """
    phrases: dict[str, str] = {}
    dates, common = _number_or_date(language), common_nouns(words, language)
    for match in _PHRASE.finditer(_shapes(words, language)):
        run = list(words[match.start() : match.end()])
        numbered = match.end() < len(words) and is_number(words[match.end()].norm)
        parted = match[1] or any(map(_follows_sign, run[1:]))
        for place, part in ((0, run), *_split(run, language)) if parted else ((0, run),):
            while part and part[-1].norm in language.stop_words:
                part.pop()
            while len(part) > 1 and (_is_stop(part[0], language) or begins_sentence(part[0].norm) or _is_mark(part)):
                del part[0]
                place += 1
                while len(part) > 1 and part[0].raw.islower():
                    del part[0]
                    place += 1
            if len(part) > 1 and part[0].raw.isdigit() and _follows_preposition(words, match.start() + place):
                del part[0]  # "in 1912 Amundsen reached"
                place += 1
            if part and _follows_title(words, match.start() + place):
                part[0] = part[0]._replace(starts=False)
            if part and _follows_sign(part[0]):  # "the pair & Garfunkel"
                part[0] = part[0]._replace(name=part[0].name[1:])
            alone = len(part) == 1 or any(w.norm in language.joining for w in part)
            if alone and match.start() + place in common:
                continue
            name = without_possessive(join_name(name_words(part, language)))
            is_date = dates.fullmatch(" ".join([w.norm for w in part])) is not None
            long = len(name) > 2 or SIGNED_LETTER.fullmatch(name) is not None
            if long and name not in phrases and not is_date and _is_phrase(part, language, numbered):
                phrases[name] = without_possessive("".join(map(_written, part)).lstrip())
    return phrases


def _follows_sign(word: Token) -> bool:
    """Return whether a sign joins a word to the one before it: "Simon & Garfunkel"."""
    return word.joined and word.name[:1] in JOINING


def _written(word: Token) -> str:
    """Return how a word of a name is written, with its signs and the space before it."""
    if word.inside:
        return f"{word.name[0]}{word.raw}"
    return f" {word.name[0]} {word.raw}" if _follows_sign(word) else f" {with_signs(word.name, word.raw)}"


def _is_stop(word: Token, language: Language) -> bool:
    """Return whether a word is a stop word; "U.S" is none."""
    return word.norm in language.stop_words and _DOTTED.fullmatch(word.raw) is None


def _follows_title(words: Sequence[Token], place: int) -> bool:
    """Return whether the title of a person, with its full stop, stands before a word: "Dr. Watson"."""
    before = words[place - 1] if place and words[place].apart else None
    return before is not None and before.norm in _TITLES and before.raw[0].isupper()


def _follows_preposition(words: Sequence[Token], place: int) -> bool:
    """Return whether a number is the year of a clause or a date, and of no name: "in 1912", "the 1998 World Cup"."""
    return place > 0 and words[place].joined and words[place - 1].norm in _BEFORE_DATES


def _is_mark(words: Sequence[Token]) -> bool:
    """Return whether what a phrase begins with is a sign or a quantity before a common word: "Z in the Cholesky"."""
    return (len(words[0].norm) == 1 or words[0].raw.isdigit()) and words[1].raw.islower()


def common_nouns(words: Sequence[Token], language: Language) -> frozenset[int]:
    """Return the places of words after an article, or an article and an adjective, where all nouns have capitals.

    "der Leuchtturm", "am alten Leuchtturm"; "Bergen" of "in Bergen" is none.
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

    One word is none that has its capital from a sentence's beginning.

    `numbered`: a number follows them ("Chap. 4"), so that a part of a document is meant; without one, what the corpus
    mostly writes with a capital may be a name ("State").
    """
    if len(words) == 1:
        word = words[0]
        starts = word.starts and word.raw[1:].islower()
        something = (word.norm in _PARTS and not numbered) or names_something(words, language)
        something = something or SIGNED_LETTER.fullmatch(word.name) is not None
        return something and not begins_sentence(word.norm) and not starts and word.norm not in _TITLES
    norms = {word.norm for word in words}
    shouted = len(words) > 3 and all(word.raw.isupper() for word in words) and not language.stop_words.isdisjoint(norms)
    twice = len(norms) < len(words) and not all(word.raw.istitle() for word in words)
    short = len(words) > 2 and all(len(w.norm) < 4 and (w.raw.isupper() or w.raw.isdigit()) for w in words)
    signs = short and any(len(name) == 1 for name in norms)  # "L 0 LR AAX"
    brief = all(len(name) < 3 for name in norms) and not any(map(_WIDE.search, norms))  # symbols of a formula
    after_initial = len(words) == 2 and len(words[0].norm) == 1 and begins_sentence(words[1].norm)  # "of G. Consider"
    return names_something(words, language) and not (shouted or twice or signs or brief or after_initial)


def _split(run: Sequence[Token], language: Language) -> list[tuple[int, list[Token]]]:
    """Return the parts of a phrase, each with its place in it: "Zambia" and "Zimbabwe" of "Zambia and Zimbabwe".

    A phrase without a joining word or sign has no parts.
    """
    joining = _JOINING_WORDS | language.joining
    parts: list[tuple[int, list[Token]]] = [(0, [])]
    for i, word in enumerate(run):
        if word.norm in joining and word.raw.islower():
            parts.append((i + 1, []))
            continue
        if i and _follows_sign(word) and not word.inside:
            parts.append((i, []))
        parts[-1][1].append(word)
    return parts if len(parts) > 1 else []


# Names are found in the shapes of words, a character each: what a word is to a name, as bits.
_CAPITAL, _UPPER, _DIGIT, _FIRST, _INNER, _INITIAL, _SHORT, _JOINED = (1 << i for i in range(8))
_ALL_SHAPES = [chr(0x100 + bits) for bits in range(256)]


def _shape(word: Token, language: Language) -> str:
    raw, norm, upper = word.raw, word.norm, word.raw.lstrip(APOSTROPHES)[:1].isupper()
    first = not _is_stop(word, language) and (upper or (raw.isdigit() and 3 <= len(raw) <= 4))
    bits = _CAPITAL * word.is_capital | _UPPER * upper | _DIGIT * raw[0].isdigit() | _FIRST * first
    bits |= _INNER * (norm in _INNER_WORDS or norm in language.inner)
    bits |= _INITIAL * (len(norm) == 1 and norm not in _NO_INITIALS)
    bits |= _SHORT * (upper and (norm in _INSIDE_NAMES or _DOTTED.fullmatch(raw) is not None))
    return _ALL_SHAPES[bits | _JOINED * word.joined]


def _shapes(words: Sequence[Token], language: Language) -> str:
    shape = _shape_of(language)
    shapes = "".join([shape[word] for word in words])
    for match in _SHORTENED.finditer(shapes):
        after = words[match.end()]
        if after.apart and after.norm not in language.stop_words:  # "on Main St. The shop"
            joined = chr(ord(shapes[match.end()]) | _JOINED)
            shapes = f"{shapes[: match.end()]}{joined}{shapes[match.end() + 1 :]}"
    return shapes


@cache
def _shape_of(language: Language) -> Memo[Token, str]:
    return Memo(partial(_shape, language=language))


def _having(all_of: int, any_of: int) -> str:
    """Return the shapes with these bits, as a pattern."""
    return f"[{''.join(s for bits, s in enumerate(_ALL_SHAPES) if bits & all_of == all_of and bits & any_of)}]"


_CAPITALS = frozenset(_having(_CAPITAL, _CAPITAL))
_INITIALS = frozenset(_having(_INITIAL, _INITIAL))
_SHORTENED = re.compile(f"{_having(_SHORT, _SHORT)}(?=.)")  # a word that a full stop may follow within a name
_PHRASE = re.compile(  # first word, one or two small ones before a capital, what is joined to them
    f"{_having(_FIRST, _FIRST)}(?:({_having(_JOINED, _INNER)}{{1,2}}+){_having(_JOINED, _UPPER)})?"
    f"{_having(_JOINED, _UPPER | _DIGIT)}*"
)


def find_names(
    words: Sequence[Token], is_name: Callable[[str], bool], skip: Collection[str] = (), language: Language = ENGLISH
) -> dict[str, list[int]]:
    """Return the known names in a text, longest first and from left to right; and those of several words within them.

    "King George VI" mentions "George VI", too. Normal form -> positions (word numbers from 0).

    A name begins and ends on a capital, a digit or a letter without case, and never begins within a Korean word. One
    word alone must be longer than two letters, no stop word, and no number. A name never crosses the end of a sentence;
    in scripts without spaces, no sign separates a single letter from the rest. `skip`: names that are ignored, so that
    names within them are found.
    """
    places: dict[str, list[int]] = {}
    ends = [i for i, word in enumerate(words) if word.apart and i and not _abbreviates(words[i - 1])]
    ends.append(len(words))
    sentence = 0  # among the ends
    shapes = _shapes(words, language)
    capitals = [i for i, shape in enumerate(shapes) if shape in _CAPITALS]
    initials = not _INITIALS.isdisjoint(shapes)
    norms = name_words(words, language)
    text = " ".join(norms)
    unspaced = not text.isascii() and UNSPACED_LETTER.search(text) is not None
    begins = list(accumulate([len(norm) + 1 for norm in norms], initial=0))
    first = beyond = 0  # among the capitals
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
            if not is_name(name) and not is_name(name := without_possessive(name)):
                if not initials or _INITIALS.isdisjoint(shapes[i + 1 : j]):
                    continue
                name = without_initials(name) or ""
                if not name or not is_name(name):
                    continue
            if name not in skip:
                places.setdefault(name, []).append(i)
                for inner, place in _within(text, begins, capitals[first : last + 1], is_name):
                    if inner not in skip:
                        places.setdefault(inner, []).append(place)
                first = last
                break
        else:
            name = norms[i][begin - begins[i] :]
            name = name if is_name(name) else without_possessive(name)
            alone = SIGNED_LETTER.fullmatch(name) is not None or _can_stand_alone(words[i].norm, i, language)
            if is_name(name) and alone and name not in skip:
                places.setdefault(name, []).append(i)
        first += 1
    return places


def _within(
    text: str, begins: Sequence[int], capitals: Sequence[int], is_name: Callable[[str], bool]
) -> Iterator[tuple[str, int]]:
    """Yield the known names of several words within a name, longest first and from left to right, and their places.

    `begins`: where each word of the text begins; `capitals`: the places of the name's words that a name may begin with.
    """
    first, end = 0, len(capitals)
    while first < end - 1:
        for last in range(end - 1 - (first == 0), first, -1):
            name = text[begins[capitals[first]] : begins[capitals[last] + 1] - 1]
            if " " in name and is_name(name):
                yield name, capitals[first]
                first = last
                break
        first += 1


def _abbreviates(word: Token) -> bool:
    """Return whether a full stop behind a word need not end a sentence."""
    short = word.norm in _ABBREVIATIONS or "." in word.raw or (word.raw.islower() and len(word.raw) < 5)
    return short or _ORDINAL.fullmatch(word.raw) is not None


def _is_apart(words: Sequence[Token], single: int, behind: int) -> bool:
    """Return whether a sign separates a letter of a script without spaces from those beside it.

    `behind`: the place of the letter behind the sign.
    """
    word = words[behind]
    return not (word.joined or word.starts) and is_unspaced(words[single].norm)


def _can_stand_alone(word: str, place: int, language: Language) -> bool:
    """Return whether a word may be a whole name; the words that questions begin with are none at the beginning."""
    short = len(word) < 3 and (word.isascii() or (len(word) < 2 and is_unspaced(word)))
    if short or word in language.stop_words or is_number(word):
        return False
    return place > 0 or word not in QUESTION_WORDS
