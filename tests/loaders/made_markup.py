"""The features of `made_features` as Markdown, HTML and reStructuredText."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from unicodedata import east_asian_width

from made_documents import book
from made_features import FEATURES, Block, Cell, Code, Defs, Features, Grid, Head, Items, Mark, Maths, Para, Rule, Tasks
from made_features import Line as Line


def markdown(path: Path, features: Features = FEATURES) -> None:
    """Return Markdown as an author writes it, without escapes."""
    parts = ["# All"]
    for feature in features:
        parts.append(f"## {feature.name}")
        parts += [_md(block) for block in feature.blocks]
    notes = [mark for mark in _marks(features) if mark.kind in ("note", "endnote")]
    parts.append("\n".join(f"[^{note.more}]: {note.text}" for note in notes))
    path.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")


def _marks(features: Features) -> list[Mark]:
    lines = (block.line for feature in features for block in feature.blocks if isinstance(block, Para))
    return [part for line in lines for part in line if isinstance(part, Mark)]


def _md(block: Block, indent: str = "") -> str:
    match block:
        case Para(kind="running"):
            return ""
        case Para(line, kind):
            return ("> " if kind == "quote" else "") + "".join(map(_md_part, line))
        case Head(level, text, number):
            return f"{'#' * level} {number} {text}".replace("  ", " ")
        case Items(kind, items, start):
            lines = []
            for number, (text, inner) in enumerate(items, start):
                marker = "- " if kind == "-" else f"{number}. "
                lines.append(f"{indent}{marker}{text}")
                lines += [_md(inner, indent + " " * len(marker))] if inner else []
            return "\n".join(lines)
        case Code(text):
            return f"```\n{text}\n```"
        case Maths(tex):
            return f"$${tex}$$"
        case Rule():
            return "---"
        case Tasks(pairs):
            return "\n".join(f"- [{'x' if done else ' '}] {text}" for done, text in pairs)
        case Defs(pairs):
            return "\n\n".join(f"{term}\n: {text}" for term, text in pairs)
        case Grid(rows, _):
            if any(cell.down + cell.across > 2 or not isinstance(cell.inner[0], Para) for row in rows for cell in row):
                return _table(block)  # only HTML has these
            lines = [" | ".join(_md(cell.inner[0]).replace("|", r"\|") for cell in row) for row in rows]
            return "\n".join([f"| {lines[0]} |", "|--" * len(rows[0]) + "|", *(f"| {line} |" for line in lines[1:])])


def _md_part(part: str | Mark) -> str:
    if isinstance(part, str):
        return part
    text = part.text
    match part.kind:
        case "code":
            return f"`{text}`"
        case "math":
            return f"${part.more}$"
        case "soft":
            return "\n"
        case "note" | "endnote":
            return f"[^{part.more}]"
        case "strike":
            return f"~~{text}~~"
        case "image":
            return f'![{text}](a.png "title")'
        case "link":
            return f'[{text}]({part.more} "title")'
        case "comment":
            return f"<!-- {text} -->"
        case _:
            return _html_part(part)


# HTML


def page(features: Features = FEATURES) -> str:
    """Return the body of an HTML page."""
    parts = ["<header role='banner'>RUNNING</header><h1>All</h1>"]
    for feature in features:
        parts.append(f"<h2>{feature.name}</h2>")
        parts += map(_html, feature.blocks)
    notes = (mark for mark in _marks(features) if mark.kind in ("note", "endnote"))
    parts += [
        f"<div id='n{note.more}' role='doc-footnote'><span class='label'>{note.more}</span><p>{note.text}</p></div>"
        for note in notes
    ]
    return "\n".join(parts)


def html(path: Path, features: Features = FEATURES) -> None:
    """Return an HTML page."""
    path.write_text(f"<html><meta charset=utf-8><body>{page(features)}</body></html>", encoding="utf-8")


def epub(path: Path, features: Features = FEATURES) -> None:
    """Return a book of one chapter."""
    book(path, page(features))


def _html(block: Block) -> str:
    match block:
        case Para(line, kind):
            text = "".join(map(_html_part, line))
            tags = {"quote": "blockquote", "caption": "figcaption", "box": "aside", "running": "footer"}
            return f"<{tags.get(kind, 'p')}>{text}</{tags.get(kind, 'p')}>"
        case Head(level, text, number):
            return f"<h{level}>{number} {text}</h{level}>"
        case Items(kind, items, start):
            tag = "ul" if kind == "-" else "ol"
            inner = "".join(f"<li>{text}{_html(more) if more else ''}</li>" for text, more in items)
            return f"<{tag} type='{kind}' start='{start}'>{inner}</{tag}>"
        case Code(text):
            return f"<pre><code>{text}</code></pre>"
        case Maths(tex):
            return f"<p>{_mathml(tex, 'block')}</p>"
        case Rule():
            return "<hr/>"
        case Defs(pairs):
            return f"<dl>{''.join(f'<dt>{term}</dt><dd>{text}</dd>' for term, text in pairs)}</dl>"
        case Tasks(pairs):
            box = "<input type='checkbox' disabled='disabled' {}/>"
            items = "".join(f"<li>{box.format('checked=x' if done else '')} {text}</li>" for done, text in pairs)
            return f"<ul>{items}</ul>".replace("checked=x", "checked='checked'")
        case Grid():
            return _table(block)


def _table(table: Grid) -> str:
    rows = []
    for number, row in enumerate(table.rows):
        tag = "th" if number < table.heads else "td"
        cells = (f"<{tag} rowspan='{c.down}' colspan='{c.across}'>{''.join(map(_inner, c.inner))}</{tag}>" for c in row)
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _inner(block: Para | Items | Grid) -> str:
    return "".join(map(_html_part, block.line)) if isinstance(block, Para) else _html(block)


def _mathml(tex: str, display: str) -> str:
    base, _, up = tex.replace("{", "").replace("}", "").partition("^")
    return (
        f"<math xmlns='http://www.w3.org/1998/Math/MathML' display='{display}'><semantics><msup><mi>{base}</mi>"
        f"<mn>{up}</mn></msup><annotation encoding='application/x-tex'>{tex}</annotation></semantics></math>"
    )


def _html_part(part: str | Mark) -> str:
    if isinstance(part, str):
        return escape(part)
    text = escape(part.text)
    tags = {"up": "sup", "low": "sub", "code": "code", "strike": "s", "ins": "ins", "del": "del"}
    match part.kind:
        case kind if kind in tags:
            return f"<{tags[kind]}>{text}</{tags[kind]}>"
        case "math":
            return _mathml(part.more, "inline")
        case "br":
            return "<br/>"
        case "soft":
            return "\n"
        case "note" | "endnote":
            return f"<a href='#n{part.more}' role='doc-noteref'>{part.more}</a>"
        case "hidden":
            return f"<span style='display: none'>{text}</span>"
        case "comment":
            return f"<!-- {text} -->"
        case "image":
            return f"<img src='a.png' alt='{text}' title='title'/>"
        case "link":
            return f"<a href='{part.more}' title='title'>{text}</a>"
        case "entity":
            return part.more
        case "anchor":
            return f"<a id='x' name='x'>{text}</a>"
        case _:
            return text


# reStructuredText


def rst(path: Path, features: Features = FEATURES) -> None:
    """Return reStructuredText with directives and roles that docutils knows."""
    parts = ["===\nAll\n===", ".. header:: RUNNING"]
    for feature in features:
        parts.append(f"{feature.name}\n{'=' * len(feature.name)}")
        parts += [_rst(block) for block in feature.blocks]
    notes = [mark for mark in _marks(features) if mark.kind in ("note", "endnote")]
    parts.append("\n".join(f".. [{note.more}] {note.text}" for note in notes))
    path.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")


def _rst(block: Block, indent: str = "") -> str:
    match block:
        case Para(kind="running"):
            return ""
        case Para(line, kind):
            parts = [part for part in line if not isinstance(part, Mark) or part.kind not in ("image", "comment")]
            text = _rst_line(parts)
            for part in (part for part in line if isinstance(part, Mark)):
                if part.kind == "comment":
                    text += f"\n\n.. {part.text}"
                elif part.kind == "image":
                    text = text.replace("See ", "See |mill|") + f"\n\n.. |mill| image:: a.png\n   :alt: {part.text}"
            if kind == "caption":
                return f".. figure:: a.png\n   :alt:\n\n   {text}"
            return {"quote": f"..\n\n    {text}", "box": f".. container::\n\n   {text}"}.get(kind, text)
        case Head(level, text, number):
            return f"{number} {text}".strip() + f"\n{'==-~^+'[level - 1] * 20}"
        case Items(kind, items, start):
            lines: list[str] = []
            for number, (text, inner) in enumerate(items, start):
                roman = ("", "i", "ii", "iii", "iv")[number] if kind == "i" else ""
                marker = {"-": "- ", "a": f"{chr(96 + number)}. ", "i": f"{roman}. "}.get(kind, f"{number}. ")
                lines.append(f"{indent}{marker}{text}")
                lines += ["", _rst(inner, indent + " " * len(marker)), ""] if inner else []
            return "\n".join(lines)
        case Code(text):
            return "::\n\n" + "\n".join(f"   {line}" for line in text.split("\n"))
        case Maths(tex):
            return f".. math:: {tex}"
        case Rule():
            return "-----"
        case Defs(pairs):
            return "\n".join(f"{term}\n   {text}" for term, text in pairs)
        case Tasks(pairs):
            return "\n".join(f"- [{'x' if done else ' '}] {text}" for done, text in pairs)
        case Grid():
            return "\n".join(_drawn(block))


def _rst_line(line: Line) -> str:
    if any(isinstance(part, Mark) and part.kind == "br" for part in line):
        return "\n".join(f"| {part}" for part in line if isinstance(part, str))
    return "".join(map(_rst_part, line))


def _rst_part(part: str | Mark) -> str:
    if isinstance(part, str):
        return part.replace("\\", "\\\\")
    roles = {"up": "sup", "low": "sub", "math": "math"}
    match part.kind:
        case kind if kind in roles:
            return f"\\ :{roles[kind]}:`{part.more or part.text}`\\ "
        case "code":
            return f"``{part.text.strip()}`` "
        case "soft":
            return "\n"
        case "note" | "endnote":
            return f"\\ [{part.more}]_"
        case "link":
            return f"`{part.text} <{part.more}>`__"
        case "anchor":
            return f"_`{part.text}`"
        case "hidden" | "del":
            return ""
        case _:
            return part.text


def _drawn(table: Grid) -> list[str]:
    """Return a grid table."""
    from kgrag.loaders.grid import Cell as Laid
    from kgrag.loaders.grid import lay_out

    owners = {}
    rows = []
    for row in table.rows:
        rows.append([Laid("", cell.down, cell.across) for cell in row])
        owners.update({id(laid): cell for laid, cell in zip(rows[-1], row, strict=True)})
    places = lay_out(rows)
    lines = {key: _cell_lines(cell) for key, cell in owners.items()}
    width = max(len(line) for text in lines.values() for line in text) * 2 + 3
    heights = [max(len(lines[id(cell)]) for cell in row if cell) for row in places]
    drawn: list[str] = []
    for number in range(len(places) + 1):
        above = places[number - 1] if number else [None] * len(places[0])
        below = places[number] if number < len(places) else [None] * len(places[0])
        sign = "=" if number == table.heads and number < len(places) else "-"
        bar, last = "", True
        for one, other in zip(above, below, strict=True):
            open_ = one is other and one is not None
            bar += ("|" if open_ and last is not True and bar.endswith(" ") else "+") + (" " if open_ else sign) * width
            last = open_
        drawn.append(bar + "+")
        if number == len(places):
            break
        for at in range(heights[number]):
            text = ""
            for column, cell in enumerate(below):
                first = column == 0 or below[column - 1] is not cell
                own = number == 0 or places[number - 1][column] is not cell
                shown = lines[id(cell)][at] if first and own and cell and at < len(lines[id(cell)]) else ""
                wide = sum(east_asian_width(character) == "W" for character in shown)
                text += ("|" if first else " ") + (f" {shown}" if shown else "").ljust(width - wide)
            drawn.append(text + "|")
    return drawn


def _cell_lines(cell: Cell) -> list[str]:
    found: list[str] = []
    for block in cell.inner:
        text = _rst(block)
        found += ["", *text.split("\n")] if found else text.split("\n")
    return found


__all__: Sequence[str] = ["epub", "html", "markdown", "page", "rst"]
