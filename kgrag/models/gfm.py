"""The network of GFM-RAG: question-dependent message passing over the triples of a graph; its weights in files.

The entities named in a question start with the question's vector, all others with zeros. In each layer an entity
receives from each neighbour the product of the neighbour's vector and the relation's vector (DistMult), and sums them.
A linear layer of its own vector and the sum is added to its vector. Relations are represented only by the vectors of
their texts, so the network can be used over a graph that it was not trained on.
Source: GFM-RAG (Luo et al., 2025), section 3.2; NBFNet (Zhu et al., 2021), section 3.2. Needs torch: import it where it
is used.

The parts are named as in the published weights, so that those can be loaded: `rel_mlp`, `question_mlp`,
`entity_model.layers.N.{linear,layer_norm,relation_projection}`, `entity_model.mlp`.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from kgrag.runtime.files import user_file
from kgrag.values.errors import ConfigurationError

PART = 1 << 16  # edges whose messages are made at once


class Layer(nn.Module):  # type: ignore[misc, unused-ignore]
    """One layer of message passing; `width`: length of an entity's vector."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(2 * width, width)
        self.layer_norm = nn.LayerNorm(width)
        self.relation_projection = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x: Tensor, start: Tensor, relations: Tensor, edges: Tensor) -> Tensor:
        """Return the entities' vectors after the layer.

        `x` and `start` [n, width], `relations` [r, width], `edges` [m, 3].

        An edge is its head, its relation and its tail, who receives; `start`: what the entities began with, which each
        receives again.
        """
        projection = self.relation_projection(relations)
        received = start.clone()
        for first in range(0, len(edges), PART):
            heads, kinds, tails = edges[first : first + PART].unbind(1)
            received.index_add_(0, tails, x[heads] * projection[kinds])
        message: Tensor = torch.relu(self.layer_norm(self.linear(torch.cat([x, received], dim=1))))
        return message + x


class Reasoner(nn.Module):  # type: ignore[misc, unused-ignore]
    """The layers, and what scores an entity by its vector beside the question's."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.mlp = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.ReLU(), nn.Linear(2 * width, 1))


class Network(nn.Module):  # type: ignore[misc, unused-ignore]
    """A query-dependent graph neural network; `dimension`: length of the texts' vectors."""

    def __init__(self, dimension: int, width: int = 512, layers: int = 6) -> None:
        super().__init__()
        self.rel_mlp = nn.Linear(dimension, width)
        self.question_mlp = nn.Linear(dimension, width)
        self.entity_model = Reasoner(width, layers)

    @property
    def dimension(self) -> int:
        """Length of the vectors of questions and relations."""
        return int(self.rel_mlp.in_features)

    def forward(self, question: Tensor, relations: Tensor, edges: Tensor, start: Tensor) -> Tensor:
        """Return how relevant each entity is, as log-odds [n].

        `question` [d]; `relations` [2 r, d]: those of the edges, then their inverses; `edges` [m, 3]: head, relation
        (below r), tail; messages go both ways. `start` [n]: how much of the question stands at each entity.
        """
        heads, kinds, tails = edges.unbind(1)
        back = torch.stack([tails, kinds + len(relations) // 2, heads], dim=1)
        both = torch.cat([edges, back])
        projection, query = self.rel_mlp(relations), self.question_mlp(question)
        initial = start[:, None] * query
        x = initial
        for layer in self.entity_model.layers:
            x = layer(x, initial, projection, both)
        scores: Tensor = self.entity_model.mlp(torch.cat([x, query.expand_as(x)], dim=1))
        return scores[:, 0]


@dataclass(frozen=True, slots=True)
class Weights:
    """A network with its weights.

    The embedder that it was trained with ("" where the file does not say), and the record of its training by `kgrag lab
    train gfm`.
    """

    network: Network
    embedder: str
    training: Mapping[str, Any]


def load(path: str | Path) -> Weights:
    """Load the network of a file of `save`, or of the published layout.

    `model.pth`, or the folder with its `config.json`.

    Raises ConfigurationError for a missing file, or one of another kind.
    """
    file = Path(path).expanduser()
    if file.is_dir():
        file /= "model.pth"
    try:
        weights = torch.load(file, map_location="cpu", weights_only=True)
        state = dict(weights["model"])
        count = 1 + max(int(key.split(".")[2]) for key in state if key.startswith("entity_model.layers."))
        width, dimension = state["rel_mlp.weight"].shape
        network = Network(dimension, width, count)
        network.load_state_dict(state)
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"There are no weights of GFM-RAG at {path}.",
            "Name a file of `kgrag lab train gfm`, or the folder of published weights (model.pth and config.json).",
        ) from error
    except Exception as error:  # pickles and shapes fail in many ways
        raise ConfigurationError(
            f"{path} holds no weights of GFM-RAG: {str(error).strip().splitlines()[0]}",
            "Name a file of `kgrag lab train gfm`, or published weights of GFM-RAG (first generation, without vectors "
            "of entities).",
        ) from error
    embedder = str(weights.get("embedder") or _published_embedder(file.with_name("config.json")))
    return Weights(network.eval(), embedder, json.loads(weights.get("training") or "{}"))


def _published_embedder(config: Path) -> str:
    """Return the text encoder that a published configuration names."""
    try:
        config_of_text = json.loads(config.read_text(encoding="utf-8"))["text_emb_model_config"]
        name = config_of_text.get("text_emb_model_name") or config_of_text.get("text_emb_model_name_or_path")
    except (OSError, ValueError, KeyError, AttributeError):
        return ""
    return f"sbert:{name}" if name else ""


def save(network: Network, path: Path, embedder: str, about: Mapping[str, Any]) -> None:
    """Write the weights, the embedder and a description of their training to a file: all of it or nothing.

    Raises InputError when it cannot be written.
    """
    with user_file(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(handle, "wb") as file:
                torch.save({"model": network.state_dict(), "embedder": embedder, "training": json.dumps(about)}, file)
            Path(part).chmod(0o644)
            Path(part).replace(path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
