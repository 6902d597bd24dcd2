"""Evaluation: question sets, experiments with retrievers and systems on them, and training."""
