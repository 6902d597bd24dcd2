"""Check claims against passages: supported, not supported, or not checked if no rule can decide.

A claim is checked clause by clause. A clause is supported if one clause of a passage has its verb, words, names and
numbers, with the same negation, the same agent and each name in the same role. A pronoun means the topic of its
passage. A clause is not supported if no passage has one of its names or numbers, or if a clause with the same verb has
another name, number or subject, or the opposite. Otherwise it is not checked, since another word may mean the same.
"""

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain, combinations, product
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from kgrag.retrieval.clauses import (
    GROUPS,
    NUMBERS,
    PRONOUNS,
    WORDS,
    Clause,
    Word,
    clauses_of,
    forms_of,
    is_adverb,
    is_negative,
    may_name,
    sentences,
    words_of_sentence,
)
from kgrag.text.tokens import is_content, stems
from kgrag.values.results import Passage, Summary

Span = tuple[int, int]
Part = Passage | Summary
Verdict = Literal["supported", "not checked", "not supported"]
_WORST: tuple[Verdict, ...] = get_args(Verdict)

CITATION = re.compile(r"\s?\[\d+\]")
_OPPOSITES: dict[str, set[str]] = {}
for _group in GROUPS["opposites"]:
    _forms = {word.form for word in words_of_sentence(" ".join(_group))}
    for _form in _forms:
        _OPPOSITES.setdefault(_form, set()).update(_forms - {_form})
_CLASHES = {tuple(pair) for pair in GROUPS["clashes"]} | {(b, a) for a, b in GROUPS["clashes"]}
_NOTHING = frozenset[str]()
_MEANING = PRONOUNS | WORDS["referring"] - {"that", "both", "then"}
_ADJECTIVES = ("ish", "ese", "ian", "can", "nch")
_DIGITS = 4  # digits of the largest numbers that are added: years
_SHARED = 0.4  # share of common words from which two passages are near-duplicates
_ARTICLES = frozenset(("the", "a", "an"))
_CLAIM = 2  # content words from which a text without a name or a number is a claim
_PASSAGES = 256  # passages whose clauses are cached, since all sentences of an answer are compared with them
_ALIKE = 4  # common first letters of two words with one root: design, designer
_QUOTED = re.compile(r"[“\"„«]([^”\"“»]{8,})[”\"“»]")
_POINTERS = re.compile(r"\b(?:passage|source|document|text)s?\s+\d+", re.IGNORECASE)
_BARE = frozenset("yes no true false both neither".split())
_SPELT = re.compile(r"[^\W\d_]+")
_SIGNS = re.compile(r"[\W_]+")
_ACCORDING = re.compile(r"^According to [^,]{,60}, |, according to [^,]{,60}(?=[.]?$)")


class Check(NamedTuple):
    """The result of a check. `spans`: position of a passage -> its first sentence that supports part of the claim."""

    verdict: Verdict
    spans: Mapping[int, Span] = MappingProxyType({})


class _Text(NamedTuple):
    """A passage parsed for checks: its `title`, its clauses, its rows, and all forms and names in it."""

    title: frozenset[str]
    clauses: tuple[Clause, ...]
    rows: tuple["_Row", ...]
    forms: frozenset[str]
    names: frozenset[str]


class _Row(NamedTuple):
    """A row of a table: (forms of the header, forms of the cell) by columns, and its position in the text."""

    cells: tuple[tuple[frozenset[str], frozenset[str]], ...]
    span: Span


def claims_nothing(claim: str) -> bool:
    """Return whether a text has no number, no name and at most one content word."""
    words = _content(words_of_sentence(CITATION.sub("", claim)))
    telling = any(w.kind == "n" or (w.kind == "d" and len(w.text) > 1 and w.text not in NUMBERS) for w in words)
    return not telling and len({word.form for word in words if word.kind == "w"}) < _CLAIM


def has_content(text: str) -> bool:
    """Return whether a text says more than where to look: "Passage 2 gives details" does not."""
    words = words_of_sentence(_POINTERS.sub("", CITATION.sub("", text)))
    telling = any(word.text not in WORDS["pointing"] for word in _content(words))
    return telling or any(word.text in _BARE for word in words)


def check(claim: str, parts: Sequence[Part]) -> Check:
    """Return whether passages in English, linked by the names that they share, support a claim.

    Args:
        claim: a sentence, or a part of one, of an answer.
        parts: the passages.
    """
    texts = [_read(part.title, part.text) for part in parts]
    claim = _ACCORDING.sub("", CITATION.sub("", claim).strip())
    if (quoted := _QUOTED.search(claim)) and not quoted[1].istitle():
        return _check_quotation(claim, quoted, parts, texts)
    words = words_of_sentence(claim, {name for text in texts for name in text.names})
    for place, text in enumerate(texts):
        outcomes = {_compare_row(words, row, text): row.span for row in _named_rows(words, text)}
        if (outcomes.keys() == {"not supported"} and len(texts) == 1) or "supported" in outcomes:
            best = min(outcomes, key=_WORST.index)
            return Check(best, {place: outcomes[best]} if best == "supported" else {})
    clauses = [clause for clause in clauses_of(words, whole=False) if _content(clause.words)]
    checks = [_check_clause(clause, texts) for clause in clauses]
    worst: Verdict = max((one.verdict for one in checks), key=_WORST.index, default="not checked")
    spans = {place: span for one in reversed(checks) for place, span in one.spans.items()}
    if len({*chain(*(one.spans.values() for one in checks))}) > 1 and {w.text for w in words} & WORDS["conditions"]:
        worst = max(worst, "not checked", key=_WORST.index)  # "he pays if ..." does not support "he pays"
    return Check(worst, spans if worst == "supported" else {})


def disagreements(parts: Sequence[Part], topic_text: str = "") -> list[tuple[str, str]]:
    """Return pairs of sentences of two passages that agree except for a name, a number, a day or a negation.

    Args:
        parts: the passages.
        topic_text: a question with its answer; only sentences are returned that share half their words with it.
    """
    texts = [(part.text, _read(part.title, part.text)) for part in parts]
    topic = forms_of(words_of_sentence(topic_text))
    pairs = {
        (one_text[slice(*one.span)].strip(), other_text[slice(*other.span)].strip()): None
        for (one_text, first), (other_text, second) in combinations(texts, 2)
        for one, other in product(first.clauses, second.clauses)
        if len(one.forms & other.forms) > 1
        and (not topic_text or 2 * len(one.forms & topic) >= len(one.forms))
        and _differ(one, other, first.title | second.title)
        and (one.core & other.core & first.names or _are_alike(first, second))
    }
    return list(pairs)


def _differ(one: Clause, other: Clause, titles: Collection[str]) -> bool:
    """Return whether two clauses differ only by a negation, or by a name, number or day that the titles lack."""
    if any(word.text in _MEANING - {"there"} for clause in (one, other) for word in clause.subject):
        return False  # the pronouns may mean different things
    ours, theirs = ([w for w in _content(clause.words) if not is_adverb(w)] for clause in (one, other))
    matcher = SequenceMatcher(None, [word.form for word in ours], [word.form for word in theirs], autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    if one.negative != other.negative or len(changes) != 1:
        return one.negative != other.negative and not changes
    _, start, end, begin, stop = changes[0]
    replaced = ours[start:end], theirs[begin:stop]
    kinds, others = ({word.kind for word in words} for words in replaced)
    titled = any(word.form in titles for words in replaced for word in words)
    return len(ours) > end - start + 1 and not titled and kinds == others and "w" not in kinds


def _are_alike(one: _Text, other: _Text) -> bool:
    """Return whether two passages share many words, and their titles do not name different things."""
    names = one.names | other.names
    own = (one.title - other.title, other.title - one.title)
    apart = all(any(form in names or form.isdecimal() for form in forms) for forms in own)
    return not apart and len(one.forms & other.forms) >= _SHARED * len(one.forms | other.forms)


@lru_cache(maxsize=_PASSAGES)
def _read(title: str, text: str) -> _Text:
    """Parse a passage for checks."""
    spelt = set(_SPELT.findall(f"{title} {text}"))
    capital = [word.lower() for word in spelt if word[0].isupper() and word.lower() not in spelt]
    names = frozenset(stems(word for word in capital if may_name(word) and is_content(word)))
    whole = list[Word]()
    about = frozenset(forms_of(words_of_sentence(f"x {title}", names)))
    clauses, rows = list[Clause](), list[_Row]()
    header: list[str] = []
    before, topic = _NOTHING, about
    for start, end in sentences(text):
        line = text[start:end]
        words = words_of_sentence(line, names)
        whole += words
        if cells := _cells(line):
            if not any(line.count(":") and ":" in cell for cell in cells) and not header:
                header = cells
            elif any(_plain(cell) for cell in cells):
                rows.append(_row(cells, header, names, (start, end)))
            continue
        header = []
        near, objects = _NOTHING, _NOTHING
        for number, clause in enumerate(clauses_of(words, whole=True)):
            context = before | (topic or about) | near | objects
            own = {word.text for word in clause.subject}
            antecedent = (near if not own & WORDS["persons"] else None) or topic | about
            core = clause.core if clause.named else _NOTHING if own & WORDS["speakers"] else antecedent
            objects = clause.objects
            near = clause.core if clause.named else near
            if clause.is_whole and not line.endswith("?"):
                clauses.append(replace(clause, core=core, context=context, span=(start, end)))
            if number == 0 and clause.named:
                topic = frozenset(forms_of(clause.subject))
        before = frozenset(word.form for word in words if word.kind == "n")
    in_rows = {form for row in rows for head, cell in row.cells for form in head | cell}
    return _Text(about, tuple(clauses), tuple(rows), about | forms_of(whole) | in_rows, names)


def _cells(line: str) -> list[str]:
    """Return the cells of a table line; other lines have no cells."""
    if line.count("|") > 1:
        return [cell.strip(" *") for cell in line.strip(" |").split("|")]
    if re.fullmatch(r"[^;:]{1,40}: [^;]+(?:; [^;:]{1,40}: [^;]+)+", line):
        return line.rstrip(".").split("; ")
    sign = "\t" if "\t" in line or line[-1] == "." or not re.search(r",\S[^,]*,\S", line) else ","
    cells = line.split(sign)
    return [cell.strip() for cell in cells] if len(cells) > _CLAIM else []


def _row(cells: Sequence[str], header: Sequence[str], names: Container[str], span: tuple[int, int]) -> _Row:
    columns = list[tuple[frozenset[str], frozenset[str]]]()
    for place, cell in enumerate(cells):
        name, _, value = cell.partition(": ") if ": " in cell else ("".join(header[place : place + 1]), "", cell)
        heads = frozenset(stems(word.lower() for word in re.findall(r"[^\W_]+", name)))
        columns.append((heads, frozenset(word.form for word in words_of_sentence(value, names) if word.kind != "p")))
    return _Row(tuple(columns), span)


def _content(words: Iterable[Word]) -> list[Word]:
    return [word for word in words if word.kind in "nwd" and word.text not in WORDS["framing"]]


def _check_clause(claim: Clause, texts: Sequence[_Text]) -> Check:
    """Check a clause of a claim against the clauses of passages and the rows of tables."""
    outcomes = set[Verdict]()
    for place, text in enumerate(texts):
        for clause in text.clauses:
            outcomes.add(outcome := _compare(claim, clause, text, texts))
            if outcome == "supported":
                return Check(outcome, {**_links(claim, clause, text, texts), place: clause.span})
    vocabulary = {form for text in texts for form in text.forms}
    numbers = {int(form) for form in vocabulary if form.isdecimal() and len(form) <= _DIGITS}
    vocabulary |= {str(number) for one in numbers for other in numbers for number in (one + other, one - other)}
    absent = any(
        word.kind in "nd" and not _in(word.form, vocabulary) and not word.text.endswith(_ADJECTIVES)
        and not (word.kind == "d" and (word.text in NUMBERS or not vocabulary.isdisjoint(WORDS["fractions"])))
        and len(word.text) > 1 and not (word.kind == "n" and re.search(r"\d", word.text))
        for word in _content(claim.words)
    )  # fmt: skip
    return Check("not supported" if absent or "not supported" in outcomes else "not checked")


def _compare(claim: Clause, clause: Clause, text: _Text, texts: Sequence[_Text]) -> Verdict:
    """Return the verdict of a clause of a passage on a clause of a claim."""
    main, verb = (each.main.form if each.main else "" for each in (claim, clause))
    if claim.verb >= 0 and main != verb and not _OPPOSITES.get(main, _NOTHING) & clause.forms:
        return "not checked"
    links = _links(claim, clause, text, texts)
    pronouns = {word.role for word in clause.words[max(clause.verb, 0) :] if word.text in _MEANING}
    their = any(word.text in WORDS["referring"] for word in clause.words)
    misses, fits, met = list[Word](), list[bool | None](), 0
    subject = len(claim.subject)
    for place, word in enumerate(claim.words):
        if word.kind not in "nwd" or word.text in WORDS["framing"]:
            continue
        same = [w for w in clause.words if w.form == word.form or (w.kind == word.kind and _in(w.form, {word.form}))]
        if place < subject and word.kind == "n" and not word.role and word.form in clause.core:
            fits.append(True)  # "Jagdish Mali" is the father of "Antara Mali"
        elif same:
            fits.append(_fits(word, same, turned=claim.passive != clause.passive or (claim.verb < 0 and not word.role)))
            met += place >= subject
        elif word.kind == "d" or not (
            (place < subject and _in(word.form, clause.core))
            or ((word.role in pronouns or (word.role == "of" and their)) and _in(word.form, clause.context))
            or (word.kind == "w" and (place < subject or word.role == "of") and _in(word.form, text.title))
            or (place < subject and links)
        ):
            misses.append(word)
    if not met:
        return "not checked"
    agent = _same_agent(claim, clause, text, linked=bool(links))
    articles = {any(word.text in _ARTICLES for word in each.subject) for each in (claim, clause)}
    if agent is False and (len(articles) > 1 or (claim.main and claim.main.text in WORDS["mutual"])):
        agent = None  # a role such as "the Author" may be named elsewhere
    if misses:
        return _clash(claim, clause, misses, text, agent)
    other = clause.core & text.names or claim.core & {w.form for w in clause.subject if w.role}  # "Archer's parents"
    named = agent is False and claim.core & text.names and other
    if False in fits or named or (claim.negative != clause.negative and agent):
        return "not supported"
    own, theirs = ({word.text for word in each.words if word.kind != "n"} for each in (claim, clause))
    essentials = WORDS["exact"] | {word.text for word in claim.words if word.role and word.text in PRONOUNS}
    unlike = (
        "than" in own or (own - theirs) & essentials or (theirs - own) & WORDS["hedges"] or _is_narrower(claim, clause)
    )
    unsure = unlike or not agent or claim.negative != clause.negative or None in fits
    return "not checked" if unsure else "supported"


def _is_narrower(claim: Clause, clause: Clause) -> bool:
    """Return whether a clause has another number in the same place, or numbers that a negative claim omits."""
    ours, theirs = ({(w.form, w.role) for w in each.words if w.kind == "d"} for each in (claim, clause))
    roles = {role for _, role in ours}
    return any(claim.negative or role in roles for _, role in theirs - ours)


def _fits(word: Word, same: Sequence[Word], *, turned: bool) -> bool | None:
    """Return whether a word has the same role, such as a time, place or unit; None if that is unclear."""
    if word.beside:
        same = [w for w in same if not w.beside or any(_in(form, w.beside) for form in word.beside)]
    roles = {w.role for w in same}
    if word.role in roles:
        return True
    if roles and all((word.role, role) in _CLASHES for role in roles):
        return False
    unsure = (word.kind != "w" and not turned) or word.role in WORDS["strict"] or roles <= WORDS["strict"]
    return None if unsure else True


def _clash(claim: Clause, clause: Clause, misses: Sequence[Word], text: _Text, agent: bool | None) -> Verdict:
    """Return the verdict of a clause that agrees with a claim except for some words: whether these contradict it."""
    rest = [word for word in _content(claim.words) if word not in misses]
    if min(claim.verb, clause.verb) < 0 or not rest or claim.negative != clause.negative:
        return "not checked"
    ours = forms_of(claim.words)
    if any(word.role == "of" and _in(word.form, text.title) for word in misses):
        return "not checked"
    if agent and all(_OPPOSITES.get(word.form, _NOTHING) & (clause.forms - ours) for word in misses):
        return "not supported"
    if agent and len(rest) > 1 and all(word.kind in "nd" for word in misses):
        kinds, roles = {word.kind for word in misses}, {word.role for word in misses}
        parts = [clause.subject if word in claim.subject else clause.words[len(clause.subject) :] for word in misses]
        others = (w for part in parts for w in part if w.kind in kinds and w.role in roles)
        if any(not _in(w.form, ours) for w in others):
            return "not supported"
    exchanged = all(word in claim.subject or word.form in clause.core for word in misses)
    exchanged = exchanged and (_meets(claim.core, clause.objects) or not _meets(claim.objects, clause.core))
    elsewhere = exchanged and any(_meets(claim.core, other.core) for other in text.clauses if other.named)
    return "not supported" if agent is False and clause.named and elsewhere else "not checked"


def _same_agent(claim: Clause, clause: Clause, text: _Text, *, linked: bool) -> bool | None:
    """Return whether the agents of two clauses are the same; None if that is unclear."""
    if claim.verb < 0:
        phrase, whole = (" ".join(["", *(w.form for w in _content(each.words)), ""]) for each in (claim, clause))
        return (phrase in whole and claim.negative == clause.negative) or None
    if not claim.core:
        return True
    ours, theirs = (claim.core, clause.core) if claim.passive and clause.passive else (claim.agent, clause.agent)
    if claim.passive and not clause.passive:
        if ours:
            return _meets(ours, theirs | {word.form for word in clause.words if word.role == "by"})
        return True if _meets(claim.core, clause.objects | clause.core) else None
    if _meets(ours, theirs) or (linked and not claim.passive):
        same = ours <= theirs | text.title or (clause.named and theirs <= ours)
        return True if same or linked else None  # Kestrel Dawn, Kestrel Dusk
    vocabulary = clause.named or clause.agent != clause.core or bool(ours & {word.form for word in clause.words})
    return False if vocabulary and theirs else None


def _links(claim: Clause, clause: Clause, text: _Text, texts: Sequence[_Text]) -> dict[int, Span]:
    """Return, by passage, the sentences that identify a described subject: "the designer of the Fram"."""
    if not any(w.role for w in claim.subject) or any(w.kind == "n" and not w.role for w in claim.subject):
        return {}
    names = clause.core & text.names
    target = [w.form for w in _content(claim.subject) if not _in(w.form, clause.forms | text.title)]
    return {
        place: other.span
        for place, source in enumerate(texts)
        for other in source.clauses
        if (other.span != clause.span or source is not text)
        and names & other.forms
        and all(_in(form, other.forms | source.title) for form in target)
    }


def _named_rows(words: Sequence[Word], text: _Text) -> list[_Row]:
    """Return the rows whose first cell a claim names; empty for comparisons. "Rondo Sport" does not name "Rondo"."""
    ours = {word.form for word in _content(words)}
    rows = [row for row in text.rows if row.cells and row.cells[0][1] and row.cells[0][1] <= ours]
    compared = any(word.text == "than" for word in words)
    return [] if compared else [row for row in rows if not any(row.cells[0][1] < other.cells[0][1] for other in rows)]


def _compare_row(words: Sequence[Word], row: _Row, text: _Text) -> Verdict:
    """Return the verdict of a row of a table on a claim that names its first cell."""
    content = _content(words)
    ours = {word.form for word in content}
    raw = {stems([word.text])[0] for word in words}
    heads = {place for place, (head, _) in enumerate(row.cells) if place and head & raw}
    used = {place for place, (_, cell) in enumerate(row.cells) if place and cell and cell <= ours}
    everything = {form for head, cell in row.cells for form in head | cell}
    vocabulary = everything | text.title
    lacking = [word for word in content if not _in(word.form, vocabulary) and stems([word.text])[0] not in everything]
    if any(word.kind in "nd" for word in lacking) or (heads - used and used - heads):
        return "not supported"
    unsure = heads - used or not used or len(lacking) > 1 or is_negative(words) or (lacking and not used <= heads)
    return "not checked" if unsure else "supported"


def _check_quotation(claim: str, quoted: re.Match[str], parts: Sequence[Part], texts: Sequence[_Text]) -> Check:
    """Return whether a passage has the words of a quotation in a sentence that also names the speaker."""
    target = _plain(quoted[1])
    for place, (part, text) in enumerate(zip(parts, texts, strict=True)):
        spans = list(sentences(part.text))
        for number, (start, end) in reversed(list(enumerate(spans))):
            if target not in _plain(part.text[start : spans[min(number + 1, len(spans) - 1)][1]]):
                continue
            around = forms_of(words_of_sentence(part.text[start:end], text.names)) | text.title
            outside = words_of_sentence(claim.replace(quoted[0], " "), text.names)
            lacking = [word for word in _content(outside) if not _in(word.form, around)]
            if not lacking:
                exact = {word.text for word in outside} & WORDS["exact"] - {*part.text[start:end].lower().split()}
                unsure = exact or is_negative(outside)
                return Check("not checked") if unsure else Check("supported", {place: (start, end)})
            other = any(word.kind in "nd" and not _in(word.form, text.forms) for word in lacking)
            return Check("not supported" if other else "not checked")
    return Check("not supported")


def _plain(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().lower()


def _meets(ours: Iterable[str], theirs: Iterable[str]) -> bool:
    there = set(theirs)
    return any(_in(form, there) for form in ours)


def _in(form: str, forms: Collection[str]) -> bool:
    """Return whether a word, or another word with its root, is among `forms`."""
    if form in forms:
        return True
    if form[:1].isdigit() or len(form) < _ALIKE:
        return False
    root = form[:_ALIKE]
    return any(other.startswith(root) and (form.startswith(other) or other.startswith(form)) for other in forms)
