"""What work on this machine rests on: files written whole, locks, and files fetched from a Maven repository."""
