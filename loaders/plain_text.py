"""Plain text files, source code and configuration: a document a file, code titled by its path."""

from pathlib import PurePosixPath

from kgrag.loaders.base import EmptyInput, Source, clean, plain, read_text
from kgrag.loaders.reading import Format, single_document
from kgrag.values.documents import Document, Section

# Source code and configuration: plain text, titled by its path.


_SUFFIXES = """
    .asm .bash .bat .bib .c .cc .cfg .clj .cmake .conf .cpp .cs .css .cxx .cypher .dart .el .erl .ex .exs .f90
    .fish .go .gradle .graphql .groovy .h .hh .hpp .hs .ini .java .jl .js .jsx .kt .kts .less .lisp .lua .m
    .mjs .ml .mm .php .pl .pm .properties .proto .ps1 .py .pyi .pyx .r .rb .rs .sass .scala .scm .scss .sh
    .sql .svelte .swift .tcl .tex .tf .toml .ts .tsx .vb .vim .vue .yaml .yml .zig .zsh
""".split()
_PARTS = 3  # last parts of an absolute path; the title must not depend on the folder given to the load


def load_source_code(source: Source) -> Document:
    """Read a file as a document of one section, titled by its path in the root, else by the end of its path.

    Raises BadInput.
    """
    text = clean(read_text(source)).strip("\n")
    if not text.strip():
        raise EmptyInput()
    path = PurePosixPath(source.key)
    title = "/".join(path.parts[-_PARTS:]) if path.is_absolute() else str(path)
    return Document(source.key, (Section(text),), title, source.shown)


SOURCE_CODE = Format("source file", tuple(_SUFFIXES), single_document(load_source_code))


def load_text(source: Source) -> Document:
    """Read a text file as a document of one section, titled by its name. Raises BadInput."""
    text = plain(read_text(source)).strip()
    if not text:
        raise EmptyInput()
    return Document(source.key, (Section(text),), source.title, source.shown)


TEXT = Format("text file", (".txt",), single_document(load_text), version=2)
