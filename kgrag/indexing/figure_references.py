"""Which passages refer to which figures of their document: by number, by place ("the chart below"), by the caption."""

from collections.abc import Sequence
from typing import Any

from kgrag.text.figure_labels import Side, caption_label, named_figures, pointed_figures
from kgrag.values.documents import Figure

_BEGINNING = 40  # characters of a caption that tell where it stands
_REACH = 2  # passages between a figure and what points to it

Place = tuple[int, int, int]
"""A passage, a character of it, and the number of the figure whose caption begins there."""


def figure_references(figures: Sequence[Figure], passages: Sequence[dict[str, Any]]) -> list[list[int]]:
    """Return the numbers of the figures that each passage refers to, in order; rows of passages know their pages."""
    if not figures:
        return [[] for _ in passages]
    texts = [" ".join(passage["properties"]["text"].split()) for passage in passages]
    labels: dict[str, int] = {}
    for figure in figures:
        labels.setdefault(caption_label(figure.caption) or "", figure.number)
    places = sorted(filter(None, (_place(figure, texts, passages) for figure in figures)))
    references: list[set[int]] = [{number for at, _, number in places if at == i} for i in range(len(texts))]
    for numbers, passage in zip(references, passages, strict=True):
        numbers.update(filter(None, [passage.get("figure")]))
    for i, text in enumerate(texts):
        references[i].update(labels[label] for _, label in named_figures(text) if label in labels)
        for at, side in pointed_figures(text):
            references[i].update(_pointed((i, at), side, places, figures, passages[i]["last_page"]))
    return [sorted(numbers) for numbers in references]


def _place(figure: Figure, texts: Sequence[str], passages: Sequence[dict[str, Any]]) -> Place | None:
    """Return where the caption of a figure stands: on its page, else where it comes last, behind a list of figures."""
    beginning = " ".join(figure.caption.split())[:_BEGINNING]
    if not beginning:
        return None
    holding = [i for i, text in enumerate(texts) if beginning in text and not passages[i].get("figure")]
    pages = {i: (passages[i]["page"], passages[i]["last_page"] or passages[i]["page"]) for i in holding}
    near = [i for i, (first, last) in pages.items() if first and first <= figure.page <= last] or holding
    return (near[-1], texts[near[-1]].rindex(beginning), figure.number) if near else None


def _pointed(
    at: tuple[int, int], side: Side, places: Sequence[Place], figures: Sequence[Figure], page: int | None
) -> list[int]:
    """Return the number of the figure on a side of a place, if one is near."""
    if side == "overleaf":
        return [figure.number for figure in figures if page and figure.page == page + 1][:1]
    if side == "below":
        near = [place for place in places if place[:2] > at][:1]
    else:
        near = [place for place in places if place[:2] < at][-1:]
    return [number for passage, _, number in near if abs(passage - at[0]) <= _REACH]
