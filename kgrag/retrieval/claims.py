"""Whether a sentence says what a claim says: clause by clause, with the same names, numbers, negation and subject.

Rules of English, chosen on 200 claims and then on 200 others, of five kinds of text each (tests/quality): a claim is
about what a clause is about, or, where that begins with a pronoun or a verb, about the clause or sentence before or the
title; what is said of it stands in the same clause; a number stands before the same word; of other words a verb, an
adverb or what only adds to a noun may be lacking, unless the passage has it elsewhere.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from kgrag.text.languages import ENGLISH
from kgrag.text.tokens import is_content, stems
from kgrag.values.results import Passage

CITATION = re.compile(r"\s?\[\d+\]")
_WORD = re.compile(r"\d+(?:[.,:]\d+)*(?![^\W_])|[^\W_]+(?:['’-][^\W_]+)*")
_RELATIVE = frozenset("who which that whose where when".split())
_CLAUSE = re.compile(r"([,;:()–—]\s*(?:(?:and|but|or|while|whereas)\b)?|\b(?:and|but|or|while|whereas)\b)")
"""The ends of clauses within a sentence."""
_SPACED = re.compile(r"(?<=\d)[,.](?=\d{3}\b)")  # 1,340 and 1.340
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
_NUMBERS = {word: str(number) for number, word in enumerate(f"{_UNITS} eighteen nineteen".split())} | {
    word: str(10 * number)
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety hundred".split(), 2)
}
_NUMBERS |= {"once": "1", "twice": "2"}
_NEGATIONS = frozenset(
    "not no never neither nor none nothing nobody without cannot refused refuses refuse failed fails fail denied "
    "denies unable rejected rejects excluded excludes cancelled canceled lacks lacked stopped "
    "declined declines dismissed nicht kein keine keinen "
    "nie niemals ohne pas jamais sans aucun aucune nunca jamás sin".split()
)
_AUXILIARIES = frozenset(
    "is are was were be been being has have had do does did will would can could may might must shall should to also "
    "then later first who which that he she it they".split()
)
_IRREGULAR = frozenset(
    "ate based beat beaten became becomes began bought brought built called came caught chose contains cut dealt "
    "drew drove eats fell flew fought found froze gave given got grew held hit hurt includes joined kept knew "
    "known lay led lent located lost made makes met moved named paid put ran rang rode rose said sang sank sat "
    "saw sent serves set shook shot shut situated slept sold spent spoke stands stole stood struck swam swept "
    "takes taught thought threw told took used weighs went withdrew woke won wore wrote".split()
)
_TITLES = frozenset("mr mrs ms dr prof sir captain director mayor president duke king queen".split())
_FRAMING = frozenset(
    "according passage passages document documents text source sources evidence answer states stated mentioned "
    "mentions total about approximately around called named known also question based therefore thus however".split()
)
"""Words by which an answer refers to its sources, and other words that claim nothing."""
_PREPOSITIONS = frozenset(
    "because despite due in on at after before during from since until under over with by for".split()
)
_FUNCTION = _NEGATIONS | _AUXILIARIES | _TITLES
_DETERMINERS = frozenset("the a an of its his her their this that each every some new".split())
_REFERRING = frozenset("he she it they his her its their this these that those him them there here both".split())
ARTICLES = ENGLISH.stop_words | frozenset("der die das ein eine le la les un une el los las".split())
_SHARE = 0.5
"""Part of a claim's words that its sentence must have."""
_CLAIM = 2
"""Words from which a text without a name or a number claims something."""
_PASSAGES = 256
"""Passages whose words are kept: each sentence of an answer is compared with the same ones."""
_ALIKE = 4
"""Letters that two words of one root begin with: design, designer."""


def claims_nothing(claim: str) -> bool:
    """Return whether a text has no number, no name and at most one word that says something."""
    words = _words(CITATION.sub("", claim))
    content = {word.form for word in words if word.kind == "w" and word.text not in _FRAMING}
    numbers = [word for word in words if word.kind == "d" and len(word.text) > 1 and word.text not in _NUMBERS]
    return not numbers and not _names_in(words) and len(content) < _CLAIM


class _Word(NamedTuple):
    """A word of a sentence. `kind`: n name (written with a capital), d number, w plain, f function word."""

    kind: str
    form: str
    text: str


def _words(text: str, names: Container[str] = ()) -> list[_Word]:
    """Return the words of a text; `names`: stems of names, by which one at the beginning of a sentence is one."""
    spelt = _WORD.findall(_SPACED.sub("", text))
    lower = [word.lower().removesuffix("'s").removesuffix("’s") for word in spelt]
    words = list[_Word]()
    for place, (word, small, stem) in enumerate(zip(spelt, lower, stems(lower), strict=True)):
        number = small if small[0].isdigit() else _NUMBERS.get(small, "")
        following = spelt[place + 1] if place + 1 < len(spelt) else ""
        named = word[0].isupper() and (
            place > 0 or stem in names or (following[:1].isupper() and small not in ARTICLES)
        )
        if number:
            words.append(_Word("d", number.rstrip(".,:"), small))
        elif small.endswith(("n't", "n’t")):
            words.append(_Word("f", small, small))
        elif len(word) == 1 and word.isupper() and word not in "AIO" and place > 0:
            words.append(_Word("n", small, small))  # hall C
        elif not is_content(small) or small in _FUNCTION:
            words.append(_Word("f", small, small))
        else:
            words.append(_Word("n" if named else "w", stem, small))
    return words


@lru_cache(maxsize=_PASSAGES)
def _passage(title: str, text: str) -> tuple[set[str], set[str], list[_Word], set[str]]:
    """Return of a passage the names, the forms of its title, the words of its text, and the forms of both."""
    whole = _words(f"x {title}. {text}")
    names = _names_in(whole)
    return names, _forms_of(_words(f"x {title}", names)), _words(text, names), _forms_of(whole)


def _forms_of(words: Iterable[_Word]) -> set[str]:
    return {word.form for word in words if word.kind != "f"}


def _clauses(words: list[_Word], text: str) -> list[list[_Word]]:
    """Return the words of a sentence by clauses; a phrase ("in May"), an apposition and a single word join another."""
    parts, begin = list[list[_Word]](), 0
    pieces = _CLAUSE.split(text)
    for piece, joint in zip(pieces[::2], ["", *pieces[1::2]], strict=True):
        number = len(_WORD.findall(_SPACED.sub("", piece)))
        begin += len(_WORD.findall(joint))
        part, begin = words[begin : begin + number], begin + number
        joins = not any(map(str.isalpha, joint)) and not _has_verb(part)  # not "and Kings Weir in autumn"
        if not part:
            continue
        few = bool(parts) and min(len(_forms_of(part)), len(_forms_of(parts[-1]))) < _CLAIM
        if parts and (joins or few or (part[0].text in _PREPOSITIONS and not _has_verb(part))):
            parts[-1] = [*parts[-1], *part]
        elif parts and parts[-1][0].text in _PREPOSITIONS and not _has_verb(parts[-1]):
            parts[-1] = [*part, *parts[-1]]  # "In the winter of 1889, she ..."
        else:
            parts.append(part)
    return parts or [[]]


def _has_verb(words: list[_Word]) -> bool:
    return any(_is_verb(words, place) or word.text in _AUXILIARIES for place, word in enumerate(words))


@dataclass(frozen=True, slots=True)
class _Context:
    """The context of a sentence: forms of the `title` and of the sentence `before`, its own words, the passage's."""

    title: set[str]
    before: set[str]
    words: list[_Word]
    clauses: list[list[_Word]]
    passage: list[_Word]
    elsewhere: set[str]
    others: Sequence[Passage]


def says(claim: str, sentence: str, title: str, before: str, text: str, others: Sequence[Passage]) -> bool:
    """Return whether a sentence says what a claim says, clause by clause."""
    names, about, passage, _ = _passage(title, text)
    claim = CITATION.sub("", claim).strip()
    ours, their = _words(claim, names), _words(sentence, names)
    forms = _forms_of(their)
    has_content = any(word.kind != "f" and word.form not in about and _in(word.form, forms) for word in ours)
    if not has_content or _is_swapped(ours, their, (" by " in claim) != (" by " in sentence)):
        return False
    context = _Context(
        about,
        _forms_of(_words(before, names)),
        their,
        _clauses(their, sentence),
        passage,
        _forms_of(_words(text.replace(sentence, " "), names)) - forms,
        others,
    )
    return all(_clause_says(part, ours, context) for part in _clauses(ours, claim))


def _clause_says(part: list[_Word], claim: list[_Word], context: _Context) -> bool:
    """Return whether one clause of a sentence says what a clause of a claim says."""
    verb = next((place for place in range(len(part)) if _is_verb(part, place)), -1)
    if verb < 0:
        everywhere = _forms_of(context.words)
        verb = next((p for p, word in enumerate(part) if word.kind == "w" and _in(word.form, everywhere)), 0)
    number = max(range(len(context.clauses)), key=lambda n: (_overlap(part, verb, context.clauses[n]), -n))
    best, ours = context.clauses[number], _forms_of(claim)
    own, forms = _own_subject(best), _forms_of(best)
    if own is None and number:
        forms |= _forms_of(_subject_of(context.clauses[number - 1]))
    if _has_other_agent(best, ours):
        return False
    refers = any(word.text in _REFERRING for word in context.words)
    refers = refers or not _names_in(context.words) - context.title - ours
    same = {form for clause in context.clauses if _is_of_same(clause, part, ours) for form in _forms_of(clause)}
    whole = _forms_of(context.words)
    counted = missing = 0
    for place, word in enumerate(part):
        if word.kind == "f" or word.text in _FRAMING:
            continue
        counted += 1
        if place < verb:
            continue
        if word.kind == "d" and not _same_unit(part, place, best):
            return False
        if _in(word.form, forms) or (refers and word.kind != "d" and _in(word.form, context.title)):
            continue
        if (word.kind == "n" and _bridged(word.form, context)) or (word.kind == "w" and _in(word.form, same)):
            continue
        if word.kind != "w" or _in(word.form, context.elsewhere) or _in(word.form, whole):
            return False  # the passage says it of something else
        likely = _is_verb(part, place) or word.text.endswith("ing")
        if not likely and not _may_be_added(part, place, best, ours):
            return False
        missing += 1
    phrase = part[0].text in _PREPOSITIONS  # denies nothing by itself
    if missing > (1 - _SHARE) * counted or (not phrase and _negated(part) != _negated(best)):
        return False
    return _same_subject(part[:verb], ours, own, number, context)


def _is_of_same(clause: list[_Word], part: list[_Word], ours: set[str]) -> bool:
    """Return whether a clause tells more of the subject of a claim, and denies it as the claim does."""
    own = _own_subject(clause)
    same_subject = (own is None or _in(own, ours)) and not _has_other_agent(clause, ours)
    return same_subject and _negated(clause) == _negated(part)


def _has_other_agent(clause: list[_Word], ours: set[str]) -> bool:
    """Return whether somebody did it whom the claim does not name: "designed by ..."."""
    agents = _names_in(clause[next((i for i, word in enumerate(clause) if word.text == "by"), len(clause)) :])
    return bool(agents) and not agents & ours


def _overlap(part: list[_Word], verb: int, clause: list[_Word]) -> float:
    """Return the share of a claim's clause in a clause; words before the verb count half."""
    forms = _forms_of(clause)
    return sum((1.0 if place >= verb else 0.5) * _in(w.form, forms) for place, w in enumerate(part) if w.kind != "f")


def _same_subject(subject: list[_Word], ours: set[str], own: str | None, number: int, context: _Context) -> bool:
    """Return whether a clause, or the text around it, has the subject of a claim."""
    words = [word for word in subject if word.kind != "f" and word.text not in _FRAMING]
    clause = context.clauses[number]
    there = _forms_of(clause)
    if all(_in(word.form, there) for word in words) or (own is not None and _is_alias(own, words, context)):
        return True
    titled = all(_in(word.form, context.title | there) for word in words)
    if own is not None and not _in(own, ours):
        places = [place for place, word in enumerate(clause) if (word.kind, word.form) == ("w", own)]
        definite = any("the" in {word.text for word in clause[max(0, place - 2) : place]} for place in places)
        definite = definite and not any(word.kind == "w" and _in(word.form, context.elsewhere) for word in words)
        titled = titled or all(_in(word.form, context.title | context.before | there) for word in words)
        if not (definite and titled):
            return False
    others = [_own_subject(clause) for clause in context.clauses if clause is not context.clauses[number]]
    if own is not None and any(other is not None and _in(other, _forms_of(words)) for other in others):
        return False  # another clause is about it
    if own is None and number and not titled:  # a pronoun, or nothing: what the clause before is about
        before = next((x for c in reversed(context.clauses[:number]) if (x := _own_subject(c)) is not None), None)
        if before is not None and not _in(before, ours):
            return False
    pronoun = any(word.text in _REFERRING for word in context.words)
    reached = _forms_of(context.words) | context.title | (context.before if pronoun else set())
    return all(_in(word.form, reached) or _bridged(word.form, context) for word in words)


def _is_alias(own: str, subject: list[_Word], context: _Context) -> bool:
    """Return whether a passage calls somebody so: "the Author, Nadia Ferrant"."""
    names, words = _names_in(subject), context.passage
    return any(
        place > 0
        and (words[place - 1].text, word.form) == ("the", own)
        and names & _forms_of(words[place + 1 : place + 2])
        for place, word in enumerate(words)
    )


def _may_be_added(part: list[_Word], place: int, clause: list[_Word], ours: set[str]) -> bool:
    """Return whether a word before a noun that a clause has only adds to it: the clause has no other word there."""
    following = part[place + 1] if place + 1 < len(part) else None
    if following is None or following.kind not in "wn":
        return False
    at = next((at for at, word in enumerate(clause) if word.kind != "f" and _in(following.form, {word.form})), -1)
    before = clause[at - 1] if at > 0 else None
    if before is None:
        return False
    return before.kind == "d" or before.text in _DETERMINERS | _PREPOSITIONS or _in(before.form, ours)


def _subject_of(clause: list[_Word]) -> list[_Word]:
    """Return the words of a clause before its verb."""
    verbs = (place for place, word in enumerate(clause) if word.text in _AUXILIARIES or _is_verb(clause, place))
    return clause[: next(verbs, 0)]


def _own_subject(clause: list[_Word]) -> str | None:
    """Return the form of the noun that a clause begins with; None where a pronoun or a verb stands there."""
    for place, word in enumerate(clause):
        if word.text in _REFERRING or word.text in _RELATIVE or word.text in _AUXILIARIES:
            return None
        if word.kind in "nw":
            return None if _is_verb(clause, place) else word.form
    return None


def _same_unit(part: list[_Word], place: int, clause: list[_Word]) -> bool:
    """Return whether a clause has a number of a claim before the same word: 200 minutes, not 200 grams."""
    unit = part[place + 1] if place + 1 < len(part) else None
    for at, word in enumerate(clause):
        if word.kind == "d" and word.form == part[place].form:
            beside = {other.form for other in clause[max(0, at - 1) : at + 4]}
            if unit is None or unit.kind != "w" or _in(unit.form, beside):
                return True
    return False


def _in(form: str, forms: Container[str]) -> bool:
    """Return whether a word, or another one of its root, is among others."""
    if form in forms:
        return True
    if form[0].isdigit() or len(form) < _ALIKE or not isinstance(forms, set):
        return False
    return any(
        form[:_ALIKE] == other[:_ALIKE] and (form.startswith(other) or other.startswith(form)) for other in forms
    )


def _is_verb(words: list[_Word], place: int) -> bool:
    """Return whether a word is likely a verb or an adverb, for which a passage may have another one."""
    word = words[place]
    if word.kind != "w":
        return False
    before = words[place - 1].text if place else ""
    after = words[place + 1] if place + 1 < len(words) else None
    if word.text in _IRREGULAR or word.text.endswith(("ed", "ly")) or before in _AUXILIARIES:
        return True
    return (
        word.text.endswith("s")
        and place > 0
        and words[place - 1].kind in "nw"
        and (after is None or after.kind == "d" or after.text in ARTICLES | _PREPOSITIONS)
    )


def _bridged(form: str, context: _Context) -> bool:
    """Return whether another cited passage has a word beside a name that this sentence, or its title, has."""
    names = {word.form for word in context.words if word.kind == "n"} | context.title
    others = (_passage(other.title, other.text)[-1] for other in context.others)
    return any(names & words and _in(form, words) for words in others)


def _negated(words: list[_Word]) -> bool:
    """Return whether a clause denies something: two negations deny nothing."""
    return sum(word.text in _NEGATIONS or word.text.endswith(("n't", "n’t")) for word in words) % 2 == 1


def _is_swapped(ours: list[_Word], their: list[_Word], voices: bool) -> bool:
    """Return whether who does and to whom it is done are exchanged; `voices`: one sentence is passive, one active."""
    for here, word in enumerate(ours):
        there = next((at for at, other in enumerate(their) if other.kind == "w" and _in(word.form, {other.form})), None)
        if not _is_verb(ours, here) or there is None:
            continue
        before, after = _names_in(ours[:here]), _names_in(ours[here:])
        their_before, their_after = _names_in(their[:there]), _names_in(their[there:])
        return bool(before & their_after - their_before) and bool(after & their_before - their_after) and not voices
    return False


def _names_in(words: list[_Word]) -> set[str]:
    return {word.form for word in words if word.kind == "n"}
