"""What everything else runs on: options, plugins, limits and spans; files, locks, downloads and child processes."""
