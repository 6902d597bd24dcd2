"""Answering: a language model answers from titled passages and cites them, or says that they do not contain the answer.

Short answers and answers without passages follow GEAR, appendix J.3.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import ceil
from string import ascii_uppercase
from typing import Any, Literal

from pydantic import Field

from kgrag.agents.replies import CITED, NOT_FOUND, ModelAnswer, cited, read_reply, says_not_found
from kgrag.models.facts import lines
from kgrag.models.prompted import PromptedModel, numbered
from kgrag.retrieval.support import doubts_of
from kgrag.runtime.options import Count, Options
from kgrag.text.aliases import without_parenthesis
from kgrag.text.tokens import LETTERS_A_TOKEN, stems_in
from kgrag.values.documents import Triple
from kgrag.values.results import Item, Passage, Summary

_END = re.compile(r"(?<=[.!?])\s+(?![a-z])|(?<=[。！？])|\s*\n\s*")
_TITLE, _FIRST = 1.5, 1.0
"""Weights of a named title and of the first sentence, relative to one shared word."""


def nearest_sentences(items: Sequence[Item], question: str, most: int) -> list[Item]:
    """Return the items with the `most` best sentences of each passage for the question, in order.

    A small model reads these faster and better. The first sentence introduces the passage. Other sentences score by
    their words from the question, and by the titles of other passages that they name. Source: our own experiment,
    docs/local.md.
    """
    question_stems = stems_in(question)
    titles = {without_parenthesis(p.title) for item in items if not isinstance(item, Summary) for p in item} - {""}

    def shortened(passage: Passage) -> Passage:
        sentences = [part for part in _END.split(passage.text) if part]
        others = titles - {without_parenthesis(passage.title)}
        worth = [
            len(stems_in(sentence) & question_stems)
            + _TITLE * sum(title in sentence for title in others)
            + _FIRST * (i == 0)
            for i, sentence in enumerate(sentences)
        ]
        best = sorted(range(len(sentences)), key=lambda i: (-worth[i], i))[:most]
        return replace(passage, text=" ".join(sentences[i] for i in sorted(best)))

    return [item if isinstance(item, Summary) else [shortened(p) for p in item] for item in items]


OnText = Callable[[str], None]

_EFFORTS = {"low": (0.5, 3, False, 3), "high": (1.5, 8, True, 0)}
"""Effort -> share of the usual steps, passages for the answer, whether the model reasons in sentences first, and the
number of sentences shown per passage."""
UNCITED = "(No passage is cited for this.)"
"""A remark after an answer that lacks citations."""

_LAST = re.compile(r"\banswer\W{0,3}:\W*([^\n]+)", re.IGNORECASE)
"""The final answer, which follows the reasoning."""
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
    sentences: int = Field(0, ge=0, le=1_000, description="of each passage show so many sentences, the nearest; 0: all")
    reason: bool = Field(True, description="work a short answer out in a line of its own first, which is not shown")
    effort: Literal["low", "medium", "high"] = Field(
        "medium",
        description="low: half the steps, 3 `sentences` of 3 passages, no `reason`; high: half as many again, and 8",
    )
    words: int = Field(6, ge=0, le=1_000, description="length of a short answer, 0: any (GEAR, appendix J.3)")
    abstain: bool = Field(True, description="say so when the evidence lacks the answer; false: always answer")
    example: bool = Field(False, description="with abstain=false: a worked example first (GEAR, appendix J.3)")
    repeat: bool = Field(False, description="put the question before the passages, too (GNN-Ret; KGP, listing 3)")
    facts: bool = Field(True, description="show the reader what facts the strategy remembers")
    language: str = Field("the language of the question", min_length=1, description="language of the answer")
    structure: bool = Field(True, description="look up the pages, tables and sections that a question names (KGP)")


def effort_options(options: type[AnswerOptions], effort: object) -> dict[str, Any]:
    """Return the option values implied by an effort, for options that are not set otherwise."""
    if effort not in _EFFORTS:
        return {}
    share, evidence, reason, sentences = _EFFORTS[str(effort)]
    scaled: dict[str, Any] = {}
    for name in ("steps", "rounds"):
        if name in options.model_fields:
            scaled[name] = max(1, ceil(share * options.model_fields[name].default))
    return {**scaled, "evidence": evidence, "reason": reason, "sentences": sentences}


def answer(
    llm: PromptedModel,
    question: str,
    items: Sequence[Item],
    settings: AnswerOptions,
    *,
    short: bool,
    on_text: OnText | None = None,
    facts: Sequence[Triple] = (),
    choices: Sequence[str] = (),
) -> ModelAnswer:
    """Answer from items of evidence, each one passage or several that belong together, and from `facts`.

    Without evidence no call is made, if abstaining is allowed. `choices`: the answer is one of these. `on_text` is
    called with the partial text of an answer, unless it is short. Raises ModelError.
    """
    facts = facts if settings.facts else ()
    read = nearest_sentences(items, question, settings.sentences) if settings.sentences else items
    read = within(read, settings.tokens)
    items = items[: len(read)]
    if not items and not facts:
        if settings.abstain:
            return ModelAnswer(NOT_FOUND, False)
        return answer_closed(llm, question, settings, short=short, on_text=on_text, choices=choices)
    parts = [f"Question: {question}"] if settings.repeat else []
    parts += [f"Known facts:\n{lines(facts)}"] if facts else []
    passages, language = "\n\n".join([*parts, numbered(read)]).strip(), settings.language
    if choices:
        prompt, letters = "answer-choice", _lettered(choices)
        return _choice(
            llm.text("answer", prompt=prompt, passages=passages, question=question, choices=letters), choices
        )
    if short:
        prompt, reasoned = _short_prompt(settings)
        words = _words(settings)
        reply = llm.text("answer", prompt=prompt, passages=passages, question=question, words=words, language=language)
        text = _bare(reply, reasoned=reasoned)
        if says_not_found(text):
            return ModelAnswer(NOT_FOUND, False)
        rests_on = cited(reply, items).citations if reasoned else ()  # citations of the reasoning steps
        return ModelAnswer(cited(text, items).text, True, rests_on, *doubts_of(text, items, question, short=True))
    prompt = "answer" if settings.abstain else "answer-always"
    text = llm.text("answer", prompt=prompt, on_text=on_text, passages=passages, question=question, language=language)
    reply_read = read_reply(text, items, question)
    return (
        reply_read
        if not reply_read.found or reply_read.citations
        else replace(reply_read, text=f"{reply_read.text}\n\n{UNCITED}")
    )


def _short_prompt(settings: AnswerOptions) -> tuple[str, bool]:
    """Return the prompt of a short answer, and whether its reply reasons first."""
    if not settings.abstain and settings.example:
        return "answer-short-example", False
    prompt = "answer-reasoned" if settings.reason else "answer-short"
    return prompt if settings.abstain else f"{prompt}-always", settings.reason


def answer_closed(
    llm: PromptedModel,
    question: str,
    settings: AnswerOptions,
    *,
    short: bool,
    on_text: OnText | None = None,
    choices: Sequence[str] = (),
) -> ModelAnswer:
    """Answer from the model's own knowledge. Raises ModelError."""
    language = settings.language
    if choices:
        passages, letters = "(There are no passages.)", _lettered(choices)
        reply = llm.text("answer", prompt="answer-choice", passages=passages, question=question, choices=letters)
        return _choice(reply, choices)
    if short:
        words = _words(settings)
        prompt = "answer-closed-short"
        text = _bare(llm.text("answer", prompt=prompt, question=question, words=words, language=language))
    else:
        text = llm.text("answer", prompt="answer-closed", on_text=on_text, question=question, language=language)
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
    fitting: list[Item] = []
    left = tokens * LETTERS_A_TOKEN
    for item in items:
        left -= sum(len(p.title) + len(p.text) for p in ([item] if isinstance(item, Summary) else item))
        if fitting and left < 0:
            break
        fitting.append(item)
    return fitting


def _bare(text: str, *, reasoned: bool = False) -> str:
    """Return the first line of a short answer without its label; for a `reasoned` reply, only the conclusion."""
    if reasoned:
        conclusions = _LAST.findall(text)
        return (CITED.sub("", str(conclusions[-1])) if conclusions else text.splitlines()[-1]).strip(" *")
    return _LABEL.sub("", text.splitlines()[0].strip()) or text


def _words(settings: AnswerOptions) -> str:
    return f"at most {settings.words} words" if settings.words else "as short as it can be"


def _lettered(choices: Iterable[str]) -> str:
    return "\n".join(f"{letter}. {text}" for letter, text in zip(ascii_uppercase, choices, strict=False))


def _choice(text: str, choices: Sequence[str]) -> ModelAnswer:
    """Return the choice that a reply names by its letter or its words; the reply itself if it names none."""
    reply = _bare(text)
    letter = re.match(r"\W*([A-Z])(?![\w'])", reply)
    place = ascii_uppercase.index(letter[1]) if letter else len(choices)
    if place < len(choices):
        return ModelAnswer(choices[place], True)
    named = [choice for choice in choices if choice.casefold() in reply.casefold()]
    return ModelAnswer(named[0] if len(named) == 1 else reply, len(named) == 1)
