"""Questions -> rankings: one retriever a module, and their fusion."""
