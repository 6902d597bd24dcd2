"""`python -m kgrag` is `kgrag`."""

from kgrag.cli import main

if __name__ == "__main__":
    main()
