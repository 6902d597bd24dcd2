"""Text: tokens, names, aliases and sentences, in many languages."""
