"""The engine ray, in a separate environment: two nodes make the graph of one process, even if one is killed."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kgrag import KnowledgeGraph

pytestmark = pytest.mark.adapters

_PROGRAM = Path(__file__).with_name("with_ray.py")
_PYTHON = Path(__file__).parents[2] / ".venv-ray" / "bin" / "python"


def test_ray_makes_the_same_graph(kg: KnowledgeGraph, neo4j_env: dict[str, str], collection_name: str) -> None:
    env = os.environ | neo4j_env
    run = subprocess.run([_PYTHON, _PROGRAM, collection_name], env=env, capture_output=True, text=True, timeout=280)
    assert run.returncode == 0, run.stderr[-3000:]
    found: dict[str, Any] = json.loads(run.stdout)  # without any output of Ray's
    assert found["ray"] == found["killed"] == found["here"]
    assert found["nodes"] == 1  # the other of two was killed midway
    assert found["refused"] == ["Three is not read.", "Leave it out."]
    assert "3 workers ended at the same work" in found["lost"]
    assert "no room for a worker: it has 0 GPUs" in found["roomless"]
    assert "There is no Ray cluster at 127.0.0.1:9" in found["nowhere"]
    assert "ray start --head" in found["nowhere"]
