"""Read PPTX files in the reading process (ISO/IEC 29500-1, chapters 19 and 21)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, Any

from kgrag.loaders.figures import DECORATION, POINTS
from kgrag.loaders.grid import NO_HEAD, Cell, Laid, cell_text
from kgrag.loaders.inline import Inline, formula, ordinal
from kgrag.loaders.office_parts import (
    EMU,
    Block,
    Pictures,
    alternative,
    chart_blocks,
    child,
    diagram_texts,
    math_node,
    properties,
    run_text,
    signs,
    table_blocks,
    tag,
    value,
)

_RUNNING = frozenset(("ftr", "sldNum", "dt", "hdr"))
"""Kinds of placeholders that repeat on all slides."""
_TREES = ("spTree", "grpSp")
_MAX_DEPTH = 20  # nesting of groups of shapes
_BACKGROUND = 0.85  # a picture over a larger share of a slide is its background


def read_pptx(file: IO[bytes]) -> dict[str, Any]:
    """Return a presentation with one part for each visible slide."""
    import pptx

    presentation = pptx.Presentation(file)
    parts: list[dict[str, Any]] = []
    pictures, page = Pictures(), (presentation.slide_width or 1) * (presentation.slide_height or 1)
    left_out: Counter[str] = Counter()
    for slide in presentation.slides:
        _unwrap(slide._element)
        is_visible = slide._element.get("show") not in ("0", "false")
        left_out["hidden slide"] += not is_visible
        left_out["deleted piece"] += sum(map(_is_struck, slide._element.iter()))
        left_out["comment"] += sum(_comments(relation) for relation in slide.part.rels.values())
        for shape in slide.shapes if is_visible else ():
            left_out["running foot"] += (
                _is_running(shape) and shape.has_text_frame and bool(shape.text_frame.text.strip())
            )
            left_out["hidden piece"] += _is_hidden(shape)
            left_out["embedded part"] += any(tag(e) == "oleObj" for e in shape._element.iter())
        parts.append({"label": "", "blocks": list(_blocks(slide, pictures, page, left_out)) if is_visible else []})
    return {**properties(presentation.core_properties), "parts": parts, "left_out": left_out}


def _unwrap(slide: Any) -> None:
    """Replace alternatives, which the package skips, by the shapes inside them."""
    for wrapper in [e for e in slide.iter() if tag(e) == "AlternateContent" and tag(e.getparent()) in _TREES]:
        choice = child(wrapper, "Choice")
        for shape in list(child(wrapper, "Fallback") if choice is None else choice):
            wrapper.addprevious(shape)
        wrapper.getparent().remove(wrapper)


def _comments(relation: Any) -> int:
    if relation.is_external or not relation.reltype.endswith("/comments"):
        return 0
    from pptx.oxml import parse_xml

    return sum(tag(element) == "cm" for element in parse_xml(relation.target_part.blob))


def _is_running(shape: Any) -> bool:
    return any(tag(e) == "ph" and e.get("type") in _RUNNING for e in shape._element[0].iter())


def _is_hidden(shape: Any) -> bool:
    return any(tag(e) == "cNvPr" and e.get("hidden") in ("1", "true") for e in shape._element[0].iter())


def _is_struck(run: Any) -> bool:
    settings = child(run, "rPr") if tag(run) == "r" else None
    return settings is not None and (settings.get("strike") or "noStrike") != "noStrike"


def _blocks(slide: Any, pictures: Pictures, page: int, left_out: Counter[str]) -> Iterator[Block]:
    from pptx.oxml import parse_xml

    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        yield ["heading", 1, " ".join(_paragraphs(title.text_frame._txBody))]
    shapes = [s for s in _shapes(slide.shapes) if title is None or s.shape_id != title.shape_id]
    shapes = [s for s in shapes if not _is_running(s) and not _is_hidden(s)]
    for shape in sorted(shapes, key=lambda s: (s.top or 0, s.left or 0)):
        if getattr(shape, "has_table", False) and shape.has_table:
            head = shape.table._tbl.tblPr
            headed = head is not None and head.get("firstRow") in ("1", "true")
            yield from table_blocks(_laid(shape.table._tbl), 1 if headed else NO_HEAD)
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            yield from chart_blocks(shape.chart._chartSpace)
        elif (diagram := next((e for e in shape._element.iter() if tag(e) == "relIds"), None)) is not None:
            part = slide.part.related_part(value(diagram, "dm"))
            for text in diagram_texts(parse_xml(part.blob)):
                yield ["item", "", text]
        elif shape.has_text_frame:
            for text in _paragraphs(shape.text_frame._txBody):
                yield ["item", "", text]
        elif text := next((alternative(e) for e in shape._element.iter() if tag(e) == "cNvPr"), ""):
            yield ["item", "", text]
        if any(tag(e) == "blip" for e in shape._element.iter()):
            place = [(edge or 0) / EMU for edge in (shape.left, shape.top, shape.width, shape.height)]
            x0, top, width, height = place
            if width * height > _BACKGROUND * page / EMU**2 or 0 < min(width, height) < POINTS:
                left_out[DECORATION] += 1
                continue
            alternative_text = next((alternative(e) for e in shape._element.iter() if tag(e) == "cNvPr"), "")
            caption = alternative_text or (title.text_frame.text if title is not None and title.has_text_frame else "")
            yield from pictures.block(slide.part, shape._element, caption, (x0, top, x0 + width, top + height))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = "\n".join(_paragraphs(slide.notes_slide.notes_text_frame._txBody))
        if notes:
            yield ["text", f"Notes: {notes}"]


def _shapes(shapes: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _MAX_DEPTH:  # a group
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _laid(table: Any) -> Laid:
    laid: Laid = []
    for row in (e for e in table if tag(e) == "tr"):
        cells: list[Cell | None] = []
        for cell in (e for e in row if tag(e) == "tc"):
            place = len(cells)
            if cell.get("vMerge") in ("1", "true") and laid and place < len(laid[-1]):
                cells.append(laid[-1][place])
            elif cell.get("hMerge") in ("1", "true") and cells:
                cells.append(cells[-1])
            else:
                texts = (text.strip() for text in _paragraphs(child(cell, "txBody")))
                cells.append(Cell(cell_text((text.removeprefix("- "), text.startswith("- ")) for text in texts)))
        laid.append(cells)
    width = max(map(len, laid), default=0)
    return [row + [None] * (width - len(row)) for row in laid]


def _paragraphs(body: Any) -> Iterator[str]:
    """Yield the non-empty paragraphs of a text; list items have their markers."""
    numbers: dict[int, int] = {}  # level -> the last number
    for paragraph in [] if body is None else (e for e in body if tag(e) == "p"):
        settings = child(paragraph, "pPr")
        level = int((settings is not None and settings.get("lvl")) or 0)
        numbering = child(settings, "buAutoNum")
        line = Inline()
        _read(paragraph, line)
        text = line.take().strip()
        if not text:
            continue
        indent = "  " * level if numbering is not None or child(settings, "buChar") is not None else ""
        numbers = {other: number for other, number in numbers.items() if other < level or other == level}
        if numbering is None:
            numbers.pop(level, None)
            yield f"{indent}- {text}" if child(settings, "buChar") is not None else text
            continue
        numbers[level] = numbers[level] + 1 if level in numbers else int(numbering.get("startAt") or 1)
        yield indent + _numbered(numbering.get("type") or "", numbers[level]) + text


def _numbered(form: str, number: int) -> str:
    """Return the marker of a numbered item: "a) " for "alphaLcParenR"."""
    kind = "a" if form.startswith("alpha") else "i" if form.startswith("roman") else "1"
    label = ordinal(number, kind.upper() if "Uc" in form and kind != "1" else kind)
    around = ("(", ")") if "ParenBoth" in form else ("", ")") if "ParenR" in form else ("", ".")
    return f"{around[0]}{label}{around[1]} "


def _read(element: Any, line: Inline) -> None:
    for part in element:
        kind = tag(part)
        if kind in ("r", "fld") and _is_struck(part):
            line.skip()
        elif kind in ("r", "fld"):
            settings = child(part, "rPr")
            raised = 0 if settings is None else _baseline(settings)
            font, text = child(settings, "sym"), run_text(part)
            text = text if font is None else signs(font.get("typeface") or "", text)
            line.signed("^" if raised > 0 else "_" if raised else "", text)
        elif kind == "br":
            line.text("\n")
        elif kind in ("AlternateContent", "Choice", "m", "oMathPara"):
            _read(part, line)
        elif kind == "oMath":
            line.text(formula(math_node(part)))


def _baseline(properties: Any) -> int:
    """Return how far a text is raised, in thousandths of a percent of its size."""
    text = value(properties, "baseline", "0").rstrip("%")
    return int(float(text)) if text.lstrip("-").replace(".", "", 1).isdigit() else 0
