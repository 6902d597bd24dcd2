"""Models: embedders."""
