"""Training of GFM-RAG's network: from a question's entities to the entities of the passages that answer it.

The loss of a question is alpha times the binary cross-entropy of its entities, plus 1 - alpha times a ranking loss: the
negative logarithm of the gold entities' share in the relevance of all. Source: GFM-RAG, section 3.2 (its supervised
training; the training on triples with a missing end is not implemented). As in its official code, a softmax of their
own scores weights the cross-entropy of entities outside the gold.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kgrag.lab import training as shared
from kgrag.lab.constants import GfmTraining
from kgrag.lab.datasets import Question
from kgrag.retrieval.base import Query
from kgrag.retrieval.gfm import Loaded, Surroundings
from kgrag.values.events import Progress

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Example:
    """A training question: the network's input (`Loaded.inputs`), and which entities its gold mentions [n]."""

    question: Question
    inputs: "tuple[Tensor, Tensor, Tensor, Tensor]"
    gold: "Tensor"


def prepare(
    surroundings: Surroundings, loaded: Loaded, questions: Sequence[Question], progress: Progress
) -> list[Example]:
    """Read the graph about each question; leave out questions without an entity or without gold entities in it.

    Of a gold document's passages, the nearest counts. Raises InputError if fewer than two questions are left.
    """
    import torch

    context, name = surroundings.context, surroundings.context.reader.collection.name

    def read(question: Question) -> Example | None:
        query = Query(question.text)
        posed = surroundings.of(query)
        if posed is None:
            return None
        passages = context.reader.document_scores(question.gold, query.vector(context.embedder)).values()
        elements = context.row("retrieve/gfm_entities", passages=[id for id, _ in passages])["entities"]
        node = posed.graph.ties.node
        gold = np.zeros(len(node), np.bool_)
        gold[[node[element] for element in elements if element in node]] = True
        return Example(question, loaded.inputs(query, posed), torch.from_numpy(gold)) if gold.any() else None

    return shared.prepare(
        questions,
        read,
        progress,
        f"lead to entities of their gold in collection {name!r}",
        f"Hundreds are better. Find triples in their documents: `kgrag enrich extract -c {name}`.",
    )


def held_out(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """Split examples into a training set and about `share` held out, without common gold. Raises InputError."""
    by_text = {example.question.text: example for example in examples}
    return shared.hold_out(list(by_text.values()), lambda example: example.question.gold, share, seed)


def loss(scores: "Tensor", gold: "Tensor", training: GfmTraining) -> "Tensor":
    """Return the loss of one question.

    `scores` [n]: log-odds of the entities, `gold` [n]: which ones are gold.
    """
    from torch.nn import functional as F  # noqa: N812

    others = scores[~gold]
    binary = F.softplus(-scores[gold]).mean()
    if len(others):
        heat = others.detach() / training.temperature if training.temperature else others.detach() * 0
        binary = (binary + (F.softmax(heat, 0) * F.softplus(others)).sum()) / 2
    relevance = F.logsigmoid(scores)
    ranking = (relevance.logsumexp(0) - relevance[gold]).mean()
    return training.alpha * binary + (1 - training.alpha) * ranking


def train(
    loaded: Loaded, examples: Sequence[Example], training: GfmTraining, seed: int, progress: Progress
) -> list[float]:
    """Fit the network in place by AdamW; return the mean loss of each epoch, measured during training."""
    import torch

    network, chance = loaded.network, random.Random(seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=training.rate)
    order = list(range(len(examples)))
    losses = []
    network.train()
    for epoch in range(training.epochs):
        progress("training", epoch, training.epochs)
        chance.shuffle(order)
        total = 0.0
        for first in range(0, len(order), training.batch):
            batch = [examples[i] for i in order[first : first + training.batch]]
            optimizer.zero_grad()
            for example in batch:
                value = loss(network(*example.inputs), example.gold, training)
                (value / len(batch)).backward()  # type: ignore[no-untyped-call, unused-ignore]
                total += float(value.detach())
            optimizer.step()
        losses.append(total / len(order))
    progress("training", training.epochs, training.epochs)
    network.eval()
    return losses


def recall(loaded: Loaded, examples: Sequence[Example], most: int) -> float:
    """Return the mean share of the gold's entities among the `most` relevant ones, 0 to 1."""
    import torch

    recalls = []
    with torch.inference_mode():
        for example in examples:
            best = loaded.network(*example.inputs).topk(min(most, len(example.gold))).indices
            recalls.append(float(example.gold[best].sum() / min(most, int(example.gold.sum()))))
    return sum(recalls) / len(recalls)
