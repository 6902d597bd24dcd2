"""Answering: a language model answers from titled passages and cites them, or says that they do not hold the answer.

GEAR, appendix J.3 for the short answers and for those without passages.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from string import ascii_uppercase
from typing import Any, Literal

from pydantic import Field

from kgrag.models.facts import lines
from kgrag.models.tasks import Tasks, numbered
from kgrag.retrieval.claims import claims_nothing
from kgrag.retrieval.support import claims_of, is_supported, sentences, unsupported
from kgrag.runtime.options import Count, Options
from kgrag.text.aliases import without_parenthesis
from kgrag.text.tokens import LETTERS_A_TOKEN, stems_in
from kgrag.values.documents import Triple
from kgrag.values.events import Citation
from kgrag.values.results import Item, Passage, Summary

# The sentences of a passage that a reader needs for a question: what a small model reads, it reads sooner and better.
#
# The first sentence says what a passage is about; the others count by the words of the question that they have, and by
# the other passages whose titles they name, over which the question goes on. Source: our own experiment,
# docs/local.md.


_END = re.compile(r"(?<=[.!?])\s+(?![a-z])|(?<=[。！？])|\s*\n\s*")
_TITLE, _FIRST = 1.5, 1.0
"""What a title named and being the first weigh, beside one shared word."""


def nearest_sentences(items: Sequence[Item], question: str, most: int) -> list[Item]:
    """Return the items with the `most` best sentences of each passage for the question, in their order."""
    wanted = stems_in(question)
    titles = {without_parenthesis(p.title) for item in items if not isinstance(item, Summary) for p in item} - {""}

    def shortened(passage: Passage) -> Passage:
        sentences = [part for part in _END.split(passage.text) if part]
        others = titles - {without_parenthesis(passage.title)}
        worth = [
            len(stems_in(sentence) & wanted) + _TITLE * sum(title in sentence for title in others) + _FIRST * (i == 0)
            for i, sentence in enumerate(sentences)
        ]
        best = sorted(range(len(sentences)), key=lambda i: (-worth[i], i))[:most]
        return replace(passage, text=" ".join(sentences[i] for i in sorted(best)))

    return [item if isinstance(item, Summary) else [shortened(p) for p in item] for item in items]


_LONGEST = 500
"""Characters in which a model says it."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|\n")

_WORDINGS = re.compile(
    "|".join(
        (
            r"^\W*(the answer is )?not in the evidence\b",
            # English
            r"\b(passage|evidence|context|document|text|source)s?\b( \w+){0,3} (do|does|did)( not|n't)\b",
            r"\b(passage|evidence|context|document|text|source)s? (contain|give|hold|provide|have)s? (no|nothing)\b",
            r"\b(not|n't|cannot|no|nothing)\b.* (in|from|by) (any of )?(the|these|this)( \w+){0,2} "
            r"(passage|evidence|context|document|text|source)s?\b",
            r"\bno information\b|\bI (do not|don't|cannot|can't) (know|say|tell|answer|determine)\b",
            # German
            r"\b(passage|abschnitt|beleg|text|kontext|dokument|quelle)(e|n|en|es|s)?\b.* (nichts?|keine?n?)\b",
            r"\b(nichts?|keine?n?)\b.* (in|im|aus|zu|von) (den|dem|der|diesen|diesem)?( \w+)? ?"
            r"(passage|abschnitt|beleg|text|kontext|dokument|quelle)(e|n|en|es|s)?\b",
            r"\bkeine (angabe|information|antwort)(en)?\b|\bich (weiß|weiss) (es )?nicht\b",
            # French
            r"\b(passage|extrait|texte|document|contexte|preuve|source)s?\b ?(ne |n['’]).*\b(pas|aucune?|rien)\b",
            r"\b(pas|aucune?|rien)\b.* (dans|par|de) (les|le|ces|ce|la)( \w+)? "
            r"(passage|extrait|texte|document|contexte|preuve|source)s?\b",
            r"\baucune information\b|\bje ne sais pas\b",
            # Spanish
            r"\b(pasaje|fragmento|texto|documento|contexto|prueba|evidencia|fuente)s?\b no\b",
            r"\b(no|nada|ningún|ninguna)\b.* (en|de|por) (los|las|el|la|estos|estas)( \w+)? "
            r"(pasaje|fragmento|texto|documento|contexto|prueba|evidencia|fuente)s?\b",
            r"\b(no hay|ninguna) información\b|\bno lo sé\b",
        )
    ),
    re.IGNORECASE,
)
_IN_A_WORD = re.compile(
    r"\W*(unknown|none|n/?a|not (mentioned|stated|specified|given|found|known|available|provided)|"
    r"unbekannt|nicht (bekannt|genannt|angegeben)|inconnue?|non (mentionnée?|précisée?)|"
    r"desconocid[oa]|no (se menciona|especificad[oa]))\W*",
    re.IGNORECASE,
)


def says_not_found(text: str) -> bool:
    """Return whether the first sentence of a reply says that the evidence does not hold the answer.

    Known in English, German, French and Spanish, and the sentence that the prompts ask for.
    """
    said = text.strip()
    first = _SENTENCE.split(said[:_LONGEST], maxsplit=1)[0]
    return bool(_WORDINGS.search(first) or _IN_A_WORD.fullmatch(said))


OnText = Callable[[str], None]

NOT_FOUND = "Not in the evidence."
_EFFORTS = {"low": (0.5, 3, False, 3), "high": (1.5, 8, True, 0)}
"""Effort -> share of the usual steps, passages that the answer is read from, whether it is worked out in sentences, and
how many sentences of a passage are shown."""
UNCITED = "(No passage is cited for this.)"
"""What is said after an answer that cites nothing, though it should."""

_NUMBERS = r"\d{1,3}(?:\s*(?:[,;–—-]|and|&)\s*\d{1,3})*"
_NAMED = r"(?:passages?|sources?|documents?|p\.)\s*"
_CITED = re.compile(
    rf"\s?(?:\[\^?(?:{_NAMED})?({_NUMBERS})\]|【({_NUMBERS})(?:†[^】]*)?】|\({_NAMED}({_NUMBERS})\))", re.IGNORECASE
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_INDEXED = re.compile(r"(?<![\w\]])([A-Za-z_]\w*)(?:\[\d+\])+")
"""What may be code without being marked as such: x[0][1]."""
_ROUND = re.compile(rf"(?<=[\w\"'”»)])\s?\(({_NUMBERS})\)")
_BEHIND = re.compile(r"([.!?])((?:\s?\[\d{1,3}\])+)(?=\s|\Z)")
"""What is cited behind the end of a sentence."""
_MARKER = re.compile(r"\A\s*(?:\d{1,2}[.)]|[-*•])\s+")
"""Of an item of a list."""
_LAST = re.compile(r"\banswer\W{0,3}:\W*([^\n]+)", re.IGNORECASE)
"""The answer, after what it was worked out in."""
_LABEL = re.compile(r"^(?:the )?answer(?: is)?:\s*", re.IGNORECASE)


class AnswerOptions(Options):
    """Options of answering, which every strategy has."""

    evidence: Count = Field(5, description="best passages that the answer is read from (GEAR, Table 3)")
    tokens: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="of these no more than so many tokens, of 4 characters (GNN-Ret, section 4.1: 3500)",
    )
    sentences: int = Field(
        0, ge=0, le=1_000, description="of each passage show so many sentences, those nearest to the question; 0: all"
    )
    reason: bool = Field(True, description="work a short answer out in a line of its own first, which is not shown")
    effort: Literal["low", "medium", "high"] = Field(
        "medium",
        description="low: half the steps, 3 `sentences` of 3 passages, no `reason`; high: half as many again, and 8",
    )
    words: int = Field(6, ge=0, le=1_000, description="length of a short answer, 0: any (GEAR, appendix J.3)")
    abstain: bool = Field(True, description="say so when the evidence lacks the answer; false: always answer")
    example: bool = Field(
        False, description="with abstain=false: show a worked example of five passages first (GEAR, appendix J.3)"
    )
    repeat: bool = Field(False, description="put the question before the passages, too (GNN-Ret; KGP, listing 3)")
    facts: bool = Field(True, description="show the reader what facts the strategy remembers")
    language: str = Field("the language of the question", min_length=1, description="language of the answer")
    structure: bool = Field(True, description="look up the pages, tables and sections that a question names (KGP)")


def effort_options(options: type[AnswerOptions], effort: object) -> dict[str, Any]:
    """Return the option values that an effort sets where they are not set otherwise."""
    if effort not in _EFFORTS:
        return {}
    share, evidence, reason, sentences = _EFFORTS[str(effort)]
    scaled: dict[str, Any] = {}
    for name in ("steps", "rounds"):
        if name in options.model_fields:
            scaled[name] = max(1, ceil(share * options.model_fields[name].default))
    return {**scaled, "evidence": evidence, "reason": reason, "sentences": sentences}


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered; `found`: whether the passages hold it; `unsupported`: what of it stands in none."""

    text: str
    found: bool
    citations: tuple[Citation, ...] = ()
    unsupported: tuple[str, ...] = ()


def answer(
    tasks: Tasks,
    question: str,
    items: Sequence[Item],
    settings: AnswerOptions,
    *,
    short: bool,
    on_text: OnText | None = None,
    facts: Sequence[Triple] = (),
    choices: Sequence[str] = (),
) -> ModelAnswer:
    """Answer from items of evidence, each one passage or several that are read together, and from `facts`.

    Without any evidence, and if it may abstain, no call is made. `choices`: the answer is one of these. `on_text` is
    called with what there is of an answer that is not short. Raises ModelError.
    """
    facts = facts if settings.facts else ()
    read = nearest_sentences(items, question, settings.sentences) if settings.sentences else items
    read = within(read, settings.tokens)
    items = items[: len(read)]
    if not items and not facts:
        if settings.abstain:
            return ModelAnswer(NOT_FOUND, False)
        return answer_closed(tasks, question, settings, short=short, on_text=on_text, choices=choices)
    parts = [f"Question: {question}"] if settings.repeat else []
    parts += [f"Known facts:\n{lines(facts)}"] if facts else []
    shown, language = "\n\n".join([*parts, numbered(read)]).strip(), settings.language
    if choices:
        prompt, letters = "answer-choice", _lettered(choices)
        return _choice(tasks.text("answer", prompt=prompt, passages=shown, question=question, choices=letters), choices)
    if short:
        prompt, reasoned = _short_prompt(settings)
        words = _words(settings)
        reply = tasks.text("answer", prompt=prompt, passages=shown, question=question, words=words, language=language)
        text = _bare(reply, reasoned=reasoned)
    else:
        prompt = "answer" if settings.abstain else "answer-always"
        text = tasks.text(
            "answer", prompt=prompt, on_text=on_text, passages=shown, question=question, language=language
        )
    if short:
        if says_not_found(text):
            return ModelAnswer(NOT_FOUND, False)
        rests_on = cited(reply, items).citations if reasoned else ()  # what the steps to the answer cite
        return ModelAnswer(cited(text, items).text, True, rests_on, unsupported(text, items, question, short=True))
    said = read_reply(text, items, question)
    return said if not said.found or said.citations else replace(said, text=f"{said.text}\n\n{UNCITED}")


def _short_prompt(settings: AnswerOptions) -> tuple[str, bool]:
    """Return the prompt of a short answer, and whether its reply reasons first."""
    if not settings.abstain and settings.example:
        return "answer-short-example", False
    prompt = "answer-reasoned" if settings.reason else "answer-short"
    return prompt if settings.abstain else f"{prompt}-always", settings.reason


def answer_closed(
    tasks: Tasks,
    question: str,
    settings: AnswerOptions,
    *,
    short: bool,
    on_text: OnText | None = None,
    choices: Sequence[str] = (),
) -> ModelAnswer:
    """Answer from what the model knows. Raises ModelError."""
    language = settings.language
    if choices:
        shown, letters = "(There are no passages.)", _lettered(choices)
        said = tasks.text("answer", prompt="answer-choice", passages=shown, question=question, choices=letters)
        return _choice(said, choices)
    if short:
        words = _words(settings)
        prompt = "answer-closed-short"
        text = _bare(tasks.text("answer", prompt=prompt, question=question, words=words, language=language))
    else:
        text = tasks.text("answer", prompt="answer-closed", on_text=on_text, question=question, language=language)
    return ModelAnswer(text, not says_not_found(text))


def own_answer(text: str, choices: Sequence[str] = ()) -> ModelAnswer:
    """Return the answer that a strategy reached by itself."""
    if choices:
        return _choice(text, choices)
    return ModelAnswer(text, not says_not_found(text))


def within(items: Sequence[Item], tokens: int | None) -> list[Item]:
    """Return the first items that fit into a budget of tokens (of 4 characters).

    The first item is always included.
    """
    if tokens is None:
        return list(items)
    found: list[Item] = []
    left = tokens * LETTERS_A_TOKEN
    for item in items:
        left -= sum(len(p.title) + len(p.text) for p in ([item] if isinstance(item, Summary) else item))
        if found and left < 0:
            break
        found.append(item)
    return found


def read_reply(text: str, items: Sequence[Item], question: str) -> ModelAnswer:
    """Return what a reply in sentences answers, or that it does not.

    One that says somewhere that the evidence lacks the answer answers all the same if a sentence of it is supported by
    a passage that it cites, or its first sentence by any: then the supported sentences are kept, with those behind them
    that say what is lacking, and the rest is listed as not supported.
    """
    said = cited(_BEHIND.sub(r"\2\1", text), items)
    parts = [said.text[start:end] for start, end in sentences(said.text)]
    lacking = [says_not_found(_CITED.sub("", _MARKER.sub("", part))) for part in parts]
    if not any(lacking):
        return replace(said, unsupported=unsupported(said.text, items, question, short=False))
    holds = [
        not no and _is_supported_as_cited(part, items, question, first=place == 0)
        for place, (part, no) in enumerate(zip(parts, lacking, strict=True))
    ]
    if not any(holds):
        return ModelAnswer(text, False)
    first = holds.index(True)
    kept = [
        part
        for place, part in enumerate(parts)
        if holds[place] or (lacking[place] and place > first and not part.startswith(NOT_FOUND))
    ]
    rest = [part for place, part in enumerate(parts) if not holds[place] and not lacking[place]]
    return replace(cited(" ".join(kept), items), unsupported=tuple(_CITED.sub("", part) for part in rest))


def _is_supported_as_cited(sentence: str, items: Sequence[Item], question: str, *, first: bool) -> bool:
    """Return whether what a sentence cites supports each part of it; the first one need not cite anything."""
    if first and claims_nothing(sentence):
        return not unsupported(_CITED.sub("", sentence), items, question, short=True)
    return all(
        (numbers or first) and is_supported(claim, [items[number - 1] for number in numbers] or items)
        for claim, numbers in claims_of(sentence)
    )


def cited(text: str, items: Sequence[Item]) -> ModelAnswer:
    """Return the text with each citation of an item's passages as [number]; other numbers are removed.

    Of a summary these are the passages that it rests on.

    Understood are [1], [1, 2], [1-3], [^1], [Passage 1], 【1】, (Passage 1), and (1) in a text without any of these;
    what is an index in code is none of them.
    """
    used: dict[int, None] = {}
    places = citing(text)
    starts = {match.start() for match in places}

    def keep(match: re.Match[str]) -> str:
        if match.start() not in starts:
            return match[0]
        known = [n for n in numbers_of(match) if 1 <= n <= len(items)]
        used.update(dict.fromkeys(known))
        return (" " if match[0].startswith(" ") and known else "") + "".join(f"[{n}]" for n in known)

    def keep_round(match: re.Match[str]) -> str:
        numbers = numbers_of(match)
        if not all(1 <= n <= len(items) for n in numbers):
            return match[0]  # a number of something else
        used.update(dict.fromkeys(numbers))
        return (" " if match[0].startswith(" ") else "") + "".join(f"[{n}]" for n in numbers)

    clean = _ROUND.sub(keep_round, text) if places and places[0].re is _ROUND else _CITED.sub(keep, text)
    return ModelAnswer(clean, True, tuple(c for n in sorted(used) for c in _citations(n, items[n - 1])))


def citing(text: str) -> list[re.Match[str]]:
    """Return the places of citations in any of the forms of `cited`; `numbers_of` reads their numbers.

    Indexes in code are left out: those that are marked as code, and those of what looks like a variable in a text that
    sets its citations apart.
    """
    found = list(_CITED.finditer(text))
    code = [match.span() for match in _CODE.finditer(text)]
    indexed = [match for match in _INDEXED.finditer(text) if not _within(match.start(), code)]
    variables = [match.span() for match in indexed if len(match[1]) == 1 or "_" in match[1] or "[0]" in match[0]]
    attached = [match.span() for match in indexed]
    if any(not _within(match.start(), code + attached) for match in found):
        variables = attached
    cites = [match for match in found if not _within(match.start(), code + variables)]
    return cites or [match for match in _ROUND.finditer(text) if not _within(match.start(), code)]


def _within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def numbers_of(match: re.Match[str]) -> list[int]:
    """Return the numbers that a citation names."""
    return _listed(next(filter(None, match.groups())))


def citations_of(items: Iterable[Item]) -> tuple[Citation, ...]:
    """Return all that an answer which is read from these items may cite."""
    return tuple(citation for number, item in enumerate(items, 1) for citation in _citations(number, item))


def _citations(number: int, item: Item) -> list[Citation]:
    if isinstance(item, Summary):
        return [Citation(number, passage, item.title) for passage in item.passages]
    return [Citation(number, passage) for passage in item]


def _listed(numbers: str) -> list[int]:
    """Return the numbers of "1, 3-5"."""
    found: list[int] = []
    for first, last in re.findall(r"(\d+)(?:\s*[–—-]\s*(\d+))?", numbers):
        found += range(int(first), int(last or first) + 1)
    return found


def _bare(text: str, *, reasoned: bool = False) -> str:
    """Return a short answer without its label and only its first line; of a `reasoned` reply only the conclusion."""
    if reasoned:
        found = _LAST.findall(text)
        return (_CITED.sub("", str(found[-1])) if found else text.splitlines()[-1]).strip(" *")
    return _LABEL.sub("", text.splitlines()[0].strip()) or text


def _words(settings: AnswerOptions) -> str:
    return f"at most {settings.words} words" if settings.words else "as short as it can be"


def _lettered(choices: Iterable[str]) -> str:
    return "\n".join(f"{letter}. {text}" for letter, text in zip(ascii_uppercase, choices, strict=False))


def _choice(text: str, choices: Sequence[str]) -> ModelAnswer:
    """Return the choice that a reply names by its letter or its words; the reply itself if it names none."""
    said = _bare(text)
    letter = re.match(r"\W*([A-Z])(?![\w'])", said)
    place = ascii_uppercase.index(letter[1]) if letter else len(choices)
    if place < len(choices):
        return ModelAnswer(choices[place], True)
    named = [choice for choice in choices if choice.casefold() in said.casefold()]
    return ModelAnswer(named[0] if len(named) == 1 else said, len(named) == 1)
