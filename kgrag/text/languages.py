"""Languages: stop words, stemming, the meaning of capitals, and the matching of names.

English has its own word lists here. Other languages use the stop words of stopwords-iso and the stemmers of Snowball.
Words of a language without a stemmer are not stemmed.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from threading import local
from typing import Any, Literal

import Stemmer

from kgrag.text.letters import Memo, fold, word_lists
from kgrag.values.errors import ConfigurationError

STEMMER = f"PyStemmer {Stemmer.version()}"
"""The stemmer with its version; another version may produce other stems."""

_THREAD = local()

_LISTS = word_lists("kgrag.text")
STOP_WORDS = _LISTS["stop_words"]
"""The stop words of English."""

_ASKING = _LISTS["asking"]  # question words and conjunctions

_KNOWN = _LISTS["known"]
_STEMMERS = dict(pair.split("=") for pair in _LISTS["stemmers"])
_ARTICLES = {
    "de": "der die das den dem des ein eine einen einem einer eines",
    "en": "the a an",
    "es": "el la los las un una unos unas",
    "fr": "le la les l un une des du",
    "it": "il lo la i gli le l un uno una",
    "nl": "de het een",
    "pt": "o a os as um uma",
}
_INNER = {  # function words inside names
    "de": "und am an im auf zu zur zum vom bei ob unter dem den des",
    "es": "y e en a",
    "fr": "et en sur sous aux au a d l",
    "it": "e in a d dell della dei delle",
    "nl": "en aan op het te",
    "pt": "e em do da dos das",
    "ru": "и на имени",
}
_JOINING = {"de": "und", "es": "y e", "fr": "et", "it": "e", "nl": "en", "pt": "e", "ru": "и"}  # two names, of these
_MONTHS = {
    "de": "januar februar marz april mai juni juli august september oktober november dezember",
    "en": "january february march april may june july august september october november december",
}
_ELIDING = frozenset(("ca", "fr", "it"))  # l'eau: two words
_NOUNS = frozenset(("de", "lb"))  # languages that capitalise nouns
_CASELESS = frozenset("am ar bn bo fa gu he hi ja km kn ko ml mr ne sa si ta te th ti ur zh".split())
_CYRILLIC = frozenset("be bg ky mk ru sr tt uk".split())
_SHORT_I = "йЙ"  # a separate letter, which stemmers expect
_DETERMINER = re.compile(
    r"d(?:er|ie|as|en|em|es)|(?:k?ein|mein|dein|sein|ihr|unser|dies|jen|jed|welch|manch|all|viel|mehrer|einig)(?:e[mnrs]?)?"
    r"|im|am|zum|zur|vom|beim|ins|ans|aufs|zwei|drei|vier|funf|sechs|sieben|acht|neun|zehn"
)
"""Words that often precede German nouns, but seldom names; folded."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The rules for texts of a language; all words are folded and in lower case.

    `asking`: words that a search drops from a question; `capitals`: the capitalised words: names, all nouns, or nothing
    (in scripts without case); `inflects`: names are matched by stems, since their words are inflected; `elides`: an
    apostrophe separates words; `letters`: letters that keep their diacritics.
    """

    code: str
    stop_words: frozenset[str]
    asking: frozenset[str]
    stem: Memo[str, str]
    articles: frozenset[str]
    inner: frozenset[str]
    joining: frozenset[str]
    months: str
    capitals: Literal["names", "nouns", "none"] = "names"
    inflects: bool = False
    elides: bool = False
    letters: str = ""

    def __reduce__(self) -> "tuple[Callable[[str], Language], tuple[str]]":
        """Pickle only the code, from which other processes create the language."""
        return language_of, (self.code,)

    def is_determiner(self, word: str) -> bool:
        """Return whether a noun follows this word, in languages that capitalise nouns."""
        return self.capitals == "nouns" and _DETERMINER.fullmatch(word) is not None


def _stem(word: str, algorithm: str) -> str:
    stemmers: dict[str, Any] | None = getattr(_THREAD, "stemmers", None)
    if stemmers is None:  # a Stemmer must not be shared by threads
        stemmers = _THREAD.stemmers = {}
    if algorithm not in stemmers:
        stemmers[algorithm] = Stemmer.Stemmer(algorithm, 0)
    return str(stemmers[algorithm].stemWord(word))


def _root(word: str, algorithm: str) -> str:
    """Apply the stemmer until the stem is stable: "Сомова" becomes "сомов", but "Сомов" becomes "сом"."""
    while (stem := _stem(word, algorithm)) != word:
        word = stem
    return word


ENGLISH = Language(
    code="en",
    stop_words=STOP_WORDS,
    asking=_ASKING,
    stem=Memo(partial(_stem, algorithm="english")),
    articles=frozenset(_ARTICLES["en"].split()),
    inner=frozenset(),
    joining=frozenset(),
    months=_MONTHS["en"].replace(" ", "|"),
)


@cache
def language_of(code: str) -> Language:
    """Return the language of an ISO 639-1 code; "xx" (several) is read as English."""
    if code in ("en", "xx"):
        return ENGLISH
    letters = _SHORT_I if code in _CYRILLIC else ""
    stop_words = _words(fold(word.lower(), letters) for word in _stop_words(code))
    algorithm = _STEMMERS.get(code)
    stem: Memo[str, str] = Memo(partial(_root, algorithm=algorithm) if algorithm else str)
    articles = _ARTICLES.get(code, "").split()
    return Language(
        code=code,
        stop_words=stop_words,
        asking=stop_words,
        stem=stem,
        articles=frozenset((*articles, *(stem[word] for word in articles))),
        inner=frozenset(_INNER.get(code, "").split()),
        joining=frozenset(_JOINING.get(code, "").split()),
        months=_MONTHS.get(code, _MONTHS["en"]).replace(" ", "|"),
        capitals="nouns" if code in _NOUNS else "none" if code in _CASELESS else "names",
        inflects=algorithm is not None,
        elides=code in _ELIDING,
        letters=letters,
    )


def _words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words in texts; "qu'" becomes "qu"."""
    return frozenset(word for text in texts for word in re.findall(r"[^\W_]+", text))


@cache
def keyword_noise(language: Language) -> frozenset[str]:
    """Return meaningful words that are excluded as keywords: months, and stop words of longer lists."""
    return _words(fold(word.lower(), language.letters) for word in (*_stop_words(language.code), language.months))


def is_known(code: str) -> bool:
    """Return whether there is a language of this code."""
    return code in _KNOWN


def check_language(code: str) -> None:
    """Raise ConfigurationError for a code that names no language."""
    if not is_known(code):
        raise ConfigurationError(
            f"kgrag knows no language {code!r}.",
            f"Name one by its ISO 639-1 code: {', '.join(sorted(_KNOWN))} (xx: several).",
        )


def _stop_words(code: str) -> Iterable[str]:
    """Return the stop words of a language; empty for an unknown one."""
    import stopwordsiso

    code = "no" if code in ("nb", "nn") else code
    return stopwordsiso.stopwords(code) if stopwordsiso.has_lang(code) else ()
