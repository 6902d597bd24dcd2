"""Inspection of a collection: its counts, its shape, its gaps, and the remedy for each gap."""
