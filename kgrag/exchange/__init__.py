"""Out and back: collections as files (GraphML, CSV, JSON Lines), read back node by node and edge by edge."""
