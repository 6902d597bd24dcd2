"""Embedders, chat models and TAGME behind kgrag's own contracts, and the prompts."""
