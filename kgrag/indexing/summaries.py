"""What a summary says: sentences of its members that are nearest to their middle, or what a language model writes."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from kgrag.models.budget import LOW
from kgrag.models.embed import Embedder, embed_each, unit
from kgrag.models.shown import harmless, titled
from kgrag.models.tasks import Tasks
from kgrag.text.segmentation import sentences

TASK = "summarise"
EXTRACTED = "sentences"
"""What `made` says of a summary that no model wrote."""
_TELLING = 10  # members nearest to the middle whose sentences are looked at
_FIRST = 3  # sentences of each
_SENTENCES = 5  # of a summary (RAPTOR, appendix C: summaries have some 130 tokens)
_SHORTEST, _LONGEST = 20, 400  # characters of a sentence
_TERMS = 4  # in the name of a summary
_SHOWN = 24  # members that a model is shown, the nearest to the middle
_CHARACTERS = 2000  # of each

Member = Mapping[str, Any]
"""A passage or summary: {id, title, text, terms}."""


class Summary(BaseModel):
    """A reply: a heading of a few words, and the summary."""

    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Said:
    """The name and the text of a summary."""

    name: str
    text: str


def nearest_first(members: Sequence[Member], vectors: NDArray[np.float32]) -> list[Member]:
    """The members by how near their unit vectors [n, d] are to the middle of all, ties by id."""
    cosines = vectors @ unit(vectors.mean(axis=0, keepdims=True))[0]
    order = sorted(range(len(members)), key=lambda i: (-float(cosines[i]), members[i]["id"]))
    return [members[i] for i in order]


def extracted(
    groups: Sequence[Sequence[Member]],
    embedder: Embedder,
    language: str,
    middles: NDArray[np.float32] | None = None,
) -> list[Said]:
    """For each group of members, the most telling first, the sentences nearest to its middle, a unit vector [d] each.

    Without `middles` that is the middle of these sentences themselves. They stand in the order of their members; the
    name is the terms that most members have.
    """
    found = [_candidates(members, language) for members in groups]
    vectors, _ = embed_each(embedder, [sentence for each in found for sentence in each])
    said, start = [], 0
    for number, (members, each) in enumerate(zip(groups, found, strict=True)):
        own = vectors[start : start + len(each)]
        cosines = own @ (own.sum(axis=0) if middles is None else middles[number])
        start += len(each)
        best = sorted(np.argsort(-cosines, kind="stable")[:_SENTENCES])
        text = " ".join(each[i] for i in best) or (members[0]["text"][:_LONGEST] if members else "")
        said.append(Said(_name(members, text), text))
    return said


def asked(members: Sequence[Member], tasks: Tasks) -> Said:
    """What a language model says of members, nearest first. Raises ModelError."""
    reply = tasks.structured(TASK, Summary, texts=shown(members))
    text = " ".join(reply.summary.split())
    return Said(" ".join(reply.title.split()) or _name(members, text), text)


def shown(members: Sequence[Member], tokens: int | None = None) -> str:
    """The texts that a model is to sum up, the most telling first; of no more than some tokens, but for the first."""
    blocks: list[str] = []
    left = math.inf if tokens is None else tokens * LOW
    for number, member in enumerate(members[:_SHOWN], 1):
        block = numbered_text(number, member)
        left -= len(block.encode())
        if blocks and left < 0:
            break
        blocks.append(block)
    return "\n".join(blocks)


def numbered_text(number: int, member: Member) -> str:
    """A text as a model is shown it, in a frame that it cannot leave."""
    text = harmless(member["text"][:_CHARACTERS])
    return f'<text number="{number}" title="{titled(member["title"])}">\n{text}\n</text>'


def _candidates(members: Sequence[Member], language: str) -> list[str]:
    found = dict.fromkeys(
        " ".join(sentence.split())
        for member in members[:_TELLING]
        for sentence in list(sentences(member["text"], language))[:_FIRST]
    )
    return [sentence for sentence in found if _SHORTEST <= len(sentence) <= _LONGEST]


def _name(members: Sequence[Member], text: str) -> str:
    """The terms that most members have, ties by their order; without any, the text."""
    counts = Counter(term for member in members for term in dict.fromkeys(member["terms"]))
    return ", ".join(term for term, _ in counts.most_common(_TERMS)) or text
