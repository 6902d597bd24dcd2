"""Values: documents, passages, rankings, answers, rows, events and errors; they know of nothing else."""

__version__ = "0.3.0"
