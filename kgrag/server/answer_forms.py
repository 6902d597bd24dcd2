"""Answers as pages show them: safe HTML, the steps in words, and beside the text each source with what it bears out."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from kgrag import narration
from kgrag.agents.answering import citing, numbers_of
from kgrag.retrieval.snippet import crop, snippet
from kgrag.retrieval.support import by_title, hops, sentences, support
from kgrag.retrieval.trail import trail
from kgrag.values.events import Answer, Citation, Event, Retrieved
from kgrag.values.results import Hit, Passage, Ranking
from kgrag.wire import plain

_LINE = 300  # characters of a line of a step
_SHOWN = 420  # characters of a passage before it is opened
_LINKED = re.compile(r"(https?|mailto):", re.IGNORECASE)


def markdown(text: str, citations: Sequence[Citation] = ()) -> str:
    """A text in Markdown as HTML: no HTML of its own, no pictures, links to the web alone.

    Where it cites is `<a class="cite" data-number data-start data-end>`: the number of the source, and the sentence of
    its passage that bears out what is said there.
    """
    forms = {match[0].lstrip()[0] for match in citing(text)}  # of brackets; "(1)" cites where nothing else does
    cited = {its.number: its.passage for its in reversed(citations)}
    return str(_markdown().render(text, {"cited": cited, "forms": forms}))


def step_form(event: Event) -> dict[str, Any] | None:
    """What an event says in words: its step, topic, (label, text) lines, of a search its best trail; None: nothing."""
    said = [(label, crop(text, _LINE)) for label, text in narration.lines(event)]
    topic = crop(narration.topic(event), _LINE)
    if not said and not topic:
        return None
    return {"step": event.step, "topic": topic, "lines": said, "hops": _best_hops(event)}


def result_form(result: Answer | Ranking, gone: Collection[str] = ()) -> dict[str, Any]:
    """An answer, or what a search found, with its steps and its sources: those that are cited first.

    `gone`: ids of passages that are not held as they were.
    """
    if isinstance(result, Ranking):
        sources = _sources(result.hits, (), result.query, gone)
        return {"answer": None, "steps": [], "sources": sources, "notes": result.notes}
    answer = {
        "html": markdown(result.text, result.citations),
        "text": result.text,
        "found": result.found,
        "problem": result.problem,
        "doubt": result.doubt,
        "system": result.system,
        "usage": narration.usage_text(result.usage, cost=True),
        "seconds": result.seconds,
    }
    sought = f"{result.question} {result.text}"
    return {
        "answer": answer,
        "steps": list(filter(None, map(step_form, result.trace))),
        "sources": _sources(result.ranking.hits, result.citations, sought, gone),
        "notes": result.ranking.notes,
    }


def _best_hops(event: Event) -> list[Any]:
    if not isinstance(event, Retrieved):
        return []
    known = by_title(event.hits)
    return next((plain(found) for hit in event.hits[:3] if (found := hops(hit, event.query, known))), [])


def _sources(
    hits: Sequence[Hit], citations: Sequence[Citation], sought: str, gone: Collection[str]
) -> list[dict[str, Any]]:
    found = {hit.passage.id: hit for hit in hits}
    known = by_title(hits)
    cited = {its.passage.id for its in citations}
    sources = [
        _source(found.get(its.passage.id, Hit(its.passage, 0.0)), its.number, sought, known, its.summary)
        for its in citations
    ]
    sources += [_source(hit, None, sought, known) for hit in hits if hit.passage.id not in cited]
    return [{**source, "gone": source["passage"]["id"] in gone} for source in sources]


def _source(hit: Hit, number: int | None, sought: str, known: dict[str, Passage], summary: str = "") -> dict[str, Any]:
    passage, part = hit.passage, snippet(hit.passage.text, sought, _SHOWN)
    return {
        "number": number,
        "passage": plain(passage),
        "heading": passage.heading,
        "place": passage.place,
        "summary": summary,
        "snippet": {"text": part.text, "marks": part.marks},
        "support": support(sought, passage.text, passage.title),
        "why": trail(hit),
        "hops": plain(hops(hit, sought, known)),
        "also": hit.also_in,
    }


@cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    made.disable("image")
    made.validateLink = lambda url: _LINKED.match(url.strip()) is not None  # type: ignore[method-assign]
    made.core.ruler.push("cite", _mark_citations)
    made.add_render_rule("cite", _cite)
    made.add_render_rule("link_open", _link)
    return made


def _mark_citations(state: Any) -> None:
    """Have each place that cites be a token of its own."""
    env: dict[str, Any] = state.env
    if not env.get("cited"):
        return
    for block in state.tokens:
        if block.type == "inline" and block.children:
            whole = "".join(token.content if token.type in ("text", "code_inline") else " " for token in block.children)
            block.children = list(_parted(block.children, env, whole))


def _parted(tokens: Iterable[Token], env: dict[str, Any], whole: str) -> Iterable[Token]:
    """The tokens of a paragraph; `whole`: its text, of which each citation stands behind what it bears out."""
    cited: dict[int, Passage] = env["cited"]
    begin = 0
    for token in tokens:
        length = len(token.content) if token.type in ("text", "code_inline") else 1
        if token.type != "text":
            yield token
        else:
            end = 0
            for match in citing(token.content):
                numbers = [number for number in numbers_of(match) if number in cited]
                if not numbers or match[0].lstrip()[0] not in env["forms"]:
                    continue
                yield _text(token.content[end : match.start()])
                claim = _claim(whole, begin + match.start())
                for number in numbers:
                    passage = cited[number]
                    start, stop = support(claim, passage.text, passage.title)
                    yield Token("cite", "", 0, meta={"number": number, "start": start, "end": stop})
                end = match.end()
            yield _text(token.content[end:])
        begin += length


def _claim(whole: str, at: int) -> str:
    """The sentence before a place of a text, or the one that it stands in."""
    said = whole[:at].rstrip()
    parts = list(sentences(said))
    return said[slice(*parts[-1])] if parts else whole


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _cite(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    its = tokens[place].meta
    return (
        f'<a class="cite" data-number="{its["number"]}" data-start="{its["start"]}" data-end="{its["end"]}">'
        f"{its['number']}</a>"
    )


def _link(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    return f'<a href="{escape(str(tokens[place].attrs.get("href", "")))}" rel="noreferrer noopener" target="_blank">'
