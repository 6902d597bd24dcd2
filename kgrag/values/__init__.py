"""Values: documents, passages, rankings, answers, rows, events and errors; they know of nothing else."""
