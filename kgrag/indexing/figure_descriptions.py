"""Descriptions of figures by a model that sees pictures: they are searched like other text of their documents."""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from kgrag.models.parallel import in_parallel
from kgrag.models.prompted import PromptedModel, harmless, titled
from kgrag.values.documents import Document, Figure, Problem
from kgrag.values.errors import BudgetError, ModelError, UnavailableError

TASK = "figure"
_THREADS = 8
T = TypeVar("T")


def described(items: Iterable[T], llm: PromptedModel) -> Iterator[T | Document | Problem]:
    """Yield documents with their figures described, and what else there is; a Problem where a model says nothing.

    Once the budget is used up, or the server is out of reach, figures stay as they are.
    """
    stopped = False
    for item in items:
        if not isinstance(item, Document) or stopped or not any(figure.data for figure in item.figures):
            yield item
            continue
        document: Document = item
        figures = {figure.number: figure for figure in document.figures}
        seen = [figure for figure in document.figures if figure.data]
        for figure, description in in_parallel(partial(_description, llm, document), seen, _THREADS):
            if isinstance(description, str):
                figures[figure.number] = replace(figure, description=description)
            elif isinstance(description, ModelError):
                yield Problem(document.source or document.key, f"{figure.name} is not described: {description.message}")
                if stopped := isinstance(description, BudgetError | UnavailableError):
                    break
            else:
                raise description
        yield replace(document, figures=tuple(figures.values()))


def _description(llm: PromptedModel, document: Document, figure: Figure) -> str:
    picture = f"data:{figure.media_type};base64,{base64.b64encode(figure.data).decode()}"
    caption = harmless(figure.caption) or "none"
    return llm.text(TASK, picture=picture, whole=True, title=titled(document.title or document.key), caption=caption)
