"""The public face of kgrag: a KnowledgeGraph with its Collections, and their asynchronous twins."""
