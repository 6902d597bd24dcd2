"""Readers of question sets: kgrag's own format, and the formats of published data sets."""

from pathlib import Path

from kgrag.lab.datasets import Dataset, Format
from kgrag.lab.readers import beir, own
from kgrag.lab.readers.passages import first_row
from kgrag.runtime.plugins import Plugins
from kgrag.values.errors import InputError

FORMATS: Plugins[Format] = Plugins("kgrag.datasets", "format")
"""The formats by name; a new one is a module with a Format, and an entry point of this group."""


def read_dataset(path: Path | str, format: str | None = None) -> Dataset:
    """Read a question set from a file, or a folder that holds one.

    Args:
        path: the file or folder.
        format: its name, as `kgrag lab eval --help` lists them; None: detected from the content.

    Returns:
        The questions and the corpus.

    Raises:
        NotFoundError: there is no such format.
        InputError: the path does not exist, or its content is in no known format, or damaged.
    """
    path = Path(path).resolve()
    named = None if format is None else FORMATS.find(format)
    if not path.exists():
        raise InputError(f"{path} is not a folder or a file: it does not exist.", "Check the spelling.")
    if named is None:
        format, path = recognise(path)
        named = FORMATS[format]
    elif path.is_dir() and named.fits is not None:
        path = _only([file for file in _files(path) if _format_of(file) == format], path, format)
    return named.read(path)


def recognise(path: Path) -> tuple[str, Path]:
    """Detect the format of a file or folder, and the file to read. Raises InputError for an unknown format."""
    if path.is_file():
        if path.parent.name == beir.QRELS and path.suffix == ".tsv":
            return "beir", path
        form = _format_of(path)
        if form is None:
            raise InputError(f"{path} has no known format.", _formats())
        return form, path
    if (path / beir.QRELS).is_dir():
        return "beir", path
    files = {file: form for file in _files(path) if (form := _format_of(file)) is not None}
    if not files and ((path / own.CORPUS).exists() or (path / own.QUERIES).exists()):
        return "kgrag", path
    file = _only(list(files), path, None)
    return files[file], file


def _format_of(file: Path) -> str | None:
    row = first_row(file)
    return next((name for name, format in FORMATS.items() if row and format.fits and format.fits(row)), None)


def _files(folder: Path) -> list[Path]:
    return sorted(f for f in folder.iterdir() if f.is_file() and not f.name.startswith("."))


def _only(files: list[Path], folder: Path, format: str | None) -> Path:
    if len(files) == 1:
        return files[0]
    if files:
        names = ", ".join(f.name for f in files)
        raise InputError(f"{folder} holds several question sets: {names}.", "Name one of these files.")
    expected = f"It must hold {FORMATS[format].expected}." if format else _formats()
    raise InputError(f"{folder} holds no question set{f' in the format {format}' if format else ''}.", expected)


def _formats() -> str:
    lines = "".join(f"\n  {name:<9} {format.expected}" for name, format in FORMATS.items())
    return f"Known formats, which --format NAME forces:{lines}"
