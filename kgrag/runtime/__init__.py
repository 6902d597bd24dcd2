"""Foundations of everything else: options, plugins, limits, spans, files, locks, downloads and child processes."""
