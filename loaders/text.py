"""Plain text files."""

from kgrag.loaders.base import EmptyInput, Format, Source, plain, read_text, whole
from kgrag.values.documents import Document, Section


def load_text(source: Source) -> Document:
    """A text file as a document of one section, titled by its name. Raises BadInput."""
    text = plain(read_text(source)).strip()
    if not text:
        raise EmptyInput()
    return Document(source.key, (Section(text),), source.title, source.shown)


TEXT = Format("text file", (".txt",), whole(load_text), version=2)
