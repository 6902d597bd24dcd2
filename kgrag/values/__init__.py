"""Values: documents, passages, rankings, answers, rows, events and errors; they import nothing else of kgrag."""

__version__ = "0.3.0"
