"""GFM-RAG's network against a computation entity by entity, and its weights in files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kgrag.values.errors import ConfigurationError

pytestmark = pytest.mark.models

Array = NDArray[np.float64]


def network(dimension: int = 5, width: int = 4, layers: int = 3) -> Any:
    import torch

    from kgrag.models.gfm import Network

    torch.manual_seed(1)
    return Network(dimension, width, layers)


def graph(entities: int = 9, edges: int = 20, relations: int = 3, dimension: int = 5) -> tuple[Array, ...]:
    """Return a question's vector, the vectors of relations and their inverses, edges, and the question's entities."""
    random = np.random.default_rng(2)
    ends = random.integers(0, entities, (edges, 2))
    kinds = random.integers(0, relations, edges)
    start = np.zeros(entities)
    start[[2, 5]] = 1.0, 0.25
    known = random.normal(size=(2 * relations, dimension))
    return random.normal(size=dimension), known, np.stack([ends[:, 0], kinds, ends[:, 1]], axis=1), start


def scores(model: Any, given: tuple[Array, ...]) -> Array:
    import torch

    question, known, edges, start = given
    with torch.no_grad():
        asked = [torch.tensor(x, dtype=torch.float32) for x in (question, known)]
        found: Array = model(*asked, torch.tensor(edges), torch.tensor(start, dtype=torch.float32)).numpy()
    return found


def by_hand(model: Any, given: tuple[Array, ...]) -> Array:
    """Compute the same in loops over entities and edges, in double precision."""
    state = {name: w.detach().numpy().astype(float) for name, w in model.state_dict().items()}
    question, known, edges, start = given

    def linear(name: str, x: Array) -> Array:
        return state[f"{name}.weight"] @ x + state[f"{name}.bias"]

    def two(name: str, x: Array) -> Array:
        return linear(f"{name}.2", np.maximum(linear(f"{name}.0", x), 0))

    asked = linear("question_mlp", question)
    relations = [linear("rel_mlp", r) for r in known]
    begun = [s * asked for s in start]
    x, layer, inverse = begun, 0, len(known) // 2
    while f"entity_model.layers.{layer}.linear.weight" in state:
        name = f"entity_model.layers.{layer}"
        now = []
        for entity in range(len(start)):
            received = begun[entity].copy()
            for head, kind, tail in edges:
                if tail == entity:
                    received += x[head] * two(f"{name}.relation_projection", relations[kind])
                if head == entity:
                    received += x[tail] * two(f"{name}.relation_projection", relations[kind + inverse])
            made = linear(f"{name}.linear", np.concatenate([x[entity], received]))
            made = (made - made.mean()) / np.sqrt(made.var() + 1e-5)
            made = made * state[f"{name}.layer_norm.weight"] + state[f"{name}.layer_norm.bias"]
            now.append(np.maximum(made, 0) + x[entity])
        x, layer = now, layer + 1
    return np.array([two("entity_model.mlp", np.concatenate([v, asked]))[0] for v in x])


def test_the_scores_are_those_worked_out_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    model, given = network(), graph()
    wanted = by_hand(model, given)
    assert np.ptp(wanted) > 0.01
    assert scores(model, given) == pytest.approx(wanted, abs=1e-5)
    monkeypatch.setattr("kgrag.models.gfm.PART", 3)  # computes messages of many edges in parts
    assert scores(model, given) == pytest.approx(wanted, abs=1e-5)


def test_the_order_of_entities_and_edges_changes_nothing() -> None:
    model, given = network(), graph()
    question, known, edges, start = given
    random = np.random.default_rng(3)
    place = random.permutation(len(start))  # the new index of each entity
    moved = np.empty_like(start)
    moved[place] = start
    shuffled = random.permutation(np.stack([place[edges[:, 0]], edges[:, 1], place[edges[:, 2]]], axis=1))
    assert scores(model, (question, known, shuffled, moved))[place] == pytest.approx(scores(model, given), abs=1e-5)


def test_what_is_out_of_reach_is_alike() -> None:
    model, (question, known, _, start) = network(layers=2), graph()
    chain = np.array([[i, 0, i + 1] for i in range(len(start) - 1)])
    start[:] = 0
    start[0] = 1
    found = scores(model, (question, known, chain, start))
    assert len({round(float(x), 5) for x in found[:3]}) == 3
    assert found[3:] != pytest.approx(found[0], abs=1e-4)
    assert found[3:-1] == pytest.approx(np.full(len(found) - 4, found[4]), abs=1e-5)  # two layers reach no farther


def test_weights_are_read_as_they_were_written_and_as_others_publish_them(tmp_path: Path) -> None:
    import torch

    from kgrag.models.gfm import load, save

    model, given = network(), graph()
    save(model, tmp_path / "new" / "network.pth", "wordllama", {"seed": 0})
    read = load(tmp_path / "new" / "network.pth")
    assert read.embedder == "wordllama"
    assert scores(read.network, given).tolist() == scores(model, given).tolist()
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["network.pth"]
    torch.save({"model": model.state_dict()}, tmp_path / "model.pth")
    assert load(tmp_path).embedder == ""
    config = {"text_emb_model_config": {"text_emb_model_name": "maker/encoder"}, "model_config": {}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert load(str(tmp_path)).embedder == load(tmp_path / "model.pth").embedder == "sbert:maker/encoder"
    assert scores(load(tmp_path).network, given).tolist() == scores(model, given).tolist()


def test_the_layout_is_that_of_the_published_weights() -> None:
    """The network has eight million weights under the names in the official code."""
    model = network(768, 512, 6)
    assert sum(w.numel() for w in model.parameters()) == 8_144_897
    parts = ("linear", "layer_norm", "relation_projection.0", "relation_projection.2")
    names = ["rel_mlp", "question_mlp", "entity_model.mlp.0", "entity_model.mlp.2"]
    names += [f"entity_model.layers.{i}.{part}" for i in range(6) for part in parts]
    assert set(model.state_dict()) == {f"{name}.{kind}" for name in names for kind in ("weight", "bias")}


def test_what_holds_no_weights_is_refused(tmp_path: Path) -> None:
    import torch

    from kgrag.models.gfm import load

    with pytest.raises(ConfigurationError, match="no weights of GFM-RAG at"):
        load(tmp_path / "none.pth")
    (tmp_path / "text.pth").write_text("no weights")
    with pytest.raises(ConfigurationError, match="holds no weights"):
        load(tmp_path / "text.pth")
    state = network().state_dict() | {"ent_mlp.weight": torch.zeros(4, 5)}  # of a later version
    torch.save({"model": state}, tmp_path / "other.pth")
    with pytest.raises(ConfigurationError, match="holds no weights"):
        load(tmp_path / "other.pth")
