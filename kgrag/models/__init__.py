"""Models behind kgrag's own contracts: embedders, chat models, TAGME; and the prompts."""
