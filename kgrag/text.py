"""Words and names in one normal form, the same for texts, titles, entity names and questions."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from threading import local
from typing import Any, Generic, NamedTuple, TypeVar

import Stemmer

from kgrag.symbols import symbols

K = TypeVar("K")
V = TypeVar("V")

_LONGEST_KEPT = 100  # characters
_WORD = re.compile(r"(\w++(?:[.'’]\w++)*+)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_COLUMNS = "   "  # part columns of a table; two may stand between sentences, or in justified lines
_SENTENCE_END = re.compile(r"[.!?][\"'”’)]*\s|\n")
_UNDECOMPOSED = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "ß": "ss"})
_UNPARTED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_THREAD = local()

LONGEST_NAME = 80
"""Characters of a node's name."""

STOP_WORDS = frozenset(
    """a about after again against all already also although always among an and another any anything around are as at
    away back be because became been before being below between both but by came can come could did do does done down
    during each either else even ever every few for found from further get go had has have having he her here hers him
    his how however i if in instead into is it its itself just later least less like made make many may me might more
    most much must my near never next no none nor not nothing now of off often on once only onto or other others our
    out over own per perhaps quite rather same several she should since so some something soon still such than that
    the their them themselves then there therefore these they this those though through thus to together too toward
    towards under unless until up upon us usually very via was way we well went were what when where whether which
    while who whom whose why will with within without would yet you your one two three first""".split()
)


_ASKING = frozenset(  # words of every question, and those that join others
    """a am an and any are as at be been being but by can could did do does doing done for from had has have having he
    her his how i if in into is it its let many me might more most much must my no not of on or our shall she should so
    some such than that the their them then there these they this those to too was way we were what when where which
    while who whom whose why will with would you your""".split()
)


class Token(NamedTuple):
    """A word as written (`raw`) and in normal form (`norm`: diacritics folded, lower case, letters and digits).

    `starts`: it is the first of a sentence or line; `joined`: only one or two spaces or a hyphen part it from the last.
    """

    raw: str
    norm: str
    starts: bool = False
    joined: bool = False

    @property
    def is_capital(self) -> bool:
        """Whether it can begin or end a name: a capital, a digit, or a letter of a script without case."""
        return not self.raw[0].islower()


class Memo(dict[K, V], Generic[K, V]):
    """What a function gives for each argument, looked up without a call; emptied when it holds too much.

    A long string is made again each time: text without spaces is one word.
    """

    def __init__(self, make: Callable[[K], V], most: int = 1 << 16) -> None:
        super().__init__()
        self._make = make
        self._most = most

    def __missing__(self, key: K) -> V:
        value = self._make(key)
        if not isinstance(key, str) or len(key) <= _LONGEST_KEPT:
            if len(self) >= self._most:
                self.clear()
            self[key] = value
        return value


def fold(text: str) -> str:
    """`text` without diacritics ("Tromsø" -> "Tromso")."""
    if text.isascii():
        return text
    folded = _NOT_ASCII.sub(lambda run: _FOLDED[run[0]], text)
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)


def _without_marks(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.translate(_UNDECOMPOSED))
    return "".join([c for c in decomposed if not unicodedata.combining(c)])


_FOLDED = Memo(_without_marks)

_Word = str | tuple[str, str]
"""A word with folded letters; with how it is written beside it where that differs."""


def tokens(text: str) -> list[Token]:
    """The words of `text`; a possessive 's is cut, and initials written apart are joined ("R. G." = "R.G." = "rg")."""
    found: list[Token] = []
    folded = fold(text)
    parts = _WORD.split(folded)
    words: Sequence[_Word] = parts[1::2]
    if len(folded) == len(text) and folded != text:
        words = _as_written(text, parts)
    last, skipped = Token("", ""), ""  # the word before, and what stands after it that is none
    for gap, word in zip(parts[:-1:2], words, strict=True):
        if skipped:
            gap, skipped = skipped + gap, ""
        if not found:
            token = _FIRST[word]
        elif gap == " ":
            token = _NEXT[word]
        else:
            after_initial = _is_initial(last)
            if after_initial and len(gap) == 2 and (token := _FIRST[word]) is not None and _is_initial(token):
                whole = found[-1]
                found[-1] = Token(whole.raw + token.raw, whole.norm + token.norm, whole.starts, whole.joined)
                last = token
                continue
            token = (_AFTER_INITIAL if after_initial else _AFTER_WORD)[gap][word]
        if token is None:
            skipped = gap + (word if isinstance(word, str) else word[0])
        else:
            found.append(token)
            last = token
    return found


def _as_written(text: str, parts: Sequence[str]) -> list[_Word]:
    """The words, every second of the parts of the folded text, which is as long as the text."""
    ends = accumulate(map(len, parts))
    places = [place for i, place in enumerate(pairwise(ends)) if i % 2 == 0]
    written = [text[start:end] for start, end in places]
    return [word if word == raw else (word, raw) for word, raw in zip(parts[1::2], written, strict=True)]


def _is_initial(token: Token) -> bool:
    return len(token.norm) == 1 and token.raw.isupper()


def _token(word: _Word, starts: bool, joined: bool) -> Token | None:
    """The token of a word; None if it has neither letters nor digits."""
    raw, written = (word, word) if isinstance(word, str) else word
    if raw[-1] in "sS":
        raw = _POSSESSIVE.sub("", raw)
    norm = raw.lower()
    if not norm.isalnum():
        norm = "".join([c for c in norm if c.isalnum()])
    return Token(written[: len(raw)], norm, starts, joined) if norm else None


_Tokens = Memo[_Word, Token | None]
_FIRST: _Tokens = Memo(partial(_token, starts=True, joined=False))
_NEXT: _Tokens = Memo(partial(_token, starts=False, joined=True))
_APART: _Tokens = Memo(partial(_token, starts=False, joined=False))


def _after(gap: str, initial: bool) -> _Tokens:
    """The tokens of words that stand after a gap, before which a word or an initial stands."""
    if not initial and _SENTENCE_END.search(gap) is not None:
        return _FIRST
    close = gap == "-" or (initial and gap == ". ") or (gap.isspace() and gap.count("\n") < 2 and _COLUMNS not in gap)
    return _NEXT if close else _APART


_AFTER_WORD: Memo[str, _Tokens] = Memo(partial(_after, initial=False), 1024)
_AFTER_INITIAL: Memo[str, _Tokens] = Memo(partial(_after, initial=True), 1024)


def normalise(name: str) -> str:
    """The normal form under which a name is known: "The Hague's" -> "the hague"."""
    return _NORMAL[name]


def _normal(name: str) -> str:
    return " ".join([t.norm for t in tokens(name)])


_NORMAL = Memo(_normal)


def embedding_text(*parts: str) -> str:
    """What a vector is made of: the last part, below a heading of those before it, such as title and section."""
    *heading, text = parts
    while heading and not heading[-1]:
        heading.pop()
    return "\n".join([": ".join(heading), text]) if heading else text


def caption(text: str) -> str:
    """`text` as the name of a node: on one line, and cut after a word when it is longer than LONGEST_NAME."""
    text = " ".join(text.split())
    if len(text) <= LONGEST_NAME:
        return text
    cut = text[:LONGEST_NAME].rpartition(" ")[0]
    if len(cut) < LONGEST_NAME // 2:  # one long word, such as an address
        cut = text[: LONGEST_NAME - 1]
    return cut.rstrip(" ,;:.-–—") + "…"


def _stem(word: str) -> str:
    stemmer: Any = getattr(_THREAD, "stemmer", None)
    if stemmer is None:  # a Stemmer must not be shared by threads
        stemmer = _THREAD.stemmer = Stemmer.Stemmer("english", 0)
    return str(stemmer.stemWord(word))


_STEMS = Memo(_stem)


def stems(words: Iterable[str]) -> list[str]:
    """The stem of each word (Porter 2, English; words of other languages mostly stay as they are)."""
    return [_STEMS[word] for word in words]


def passage_words(title: str, text: str, section: str = "") -> tuple[list[str], list[str]]:
    """The words of a passage that a search may ask for, normalised: of title and text; and of its headings."""
    return [t.norm for t in tokens(f"{title}\n{text}")], [t.norm for t in tokens(section)]


def passage_stems(title: str, text: str, section: str = "") -> str:
    """All that a passage is found by, each between spaces: stems of title, text and headings, then its symbols.

    Of scripts that part no words with spaces, each character counts by itself, too.
    """
    words, headings = passage_words(title, text, section)
    return f" {' '.join([*stems(words + headings), *symbols(text), *_UNPARTED.findall(f'{title} {text} {section}')])} "


def title_stems(title: str) -> str:
    """The stems of a title: a second field of what is searched, where its words count once more."""
    return " ".join(stems([t.norm for t in tokens(title)]))


def question_stems(text: str) -> list[str]:
    """What a question looks for among the stems of passages: all but the words of every question ("what does").

    A question of nothing else is taken as it is. Each counts once.
    """
    words = [t.norm for t in tokens(text)]
    telling = [word for word in words if word not in _ASKING]
    found = [*stems(telling), *symbols(text), *_UNPARTED.findall(text)]
    return list(dict.fromkeys(found or stems(words)))


def is_content(word: str) -> bool:
    """Whether a normalised word carries meaning: no stop word, no single letter, no stray digit."""
    return len(word) > 1 and word not in STOP_WORDS


def _content_stem(word: str) -> str | None:
    return _STEMS[word] if is_content(word) else None


_CONTENT_STEMS = Memo(_content_stem)


def content_stems(words: Iterable[str]) -> list[str | None]:
    """The stem of each normalised word that carries meaning; None for others."""
    return [_CONTENT_STEMS[word] for word in words]
