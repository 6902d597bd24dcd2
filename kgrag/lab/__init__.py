"""The lab: question sets, experiments with retrievers and systems, papers, training, and grading of answers."""
