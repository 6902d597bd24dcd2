"""Answer the last message of a chat, with the sources below the answer.

Chat clients send the whole conversation each time, and request titles and tags in the form of questions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kgrag.agents.replies import citing, numbers_of
from kgrag.agents.strategy import Strategy
from kgrag.client.searching import LocalSearching
from kgrag.indexing.ask_each import Meter
from kgrag.models.chat import Message
from kgrag.models.prompted import Listener, PromptedModel
from kgrag.values.errors import ModelError
from kgrag.values.events import Answer, Citation
from kgrag.values.results import Usage

TURNS = 6  # previous messages that give a follow-up question its context
_LONGEST = 1500  # characters of each
_CHORE = re.compile(  # as Open WebUI, LibreChat, LobeChat, Chatbox and others word it
    r"\A\s*### Task:"
    r"|\b(generate|create|provide|write|suggest|summari[sz]e|give)\b[^?]{0,120}\b(title|tags?|name|follow[- ]ups?)\b"
    r"[^?]{0,120}\b(chat|conversation|dialog(ue)?|messages?)\b"
    r"|\b(generate|create|provide|write|suggest|summari[sz]e|give)\b[^?]{0,120}\b(chat|conversation|dialog(ue)?)\b"
    r"[^?]{0,120}\b(title|tags?|name|follow[- ]ups?)\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"\s?[\[【(](?:\^|[Pp]assages? )?\d[\d,\s–-]*[\]】)]")
_OPEN = re.compile(r"\s*[\[【(][^\]】)]{0,20}\Z|[!<]\w{0,8}\Z")
_IN_PART = "(A step of the search failed, and this answer is made from what there was.)"
_NOT_WHOLE = "(This answer is not whole: the model reached its limit.)"
_FETCHED = re.compile(  # markup that makes a client fetch other addresses when it renders the answer: "![", "<img"
    r"(?<=!)(?=\[)|(?<=<)(?=(?:img|image|picture|source|video|audio|track|iframe|embed|object|svg|link|style|input)\b)",
    re.IGNORECASE,
)
_SOURCES = "\n\nSources:\n"
_MARKUP = re.compile(r"([\\`*_\[\]<>!|~#])")


@dataclass(frozen=True, slots=True)
class Mark:
    """The span of a citation in a text; `end` is exclusive."""

    start: int
    end: int
    citation: Citation


@dataclass(frozen=True, slots=True)
class ConversationReply:
    """The reply to a conversation, with its citations and usage; `cut`: the text ends early."""

    text: str
    marks: tuple[Mark, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cut: bool = False


def reply(
    searched: LocalSearching,
    system: Strategy,
    llm: PromptedModel,
    messages: Sequence[Message],
    hear: Listener | None = None,
) -> ConversationReply:
    """Reply to the last message by a system over the collections; calls `hear` with each step and the growing answer.

    Rewrites a follow-up question from the conversation. Answers requests of the client, such as for a title, without a
    search, and an empty message without a model. Raises ModelError if there is no answer.
    """
    spoken = [m for m in messages if m.role in ("user", "assistant") and m.content.strip()]
    if not spoken or spoken[-1].role != "user":
        return ConversationReply(f"Ask a question about the documents of {searched.name}.")
    meter = Meter()
    if is_chore(spoken):
        answer = llm.chat(list(messages), task="title")
        return ConversationReply(without_pictures(answer.text), usage=answer.usage, cut=answer.cut)
    question = spoken[-1].content
    if before := spoken[:-1]:
        question = understood(llm.with_listener(meter), before, question)
    result = searched.ask_stream(question, system=system).tell(hear)
    if result.problem and not result.text:
        raise ModelError(result.problem)
    if result.problem:
        result = replace(result, text=f"{result.text}\n\n{_NOT_WHOLE if result.cut else _IN_PART}")
    return replace(with_sources(result), usage=result.usage + meter.total, cut=result.cut)


def understood(llm: PromptedModel, before: Sequence[Message], question: str) -> str:
    """Return the question rewritten so that it does not depend on the messages `before`. Raises ModelError."""
    history = "\n".join(f"{m.role.capitalize()}: {m.content[:_LONGEST]}" for m in before[-TURNS:])
    return llm.text("follow-up", whole=True, history=history, question=question)


def is_chore(messages: Sequence[Message]) -> bool:
    """Return whether the last message is a request of the client, such as for a title or tags."""
    return _CHORE.search(messages[-1].content[:2000]) is not None


def with_sources(answer: Answer) -> ConversationReply:
    """Return the text of an answer with the list of its sources below, and the spans of its citations."""
    sources = "\n".join(_source(citation) for citation in answer.citations)
    text = "\n\n".join(filter(None, (without_pictures(answer.text), answer.doubt and f"({answer.doubt})")))
    return ConversationReply(f"{text}{_SOURCES}{sources}" if sources else text, marks_in(text, answer.citations))


def without_pictures(text: str) -> str:
    """Return a text without pictures, whose addresses could leak the conversation to another server."""
    return _FETCHED.sub(" ", text)


def marks_in(text: str, citations: Sequence[Citation]) -> tuple[Mark, ...]:
    """Return the spans of the citations in a text, in any form, except in the list of sources below it."""
    by_number: dict[int, Citation] = {}
    for citation in citations:
        by_number.setdefault(citation.number, citation)
    body = text.rpartition(_SOURCES)[0] or text
    return tuple(
        Mark(match.start() + match[0][0].isspace(), match.end(), by_number[number])
        for match in citing(body)
        for number in numbers_of(match)
        if number in by_number
    )


def steady(text: str) -> str:
    """Return the final part of a growing text, without an incomplete citation or picture."""
    return without_pictures(_OPEN.sub("", text))


def rest(whole: str, start: str) -> str:
    """Return the unsent part of a text. Citations already sent may have changed form or gone since."""
    if whole.startswith(start):
        return whole[len(start) :]
    left = len("".join(_MARK.sub("", start).split()))
    marks = {match.start(): match.end() for match in _MARK.finditer(whole)}
    at = 0
    while at < len(whole) and left:
        if at in marks:
            at = marks[at]
            continue
        left -= not whole[at].isspace()
        at += 1
    if any(match.end() == len(start) for match in _MARK.finditer(start)):
        at = marks.get(at, at)
    return whole[at:].lstrip(" ") if start[-1:].isspace() else whole[at:]


def _source(citation: Citation) -> str:
    """Return a line of the list, with the title escaped: it may contain anything."""
    passage = citation.passage
    parts = ", ".join(filter(None, (passage.title or passage.document, passage.section, passage.place)))
    where = f" ({passage.source})" if passage.source and passage.source != passage.title else ""
    return f"[{citation.number}] " + _MARKUP.sub(r"\\\1", " ".join(f"{parts}{where}".split())) + "  "
