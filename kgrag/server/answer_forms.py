"""Convert answers for the pages: safe HTML, the steps in words, and each source with the sentence that it supports."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from kgrag.agents.answering import UNCITED
from kgrag.agents.replies import citing, numbers_of
from kgrag.retrieval.claims import claims_nothing
from kgrag.retrieval.clauses import sentences
from kgrag.retrieval.quoted_trail import by_title, hops, told_trail
from kgrag.retrieval.snippet import crop, snippet
from kgrag.retrieval.support import nearest_sentence, support
from kgrag.retrieval.trail import trail
from kgrag.values.events import Answer, Citation, Event, Retrieved
from kgrag.values.forms import plain
from kgrag.values.results import Hit, Passage, Ranking

_LINE = 300  # characters of a line of a step
_SHOWN = 420  # characters of a passage before it is opened
_TASK = re.compile(r"\A\[([ xX])\] ")
_LINKED = re.compile(r"(https?|mailto):", re.IGNORECASE)


Spans = dict[int, tuple[int, int]]
"""Number of a source -> its sentence that supports the first claim citing it."""


def markdown(text: str, citations: Sequence[Citation] = (), spans: Spans | None = None, *, whole: bool = True) -> str:
    """Render Markdown as HTML without embedded HTML and pictures, and with links to the web only.

    A citation becomes `<a class="cite" data-number data-start data-end>`: the number of the source, and the span of the
    sentence that supports the claim. The span is 0, 0 if no sentence does, and while the text is not `whole`, because
    each new word would repeat the search. The function fills `spans`.
    """
    forms = {match[0].lstrip()[0] for match in citing(text)}  # kinds of brackets; "(1)" cites only if no other does
    cited = {citation.number: citation.passage for citation in reversed(citations)}
    environment = {"cited": cited, "forms": forms, "spans": {} if spans is None else spans, "whole": whole}
    return str(_markdown().render(text, environment))


def step_form(event: Event) -> dict[str, Any] | None:
    """Return an event in words: step, topic, (label, text) lines and the best trail of a search; None to omit it."""
    lines = [(label, crop(text, _LINE)) for label, text in event.lines()]
    topic = crop(event.topic, _LINE)
    if not lines and not topic:
        return None
    hops = told_trail(event.hits, event.query) if isinstance(event, Retrieved) else []
    return {"step": event.step, "topic": topic, "lines": lines, "hops": plain(hops)}


def result_form(
    result: Answer | Ranking, missing: Collection[str] = (), say: Callable[[str], str] = str, read: Sequence[str] = ()
) -> dict[str, Any]:
    """Return an answer or a ranking with its trail, its steps and its sources, cited ones first.

    `missing`: ids of passages that changed or are gone; `say`: words a failure or note for the reader; `read`: ids of
    the passages that the model read, which follow the cited ones.
    """
    if isinstance(result, Ranking):
        sources = sources_form(result.hits, (), result.query, missing)
        hops = told_trail(result.hits, result.query)
        notes = list(map(say, result.notes))
        return {"answer": None, "steps": [], "sources": sources, "notes": notes, "hops": plain(hops)}
    spans: Spans = {}
    searched = {hit.passage.id: hit for event in result.trace if isinstance(event, Retrieved) for hit in event.hits}
    searched |= {hit.passage.id: hit for hit in result.ranking.hits}
    hits = [searched[id] for id in read if id in searched]
    hits += [hit for hit in result.ranking.hits if hit.passage.id not in read]
    answer = {
        "html": markdown(result.text.removesuffix(UNCITED), result.citations, spans), "text": result.text,
        "found": result.found, "cut": result.cut, "problem": result.problem and say(result.problem),
        "doubt": result.doubt, "system": result.system, "usage": result.usage.text(cost=True),
        "seconds": result.seconds,
    }  # fmt: skip
    sought = f"{result.question} {result.text}"
    return {
        "answer": answer,
        "steps": [_for_reader(form, say) for form in map(step_form, result.trace) if form],
        "sources": [
            {**source, "read": source["passage"]["id"] in read}
            for source in sources_form(hits, result.citations, sought, missing, spans)
        ],
        "notes": list(map(say, result.ranking.notes)),
        "hops": plain(told_trail(cited_hits(result), sought, result.ranking.hits)),
    }


def _for_reader(step: dict[str, Any], say: Callable[[str], str]) -> dict[str, Any]:
    lines = [(label, say(text) if label == "failed" else text) for label, text in step["lines"]]
    return {**step, "lines": lines}


def cited_hits(answer: Answer) -> list[Hit]:
    """Return the hits that an answer cites, in their order."""
    cited = {citation.passage.id for citation in answer.citations}
    return [hit for hit in answer.ranking.hits if hit.passage.id in cited]


def sources_form(
    hits: Sequence[Hit],
    citations: Sequence[Citation],
    sought: str,
    missing: Collection[str] = (),
    spans: Spans | None = None,
) -> list[dict[str, Any]]:
    """Return the passages that an answer may cite, or the hits of a search, as sources."""
    ranked = {hit.passage.id: hit for hit in hits}
    by_its_title = by_title(hits)
    cited = {citation.passage.id for citation in citations}
    sources = [
        {
            **_source(
                ranked.get(citation.passage.id, Hit(citation.passage, 0.0)),
                citation.number,
                sought,
                by_its_title,
                citation.summary,
            ),
            "support": (spans or {}).get(citation.number, (0, 0)),
        }
        for citation in citations
    ]
    sources += [_source(hit, None, sought, by_its_title) for hit in hits if hit.passage.id not in cited]
    return [{**source, "gone": source["passage"]["id"] in missing} for source in sources]


def _source(
    hit: Hit, number: int | None, sought: str, passages: dict[str, Passage], summary: str = ""
) -> dict[str, Any]:
    passage, part = hit.passage, snippet(hit.passage.text, sought, _SHOWN)
    return {
        "number": number, "passage": plain(passage), "heading": passage.heading, "place": passage.place,
        "summary": summary, "snippet": {"text": part.text, "marks": part.marks},
        "support": nearest_sentence(sought, passage.text, passage.title), "why": trail(hit),
        "hops": plain(hops(hit, sought, passages)), "also": hit.also_in,
    }  # fmt: skip


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    parser.disable("image")
    parser.validateLink = lambda url: _LINKED.match(url.strip()) is not None  # type: ignore[method-assign]
    parser.core.ruler.push("forms", _mark_forms)
    parser.core.ruler.push("cite", _mark_citations)
    parser.add_render_rule("cite", _cite)
    parser.add_render_rule("link_open", _link)
    return parser


def _mark_forms(state: Any) -> None:
    """Align columns by a class, which the content security policy allows, and render task lists with boxes."""
    for before, block in pairwise(state.tokens):
        if style := block.attrs.pop("style", ""):
            block.attrs["class"] = style.removeprefix("text-align:")
        if before.type == "paragraph_open" and before.level and block.children and block.children[0].type == "text":
            first = block.children[0]
            first.content = _TASK.sub(lambda match: "☐ " if match[1] == " " else "☑ ", first.content)


def _mark_citations(state: Any) -> None:
    """Make each citation a separate token."""
    env: dict[str, Any] = state.env
    if not env.get("cited"):
        return
    for block in state.tokens:
        if block.type == "inline" and block.children:
            whole = "".join(token.content if token.type in ("text", "code_inline") else " " for token in block.children)
            block.children = list(_parted(block.children, env, whole))


def _parted(tokens: Iterable[Token], env: dict[str, Any], whole: str) -> Iterable[Token]:
    """Yield the tokens of a paragraph; `whole`: its text, in which citations follow their claims."""
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
                    others = [other for other in cited.values() if other is not passage]
                    start, stop = support(claim, passage.text, passage.title, others) if env["whole"] else (0, 0)
                    if stop:
                        env["spans"].setdefault(number, (start, stop))
                    yield Token("cite", "", 0, meta={"number": number, "start": start, "end": stop})
                end = match.end()
            yield _text(token.content[end:])
        begin += length


def _claim(whole: str, at: int) -> str:
    """Return the sentence before a position, or only its part after an earlier citation if that part is a claim."""
    before = whole[:at].rstrip()
    parts = list(sentences(before))
    sentence = before[slice(*parts[-1])] if parts else whole
    marks = citing(sentence)
    last = next((sentence[mark.end() :] for mark in reversed(marks) if sentence[mark.end() :].strip(" ,.;")), sentence)
    return sentence if claims_nothing(last) else last


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _cite(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    citation = tokens[place].meta
    number, start, end = citation["number"], citation["start"], citation["end"]
    return f'<a class="cite" data-number="{number}" data-start="{start}" data-end="{end}">{number}</a>'


def _link(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    return f'<a href="{escape(str(tokens[place].attrs.get("href", "")))}" rel="noreferrer noopener" target="_blank">'
