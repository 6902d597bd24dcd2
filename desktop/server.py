"""What a desktop assistant starts: `kgrag mcp` with the collections that its user has named, all if none."""

import os

from kgrag.cli import main

names = [name.strip() for name in os.environ.get("COLLECTIONS", "").split(",")]
main(["mcp", *(f"--collection={name}" for name in names if name)])
