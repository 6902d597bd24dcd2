"""Export and import: collections as JSON Lines in both directions, and GraphML for export alone."""
