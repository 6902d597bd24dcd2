"""Build a new collection as rows: documents are read once, and nodes and relationships are made in final form."""
