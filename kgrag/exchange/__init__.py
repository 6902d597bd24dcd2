"""Out and back: collections as JSON Lines, read back node by node and edge by edge; GraphML goes out only."""
