"""Which sentence of a passage supports a claim, and which sentences of an answer none supports.

Words are compared, not meanings: what is called supported says the same names, numbers and words, with the same
negation, of the same subject. A claim in other words than its passage may be missed; a claim on something else is not
to pass. English has all rules; in other languages, and where answer and passage differ in theirs, names and numbers
count alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum, log1p

from kgrag.text.languages import ENGLISH
from kgrag.text.tokens import is_content, stems, tokens, words_of
from kgrag.values.results import Item, Passage, Summary

_CLOSE = "[\"'”’」』)\\]]*"
_END = re.compile(rf"(?<=[.!?…]){_CLOSE}\s+(?![a-z])|(?<=[。！？]){_CLOSE}|\n\s*\n|\n(?![a-z])")
_SHORT = re.compile(
    r"(?:\b(?:Mrs?|Ms|Dr|Prof|St|Sr|Jr|No|Nr|vs|ca|c|cf|approx|al|pp?|(?i:figs?|vol|sec|ch|eqs?)|Gen|Col|Capt|Lt|Sgt|Rev|"
    r"Jan|Feb|Aug|Sept?|Oct|Nov|Dec|[A-Z])\.|(?<![\d–-])\d{1,2}\.)\Z"
)
_UNPARTED = re.compile(r"(?=([\u3040-\u30ff\u3400-\u9fff]{2}))")  # characters that no spaces part, by twos
_SUBJECT, _HEADING = 0.25, 0.3
"""What a word of the title counts beside any other, and what a heading does."""
_FEW = 6  # words of a line without an end that is a heading

_CITATION = re.compile(r"\s?\[\d+\]")
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W_]+)*")
_CLAUSE = re.compile(r"[,;:()–—]| and | but | or | who | which | that | where | while | although | because ")
_SPACED = re.compile(r"(?<=\d)[,.](?=\d{3}\b)")  # 1,340 and 1.340
_NUMBERS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"once": "1", "twice": "2", "thirty": "30", "twenty": "20", "forty": "40", "fifty": "50", "hundred": "100"}
_UNCOUNTED = frozenset("1")  # "one" is mostly no number
_NEGATIONS = frozenset(
    "not no never neither nor none nothing nobody without cannot refused refuses refuse failed fails fail denied "
    "denies unable rejected rejects excluded excludes cancelled canceled lacks lacked stopped nicht kein keine keinen "
    "nie niemals ohne pas jamais sans aucun aucune nunca jamás sin".split()
)
_NOT_BUT = re.compile(r"\bnot\b[^.;]{1,60}?\bbut\b")
_AUXILIARIES = frozenset(
    "is are was were be been being has have had do does did will would can could may might must shall should to also "
    "then later first who which that he she it they".split()
)
_IRREGULAR = frozenset(
    "became began bought brought built came chose drew fell found gave went got grew held kept knew led left lent lost "
    "made met paid put ran rose said sang sat saw sent set shot sold spent spoke stood swam taught took thought told "
    "won wore wrote cost lies lay serves takes takes makes works costs measures moved weighs stands contains includes "
    "located situated called named known used given held based".split()
)
_FRAMING = frozenset(
    "according passage passages document documents text source sources evidence answer states stated mentioned "
    "mentions total about approximately around called named known also question based therefore thus however".split()
)
"""Words by which an answer refers to what it was read from, and others that claim nothing."""
_PREPOSITIONS = frozenset("in on at after before during from since until under over with by for".split())
_REFERRING = frozenset("he she it they his her its their this these that those him them there here both".split())
_ENGLISH = frozenset("the of and is by with from has were an are had at on".split())
_BETWEEN = re.compile(r"\s+(?:(?:of|the|de|di|du|la|le|von|van|der|den|af|al)\s+)*")
_NAME_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHOSEN = frozenset(("yes", "no", "true", "false", "both", "neither", "ja", "nein", "oui", "non", "si", "sí"))
"""Short answers that no passage has to hold."""
_ARTICLES = ENGLISH.stop_words | frozenset("der die das ein eine le la les un une el los las".split())
_LEAST = 3
"""Letters of a word that counts."""
_SHARE = 0.5
"""Part of a claim's words that its sentence must have: see bench/support.py."""
_ELSEWHERE, _HEAD = 2.0, 1.0
"""What a missing word counts besides where another sentence of the passage has it, and before the verb."""
_NEAR = 5
"""Words between a negation and what it denies."""
_ALIKE = 4
"""Letters that two words of one root begin with: design, designer."""


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a text stands: from its first character to behind its last."""
    begin = 0
    for match in _END.finditer(text):
        if "\n" not in match[0] and _is_short(text[begin : match.start()].rstrip("\"'”’)]")):
            continue
        if text[begin : match.end()].strip():
            yield _trimmed(text, begin, match.end())
        begin = match.end()
    if text[begin:].strip():
        yield _trimmed(text, begin, len(text))


def _is_short(text: str) -> bool:
    """Return whether a text ends with an abbreviation; a letter or a number behind a noun ("hall B.") is none."""
    match = _SHORT.search(text)
    if match is None:
        return False
    before = text[: match.start()].split()[-1:] if len(match[0]) == 2 or match[0][0].isdigit() else []
    return not any(word.islower() and is_content(word) for word in before)


def nearest_sentence(claim: str, text: str, title: str = "") -> tuple[int, int]:
    """Return where the sentence stands that shares most with a claim, the first of equals; (0, 0): none shares a word.

    A word counts the more, the fewer sentences have it: names and numbers most. One of the title counts less: every
    sentence of the passage is about that.
    """
    best, place = 0.0, (0, 0)
    for worth, start, end in _worths(claim, text, title):
        if worth > best:
            best, place = worth, (start, end)
    return place


def support(claim: str, text: str, title: str = "", others: Sequence[Passage] = ()) -> tuple[int, int]:
    """Return where the sentence of a passage stands that supports a claim; (0, 0) where none does.

    Args:
        claim: a sentence, or a part of one, of an answer.
        text: the text of the passage.
        title: what the passage is about, which its sentences may leave out.
        others: passages that are cited beside it, which may say who is meant: "the designer of the Fram".
    """
    if not (_is_english(claim) and _is_english(text)):
        place = nearest_sentence(claim, text, title)
        known = _forms(f"{title} {text}")
        return place if all(_forms(part) <= known for part in _names_and_numbers(claim)) else (0, 0)
    ranked = sorted(_worths(claim, text, title), key=lambda row: (-row[0], row[1]))
    parts = list(sentences(text))
    for worth, start, end in ranked:
        if worth <= 0:
            break
        before = text[slice(*parts[parts.index((start, end)) - 1])] if (start, end) != parts[0] else ""
        if _says(claim, text[start:end], title, before, text, others):
            return start, end
    return 0, 0


def unsupported(text: str, items: Sequence[Item], question: str, *, short: bool) -> tuple[str, ...]:
    """Return what of an answer no passage supports: of a short answer all of it, of a longer one whole sentences.

    A short answer is supported when one passage, or the question, has each of its words. A sentence is supported when
    each part of it is supported by what is cited behind that part; where nothing is cited, by any item.
    """
    if short:
        known = [_forms(f"{part.title} {part.text}") for item in items for part in _parts(item)]
        question_forms = _forms(question)
        words = [word for word in _in_order(text) if len(word) >= _LEAST or word.isdigit()]
        bare = not words or set(words) <= _CHOSEN
        return () if bare or any(their | question_forms >= set(words) for their in known) else (text,)
    return tuple(
        dict.fromkeys(
            _CITATION.sub("", text[start:end]).strip(" *_#-")
            for start, end in sentences(text)
            if not all(
                claims_nothing(claim) or is_supported(claim, _cited(items, numbers))
                for claim, numbers in claims_of(text[start:end])
            )
        )
    )


def claims_of(sentence: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the parts of a sentence, each with the numbers that are cited behind it; none: nothing is cited at all."""
    marks = [(match.start(), match.end(), int(match[0].strip(" []"))) for match in _CITATION.finditer(sentence)]
    if not marks:
        yield sentence, []
        return
    begin, claim, numbers = 0, "", list[int]()
    for start, end, number in marks:
        if sentence[begin:start].strip(" ,.;"):
            if numbers:
                yield claim, numbers
            claim, numbers = sentence[begin:start], []
        numbers.append(number)
        begin = end
    yield f"{claim}{sentence[begin:]}" if not claims_nothing(sentence[begin:]) else claim, numbers


def claims_nothing(claim: str) -> bool:
    """Return whether a text has no number, no name and at most one word that says something."""
    its = _Words.of(_CITATION.sub("", claim))
    return not its.numbers and not its.names and len(its.plain - _FRAMING) < 2


def is_supported(claim: str, items: Sequence[Item]) -> bool:
    """Return whether a sentence of one of the items supports a claim."""
    parts = [part for item in items for part in _parts(item)]
    passages = [part for part in parts if isinstance(part, Passage)]
    return any(
        support(claim, part.text, part.title, [other for other in passages if other is not part])[1] > 0
        for part in parts
    )


def _cited(items: Sequence[Item], numbers: Sequence[int]) -> Sequence[Item]:
    chosen = [items[number - 1] for number in numbers if 1 <= number <= len(items)]
    return chosen or items


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a sentence: names (written with a capital), numbers, and plain ones by their stems, with places."""

    order: tuple[tuple[str, str, int], ...]
    """(kind, form, character) of each: n name, d number, w plain, f function word."""
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str, known: Iterable[str] = ()) -> "_Words":
        """Make the words of a text.

        `known`: stems of names; a name at the beginning of a sentence is one of these, or two in a row.
        """
        order, found = list[tuple[str, str, int]](), _WORD.findall(_SPACED.sub("", text))
        places = [match.start() for match in _WORD.finditer(_SPACED.sub("", text))]
        lower = [word.lower().removesuffix("'s").removesuffix("’s") for word in found]
        stemmed = stems(lower)
        for place, (word, small, stem) in enumerate(zip(found, lower, stemmed, strict=True)):
            number = small if small[0].isdigit() else _NUMBERS.get(small, "")
            following = found[place + 1] if place + 1 < len(found) else ""
            named = word[0].isupper() and (
                place > 0 or stem in known or (following[:1].isupper() and small not in _ARTICLES)
            )
            if number and number not in _UNCOUNTED:
                order.append(("d", number.rstrip(".,:"), places[place]))
            elif len(word) == 1 and word.isupper() and word not in "AIO" and place > 0:
                order.append(("n", small, places[place]))  # hall C
            elif not is_content(small) or small in _NEGATIONS | _AUXILIARIES | _TITLES:
                order.append(("f", small, places[place]))
            else:
                order.append(("n" if named else "w", stem, places[place]))
        return cls(tuple(order), tuple(lower))

    def _kind(self, kind: str) -> set[str]:
        return {form for its, form, _ in self.order if its == kind}

    @property
    def names(self) -> set[str]:
        return self._kind("n")

    @property
    def numbers(self) -> set[str]:
        return self._kind("d")

    @property
    def plain(self) -> set[str]:
        return self._kind("w")

    @property
    def all(self) -> set[str]:
        return {form for kind, form, _ in self.order if kind != "f"}


_TITLES = frozenset("mr mrs ms dr prof sir captain director mayor president duke king queen".split())


def _says(claim: str, sentence: str, title: str, before: str, text: str, others: Sequence[Passage]) -> bool:
    """Return whether a sentence says what a claim says."""
    known = _Words.of(f"x {text}").names | _Words.of(f"x {title}").names
    claim = _CITATION.sub("", claim).strip()
    its, their = _Words.of(claim, known), _Words.of(sentence, known)
    about = _Words.of(f"x {title}").all
    refers = any(word in _REFERRING for word in their.words)
    earlier = _Words.of(before, known).all if refers else set[str]()
    verb = next(
        (
            place
            for place, (kind, form, _) in enumerate(its.order)
            if kind == "w" and ((form not in about and _in(form, their.all)) or _is_verb(its, place))
        ),
        -1,
    )
    missing, counted, told = 0.0, 0, False
    for place, (kind, form, _) in enumerate(its.order):
        if kind == "f" or form in _FRAMING or its.words[place] in _FRAMING:
            continue
        counted += 1
        if _in(form, their.all):
            told = told or form not in about
            continue
        subject = place < verb or _modifies(its, place)
        if (subject or refers) and _in(form, about):
            continue
        if subject and (kind == "n" or its.words[place - 1] in _ARTICLES) and _in(form, earlier):
            continue
        if kind in "nw" and subject and _bridged(form, their, about, others):
            continue
        if kind != "w":
            return False
        missing += 1 + (_ELSEWHERE if _elsewhere(form, text, sentence) else 0) + (_HEAD if place < verb else 0)
    if not told or (counted - missing) / counted < _SHARE:
        return False
    return (
        _negated(its, their.all) == _negated(their, its.all, sentence)
        and _clauses_fit(claim, sentence)
        and not _is_swapped(its, their, (" by " in claim) != (" by " in sentence))
        and not _other_subject(its, their, sentence)
    )


def _in(form: str, forms: Iterable[str]) -> bool:
    """Return whether a word, or another one of its root, is among others."""
    if form in forms:
        return True
    if form[0].isdigit() or len(form) < _ALIKE:
        return False
    return any(
        form[:_ALIKE] == other[:_ALIKE] and (form.startswith(other) or other.startswith(form)) for other in forms
    )


def _is_verb(its: _Words, place: int) -> bool:
    """Return whether a word that a sentence lacks is likely a verb or an adverb, for which it may have another one."""
    word, before = its.words[place], its.words[place - 1] if place else ""
    return word in _IRREGULAR or word.endswith(("ed", "ly")) or before in _AUXILIARIES


def _elsewhere(form: str, text: str, sentence: str) -> bool:
    """Return whether a passage has a word in other sentences: it says that of something else."""
    return _in(form, _Words.of(text.replace(sentence, " ")).all)


def _modifies(its: _Words, place: int) -> bool:
    """Return whether a word says of whom the subject is: "the designer of the Fram", "the Fram's designer"."""
    return place > 0 and "of" in its.words[max(0, place - 3) : place] and place <= len(its.words) / 2


def _bridged(form: str, their: _Words, about: set[str], others: Sequence[Passage]) -> bool:
    """Return whether another cited passage has a word beside a name that this sentence, or its title, has."""
    names = their.names | about
    for other in others:
        words = _Words.of(f"{other.title}. {other.text}").all
        if _in(form, words) and names & words:
            return True
    return False


def _negated(one: _Words, other: set[str], sentence: str = "") -> bool:
    """Return whether a sentence denies what it has in common with another: two negations deny nothing."""
    words = one.words
    if sentence and (match := _NOT_BUT.search(sentence.lower())):
        spared = len(_WORD.findall(sentence[: match.start()]))
        words = tuple("" if place == spared else word for place, word in enumerate(words))
    places = [place for place, word in enumerate(words) if word in _NEGATIONS or word.endswith(("n't", "n’t"))]
    if sentence:
        shared = [place for place, (kind, form, _) in enumerate(one.order) if kind != "f" and _in(form, other)]
        places = [place for place in places if any(abs(place - at) <= _NEAR for at in shared)]
    return len(places) % 2 == 1


def _clauses_fit(claim: str, sentence: str) -> bool:
    """Return whether each number and name stands beside the same words as in the claim, where clauses have several."""
    theirs = [_Words.of(part) for part in _CLAUSE.split(sentence) if part.strip()]
    if len(theirs) < 2:
        return True
    for part in _CLAUSE.split(_CITATION.sub("", claim)):
        its = _Words.of(part)
        for number in its.numbers:
            holding = [clause for clause in theirs if number in clause.numbers]
            rivals = [clause for clause in theirs if clause.numbers and number not in clause.numbers]
            if not holding or not rivals or not its.plain:
                continue
            beside = [clause for clause in holding if not clause.plain or any(_in(w, clause.plain) for w in its.plain)]
            if not beside:
                return False
    return True


def _is_swapped(its: _Words, their: _Words, voices: bool) -> bool:
    """Return whether who does and to whom it is done are exchanged; `voices`: one sentence is passive, one active."""
    pair = _verb_places(its, their)
    if pair is None:
        return False
    (before, after), (their_before, their_after) = _around(its, pair[0]), _around(their, pair[1])
    crossed = bool(before & their_after - their_before) and bool(after & their_before - their_after)
    return crossed and not voices


def _other_subject(its: _Words, their: _Words, sentence: str) -> bool:
    """Return whether a sentence has a subject of its own, and the claim's is only that of the passage."""
    pair = _verb_places(its, their)
    if pair is None:
        return False
    comma = sentence.find(",") if their.words[0] in _PREPOSITIONS else -1
    subject = {form for kind, form, at in its.order[: pair[0]] if kind in "nw"}
    own = {form for kind, form, at in their.order[: pair[1]] if kind in "nw" and at > comma}
    pronoun = any(word in _REFERRING for word in their.words[: pair[1]])
    return bool(subject) and not pronoun and not any(_in(form, their.all) for form in subject) and bool(own)


def _verb_places(its: _Words, their: _Words) -> tuple[int, int] | None:
    """Return where the first word that two sentences share and that is no name stands in both."""
    for here, (kind, form, _) in enumerate(its.order):
        there = next(
            (at for at, (its_kind, other, _) in enumerate(their.order) if its_kind == "w" and _in(form, {other})), None
        )
        if kind == "w" and there is not None:
            return here, there
    return None


def _around(words: _Words, place: int) -> tuple[set[str], set[str]]:
    before = {form for kind, form, _ in words.order[:place] if kind == "n"}
    after = {form for kind, form, _ in words.order[place + 1 :] if kind == "n"}
    return before, after


def _worths(claim: str, text: str, title: str) -> Iterator[tuple[float, int, int]]:
    """Yield how much each sentence shares with a claim, and where it stands."""
    parts = [(start, end, _stems(text[start:end])) for start, end in sentences(text)]
    often = Counter(chain.from_iterable(there for *_, there in parts))
    about = _stems(title)
    wanted = {
        stem: log1p(len(parts) / often[stem]) * (_SUBJECT if stem in about else 1.0)
        for stem in _stems(claim)
        if stem in often
    }
    for start, end, there in parts:
        worth = fsum(wanted[stem] for stem in there & wanted.keys())
        if text[end - 1].isalnum() and len(text[start:end].split()) < _FEW:
            worth *= _HEADING
        yield worth, start, end


def _is_english(text: str) -> bool:
    words = set(text.lower().split())
    return "the" in words or len(words & _ENGLISH) > 1 or not words & _OTHER


_OTHER = frozenset(
    "der die das und ist ein eine wurde nicht le la les des est une dans el los las una es en y il di che het een och "
    "att som på av".split()
)
"""Words that English has not, of languages with the same letters."""


def _names_and_numbers(text: str) -> list[str]:
    """Return names of several words, and numbers of several digits."""
    bare = _CITATION.sub("", text)
    return [*_names(bare), *(number for number in _NUMBER.findall(bare) if len(number) > 1)]


def _parts(item: Item) -> Iterable[Passage | Summary]:
    return [item] if isinstance(item, Summary) else item


def _in_order(text: str) -> list[str]:
    return [word.norm for word in tokens(text)]


def _forms(text: str) -> frozenset[str]:
    return frozenset(_in_order(text))


def _names(text: str) -> list[str]:
    """Return runs of two or more capitalised words, without an article before them."""
    names: list[str] = []
    row: list[re.Match[str]] = []
    for word in _NAME_WORD.finditer(text):
        if not word[0][0].isupper():
            continue
        if row and not _BETWEEN.fullmatch(text, row[-1].end(), word.start()):
            names, row = [*names, _name(text, row)], []
        if row or word[0].lower() not in _ARTICLES:
            row.append(word)
    return [name for name in [*names, _name(text, row)] if " " in name]


def _name(text: str, row: Sequence[re.Match[str]]) -> str:
    return text[row[0].start() : row[-1].end()] if row else ""


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def _stems(text: str) -> set[str]:
    return {*stems([word for word in words_of(text) if is_content(word)]), *_UNPARTED.findall(text)}
