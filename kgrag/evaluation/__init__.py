"""Evaluation: question sets, experiments with retrievers and systems on them, and training."""

from typing import TYPE_CHECKING

from kgrag.runtime.lazy import offered

if TYPE_CHECKING:
    from kgrag.evaluation.datasets import Corpus as Corpus
    from kgrag.evaluation.datasets import Dataset as Dataset
    from kgrag.evaluation.datasets import Format as Format
    from kgrag.evaluation.datasets import Question as Question
    from kgrag.evaluation.datasets import has as has
    from kgrag.evaluation.experiment import Experiment as Experiment
    from kgrag.evaluation.readers import read_dataset as read_dataset
    from kgrag.evaluation.variants import join as join
    from kgrag.evaluation.variants import merge as merge
else:
    __all__, __getattr__, __dir__ = offered(
        __name__,
        {
            "datasets": "Corpus Dataset Format Question has",
            "experiment": "Experiment",
            "readers": "read_dataset",
            "variants": "join merge",
        },
    )
