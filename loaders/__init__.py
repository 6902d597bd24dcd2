"""Source formats -> Documents: text, Markdown, HTML, JSON Lines, JSON, CSV, TSV, folders and benchmark folders."""

from kgrag.loaders.dispatch import FORMATS, load
from kgrag.loaders.rows import Columns

__all__ = ["FORMATS", "Columns", "load"]
