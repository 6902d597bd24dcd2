"""The lab: question sets, experiments with retrievers and systems, papers, training, and grades of answers."""
