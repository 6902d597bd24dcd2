"""The density of names: the share of passages that mention two names or more that can serve as bridges.

Of a large collection it is counted on a sample, so that it takes as long whatever the size. Ids are hashes: those that
come first are a sample that follows from the documents alone, in whatever order they came.
"""

from kgrag.indexing.stage import StageContext
from kgrag.settings import BRIDGE_CAP, DENSITY_SAMPLE


def record_density(work: StageContext, sample: int = DENSITY_SAMPLE) -> None:
    """Count the density of a collection and keep it there."""
    bound = sample_bound(work.passages, sample)
    below = None if bound is None else f"{bound:016x}"
    work.graph.run("write/density", collection=work.name, cap=BRIDGE_CAP, below=below)


def sample_bound(passages: int, sample: int = DENSITY_SAMPLE) -> int | None:
    """The 64 bits that an id of the sample begins with are less than this; None where it is of all passages."""
    return None if passages <= sample else (sample << 64) // passages
