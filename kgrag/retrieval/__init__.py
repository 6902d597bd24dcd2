"""Questions -> rankings: one retriever a module, and what they are composed of."""
