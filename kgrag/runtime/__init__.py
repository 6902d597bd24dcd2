"""The foundations: options, plugins, limits, spans, files, locks, downloads and child processes."""
