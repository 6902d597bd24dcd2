"""The words of a name: titles, abbreviations, numbers, initials, and words that name no one by themselves."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from kgrag.text.aliases import without_parenthesis
from kgrag.text.letters import Memo, signs_of, word_lists
from kgrag.text.tokens import Token, tokens

IsCommon = Callable[[str], bool]
"""Whether a normalised word is an ordinary one, which texts write small: "society", but not "lund"."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LISTS = word_lists("kgrag.indexing.resolution")
_SHORT = dict(pair.split("=") for pair in _LISTS["short"])
_MALE = _words("mr sir lord king prince emperor pope duke")
_FEMALE = _words("mrs ms miss dame lady queen princess empress duchess")
_TITLES = _MALE | _FEMALE | _LISTS["titles"]
_DEGREES = _words("phd md esq obe kbe mbe cbe frs bart")
_LEGAL = _words("incorporated corporation company limited llc plc gmbh ag sa spa nv bv asa")
_LITTLE = _words("the and of in at on for a an")
_PARTICLES = _words("van von der den de del della di da dos la le el bin ibn al ben af av zu")
_GENERATIONS = {"jr": "junior", "junior": "junior", "sr": "senior", "senior": "senior"}
_ORDINALS = dict(
    zip("first second third fourth fifth sixth seventh eighth ninth tenth".split(), range(1, 11), strict=True)
)
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_ROMAN = re.compile(r"^(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_DATE = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december) \d|"
    r"\d (?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
)
_VARIANTS = (("ae", "a"), ("oe", "o"), ("ue", "u"), ("ph", "f"), ("ck", "k"))
_DOUBLED = re.compile(r"(.)\1+")
DIRECTIONS = _LISTS["directions"]
_PEOPLES = _LISTS["peoples"]
_GENERIC = _LISTS["generic"]


def is_generic(word: str) -> bool:
    """Return whether a word is one that many names of organisations, places and works have."""
    return word in _GENERIC or word in _LITTLE


@dataclass(frozen=True, slots=True)
class Name:
    """A parsed name.

    `words`: in order and normal form, with abbreviations expanded and numbers as digits, without function words,
    titles, degrees and legal forms. `initials`: positions of initials, with joined ones split. `qualifier`: the words
    in parentheses or after a comma. `plain`: every word as written, in normal form. `article`: as written. `is_proper`:
    all relevant words are capitalised. `ordinary`: the words that texts write in lower case. `signs`: distinguishing
    signs, such as "++" of "C++". `is_person`: it may be a person's name, with two to five words, none of them ordinary,
    no number and no "of".
    """

    text: str
    plain: str
    words: tuple[str, ...]
    initials: frozenset[int]
    qualifier: tuple[str, ...]
    titles: frozenset[str]
    legal: frozenset[str]
    generation: str
    article: str
    is_acronym: bool
    is_proper: bool
    ordinary: frozenset[str]
    is_person: bool = False
    signs: str = ""

    @property
    def numbers(self) -> tuple[str, ...]:
        """The words with digits, sorted: years, ordinals and Roman numerals among them."""
        return tuple(sorted(w for w in self.words if not w.isalpha() and any(c.isdigit() for c in w)))

    @property
    def gender(self) -> str:
        """The sex that its titles tell: m, f, or nothing."""
        return "f" if self.titles & _FEMALE else "m" if self.titles & _MALE else ""


def parse(text: str, common: IsCommon = is_generic) -> Name:
    """Parse a name as written."""
    bare = without_parenthesis(text) or text
    qualifier = [t.norm for t in tokens(text[len(bare) :])]
    head, comma, tail = bare.partition(",")
    norms = [t.norm for t in tokens(tail)]
    a_list = "," in tail or any(w in ("and", "or", "not") or w.isdigit() for w in norms)
    suffix = all(w in _GENERATIONS or w in _DEGREES or w in _LEGAL or w in _SHORT or _is_roman(w) for w in norms)
    if comma and not a_list and not suffix:
        qualifier = norms + qualifier
        bare = head
    raw = tokens(bare)
    plain = " ".join(t.norm for t in raw)
    shouted = len(raw) > 1 and all(t.raw.isupper() for t in raw)
    words: list[str] = []
    initials: set[int] = set()
    generation, titles, legal = "", set[str](), set[str]()
    rest = list(raw)
    while len(rest) > 1 and rest[-1].norm in _GENERATIONS | dict.fromkeys(_DEGREES, ""):
        generation = _GENERATIONS.get(rest.pop().norm, generation)
    while len(rest) > 1 and _SHORT.get(rest[-1].norm, rest[-1].norm) in _LEGAL:
        last = rest.pop().norm
        legal.add(_SHORT.get(last, last))
    article = ""
    if len(rest) > 1 and (rest[0].norm == "the" or bare.lower().startswith(("a ", "an "))):
        article = rest[0].raw
        rest = rest[1:]
    while len(rest) > 1 and _is_title(rest, common):
        title = _SHORT.get(rest[0].norm, rest[0].norm)
        titles.add(title)
        rest = rest[1:]
        if rest[0].norm in ("the", "of") and len(rest) > 1:
            break
    for i, token in enumerate(rest):
        if token.norm in _LITTLE and len(rest) > 1 and i > 0:
            continue
        letters = token.raw.replace(".", "")
        at_end = i == len(rest) - 1
        roman = _is_roman(letters) and (len(letters) > 1 or (i > 0 and not at_end and rest[i + 1].norm == "of"))
        if letters.isupper() and not shouted and not at_end and len(letters) <= (2 if i else 3) and not roman:
            initials.update(range(len(words), len(words) + len(letters)))
            words += letters.lower()
        else:
            words.append(_word(token, i, at_end))
    single = raw[0].raw if len(raw) == 1 else ""
    signs = "".join([signs_of(token.name) for token in raw])
    name = Name(
        text,
        plain,
        tuple(words) or tuple(t.norm for t in rest),
        frozenset(initials),
        tuple(qualifier),
        frozenset(titles),
        frozenset(legal),
        generation,
        article,
        2 <= len(single.replace(".", "")) <= 8 and sum(c.isupper() for c in single) > len(single) / 2,
        all(t.is_capital for t in rest if t.norm not in _LITTLE and t.norm not in _PARTICLES),
        frozenset(word for word in words if common(word)),
        signs=signs,
    )
    return replace(name, is_person=_is_person(name))


def _is_person(name: Name) -> bool:
    return (
        2 <= len(name.words) <= 5
        and not name.numbers
        and not name.legal
        and not name.article
        and name.is_proper
        and "&" not in name.text
        and name.words[0] not in DIRECTIONS | _PEOPLES
        and len(name.words) - 1 not in name.initials
        and not any(
            w in name.ordinary for i, w in enumerate(name.words) if i not in name.initials and w not in _PARTICLES
        )
        and not _words("of in at on for and") & set(name.plain.split())
    )


def _is_title(tokens: list[Token], common: IsCommon) -> bool:
    """Return whether the first word is a title, that is, whether what follows may be a person's name."""
    first, rest = tokens[0].norm, tokens[1:]
    if _SHORT.get(first, first) not in _TITLES or first in ("st", "saint", "sainte"):
        return False
    if any(_is_roman(t.raw) for t in rest):
        return True
    return not any(common(t.norm) or t.norm in DIRECTIONS or t.norm in _SHORT for t in rest) and rest[0].norm != "of"


def _word(token: Token, place: int, last: bool) -> str:
    word = token.norm
    if _is_roman(token.raw) and (place > 0 or len(token.raw) > 1):
        return str(_roman(token.raw))
    if word in _ORDINALS:
        return str(_ORDINALS[word])
    if match := _ORDINAL.match(word):
        return match[1]
    if word == "st":
        return "street" if last and place > 0 else "saint"
    return _SHORT.get(word, word)


def _is_roman(text: str) -> bool:
    return _ROMAN.match(text.upper() if len(text) > 1 and text in ("ii", "iii", "iv") else text) is not None


def _roman(text: str) -> int:
    values = [_VALUES[c] for c in text]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


def _spelling(word: str) -> str:
    for variant, instead in _VARIANTS:
        word = word.replace(variant, instead)
    return _DOUBLED.sub(r"\1", word)


_SPELLINGS = Memo(_spelling)


def spelling(word: str) -> str:
    """Return a spelling that variants of a word share: Johanssen and Johansen, Mueller and Muller."""
    return _SPELLINGS[word]


def is_name(name: Name) -> bool:
    """Return whether a name is worth a comparison: it begins with a capital, and is no date, number or sum."""
    return (
        name.is_proper
        and "/" not in name.text
        and any(w[0].isalpha() and len(w) > 1 for w in name.words)
        and not _DATE.search(name.plain)
    )


def particles() -> frozenset[str]:
    """Return the little words of surnames: van, von, de, bin."""
    return _PARTICLES


def acronyms(name: Name) -> set[str]:
    """Return the acronyms of a name of three words or more: "who" of World Health Organization; with "of", too."""
    plain = name.plain.split()
    if plain and plain[0] in ("the", "a", "an"):
        plain = plain[1:]
    short = [w for w in plain if w not in _LITTLE]
    return {"".join(w[0] for w in words) for words in (plain, short) if len(short) > 1 and len(words) > 2}
