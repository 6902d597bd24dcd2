"""A new collection as rows: its documents are read once, and every node and relationship is made in its final form."""
