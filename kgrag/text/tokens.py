"""Words and names in one normal form, the same for texts, titles, entity names and questions."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from itertools import accumulate, pairwise
from typing import NamedTuple

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import Memo, fold
from kgrag.text.symbols import symbols

_WORD = re.compile(r"(\w++(?:[.'’]\w++)*+)")
_ELIDED_WORD = re.compile(r"(\w++(?:\.\w++)*+)")
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_UNPARTED_WORD = re.compile(rf"([{_WIDE}]|[^\W{_WIDE}]++(?:[.'’][^\W{_WIDE}]++)*+)")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_COLUMNS = "   "  # part columns of a table; two may stand between sentences, or in justified lines
_SENTENCE_END = re.compile(r"[.!?][\"'”’)]*\s|\n")
_WIDE_END = re.compile(r"[。!?]")
UNPARTED = re.compile(f"[{_WIDE}]")
_UNPARTED_GAP = re.compile(f"(?<=[{_WIDE}]) (?=[{_WIDE}])")
_PARTICLES = frozenset("的了是在和与或及之其这那哪谁吗呢吧么着们被把而于个什何")

LONGEST_CAPTION = 80
"""Characters of a node's name."""
LETTERS_A_TOKEN = 4
"""How many letters a token counts for where budgets of tokens are kept without a tokenizer."""


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


_Word = str | tuple[str, str]
"""A word with folded letters; with how it is written beside it where that differs."""


def tokens(text: str, language: Language = ENGLISH) -> list[Token]:
    """The words of `text`; a possessive 's is cut, and initials written apart are joined ("R. G." = "R.G." = "rg").

    Where no spaces part words, each character is one.
    """
    found: list[Token] = []
    folded = fold(text, language.letters)
    pattern = _UNPARTED_WORD if language.unparted else _ELIDED_WORD if language.elides else _WORD
    parts = pattern.split(folded)
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
        elif language.unparted and _WIDE_END.search(gap) is not None:
            token = _FIRST[word]
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
    close = gap in ("", "-", "'", "’") or (initial and gap == ". ")
    close = close or (gap.isspace() and gap.count("\n") < 2 and _COLUMNS not in gap)
    return _NEXT if close else _APART


_AFTER_WORD: Memo[str, _Tokens] = Memo(partial(_after, initial=False), 1024)
_AFTER_INITIAL: Memo[str, _Tokens] = Memo(partial(_after, initial=True), 1024)


def normalise(name: str, language: Language = ENGLISH) -> str:
    """The normal form under which a name is known: "The Hague's" -> "the hague"; see `name_words`."""
    return _normals(language)[name]


@cache
def _normals(language: Language) -> Memo[str, str]:
    return Memo(lambda name: join_name(name_words(tokens(name, language), language), language))


def name_words(words: Sequence[Token], language: Language = ENGLISH) -> list[str]:
    """What each word is in the normal form of a name: itself, or its stem in a language that inflects names."""
    norms = [word.norm for word in words]
    return stems(norms, language) if language.inflects else norms


def join_name(words: Iterable[str], language: Language = ENGLISH) -> str:
    """The normal form of a name of these words, as `name_words` gives them."""
    name = " ".join(words)
    return _UNPARTED_GAP.sub("", name) if language.unparted else name


def name_stems(normal: str, language: Language = ENGLISH) -> list[str]:
    """The stems that stand for a name, given in normal form, in the passages that hold it."""
    if not language.unparted:
        return normal.split() if language.inflects else stems(normal.split())
    words = tokens(normal, language)
    pairs = text_words(words, language)
    return pairs[:-1] if len(pairs) > 1 and UNPARTED.match(words[-1].norm) and words[-1].joined else pairs


def embedding_text(*parts: str) -> str:
    """What a vector is made of: the last part, below a heading of those before it, such as title and section."""
    *heading, text = parts
    while heading and not heading[-1]:
        heading.pop()
    return "\n".join([": ".join(heading), text]) if heading else text


def caption(text: str) -> str:
    """`text` as the name of a node: on one line, and cut after a word when it is longer than LONGEST_CAPTION."""
    text = " ".join(text.split())
    if len(text) <= LONGEST_CAPTION:
        return text
    cut = text[:LONGEST_CAPTION].rpartition(" ")[0]
    if len(cut) < LONGEST_CAPTION // 2:  # one long word, such as an address
        cut = text[: LONGEST_CAPTION - 1]
    return cut.rstrip(" ,;:.-–—") + "…"


def stems(words: Iterable[str], language: Language = ENGLISH) -> list[str]:
    """The stem of each word (Snowball; of a language without a stemmer, the word)."""
    stem = language.stem
    return [stem[word] for word in words]


def text_words(words: Sequence[Token], language: Language = ENGLISH) -> list[str]:
    """The words of a text as searches know them, one a token: where no spaces part words, each character with the next.

    "巴黎在" is "巴黎", "黎在", "在".
    """
    norms = [word.norm for word in words]
    if language.unparted:
        for i, (one, two) in enumerate(pairwise(words)):
            if two.joined and UNPARTED.match(one.norm) and UNPARTED.match(two.norm):
                norms[i] = one.norm + two.norm
    return norms


def words_of(text: str, language: Language = ENGLISH) -> list[str]:
    """The words of a text as searches know them, normalised."""
    return text_words(tokens(text, language), language)


def question_stems(text: str, language: Language = ENGLISH) -> list[str]:
    """What a question looks for among the stems of passages: all but the words of every question ("what does").

    A question of nothing else is taken as it is. Each counts once.
    """
    words = words_of(text, language)
    telling = [word for word in words if word not in language.asking]
    if language.unparted:
        telling = [word for word in telling if is_content(word, language)]
    found = [*stems(telling, language), *symbols(text), *UNPARTED.findall(text)]
    return list(dict.fromkeys(found or stems(words, language)))


def is_content(word: str, language: Language = ENGLISH) -> bool:
    """Whether a normalised word carries meaning: no stop word, no single letter, no stray digit."""
    if len(word) < 2 or word in language.stop_words:
        return False
    return not language.unparted or _PARTICLES.isdisjoint(word)


def content_stems(words: Iterable[str], language: Language = ENGLISH) -> list[str | None]:
    """The stem of each normalised word that carries meaning; None for others."""
    found = _content(language)
    return [found[word] for word in words]


@cache
def _content(language: Language) -> Memo[str, str | None]:
    return Memo(lambda word: language.stem[word] if is_content(word, language) else None)


def iso_moment(text: str) -> datetime | None:
    """A day or a moment in ISO form; a year or a month stand for their first day; None for anything else."""
    for rest in ("", "-01", "-01-01"):
        with suppress(ValueError):
            return datetime.fromisoformat(f"{text.strip()}{rest}")
    return None
