"""The lab: question sets, experiments with retrievers and systems on them, papers, training, and marks of answers."""
