"""Which pages, tables and sections a question names, by rules: its wording alone, before any graph is asked.

KGP, section 4: questions that ask about the structure of a document, and not its content.
"""

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kgrag.text import STOP_WORDS, fold

Kind = Literal["page", "table", "section"]
Ask = Literal["text", "count", "list", "where"]

_NOUNS: dict[str, Kind] = {
    word + plural: kind
    for kind, words in {
        "page": ("page", "slide", "sheet"),
        "table": ("table",),
        "section": ("section", "chapter"),
    }.items()
    for word in words
    for plural in ("", "s")
} | {"appendix": "section", "appendices": "section"}  # type: ignore[assignment]
_HEADED = frozenset("section subsection chapter appendix heading".split())
_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty""".split()
_CARDINALS = {word: number for number, word in enumerate(_ONES)}
_ORDINALS = {
    word: number
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split(),
        1,
    )
} | {"last": -1, "final": -1, "penultimate": -2}
_NUMBERED = re.compile(r"(\d+)(?:st|nd|rd|th)")
_ROMAN = re.compile(r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUE = re.compile(r"\d{1,5}[a-z]?|\d{1,3}(?:\.\d{1,3})+|[a-z]{1,2}[-.]?\d{1,3}(?:\.\d{1,3})*|\d{1,4}[-–]\d{1,4}")
_TOKEN = re.compile(r"[^\W_](?:[\w.\-–]*[^\W_])?|[^\w\s]")
_NOUN = r"\b(pages?|tables?|slides?|sheets?|sections?|chapters?|tab\.)"
_SPELT = (
    (re.compile(r"['’]s\b"), ""),
    (re.compile(r"§+\s*"), " section "),
    (re.compile(r"№"), " number "),
    (re.compile(r"\bpp\b\.?\s*(?=\d)", re.I), "pages "),
    (re.compile(r"\b(?:p|pgs?)\b\.?\s*(?=\d)", re.I), "page "),
    (re.compile(r"\b(?:sec|chap|ch)\.\s*(?=\d)", re.I), "section "),
    (re.compile(r"\bpp?\.\s*(?=[ivxlc]+\b)", re.I), "page "),
    (re.compile(_NOUN + r"\s*(?:(?:number|nr|no)\b\.?|#)?\s*(?=\d)", re.I), r"\1 "),
    (re.compile(r"\btab\.\s*(?=\d)", re.I), "table "),
    (re.compile(_NOUN + r"\s+(?:number|no\.?|nr\.?|#)\s+", re.I), r"\1 "),
    (re.compile(r"\bsecond[ -](?:to|from)(?:[ -]the)?[ -]last\b", re.I), "penultimate"),
    (re.compile(r"\bnext[ -]to[ -]last\b|\blast but one\b", re.I), "penultimate"),
    (re.compile(r"\btable of contents\b", re.I), "list sections"),
    (re.compile(r"\bheadings\b", re.I), "sections"),
    (re.compile(r"\b(page|table) count\b", re.I), r"how many \1s"),
)
DOCUMENT_WORDS = frozenset(
    """document doc file pdf report paper book article manual thesis presentation spreadsheet workbook deck
    dokument""".split()
)
"""What a document is called without its name."""
_REQUESTS = DOCUMENT_WORDS | frozenset(
    """what's whats say says said tell tells told me show shows shown display displays give gives given print prints
    read reads contain contains contained content contents text whole full entire exact complete list lists listed
    state states stated stand stands appear appears please see want need look open find find get have having hold holds
    exist exists markdown everything written mention mentioned number total altogether count located which where it's
    how-many any all there these those whose pls plz go""".split()
)
_VERBS = frozenset(
    """summarise summarize explain describe compare translate quote cite paraphrase analyse analyze interpret between
    according based using reads mean means discuss discusses cover covers present presents give gives report reports
    compared versus vs regarding concerning using name names define defines refer refers conclude concludes claim claims
    argue argues suggest suggests recommend recommends suppose start starts begin begins end ends
    called titled headed""".split()
)
_OF = ("of", "in", "from", "inside", "within")
_ABOUT = ("about", "regarding", "concerning")
_ASKS = frozenset("what which where does do did is are was were has have can could would will may might there".split())
_NO_REQUEST = frozenset("who whom why when".split())
BEGINS = frozenset("begin begins start starts".split())
_BESIDE = frozenset("after before following preceding".split())


@dataclass(frozen=True, slots=True)
class Ref:
    """A page, table or section by its number (from the end where negative) or, where that is 0, by its label.

    `start` to before `end` are the words of the question that say so. `key`: the words of a heading that it is called
    by, if it is.
    """

    kind: Kind
    number: int
    label: str
    start: int
    end: int
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names. `ask`: for the text, how many there are, which, or where one stands.

    `refs` are of one kind, or none for all of that `kind`; `on`: the pages that they stand on. `words` are those of the
    question, `rest` the numbers of those that neither name a structure nor ask for one.
    """

    kind: Kind
    ask: Ask
    refs: tuple[Ref, ...]
    on: tuple[Ref, ...]
    words: tuple[str, ...]
    rest: tuple[int, ...]


def kinds_named(question: str) -> set[Kind]:
    """The kinds of structure that any word could name; if there are none, nothing else needs to be asked."""
    words = _words(question)[0]
    kinds = {_NOUNS[word] for word in words if word in _NOUNS}
    return kinds | {"section"} if any(map(is_heading_noun, words)) else kinds


def named(question: str, names: Container[str] = ()) -> Named | None:
    """The structure that a question names; None when it names none, or not for certain.

    `names`: the words that the names of documents are made of, which may stand beside it ("Rigging, page 3").
    """
    words, raw = _words(question)
    used: set[int] = set()
    if any(ref.start and words[ref.start - 1] in _BESIDE for ref in _refs(words, raw)):
        return None
    refs = [ref for ref in _refs(words, raw) if _stands_alone(words, ref, names)]
    for ref in refs:
        used.update(range(ref.start, ref.end))
    pages = [r for r in refs if r.kind == "page"]
    others = [r for r in refs if r.kind != "page"]
    if others and any(r.kind != others[0].kind for r in others):
        return None
    counted = _counted(words)
    ask: Ask = "text"
    kind: Kind
    on: Sequence[Ref] = ()
    if counted is not None:
        kind, at = counted
        ask, on = "count", pages if kind == "table" else ()
        used.update(range(at[0], at[1]))
        if refs and (others or not on):
            return None
        refs = []
    elif (where := _where(words)) is not None and others and not pages:
        kind, ask, refs = others[0].kind, "where", others
        used.update(where)
        used.update(i for i, w in enumerate(words) if w in BEGINS)
    elif others:
        kind, refs, on = others[0].kind, others, pages
    elif pages and (at_table := _tables_on(words, pages)) is not None:
        kind, refs, on, ask = "table", [], pages, "text"
        used.add(at_table)
    elif pages:
        kind, refs = "page", pages
    else:
        listed = _listed(words)
        if listed is None:
            return None
        kind, ask = listed[0], "list"
        used.add(listed[1])
        used.update(i for i, w in enumerate(words) if w in ("page", "pages"))  # "which pages have tables"
    rest = tuple(i for i, w in enumerate(words) if i not in used and not is_request(w))
    return Named(kind, ask, tuple(refs), tuple(on), tuple(words), rest)


def foreign(asked: Named, covered: set[int]) -> bool:
    """Whether the structure is said to be of something else than a document that is known.

    `covered`: the numbers of the words that name a document. "The first page in Marie Curie's diary" is of another.
    """
    strange = set(asked.rest) - covered
    words = asked.words
    for ref in (*asked.refs, *asked.on):
        if ref.end < len(words) and words[ref.end] in _OF and _next(words, ref.end + 1, covered) in strange:
            return True
    if words[0] in _OF and "," in words:
        lead = range(1, words.index(","))
        return any(i in strange for i in lead) and not any(r.start in lead for r in (*asked.refs, *asked.on))
    return False


def topic(asked: Named, covered: set[int]) -> list[int]:
    """The numbers of the words that say what is looked for within the structure."""
    return [i for i in asked.rest if i not in covered]


def after_about(asked: Named, place: int) -> bool:
    """Whether a word stands behind an "about": it is what is looked for, and names no document."""
    return any(word in _ABOUT for word in asked.words[:place])


def spelt(text: str) -> list[str]:
    """The words of a text as they are looked at."""
    return _words(text)[0]


def spelt_as_written(text: str) -> list[str]:
    """The same words with their capitals and marks."""
    return _words(text)[1]


def is_heading_noun(word: str) -> bool:
    """Whether a word says that the one beside it may be a heading."""
    return word in _HEADED


def is_request(word: str) -> bool:
    """Whether a word only asks for what is named, such as "what", "does", "show", "the", or a comma."""
    if word in _NO_REQUEST:
        return False
    return word in _REQUESTS or word in STOP_WORDS or word in _ASKS or not word[0].isalnum() or word in _ABOUT


def asks_where(words: Sequence[str]) -> set[int]:
    """The numbers of the words that ask where something stands; none if that is not asked."""
    where = _where(words)
    return set() if where is None else where | {i for i, w in enumerate(words) if w in BEGINS}


def parts(text: str) -> list[str]:
    """The words and numbers of a name, as they are compared: without marks, case and what joins them."""
    return re.findall(r"[^\W_]+", fold(unicodedata.normalize("NFKC", text)).casefold())


def roman(text: str) -> int:
    """The number of a Roman numeral; 0 for what is none."""
    if not _ROMAN.fullmatch(text.lower()):
        return 0
    values = ["ivxlc".index(letter) for letter in text.lower()]
    values = [(1, 5, 10, 50, 100)[v] for v in values]
    return sum(-v if any(w > v for w in values[i + 1 : i + 2]) else v for i, v in enumerate(values))


def _words(question: str) -> tuple[list[str], list[str]]:
    """The words in lower case and without marks, and as they are written."""
    text = unicodedata.normalize("NFKC", question)
    for pattern, put in _SPELT:
        text = pattern.sub(put, text)
    raw = [w for w in _TOKEN.findall(text) if fold(w)]
    return [fold(w).casefold() for w in raw], raw


def _next(words: Sequence[str], at: int, covered: set[int]) -> int:
    """The number of the first word from `at` that names something."""
    while at < len(words) - 1 and (
        words[at] in ("the", "this", "my", "our", "your", "its", "a", "an") or at in covered
    ):
        at += 1
    return at


def _refs(words: Sequence[str], raw: Sequence[str]) -> Iterator[Ref]:
    at = 0
    while at < len(words):
        found = list(_behind(words, raw, at)) or list(_before(words, at))
        yield from found
        at = found[-1].end if found else at + 1


def _behind(words: Sequence[str], raw: Sequence[str], at: int) -> Iterator[Ref]:
    """A noun with the values behind it: "page 3", "pages 2 to 4", "tables 1 and 2", "appendix B"."""
    kind = _NOUNS.get(words[at])
    if kind is None or at + 1 >= len(words):
        return
    plural = words[at].endswith("s") and words[at] != "s"
    first = _value(kind, words, raw, at + 1)
    if first is None:
        return
    said = (words[at], words[at + 1]) if kind == "section" and words[at + 1] in _CARDINALS else ()
    ref = Ref(kind, *first, at, at + 2, said)  # "Chapter Two" may be what a heading says
    if plural and (span := re.fullmatch(r"(\d{1,4})[-–](\d{1,4})", words[at + 1])):
        yield from _span(ref, int(span[1]), int(span[2]))
        return
    end = at + 2
    if plural and end + 1 < len(words) and words[end] in ("to", "through", "till", "until", "-", "–"):
        last = _value(kind, words, raw, end + 1)
        if last is not None and last[0] and ref.number:
            yield from _span(replace(ref, end=end + 2), ref.number, last[0])
            return
    yield ref
    while plural and end + 1 < len(words) and words[end] in (",", "and", "or", "&"):
        place = end + 2 if words[end] == "," and words[end + 1] in ("and", "or") else end + 1
        value = _value(kind, words, raw, place) if place < len(words) else None
        if value is None:
            return
        end = place + 1
        yield Ref(kind, *value, at, end)


def _span(ref: Ref, first: int, last: int) -> Iterator[Ref]:
    for number in range(first, min(last, first + 99) + 1):
        yield replace(ref, number=number, label=str(number))


def _before(words: Sequence[str], at: int) -> Iterator[Ref]:
    """A noun with an ordinal before it: "the last page", "the first two tables"."""
    word = words[at]
    match = _NUMBERED.fullmatch(word)
    number = int(match[1]) if match else _ORDINALS.get(word, 0)
    if not number or at + 1 >= len(words):
        return
    if (kind := _NOUNS.get(words[at + 1])) is not None and not words[at + 1].endswith("s"):
        yield Ref(kind, number, "", at, at + 2)
    elif number in (1, -1) and at + 2 < len(words) and (kind := _NOUNS.get(words[at + 2])) is not None:
        many = _CARDINALS.get(words[at + 1]) or (int(words[at + 1]) if re.fullmatch(r"\d{1,2}", words[at + 1]) else 0)
        for i in range(1, many + 1):
            yield Ref(kind, i if number > 0 else i - many - 1, "", at, at + 3)


def _value(kind: Kind, words: Sequence[str], raw: Sequence[str], at: int) -> tuple[int, str] | None:
    """The number and the label that a word stands for: (3, "3") for "3" and "three", (0, "iv"), (0, "4.2")."""
    word = words[at]
    if word in _CARDINALS:
        return _CARDINALS[word], str(_CARDINALS[word])
    if _VALUE.fullmatch(word):
        return (int(word) if word.isdigit() else 0), word
    if roman(word) and (
        len(word) > 1 or at + 1 >= len(words) or not words[at + 1][0].isalpha() or words[at + 1] in _OF
    ):
        return 0, word
    if kind != "page" and len(word) == 1 and raw[at].isupper() and raw[at] not in ("A", "I"):
        return 0, word
    if words[at - 1] == "appendix" and len(word) == 1 and raw[at].isupper():
        return 0, word
    return None


def _stands_alone(words: Sequence[str], ref: Ref, names: Container[str]) -> bool:
    """Whether the words around it let it be a structure: "Facebook page 3" and "the first table tennis" are none."""
    after = words[ref.end] if ref.end < len(words) else ""
    before = words[ref.start - 1] if ref.start else ""
    known = all(part in names for part in parts(before))
    fits = _may_stand_by(after) and (_may_stand_by(before) or known or "." in before or ref.start == 1)
    return fits and not (after in _CARDINALS and ref.label)


def _may_stand_by(word: str) -> bool:
    return not word or is_request(word) or word in _VERBS or word in _NOUNS or word in _NO_REQUEST


def _counted(words: Sequence[str]) -> tuple[Kind, tuple[int, int]] | None:
    """What is to be counted, and the words that say so: "how many tables", "the number of pages"."""
    for at in range(len(words) - 2):
        two = words[at : at + 2]
        if two in (["how", "many"], ["number", "of"], ["count", "the"], ["count", "all"]):
            for place in range(at + 2, min(at + 4, len(words))):
                if words[place] in _NOUNS and words[place].endswith("s"):
                    after = words[place + 1] if place + 1 < len(words) else ""
                    return (_NOUNS[words[place]], (at, place + 1)) if _may_stand_by(after) else None
    return None


def _where(words: Sequence[str]) -> set[int] | None:
    """Whether it is asked where something stands: "on which page is table 2"."""
    for at in range(len(words) - 1):
        if words[at] in ("which", "what") and words[at + 1] in ("page", "pages", "slide", "sheet"):
            return {at, at + 1}
    asked = words[:2] in (["where", "is"], ["where", "are"]) or (words[:1] == ["where"] and BEGINS & set(words))
    return {0} if asked else None


def _tables_on(words: Sequence[str], pages: Sequence[Ref]) -> int | None:
    """The place of "table" or "tables" when some on these pages are meant: "the table on page 4", "page 5's tables"."""
    for at, word in enumerate(words):
        if word not in ("table", "tables") or any(r.start <= at < r.end for r in pages):
            continue
        after = words[at + 1] if at + 1 < len(words) else ""
        before = words[at - 1] if at else ""
        if _may_stand_by(after) and (_may_stand_by(before) or any(r.end == at for r in pages)):
            return at
    return None


def _listed(words: Sequence[str]) -> tuple[Kind, int] | None:
    """What is to be listed: "list the tables", "which sections are there", "are there tables"."""
    at = next((i for i, w in enumerate(words) if w in ("tables", "sections", "chapters")), None)
    if at is None:
        return None
    asks = set(words) & {"list", "which", "what", "show", "all", "there", "any", "does", "give", "name"}
    return (_NOUNS[words[at]], at) if asks else None
