"""Plain text files."""

from kgrag.loaders.base import BadInput, Format, Source, clean, read_text, whole
from kgrag.types import Document, Section


def load_text(source: Source) -> Document:
    """A text file as a document of one section, titled by its name. Raises BadInput."""
    text = clean(read_text(source)).strip()
    if not text:
        raise BadInput("is empty")
    return Document(source.key, (Section(text),), source.title, source.shown)


TEXT = Format("text file", (".txt",), whole(load_text))
