"""What stands on pages, in tables and under headings of one document, how many there are, and which."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kgrag.agents.structure.headings import NUMBER, Headings
from kgrag.agents.structure.words import Ask, Named, Ref, parts, roman
from kgrag.retrieval.base import Index

_LISTED = 8  # headings
_LETTERS = 12_000  # of a page or table that is read as a whole
Row = dict[str, Any]


@dataclass(slots=True)
class Structured:
    """A document with what it consists of; `name` is what it is called in an answer."""

    id: str
    name: str
    names: list[list[str]]
    counts: dict[str, int]
    parts: Row = field(default_factory=dict)


class Place(NamedTuple):
    """What was looked up; `text`: what stands there, empty where it was only counted or listed."""

    kind: str
    name: str
    text: str = ""


class Reading(NamedTuple):
    """A passage with the label and name of what holds it; `text` is read in its place, unless it is None."""

    passage: str
    label: str
    name: str
    text: str | None = None


@dataclass(slots=True)
class Result:
    """What was found, in the documents that were asked: texts with heads, what is missing, the places.

    `held` are all passages. An answer is read from `read`, where a page or table as a whole stands for its first
    passage, which may go on over several pages.
    """

    texts: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    held: list[Reading] = field(default_factory=list)
    read: list[Reading] = field(default_factory=list)


def _texts(index: Index, asked: Named, document: Structured, result: Result) -> None:
    """What stands on pages, in tables or under headings."""
    if asked.kind == "section":
        _sections(index, asked, document, result)
        return
    nodes = _pages(asked.refs, document, result) if asked.kind == "page" else _tables(asked, document, result)
    found = (index.reader.pages if asked.kind == "page" else index.reader.tables)([n["id"] for n in nodes])
    for node in (n for n in nodes if n["id"] in found):
        held = found[node["id"]]
        text = _with_tables(held["text"], held["tables"]) if asked.kind == "page" else _markdown(held)
        label = asked.kind.capitalize()
        name = f"{document.name}, {node['name']}"
        result.texts.append((name, text or f"There is no text on {node['name']} of {document.name}."))
        result.places.append(Place(asked.kind, name, text))
        held_there = [Reading(id, label, node["name"]) for id in held["passages"]]
        result.held += held_there
        whole = [first._replace(text=text) for first in held_there[:1]]
        result.read += whole if len(text) <= _LETTERS else held_there


def _count(index: Index, asked: Named, document: Structured, result: Result) -> None:
    """How many there are."""
    if asked.kind == "table" and asked.on:
        pages = _pages(asked.on, document, result)
        for page in pages:
            count = sum(_stands_on(t, page) for t in document.parts["tables"])
            there = f"There {'is' if count == 1 else 'are'} {numbered(count, 'table')}"
            result.texts.append(("", f"{there} on {_page(page)} of {document.name}."))
            result.places.append(Place("page", f"{document.name}, {page['name']}"))
        return
    items = _top(document) if asked.kind == "section" else document.parts[f"{asked.kind}s"]
    result.texts.append(("", f"{document.name} has {numbered(len(items), asked.kind)}."))
    result.places.append(Place("document", document.name))


def _list(index: Index, asked: Named, document: Structured, result: Result) -> None:
    """Which there are."""
    if asked.kind == "section":
        lines = [f"- {section['path']}" for section in document.parts["sections"]]
    else:
        lines = [f"- {t['name']}{_on(t)}" for t in document.parts["tables"]]
    if lines:
        result.texts.append((document.name, "\n".join(lines)))
        result.places.append(Place("document", document.name))
    else:
        result.missing.append(f"{document.name} has no {asked.kind}s.")


def _where(index: Index, asked: Named, document: Structured, result: Result) -> None:
    """On which page a table stands."""
    for table in _tables(asked, document, result) if asked.kind == "table" else []:
        place = _on(table).strip(" ()")
        said = f"stands on {place} of {document.name}" if place else f"is in {document.name}, which has no pages"
        result.texts.append(("", f"{table['name']} {said}."))
        result.places.append(Place("table", f"{document.name}, {table['name']}"))
    if asked.kind == "section":
        for ref in asked.refs:
            found = _headed(ref, document)
            if not found:
                result.missing.append(_no_section(ref, document))
            for top, paths in found:
                pieces = _under(index, document, paths)
                if pieces and (place := _begins(index, document, pieces[0])):
                    result.texts.append(("", f"{top} begins on {place} of {document.name}."))
                else:
                    result.texts.append(("", f"{top} is in {document.name}, which has no pages."))


def _sections(index: Index, asked: Named, document: Structured, result: Result) -> None:
    for ref in asked.refs:
        found = _headed(ref, document)
        if not found:
            result.missing.append(_no_section(ref, document))
        for number, (top, paths) in enumerate(found, 1):
            pieces = _under(index, document, paths)
            text = "\n\n".join(piece.text or "" for piece in pieces)
            if not text.startswith(_heading(top)):
                text = f"{_heading(top)}\n\n{text}"
            name = f"{document.name}, {top}" + (f" ({number} of {len(found)})" if len(found) > 1 else "")
            result.texts.append((name, text))
            result.places.append(Place("section", name, text))
            result.held += pieces
            result.read += pieces


def _no_section(ref: Ref, document: Structured) -> str:
    """That there is no such section, and which are most like it."""
    total = len(_top(document))
    has = f"{numbered(total, 'section')}; there is" if total else "no headings; there is"
    missing = f"{document.name} has {has} no section {called(ref)}."
    if not ref.key or not total:
        return missing
    nearest = headings(document).nearest(ref.key)
    listed = f" They are: {', '.join(_top(document))}." if total <= _LISTED else ""
    return missing + (also(nearest) or listed)


def also(nearest: Sequence[str]) -> str:
    """A sentence that names headings."""
    return f" The nearest: {', '.join(nearest)}." if nearest else ""


def _under(index: Index, document: Structured, paths: Sequence[str]) -> list[Reading]:
    """What stands under headings, the part of each passage that does.

    A passage may begin with the rest of one section, and go on with short ones whole, each under its heading.
    """
    order = [section["path"] for section in document.parts["sections"]]
    found: list[Reading] = []
    if not paths:
        return found
    for row in index.reader.sections(document.id, list(paths), [_between(path) for path in paths]):
        text = f"\n\n{row['text']}"
        starts = [(row["path"], 0)]
        at = 0
        for path in order[order.index(row["path"]) + 1 if row["path"] in order else 0 :]:
            start = text.find(_between(path), at)
            if start < 0:
                break
            starts.append((path, start))
            at = start + len(_between(path)) - 2  # the blank line may be that before the next heading
        ends = [start for _, start in starts[1:]] + [len(text)]
        parts = [
            (path, text[start:end].strip()) for (path, start), end in zip(starts, ends, strict=True) if path in paths
        ]
        if parts:
            found.append(Reading(row["id"], "Section", parts[0][0], "\n\n".join(part for _, part in parts)))
    return found


def _begins(index: Index, document: Structured, piece: Reading) -> str:
    """The page on which a section begins, "p. 3"; empty where there are no pages."""
    passage = next(iter(index.reader.passages([piece.passage]).values()), None)
    if passage is None or passage.page is None:
        return ""
    last = passage.last_page or passage.page
    ids = {g["id"]: g["number"] for g in document.parts["pages"] if passage.page <= g["number"] <= last}
    texts = index.reader.pages(list(ids)) if last > passage.page else {}
    headed = [ids[id] for id, held in texts.items() if _between(piece.name) in f"\n\n{held['text']}\n\n"]
    return f"p. {min(headed)}" if headed else passage.place


def _heading(path: str) -> str:
    """The last heading of a path."""
    return path.rsplit(" > ", 1)[-1]


def _between(path: str) -> str:
    """The last heading of a path as it stands between paragraphs."""
    return f"\n\n{_heading(path)}\n\n"


def _pages(refs: Iterable[Ref], document: Structured, result: Result) -> list[Row]:
    """The pages of a document; a label goes before a number."""
    pages: list[Row] = document.parts["pages"]
    found = []
    for ref in refs:
        node = next((g for g in pages if ref.label and (g["label"] or "").lower() == ref.label), None)
        if node is None and ref.number:
            number = ref.number if ref.number > 0 else len(pages) + 1 + ref.number
            node = next((g for g in pages if g["number"] == number), None)
        if node is not None:
            found.append(node)
        elif pages:
            has = numbered(len(pages), "page")
            result.missing.append(f"{document.name} has {has}; there is no page {called(ref)}.")
        else:
            result.missing.append(f"{document.name} has no pages.")
    return found


def _tables(asked: Named, document: Structured, result: Result) -> list[Row]:
    """The tables of a document: by the number in its caption, by its own, or by its place on a page."""
    tables: list[Row] = document.parts["tables"]
    there, place = tables, ""
    if asked.on:
        pages = _pages(asked.on, document, result)
        if not pages:
            return []
        there = [t for t in tables if any(_stands_on(t, page) for page in pages)]
        place = " on " + " and ".join(map(_page, pages))
    if not asked.refs:
        if not there:
            result.missing.append(f"{document.name} has no table{place}.")
        return there
    found = []
    for ref in asked.refs:
        node = _captioned(there, ref) or _counted(tables, there, ref)
        if node is not None:
            found.append(node)
        else:
            has = numbered(len(there), "table") if there else "no tables"
            result.missing.append(
                f"{document.name} has {has}{place}; there is no table {called(ref)}{' there' if place else ''}."
            )
    return found


def _captioned(tables: Sequence[Row], ref: Ref) -> Row | None:
    wanted = re.compile(rf"\W*tab(?:le|\.)\s*{re.escape(ref.label)}(?![\w.]*\w)", re.I)
    return next((t for t in tables if ref.label and wanted.match(t["caption"] or "")), None)


def _counted(tables: Sequence[Row], there: Sequence[Row], ref: Ref) -> Row | None:
    if ref.number < 0:
        return there[ref.number] if -ref.number <= len(there) else None
    own = next((t for t in there if ref.label and t["number"] == ref.number), None)
    if own is None and len(there) < len(tables) and 0 < ref.number <= len(there):
        return there[ref.number - 1]
    number = (ref.number or roman(ref.label)) if ref.label or len(there) == len(tables) else 0
    return own or next((t for t in there if t["number"] == number), None)


def has_section(asked: Named, document: Structured) -> bool:
    """Whether a document has any of the sections that are asked for."""
    return any(_headed(ref, document) for ref in asked.refs)


def headings(document: Structured) -> Headings:
    """The headings of a document."""
    return Headings([section["path"] for section in document.parts["sections"]])


def _headed(ref: Ref, document: Structured) -> list[tuple[str, list[str]]]:
    """The paths of headings that bear a name or a number, each with those of all below; else that of the n-th chapter.

    Several may have the same name, but no two the same number.
    """
    held = headings(document)
    paths = held.paths
    if ref.key:
        tops = held.find(ref.key, ref.label)
        if tops or not ref.number:
            apart = [top for top in tops if not any(top.startswith(f"{other} > ") for other in tops)]
            return [(top, held.under(top)) for top in apart]
    wanted = ref.label or str(ref.number)
    numbers: set[str] = set()
    for path in paths:
        steps = path.split(" > ")
        for depth, heading in enumerate(steps, 1):
            number = NUMBER.match(heading)
            if number is not None:
                numbers.add(number[1].lower())
            if (number is not None and _same(number[1].lower(), wanted)) or parts(heading) == parts(wanted):
                top = " > ".join(steps[:depth])
                return [(top, held.under(top))]
    top_ones = _top(document)
    if (
        ref.number
        and abs(ref.number) <= len(top_ones)
        and (ref.number < 0 or not ref.label or not numbers & {"1", "2"})
    ):
        top = top_ones[ref.number - 1 if ref.number > 0 else ref.number]
        return [(top, held.under(top))]
    return []


def _same(number: str, wanted: str) -> bool:
    """Whether two numbers of sections are the same: "4" and "iv" are."""
    return number == wanted or any(roman(a) and str(roman(a)) == b for a, b in ((number, wanted), (wanted, number)))


def _top(document: Structured) -> list[str]:
    return list(dict.fromkeys(section["path"].split(" > ")[0] for section in document.parts["sections"]))


def _stands_on(table: Row, page: Row) -> bool:
    first = table["page"] or 0
    return bool(first) and first <= page["number"] <= (table["last_page"] or first)


def _on(table: Row) -> str:
    if not table["page"]:
        return ""
    last = table["last_page"] or table["page"]
    return f" (p. {table['page']})" if last == table["page"] else f" (pp. {table['page']}-{last})"


def _markdown(table: Row) -> str:
    return f"{table['caption']}\n\n{table['markdown']}" if table["caption"] else str(table["markdown"])


def _with_tables(text: str, tables: Sequence[Row]) -> str:
    """The text of a page with its tables: behind their captions where it holds these, else at its end."""
    for table in tables:
        caption = f"\n\n{table['caption']}\n\n"
        before, found, after = f"\n\n{text}\n\n".partition(caption) if table["caption"] else ("", "", "")
        text = f"{before}{caption}{table['markdown']}\n\n{after}" if found else f"{text}\n\n{_markdown(table)}"
        text = text.strip()
    return text


def _page(page: Row) -> str:
    return f"page {page['number']}"


def called(ref: Ref) -> str:
    """What a question calls a structure."""
    return f'"{ref.label}"' if ref.key and not ref.number else ref.label or str(ref.number)


def numbered(count: int, kind: str) -> str:
    """How many, in words."""
    return f"{count:,} {kind}{'' if count == 1 else 's'}"


ACTIONS: dict[Ask, Callable[[Index, Named, Structured, Result], None]] = {
    "text": _texts,
    "count": _count,
    "list": _list,
    "where": _where,
}
