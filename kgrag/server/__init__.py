"""Servers for other programs, over the same Collection objects as the command line."""
