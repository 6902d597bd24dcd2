"""Words and names in one normal form, the same for texts, titles, entity names and questions."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import (
    CASELESS,
    HANGUL,
    JOINING,
    UNSPACED,
    Memo,
    fold,
    identity,
    is_plain,
    joins,
    marks,
    same_letters,
    searched,
    sign_between,
    signs_after,
    signs_around,
    signs_before,
)

# Words with signs, such as `$@`, `--flag`, `/var/cache` and `Essential:`, are searched in addition to words of letters.
# So are other spellings of a number or code: the parts of M5799DWF, 1000 for 1,000, E1042 for E-1042.


_ALIKE = str.maketrans({"−": "-", "–": "-", "‐": "-", "‑": "-", "˜": "~", "ˆ": "^", "…": " ", "¶": " "})
_QUOTES = "'\"‘’“”`´«»"
_AROUND = f"{_QUOTES}()[]{{}},;."  # punctuation around a word in a sentence
_STOPS = ".,;:!?"
_SIGNS = re.compile(r"[^\w\s]+")
_INNER = re.compile(r"\w(?:[$@*#!?&|<>=~^%\\{}\[\]]|::)+\w")
_FIELD = re.compile(r"[A-Z]\w+(?:-\w+)*:")
_DIGIT = re.compile(r"\d")
_NO_DIGIT = re.compile(r"\D")
_BEFORE = r"(?<![\w.,])(?<!\d )"  # excludes a number that is the end of another
_SPACED = rf"{_BEFORE}\d{{1,3}}(?:[\u00a0\u2009\u202f'’]\d{{3}})+(?!\d)|{_BEFORE}\d{{1,3}} \d{{3}}(?! ?\d)"
_THOUSANDS = re.compile(rf"(?<![\w.,])\d{{1,3}}(?:,\d{{3}})+(?![\d,])|{_SPACED}")
_POINTED_THOUSANDS = re.compile(rf"(?<![\w.,])\d{{1,3}}(?:\.\d{{3}})+(?![\d.]\d?)|{_SPACED}")
_POINTED = frozenset("ca da de el es eu gl hr id is it lb mk nb nl nn no pt ro sl sr tr vi".split())
"""Languages that separate thousands by a point."""
_CODE = re.compile(r"(?<![^\W_])(?=[A-Za-z]*\d+[A-Za-z]|[A-Za-z]+\d)(?=[A-Za-z0-9]*\d{3})[A-Za-z0-9]{4,20}(?![^\W_])")
_CODE_BEGIN = re.compile(r"[a-z]+\d{3,}(?=[a-z])")
_CODE_END = re.compile(r"(?<=[a-z])\d{3,}[a-z]+")
_LETTERS_AND_NUMBER = re.compile(r"[A-Za-z]{1,6}(\d{3,})")
_PARTED_CODE = re.compile(r"[A-Za-z]{1,6}(?=[-\d]*\d-?\d)(?:-\d+)+(?:-?[A-RT-Za-rt-z]\d*)?")
_PARTED_NUMBER = re.compile(r"(?!\d{4}-(?:\d\d-\d\d|\d{4})$)\d+(?:-\d+)+(?:-[Xx])?")
_PHONE_NUMBER = re.compile(r"\+\d[\d ()-]{5,}\d")
_LEAST_DIGITS = 7  # digits of a number written in groups: a phone number, an ISBN
_MEASURE = re.compile(
    r"(\d+(?:[.,]\d+)?)([kcmµn]?m|[kmµ]?g|[kKMGT]i?B|[kMG]?Hz|[kMG]?Wh?|k?V|mAh?|[ap]m|mph|km/h|ms|min|ft|lbs?|oz)"
)
_SERIES = re.compile(r"(?!(?:AND|AT|BY|FROM|IN|OF|ON|SINCE|TO)$)[A-Z]{2,6}")
_NOT_CODE = re.compile(r"[\W_]")
_PUNCTUATION = frozenset("- -- — . , ; : ( ) [ ] | • · .. ... /".split())
_LONGEST = 40  # characters; longer tokens are addresses or lines of code


def symbols(text: str, language: str = "en") -> list[str]:
    """Return the distinct words of a text with meaningful signs, without the quotes and brackets around them.

    The signs of `&>word` also count by themselves; dashes are hyphens. Other spellings of numbers and codes are added:
    1000 for `1,000`, and for 1.000 if the `language` writes it so. A code is added with its parts, which are marked:
    "M5799DWF" gives "~m5799dwf" and "~m5799". "E-1042" also gives "e1042", "KB4023057" gives "4023057", "5km" gives "5"
    and "km", and "978-3-16-148410-0" gives "9783161484100".
    """
    words: dict[str, None] = {}
    text = text.translate(_ALIKE)
    has_digit = _DIGIT.search(text) is not None
    if has_digit:
        words = dict.fromkeys([*_numbers(text, language), *_codes(text)])
    for before, raw in pairwise(("", *text.split())):
        if raw.isalpha():
            continue
        if has_digit and _DIGIT.search(raw):
            words.update(dict.fromkeys(_spellings(before, raw)))
        if raw.isalnum():
            continue
        for word in _meanings(raw):
            if word not in _PUNCTUATION and len(word) <= _LONGEST:
                words.setdefault(word)
    return list(words)


def _numbers(text: str, language: str) -> Iterator[str]:
    pattern = _POINTED_THOUSANDS if language in _POINTED else _THOUSANDS
    return (_NO_DIGIT.sub("", match[0]) for match in pattern.finditer(text))


def _codes(text: str) -> Iterator[str]:
    """Yield the codes of a text with their parts, and its phone numbers without spaces."""
    for match in _CODE.finditer(text):
        word = match[0].lower()
        if not word.isdigit():
            yield from (f"~{part}" for part in (word, *_CODE_BEGIN.findall(word), *_CODE_END.findall(word)))
    for match in _PHONE_NUMBER.finditer(text):
        yield _NOT_CODE.sub("", match[0])


def _spellings(before: str, raw: str) -> Iterator[str]:
    """Yield the other spellings of a word with digits: a code, a long number, a measure; `before`: the word before."""
    word = raw.strip(_AROUND + ":!?/")
    if match := _LETTERS_AND_NUMBER.fullmatch(word):
        yield match[1]
    elif match := _MEASURE.fullmatch(word):
        yield from (match[1].replace(",", "."), match[2].lower())
    elif word.isdigit():
        if len(word) > 1 and _SERIES.fullmatch(before):
            yield f"{before.lower()}{word}"
    elif "-" in word and (_PARTED_CODE.fullmatch(word) or _PARTED_NUMBER.fullmatch(word)):
        joined = word.replace("-", "").lower()
        if word[0].isalpha() or len(joined) >= _LEAST_DIGITS:
            yield joined


def _meanings(raw: str) -> list[str]:
    word = raw.strip(_QUOTES)
    if not any(c.isalnum() for c in word):
        bare = word.strip("()" + _QUOTES).rstrip(",;." + _QUOTES) or word.rstrip(_STOPS)
        return [w for w in (bare, bare.rstrip(_STOPS) if len(bare) > 2 else "") if w]
    if _FIELD.fullmatch(word):
        return [word]
    word = word.rstrip(_STOPS + _QUOTES).strip(_AROUND).rstrip(_STOPS + _QUOTES)
    if len(word) > 2 and word[0] in "/~":
        word = word.rstrip("/")
    signs = _SIGNS.match(word)
    if signs is not None:
        return [word] if len(signs[0]) == 1 or word[0] in "/~" else [word, signs[0]]
    return [word] if _INNER.search(word) or word.endswith(("+", "*", "=", "#")) else []


_INSIDE = "[.'’]"  # signs allowed within a word
_QUOTE_INSIDE = r"(?:[.'’]|(?<=[^\W\d_])[‘´′](?=[^\W\d_]))"  # also signs typed in place of an apostrophe
_UNUSUAL = re.compile(f"[‘´′{UNSPACED}{CASELESS}]")
_TYPED = re.compile(r"\w[‘´′]\w")
_POSSESSIVE = re.compile(r"['’‘´]s$", re.IGNORECASE)
_ADDRESS = re.compile(r"\w+://\s?\S+|\bwww\.\S+")
_QUOTATION = re.compile(r"(?<![\w.,!?])(?:``|[\"“„«`])\s?([^\W_a-z][^\"“”„«»`\n]{1,70}?)[,.]?\s?(?:[\"”“»]|'')")
_AFTER_INITIAL = (". ", ".\n")
_PLURAL_OWNER = ("' ", "’ ")  # between "States" and "Rights"
_COLUMNS = "   "  # separates columns of a table; two spaces occur between sentences and in justified lines
_SENTENCE_END = re.compile(r"[.!?][\"'”’)]*\s|\n")
_UNSPACED_END = re.compile(r"[。!?។။]")
_BORDER = re.compile(r"(?<!\.)[.?][\"'”’)]*\s|\n\s*\n")  # names may contain "!" and "...": "Yahoo! News"
UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_UNSPACED_GAP = re.compile(f"(?<=[{UNSPACED}]) (?=[{UNSPACED}])")
_HANGUL = re.compile(f"[{HANGUL}]")
_MIXED = re.compile(f"[{UNSPACED}{CASELESS}]")
_GLUED = re.compile(r"\.(?=([^\W\d_]+)(?![\w.]))")
_SHORTENED = frozenset("bros co corp inc jr ltd sr st".split())
"""Words that end a name with a point: "Warner Bros.", "Sammy Davis Jr."."""
_PARTICLES = frozenset("的了是在和与或及之其这那哪谁吗呢吧么着们被把而于个什何")

LONGEST_CAPTION = 80
"""Characters of a node's name."""
LETTERS_A_TOKEN = 4
"""Letters per token, for token budgets without a tokenizer."""


class Token(NamedTuple):
    """A word as written (`raw`), in the form of searches (`norm`), and in the form of names (`name`).

    Attributes:
        raw: the word as written, without a possessive 's.
        norm: without diacritics and in lower case: letters, digits, and the points of a number.
        name: its `identity`.
        starts: it is the first word of a sentence or line.
        joined: one or two spaces, a hyphen or a sign such as & join it to the word before.
        apart: a full stop (even of an abbreviation), a question mark or an empty line precedes it.
        inside: no space separates it from the word that it continues: a syllable in Korean, the T of "AT&T".
    """

    raw: str
    norm: str
    name: str
    starts: bool = False
    joined: bool = False
    apart: bool = False
    inside: bool = False

    @property
    def is_capital(self) -> bool:
        """Whether it can begin or end a name: a capital, a digit, or a letter of a script without case."""
        return not self.raw[0].islower()


class Words(list[Token]):
    """The words of a text, with their original spelling.

    Example:
        >>> tokens("The station *Ny-Ålesund*").written(2, 3)
        'Ny-Ålesund'
    """

    def __init__(self, text: str = "") -> None:
        """Start without words; `text` is composed and of the usual width (`same_letters`)."""
        super().__init__()
        self._text = text
        self._begins, self._ends = array("I"), array("I")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle tokens as plain tuples, which takes a third of the time."""
        return _restored, (self._text, self._begins, self._ends, [tuple(token) for token in self])

    def add(self, token: Token, begin: int, end: int) -> None:
        """Add the token of a part of the text."""
        self.append(token)
        self._begins.append(begin)
        self._ends.append(end)

    def continue_last(self, token: Token, end: int) -> None:
        """Replace the last token by a longer one."""
        self[-1], self._ends[-1] = token, end

    def addresses(self) -> list[tuple[int, int]]:
        """Return the first word and the end of each web address: https://example.org/Page."""
        may_have = "://" in self._text or "www." in self._text
        spans = [match.span() for match in _ADDRESS.finditer(self._text)] if may_have else []
        return [(bisect_left(self._begins, begin), bisect_left(self._begins, end)) for begin, end in spans]

    def quotations(self) -> list[tuple[int, int]]:
        """Return the first and the last word of each short quotation that begins with a capital: “Puss in Boots”."""
        spans = [match.span(1) for match in _QUOTATION.finditer(self._text)]
        return [(bisect_left(self._begins, begin), bisect_left(self._begins, end) - 1) for begin, end in spans]

    def written(self, first: int, last: int, name: str) -> str:
        """Return a name as written in the text: on one line, with its own signs and points.

        Args:
            first: The number of its first word.
            last: The number of its last word.
            name: Its normal form, which shows whether a possessive 's belongs to it.
        """
        end, final = self._ends[last], self[last]
        text = self._text[self._begins[first] : end]
        after = self._text[end : end + 3]
        if not name.endswith("'s"):
            text = _POSSESSIVE.sub("", text)
        lead = "" if self[first].joined else signs_around(self[first].name)[0]
        trail = signs_around(final.name)[1]
        pointed = after.startswith(".") and ("." in text[-3:] or final.norm in _SHORTENED)
        closed = after.startswith(")") and text.count("(") > text.count(")")  # "S(-Plus)"
        return f"{lead}{' '.join(text.split())}{trail or '.' * pointed or ')' * closed}"


def _restored(text: str, begins: "array[int]", ends: "array[int]", rows: Iterable[tuple[Any, ...]]) -> Words:
    words = Words(text)
    words._begins, words._ends = begins, ends
    words.extend(map(Token._make, rows))
    return words


def tokens(text: str, language: Language = ENGLISH) -> Words:
    """Return the words of `text`. Separate initials are joined: "R. G." and "R.G." become "rg".

    A possessive 's is part only of `Token.name`. Each letter of a script without spaces is a token, and a border
    between scripts with and without capitals separates words ("我们用PyTorch"). A sentence may end without a space:
    "in Oslo.The ship" is read as "in Oslo. The ship".
    """
    text = _spaced(same_letters(text), language)
    scripts, typed = _scripts(text)
    parts = _words(scripts, typed, language).split(text)
    result = Words(text)
    end = 0  # offset of the end of the word in the text
    first, ended, following, after_initial = _tables(language.letters)
    add, spaced = result.add, following[" "]
    last, skipped = _NONE, ""  # the previous word, and the text after it that is not a word
    for gap, word in zip(parts[:-1:2], parts[1::2], strict=True):
        begin = end + len(gap)
        end = begin + len(word)
        if skipped:
            gap, skipped = skipped + gap, ""
        if not result:
            token = first[word]
        elif gap == " ":
            token = spaced[word]
        elif not gap:  # a border between scripts, or between two letters of one without spaces
            token = following[gap][word]
            if token is not None and _HANGUL.match(token.raw) and _HANGUL.match(last.raw):
                token = token._replace(inside=True)
        elif scripts == "mixed" and (sign := _unspaced_end(last.raw, gap, word)):
            token = (first if sign == "!" else ended)[word]
        else:
            if gap in _AFTER_INITIAL and (token := first[word]) is not None and _are_initials(last, token):
                whole = result[-1]
                whole = whole._replace(
                    raw=whole.raw + token.raw, norm=whole.norm + token.norm, name=whole.name + token.name
                )
                result.continue_last(whole, end)
                last = token
                continue
            token = (after_initial if len(last.norm) == 1 and last.raw.isupper() else following)[gap][word]
        if token is None:
            skipped = gap + word
            continue
        if gap and gap != " ":
            if gap in _PLURAL_OWNER and last.raw.endswith("s"):
                token = token._replace(joined=True)
            token = _signed(result, gap, token)
        add(token, begin, end)
        last = token
    if result and (gap := skipped + parts[-1]):
        result[-1] = result[-1]._replace(name=result[-1].name + signs_after(gap, ends=True))
    return result


def _scripts(text: str) -> tuple[Literal["latin", "cased", "mixed"], bool]:
    """Return the scripts of a text, and whether it uses other signs in place of an apostrophe."""
    if text.isascii():
        return "latin", False
    if _UNUSUAL.search(text) is None:
        return "cased", False
    return "mixed" if _MIXED.search(text) else "cased", _TYPED.search(text) is not None


def glued_ends(text: str, language: Language = ENGLISH) -> set[int]:
    """Return the positions after points that end a sentence without a following space: "in Oslo.The ship"."""
    return {point.end() for point in _GLUED.finditer(text) if _ends_sentence(point, language)}


def _spaced(text: str, language: Language) -> str:
    """Return a text with a space after each point that ends a sentence before a word with a capital."""
    return _GLUED.sub(lambda point: ". " if _ends_sentence(point, language) else ".", text)


def _ends_sentence(point: re.Match[str], language: Language) -> bool:
    """Return whether a match of `_GLUED` ends a sentence; not within "Node.js", "U.S.Army" or "Console.WriteLine"."""
    before, after = point.string[max(0, point.start() - 2) : point.start()], point[1]
    if len(before) < 2 or not before.isalnum() or not after[0].isupper() or any(map(str.isupper, after[1:])):
        return False
    telling = len(after) > 1 and (before.islower() or before.isdigit())
    return telling or after.lower() in language.stop_words


def _signed(before: list[Token], gap: str, token: Token) -> Token:
    """Return a token with the signs before it, except signs of the previous word."""
    if before and (sign := sign_between(before[-1].raw, gap, token.raw)):
        return token._replace(name=sign + token.name)
    if before and (signs := signs_after(gap)):
        before[-1] = before[-1]._replace(name=before[-1].name + signs)
    signs = signs_before(gap, token.raw[0].isdigit(), first=not before)
    return token._replace(name=signs + token.name, inside=gap in JOINING) if signs else token


_NONE = Token("", "", "")


def _unspaced_end(before: str, gap: str, word: str) -> str:
    """Return the sign in a gap that ends a sentence of a script without spaces, or ""."""
    end = _UNSPACED_END.search(gap)
    if end is None or (gap.isascii() and not is_unspaced(word) and not is_unspaced(before)):
        return ""
    return end[0]


def is_unspaced(word: str) -> bool:
    """Return whether a word begins with a letter of a script without spaces between words."""
    return not word.isascii() and UNSPACED_LETTER.match(word) is not None


def _are_initials(one: Token, two: Token) -> bool:
    """Return whether two words with a full stop between them are initials of one name, in any case."""
    same_case = (one.raw.isupper() and two.raw.isupper()) or (one.raw.islower() and two.raw.islower())
    return len(one.norm) == len(two.norm) == 1 and same_case


def _token(word: str, letters: str, starts: bool, joined: bool, apart: bool) -> Token | None:
    """Return the token of a word; None if it has neither letters nor digits."""
    raw = word
    if raw[-1] in "sS":
        raw = _POSSESSIVE.sub("", raw)
    norm = fold(raw, letters).lower()
    if not norm.isalnum():
        norm = searched(norm)
    return Token(raw, norm, identity(word), starts, joined, apart) if norm else None


_Tokens = Memo[str, Token | None]
_After = Memo[str, _Tokens]
"""The tokens of words after each gap."""


@cache
def _tables(letters: str) -> tuple[_Tokens, _Tokens, _After, _After]:
    """Return caches of tokens for first words, and for words after a sentence, after a word, and after an initial."""

    def table(starts: bool, joined: bool, apart: bool = False) -> _Tokens:
        return Memo(partial(_token, letters=letters, starts=starts, joined=joined, apart=apart))

    first, ended, following, apart = (
        table(True, False),
        table(True, False, True),
        table(False, True),
        table(False, False),
    )

    def after(gap: str, initial: bool) -> _Tokens:
        if not initial and _SENTENCE_END.search(gap) is not None:
            return ended if _BORDER.search(gap) else first
        joining = joins(gap)
        gap = gap[len(signs_after(gap)) :]
        close = joining or gap in ("", "-", "'", "’") or (initial and gap == ". ")
        close = close or (gap.isspace() and gap.count("\n") < 2 and _COLUMNS not in gap)
        return following if close else apart

    return first, ended, Memo(partial(after, initial=False), 1024), Memo(partial(after, initial=True), 1024)


@cache
def _words(scripts: str, typed: bool, language: Language) -> re.Pattern[str]:
    """Return the pattern of gaps and words.

    `scripts`: "latin" (ASCII, no marks), "cased" or "mixed"; `typed`: other signs are used in place of an apostrophe.
    """
    inside = r"\." if language.elides else _QUOTE_INSIDE if typed else _INSIDE
    letter = r"\w" if scripts == "latin" else rf"[\w{marks()}]"
    if scripts != "mixed":
        return re.compile(rf"({letter}++(?:{inside}{letter}++)*+)")
    cased, caseless = rf"(?:(?![{UNSPACED}{CASELESS}]){letter})", rf"[{CASELESS}{marks()}]"
    runs = "|".join(rf"{kind}++(?:{inside}{kind}++)*+" for kind in (caseless, cased))
    return re.compile(rf"([{UNSPACED}][{marks()}]*+|{runs})")


def normalise(name: str, language: Language = ENGLISH) -> str:
    """Return the normal form of a name: "The  Hague" -> "the hague", "C++" -> "c++"; see `kgrag.text.letters`."""
    return _normals(language)[name]


def search_form(text: str, language: Language = ENGLISH) -> str:
    """Return the words of a text in the form of searches, names without distinguishing marks and signs."""
    return " ".join([word.norm for word in tokens(text, language)])


def folded_name(normal: str) -> str | None:
    """Return a name in normal form without diacritics; None if it has none."""
    folded = fold(normal)
    return None if folded == normal else folded


def known_by(normal: str, language: Language = ENGLISH) -> dict[str, str | None]:
    """Return the properties by which searches find an entity of this name, given in normal form."""
    return {"normal": normal, "folded": folded_name(normal), "stemmed": " ".join(name_stems(normal, language))}


@cache
def _normals(language: Language) -> Memo[str, str]:
    return Memo(lambda name: join_name(name_words(tokens(name, language), language)))


def name_words(words: Sequence[Token], language: Language = ENGLISH) -> list[str]:
    """Return the form of each word of a name.

    It is the word itself, or in an inflecting language its stem if the word consists of letters.
    """
    if not language.inflects:
        return [word.name for word in words]
    return [language.stem[word.norm] if is_plain(word.name) else word.name for word in words]


def join_name(words: Iterable[str]) -> str:
    """Return the normal form of a name with these words, in the form of `name_words`.

    Letters of a script without spaces are joined without spaces.
    """
    name = " ".join(words)
    return name if name.isascii() else _UNSPACED_GAP.sub("", name)


def name_stems(normal: str, language: Language = ENGLISH) -> list[str]:
    """Return the stems of a name, given in normal form, as they occur in passages that mention it."""
    words = tokens(normal, language)
    norms = text_words(words)
    if len(norms) > 1 and words[-1].joined and is_unspaced(norms[-1]):
        norms.pop()  # in running text, the last character is paired with the next one
    return norms if language.inflects else stems(norms)


def embedding_text(*parts: str) -> str:
    """Return the text to embed: the last part under a heading made of the others, such as title and section."""
    *heading, text = parts
    while heading and not heading[-1]:
        heading.pop()
    return "\n".join([": ".join(heading), text]) if heading else text


def caption(text: str) -> str:
    """Return `text` as the name of a node: on one line, and truncated at a word to LONGEST_CAPTION."""
    text = " ".join(text.split())
    if len(text) <= LONGEST_CAPTION:
        return text
    cut = text[:LONGEST_CAPTION].rpartition(" ")[0]
    if len(cut) < LONGEST_CAPTION // 2:  # one long word, such as an address
        cut = text[: LONGEST_CAPTION - 1]
    return cut.rstrip(" ,;:.-–—") + "…"


def passage_name(title: str, section: str, number: int | None = None) -> str:
    """Return the name of a passage: its number, the last of its headings, and the title of its document."""
    parts = ("" if number is None else str(number), section.rpartition(" > ")[2], title)
    return caption(" · ".join(filter(None, parts)))


def stems(words: Iterable[str], language: Language = ENGLISH) -> list[str]:
    """Return the stem of each word (Snowball), or the word itself in a language without a stemmer."""
    stem = language.stem
    return [stem[word] for word in words]


def text_words(words: Sequence[Token]) -> list[str]:
    """Return the words of a text in the form of searches, one for each token.

    In scripts without spaces each letter is paired with the next: "巴黎在" gives "巴黎", "黎在", "在". Source: Lucene's
    CJKBigramFilter.
    """
    norms = [word.norm for word in words]
    for i, (one, two) in enumerate(pairwise(words)):
        if two.joined and not two.norm.isascii() and is_unspaced(two.norm) and is_unspaced(one.norm):
            norms[i] = one.norm + two.norm
    return norms


def words_of(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the words of a text in the form of searches, normalised."""
    return text_words(tokens(text, language))


def question_stems(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the distinct search terms of a question, in the form of passages' stems.

    Question words, such as "what does", are left out, unless there are no others.
    """
    words = words_of(text, language)
    telling = [w for w in words if w not in language.asking and (not is_unspaced(w) or is_content(w, language))]
    terms = [*stems(telling, language), *symbols(text, language.code), *UNSPACED_LETTER.findall(text)]
    return list(dict.fromkeys(terms or stems(words, language)))


def is_content(word: str, language: Language = ENGLISH) -> bool:
    """Return whether a normalised word carries meaning, unlike a stop word, a single letter or a single digit."""
    if len(word) < 2 or word in language.stop_words:
        return False
    return word.isascii() or _PARTICLES.isdisjoint(word)


def content_stems(words: Iterable[str], language: Language = ENGLISH) -> list[str | None]:
    """Return the stem of each normalised word that carries meaning; None for others."""
    content = _content(language)
    return [content[word] for word in words]


def stems_in(text: str) -> set[str]:
    """Return the stems of the words of a text that carry meaning."""
    return set(stems(word for word in words_of(text) if is_content(word)))


@cache
def _content(language: Language) -> Memo[str, str | None]:
    return Memo(lambda word: language.stem[word] if is_content(word, language) else None)


def iso_moment(text: str) -> datetime | None:
    """Parse a day or a moment in ISO form; a year or a month means its first day; return None for anything else."""
    for rest in ("", "-01", "-01-01"):
        with suppress(ValueError):
            return datetime.fromisoformat(f"{text.strip()}{rest}")
    return None
