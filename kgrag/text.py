"""Words and names in one normal form, the same for texts, titles, entity names and questions."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from threading import local
from typing import Any, NamedTuple

import Stemmer

_WORD = re.compile(r"\w+(?:[.'’](?=\w)\w+)*")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:][\"'”’)]*\s|\n\s*\n")
_UNDECOMPOSED = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "ß": "ss"})
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


class Token(NamedTuple):
    """A word as written (`raw`) and in normal form (`norm`: diacritics folded, lower case, letters and digits).

    `starts`: it is the first word of a sentence; `joined`: only a space or a hyphen parts it from the word before.
    """

    raw: str
    norm: str
    starts: bool = False
    joined: bool = False

    @property
    def is_capital(self) -> bool:
        """Whether it can begin or end a name: a capital, a digit, or a letter of a script without case."""
        return not self.raw[0].islower()


def fold(text: str) -> str:
    """`text` without diacritics ("Tromsø" -> "Tromso")."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_UNDECOMPOSED))
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))


def tokens(text: str) -> list[Token]:
    """The words of `text`; a possessive 's is cut, and initials written apart are joined ("R. G." = "R.G." = "rg")."""
    found: list[Token] = []
    folded = fold(text)
    aligned = folded is not text and len(folded) == len(text)
    end, after_initial = 0, False
    for match in _WORD.finditer(folded):
        raw = match.group()
        start = match.start()
        if raw[-1] in "sS":
            raw = _POSSESSIVE.sub("", raw)
        norm = raw.lower()
        if not norm.isalnum():
            norm = "".join(c for c in norm if c.isalnum())
            if not norm:
                continue
        if aligned:
            raw = text[start : start + len(raw)]
        initial = len(norm) == 1 and raw.isupper()
        if initial and after_initial and start == end + 2:
            last = found.pop()
            found.append(Token(last.raw + raw, last.norm + norm, last.starts, last.joined))
        else:
            gap = folded[end:start]
            if gap == " ":
                found.append(Token(raw, norm, not found, bool(found)))
            else:
                starts = not found or (not after_initial and _SENTENCE_END.search(gap) is not None)
                joined = bool(found) and (
                    gap == "-" or (after_initial and gap == ". ") or (gap.isspace() and gap.count("\n") < 2)
                )
                found.append(Token(raw, norm, starts, joined))
        end, after_initial = match.end(), initial
    return found


def normalise(name: str) -> str:
    """The normal form under which a name is known: "The Hague's" -> "the hague"."""
    return " ".join(t.norm for t in tokens(name))


def caption(text: str) -> str:
    """`text` as the name of a node: on one line, and cut after a word when it is longer than LONGEST_NAME."""
    text = " ".join(text.split())
    if len(text) <= LONGEST_NAME:
        return text
    cut = text[:LONGEST_NAME].rpartition(" ")[0]
    if len(cut) < LONGEST_NAME // 2:  # one long word, such as an address
        cut = text[: LONGEST_NAME - 1]
    return cut.rstrip(" ,;:.-–—") + "…"


def stems(words: Sequence[str]) -> list[str]:
    """The stem of each word (Porter 2, English; words of other languages mostly stay as they are)."""
    stemmer: Any = getattr(_THREAD, "stemmer", None)
    if stemmer is None:  # a Stemmer must not be shared by threads
        stemmer = _THREAD.stemmer = Stemmer.Stemmer("english")
    stemmed: list[str] = stemmer.stemWords(list(words))
    return stemmed


@lru_cache(maxsize=65536)
def is_content(word: str) -> bool:
    """Whether a normalised word carries meaning: no stop word, no single letter, no stray digit."""
    return len(word) > 1 and word not in STOP_WORDS
