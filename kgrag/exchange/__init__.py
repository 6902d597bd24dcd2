"""Out and back: collections as JSON Lines and CSV, read back node by node and edge by edge; GraphML goes out only."""
