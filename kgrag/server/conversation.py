"""A conversation with a collection: what its last message asks, the answer to that, and its sources below it.

Chat clients send all messages each time, and ask for titles and tags in the same way as people ask questions.
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

TURNS = 6  # messages before the last one that a follow-up question is understood from
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
    """A place in a text, `start` to before `end`, that cites a passage."""

    start: int
    end: int
    citation: Citation


@dataclass(frozen=True, slots=True)
class ConversationReply:
    """The reply to a conversation, with the places where it cites, and its usage; `cut`: it is not whole."""

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
    """Reply to the last message, about these collections by a system over them.

    `hear` is called with each step and with the answer as it grows.

    A follow-up question is understood from what was said before it. What a client asks about the conversation itself,
    such as a title, is answered without a search, and where nothing was asked, nobody is. Raises ModelError when there
    is no answer.
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
    """Return a question that can be understood without the messages `before`. Raises ModelError."""
    history = "\n".join(f"{m.role.capitalize()}: {m.content[:_LONGEST]}" for m in before[-TURNS:])
    return llm.text("follow-up", whole=True, history=history, question=question)


def is_chore(messages: Sequence[Message]) -> bool:
    """Return whether the last message asks for a title, tags or the like, not about documents."""
    return _CHORE.search(messages[-1].content[:2000]) is not None


def with_sources(answer: Answer) -> ConversationReply:
    """Return the text of an answer with a list of the cited passages below, and the places of the citations."""
    sources = "\n".join(_source(citation) for citation in answer.citations)
    text = "\n\n".join(filter(None, (without_pictures(answer.text), answer.doubt and f"({answer.doubt})")))
    return ConversationReply(f"{text}{_SOURCES}{sources}" if sources else text, marks_in(text, answer.citations))


def without_pictures(text: str) -> str:
    """Return a text without pictures, whose address could leak the conversation to a third server."""
    return _FETCHED.sub(" ", text)


def marks_in(text: str, citations: Sequence[Citation]) -> tuple[Mark, ...]:
    """Return the places of citations in a text, in any form, but for the list of sources below it."""
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
    """Return the part of a growing text that is final, without an incomplete citation or picture."""
    return without_pictures(_OPEN.sub("", text))


def rest(whole: str, start: str) -> str:
    """Return the unsent part of a text; sent citations may have another form by now, or have been removed."""
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
    """Return a line of the list; titles are texts of documents, in which nothing is markup."""
    passage = citation.passage
    parts = ", ".join(filter(None, (passage.title or passage.document, passage.section, passage.place)))
    where = f" ({passage.source})" if passage.source and passage.source != passage.title else ""
    return f"[{citation.number}] " + _MARKUP.sub(r"\\\1", " ".join(f"{parts}{where}".split())) + "  "
