"""Questions -> rankings: one retriever a module, and operators that compose them."""
