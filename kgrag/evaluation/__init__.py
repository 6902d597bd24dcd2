"""Evaluation: question sets, experiments with retrievers and systems on them, and training."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.evaluation.experiment import Experiment
    from kgrag.evaluation.readers import read_dataset
    from kgrag.evaluation.variants import join, merge

__all__ = ["Experiment", "join", "merge", "read_dataset"]
_HOMES = {"Experiment": "experiment", "read_dataset": "readers", "join": "variants", "merge": "variants"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"kgrag.evaluation.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
