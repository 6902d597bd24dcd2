"""Neo4j Browser with pages of ours in it: the server serves only what is in Browser's own jar."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

_ARTIFACT = "neo4j-browser-"
_ROOT = "browser"


def copy_folder(server: Path, cache: Path) -> Path:
    """Where a server's copy is kept: Neo4j finds nothing in a jar whose path is not ASCII."""
    folder = server / _ROOT
    return folder if str(folder).isascii() else cache / _ROOT / hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def place_browser(jars: Sequence[Path], folder: Path, pages: Mapping[str, str]) -> list[Path]:
    """`jars` with a copy of Browser's in place of it, kept in `folder`, that holds `pages` (path -> text), too.

    The copy is made again only when the jar or a page changed. Raises OSError.
    """
    return [_with_pages(jar, folder / jar.name, pages) if jar.name.startswith(_ARTIFACT) else jar for jar in jars]


def _with_pages(jar: Path, copy: Path, pages: Mapping[str, str]) -> Path:
    entries = {f"{_ROOT}/{path}": text.encode() for path, text in pages.items()}
    if _holds(copy, entries):
        return copy
    for old in copy.parent.glob("*"):
        old.unlink()
    handle, name = tempfile.mkstemp(dir=copy.parent)
    os.close(handle)
    shutil.copyfile(jar, name)
    with ZipFile(name, "a", ZIP_DEFLATED) as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content)
    return Path(name).replace(copy)


def _holds(copy: Path, entries: Mapping[str, bytes]) -> bool:
    try:
        with ZipFile(copy) as archive:
            return all(archive.read(entry) == content for entry, content in entries.items())
    except (OSError, BadZipFile, KeyError):
        return False
