"""Agents: strategies that ask a retriever and a language model, step by step, and answer."""
