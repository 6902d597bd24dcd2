"""Split English sentences into clauses by simple rules: who does what, to whom, when and where."""

import re
import tomllib
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from kgrag.text.languages import ENGLISH
from kgrag.text.sentences import sentence_spans
from kgrag.text.tokens import is_content, stems

_LINE = re.compile(r"\n\s*\n|\n(?![a-z])|\n(?=[^\n]*(?:\|[^\n]*\||\t|,\S[^\n]*,\S))")
"""The end of a paragraph, a list item or a table row."""
_ROW = re.compile(r"^\s*\||\t|^[^,\n]*(?:,[^\s,][^,\n]*){2,}$")
_ITEM = re.compile(r"\d{1,2}\.")
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*(?![^\W_])|[^\W_]+(?:['’-][^\W_]+)*|[,;:()–—]")
_THOUSANDS = re.compile(r"(?<=\d)[,.](?=\d{3}\b)")  # 1,340 and 1.340
_FILE = tomllib.loads(files("kgrag.retrieval").joinpath("english.toml").read_text(encoding="utf-8"))
WORDS = {name: frozenset(text.split()) for name, text in _FILE["words"].items()}
GROUPS = {name: [group.split() for group in text.split("|")] for name, text in _FILE["groups"].items()}
_UNITS, _TENS = GROUPS["numbers"]
NUMBERS = {word: str(number) for number, word in enumerate(_UNITS)} | {"hundred": "100", "once": "1", "twice": "2"}
for _tens, _word in enumerate(_TENS, 2):
    NUMBERS |= {_word: f"{_tens}0"} | {f"{_word}-{one}": f"{_tens}{NUMBERS[one]}" for one in _UNITS[1:10]}
_IRREGULAR = {form: forms[0] for forms in GROUPS["irregular"] for form in forms}
_PAST = {form for forms in GROUPS["irregular"] for form in forms[1:] or forms}
_SAME = {word: words[0] for words in GROUPS["same"] for word in words}
_SAME_STEMS = dict(zip(stems(_SAME), stems(_SAME.values()), strict=True))
_AUXILIARIES, _DETERMINERS, PRONOUNS = WORDS["auxiliaries"], WORDS["determiners"], WORDS["pronouns"]
_PREPOSITIONS, _RELATIVE, _MONTHS = WORDS["prepositions"], WORDS["relative"], WORDS["months"]
_FUNCTION = _AUXILIARIES | _PREPOSITIONS | PRONOUNS | WORDS["negations"] | WORDS["titles"] | WORDS["referring"]
_NEW, _ENDING = _DETERMINERS | PRONOUNS, _DETERMINERS | WORDS["objects"]
_NO_VERB = (_DETERMINERS | _PREPOSITIONS) - {"that", "to", "this", "her"}
_SUBJECTS = PRONOUNS - {"there", "here", "these", "those", "this"}
_ENDS = _ENDING | PRONOUNS | (_PREPOSITIONS - {"of"})
_SHORT = re.compile(r"['’](?:s|ll|ve|re|d|m)$")
_MARKS = ",;:()–—"
_YEAR = 4  # digits
_FIRST = "^"


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each sentence of a text: the offsets of its first character and of its end."""
    begin, item = 0, -1
    for stop in (*(match.start() for match in _LINE.finditer(text)), len(text)):
        line = text[begin:stop]
        row = line.strip()
        whole = [(line.index(row), line.index(row) + len(row))] if _ROW.search(row) else sentence_spans(line, "en")
        for start, end in whole:
            first = item if item >= 0 else begin + start
            item = first if _ITEM.fullmatch(text[first : begin + end]) else -1  # "1. First"
            if item < 0:
                yield first, begin + end
        begin = stop


class Word(NamedTuple):
    """A word of a sentence.

    `kind`: n name (capitalised), d number, w plain, f function word, p punctuation mark. `role`: the preposition that
    governs it. `beside`: for a number, the words around it.
    """

    kind: str
    form: str
    text: str
    role: str = ""
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Clause:
    """A clause: its `words`, its `subject` (own or from the previous clause), and the position of its `verb`.

    `core`: forms of the nouns of the subject; if it is a pronoun and not `named`, forms of its possible antecedents.
    `context`: forms of the possible antecedents of other pronouns. `span`: the position of its sentence.
    """

    words: tuple[Word, ...]
    subject: tuple[Word, ...]
    verb: int
    passive: bool
    negative: bool
    core: frozenset[str]
    named: bool
    context: frozenset[str] = frozenset()
    span: tuple[int, int] = (0, 0)

    @cached_property
    def forms(self) -> set[str]:
        """Return the forms of its content words."""
        return forms_of(self.words)

    @cached_property
    def agent(self) -> frozenset[str]:
        """Return the forms of the agent, which follows "by" in a passive clause."""
        if not self.passive:
            return self.core
        return frozenset(word.form for word in self.words if word.role == "by" and word.kind in "nw")

    @cached_property
    def is_whole(self) -> bool:
        """Return whether the clause has no second verb, which would mean two clauses that were not separated."""
        following = self.words[max(self.verb, 0) :]
        first = next((place for place, word in enumerate(following) if word.kind in "nwd"), len(following))
        return self.verb < 0 or not any(word.kind == "f" and word.text in _AUXILIARIES for word in following[first:])

    @cached_property
    def main(self) -> Word | None:
        """Return the verb, or after "is" and "has" the first content word."""
        following = (word for word in self.words[max(self.verb, 0) :] if word.kind == "w")
        return next((word for word in following if not is_adverb(word)), None)

    @cached_property
    def objects(self) -> frozenset[str]:
        """Return the forms of the words after the verb that no preposition governs."""
        return frozenset(w.form for w in self.words[self.verb + 1 :] if not w.role and w.kind in "nw")


def words_of_sentence(text: str, names: Container[str] = ()) -> list[Word]:
    """Return the words of a text; `names`: stems of names, used to recognise a name at the start of a sentence."""
    tokens = _TOKEN.findall(_THOUSANDS.sub("", text))
    lower = [_SHORT.sub("", word.lower()) for word in tokens]
    bases = [_IRREGULAR.get(word, word) for word in lower]
    words = list[Word]()
    for place, (word, small, stem) in enumerate(zip(tokens, lower, stems(bases), strict=True)):
        number = small if small[0].isdigit() else NUMBERS.get(small, "")
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        starts = place == 0 or tokens[place - 1] in ":("
        named = word[0].isupper() and (
            not starts
            or (stem in names and following not in _DETERMINERS)
            or (following[:1].isupper() and small not in ENGLISH.stop_words)
        )
        role = "of" if word[-2:].lower() in ("'s", "’s") else ""
        form = small if small.endswith(("er", "or", "ee")) else _SAME_STEMS.get(stem, stem)  # insurer, insured
        if word in _MARKS:
            words.append(Word("p", word, word))
        elif number:
            words.append(Word("d", number.rstrip(".,:"), small))
        elif small.endswith(("n't", "n’t")) and not named:
            words.append(Word("f", small, small))
        elif (named and small in _MONTHS) or (place and small.isalpha() and len(word) == 1 and small not in "aio"):
            words.append(Word("n", small, small))
        elif (not is_content(small) and small not in _IRREGULAR) or small in _FUNCTION:
            words.append(Word("f", small, small))
        else:
            words.append(Word("n", stem, small, role) if named else Word("w", form, small, role))
    return _governed(words)


def _governed(words: list[Word]) -> list[Word]:
    """Return the words, each with its governing preposition, and numbers with the words around them."""
    role, before = "", Word("p", "", "")
    result = list[Word]()
    for place in range(len(words) - 1, 0, -1):  # Colin Archer's parents
        if words[place].role and words[place - 1].kind == words[place].kind == "n":
            words[place - 1] = words[place - 1]._replace(role=words[place].role)
    for place, word in enumerate(words):
        if word.text in _PREPOSITIONS:
            role = word.text
        elif (
            word.kind == "p"
            or is_verb(words, place)
            or word.text in WORDS["joints"]
            or (word.text in _NEW and before.kind in "nwd")
            or (word.kind in "nw" and before.kind == "d" and len(before.form) == _YEAR and word.text not in _MONTHS)
        ):
            role = ""
        beside = frozenset[str]()
        if word.role == "of":  # Archer's parents
            beside = frozenset(w.form for w in words[place + 1 : place + 3] if w.kind in "nw")
        if word.kind == "d":
            first = max(0, place - (2 if before.text == "of" else 1))
            beside = frozenset(w.form for w in words[first : place + 4] if w is not word and w.kind in "nwd")
        result.append(word._replace(role=word.role or role, beside=beside))
        if is_verb(words, place):
            role = ""
        before = word
    return result


def is_participle(word: str) -> bool:
    """Return whether a word is a past form of a verb."""
    return word in _PAST or (word.endswith("ed") and not word.endswith("eed"))


def may_name(word: str) -> bool:
    """Return whether a word at the beginning of a sentence may be a name."""
    return not (word in _IRREGULAR or word.endswith(("ed", "ing")))


def forms_of(words: Iterable[Word]) -> set[str]:
    """Return the forms of words that are more than function words."""
    return {word.form for word in words if word.kind in "nwd"}


def is_verb(words: Sequence[Word], place: int) -> bool:
    """Return whether a word is likely a verb."""
    word = words[place]
    if word.kind == "f" and word.text in _AUXILIARIES:
        return True
    if word.kind != "w":
        return False
    before = words[place - 1] if place else Word("p", "", "")
    after = words[place + 1] if place + 1 < len(words) else Word("p", "", "")
    if before.text in _NO_VERB:
        return False
    if is_participle(word.text):
        return True
    if before.text in _SUBJECTS:
        return not word.text.endswith("ly")
    first = before.text == _FIRST and not word.text.endswith("ing")
    if first and (after.text in _ENDING or (before.kind == "n" and after.kind == "d")):
        return True  # "Close the valve", "and close it"
    ends = after.kind in "pd" or after.text in _ENDS
    if word.text.endswith("s"):
        return before.kind in "nw" and not word.text.endswith("ss") and (ends or after.kind == "n")
    return before.kind == "w" and before.text.endswith("s") and ends


def _verb_place(words: Sequence[Word], joint: str = "") -> int:
    """Return the position of the verb of a piece, or -1; after a comma or "and" it may be the first word."""
    around = [_LED if joint else _BEGINNING, *words]
    return next((place - 1 for place in range(1, len(around)) if is_verb(around, place)), -1)


_BEGINNING, _LED = Word("p", "", _FIRST), Word("n", "", _FIRST)


def is_negative(words: Iterable[Word]) -> bool:
    """Return whether words are a negation; two negations cancel out."""
    listed = [word for word in words if word.kind != "n"]
    count = sum(word.text in WORDS["negations"] or word.text.endswith(("n't", "n’t")) for word in listed)
    count += sum(one.text in WORDS["refusals"] and two.text == "to" for one, two in pairwise(listed))
    return count % 2 == 1


def _pieces(words: Sequence[Word]) -> Iterator[tuple[str, list[Word]]]:
    """Yield the pieces between punctuation and conjunctions, each with the words that join it to the previous one."""
    joint, piece = "", list[Word]()
    for place, word in enumerate(words):
        before = words[place - 1].text if place else ""
        if word.kind == "p" or (word.text in WORDS["joints"] and not (word.text == "that" and before in _PREPOSITIONS)):
            if piece:
                yield joint, piece
            joint = word.text if piece or word.kind != "p" or not joint else joint
            piece = []
        else:
            piece.append(word)
    if piece:
        yield joint, piece


def clauses_of(words: Sequence[Word], *, whole: bool) -> list[Clause]:
    """Return the clauses of a sentence; with `whole`, an apposition also stays in its clause."""
    clauses, pending, main = list[Clause](), list[Word](), 0
    for joint, piece in _pieces(words):
        if joint == "but" and piece[0].text != "not" and _verb_place(piece, joint) < 0:
            continue  # "all but one"
        place = _verb_place(piece, joint)
        last = clauses[main] if clauses else None
        if joint in _RELATIVE and (pending or last) and place >= 0:
            noun = _tail(pending or (clauses[-1].words if clauses else ()))
            before = piece[:place]
            if joint == "where" or forms_of(before):
                clauses.append(_clause(before, [*piece[place:], *(w._replace(role="") for w in noun)]))
            else:
                clauses.append(_clause([w._replace(role="") for w in noun], piece[place:]))
            continue
        if place < 0:
            noun = _tail(pending or (last.words if last else ()))
            if joint in (",", "(") and piece[0].text in ("a", "an", "the") and noun and noun[-1].kind == "n":
                clauses.append(_clause([w._replace(role="") for w in noun], piece, verb=False))
                if not whole:
                    continue
            if last and not pending:
                roles = {word.role for word in last.words[last.verb + 1 :]} & {word.role for word in piece} - {""}
                if joint in ("and", ",") and roles and not piece[0].role:  # "A to Ana and B to Bo"
                    subject = last.subject if last.objects else ()  # "one at two, the other at three"
                    clauses.append(_clause(subject, [last.words[last.verb], *piece]))
                    main = len(clauses) - 1
                else:
                    clauses[main : main + 1] = _merged(last, piece)
            else:
                pending += piece
            continue
        before = piece[:place]
        if not forms_of(before) and not any(w.text in PRONOUNS for w in before) and not pending and last:
            source = last if joint == "," or joint in _MARKS else clauses[-1]
            clause = _clause(source.subject, [*before, *piece[place:]])
        else:
            clause = _clause([*pending, *before], piece[place:])
        clauses.append(clause)
        main, pending = len(clauses) - 1, []
    if pending:
        clauses.append(_clause([], pending, verb=False))
    return clauses


def _merged(clause: Clause, piece: Sequence[Word]) -> list[Clause]:
    """Return a clause with a verbless piece added; a negative piece ("but not at the dock") becomes its own clause."""
    role = clause.words[-1].role
    ends = next((place for place, word in enumerate(piece) if word.role), len(piece))
    followers = [word._replace(role=word.role or (role if place < ends else "")) for place, word in enumerate(piece)]
    if piece[0].text == "not" and clause.verb >= 0:
        first = next((place for place in range(clause.verb, len(clause.words)) if clause.words[place].role), None)
        words = (*clause.words[:first], *piece)
        return [clause, replace(clause, words=words, negative=is_negative(words))]
    words = (*clause.words, *followers)
    return [replace(clause, words=words, negative=is_negative(words))]


def _clause(subject: Sequence[Word], rest: Sequence[Word], *, verb: bool = True) -> Clause:
    words = (*subject, *rest)
    place = len(subject) if verb else -1
    nouns = [word for word in subject if not is_adverb(word)]
    joining = subject[0].text if subject and subject[0].text in WORDS["joining"] else ""
    core = frozenset(word.form for word in nouns if word.role in ("", joining) and word.kind in "nw")
    following = next((word for word in rest if word.kind == "w" and not is_adverb(word)), None)
    passive = (
        verb
        and any(word.text in WORDS["be"] for word in rest[:4])
        and following is not None
        and is_participle(following.text)
    )
    return Clause(words, tuple(subject), place, passive, is_negative(words), core, bool(core))


def is_adverb(word: Word) -> bool:
    """Return whether a word is an adverb of manner or time: "slowly", "now"."""
    return word.text in WORDS["adverbs"] or word.text.endswith("ly")


def _tail(words: Sequence[Word]) -> list[Word]:
    """Return the name or noun at the end of words."""
    tail = list[Word]()
    for word in reversed(words):
        if word.kind == "n" or (word.text in ("of", "von", "van", "de") and tail):
            tail.insert(0, word)
        elif tail or word.kind == "w":
            return tail or [word]
        elif word.kind == "f" and tail:
            break
    while tail and tail[0].kind == "f":
        tail.pop(0)
    return tail
