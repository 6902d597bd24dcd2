"""What everything else runs on: options, plugins, limits and spans; files, locks, and what is fetched."""
