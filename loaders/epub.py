"""EPUB books: their chapters are XHTML pages, read in the order of the book's spine (EPUB 3.3, sections 4.2 and 5)."""

import posixpath
import zipfile
from functools import partial
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from kgrag.loaders.base import BadInput, decode_or_repair, one_line
from kgrag.loaders.figures import LARGEST, inline
from kgrag.loaders.html import add_html, declared_encoding
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format
from kgrag.loaders.worker_formats import Content, check_archive, content, parse_xml, read_apart

_PAGES = ("application/xhtml+xml", "text/html", "")


_DAMAGES = (zipfile.BadZipFile, ElementTree.ParseError, KeyError, EOFError, ValueError, OSError, NotImplementedError)


def read_epub(path: Path) -> Content:
    """Return the chapters of a book. Raises BadInput."""
    if "META-INF/container.xml" not in check_archive(path):
        raise BadInput("is a ZIP archive, but no EPUB book; unpack it")
    try:
        with zipfile.ZipFile(path) as archive:
            return _book(archive)
    except _DAMAGES as error:
        raise BadInput(f"is an EPUB book that is damaged ({one_line(str(error))[:200]})") from error


def _book(archive: zipfile.ZipFile) -> Content:
    rootfile = parse_xml(archive, "META-INF/container.xml").find(".//{*}rootfile")
    place = "" if rootfile is None else rootfile.get("full-path", "")
    package = parse_xml(archive, place)
    if any(name == "META-INF/encryption.xml" for name in archive.namelist()) and _is_locked(archive):
        raise BadInput("is locked by its seller (DRM), so that only their program can read it")
    items = {item.get("id", ""): item for item in package.iterfind("{*}manifest/{*}item")}
    outline = Outline()
    for reference in package.iterfind("{*}spine/{*}itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or item.get("media-type", "") not in _PAGES:
            outline.left_out["chapter of another format"] += item is not None and item.get("media-type") != "text/css"
            continue
        name = posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(item.get("href", ""))))
        if "nav" in item.get("properties", "").split():
            continue
        if name not in archive.NameToInfo:
            outline.problems.append(f"has no {name}, which its list of chapters names")
            continue
        data = archive.read(name)
        outline.pictures = partial(_picture, archive, posixpath.dirname(name))
        text, problem = decode_or_repair(data, declared_encoding(data))
        outline.problems += [f"{problem} ({name})"] if problem else []
        add_html(outline, text)
    fields = {"author": "creator", "date": "date", "language": "language"}
    metadata = {name: _field(package, element) for name, element in fields.items()}
    return content(outline, _field(package, "title"), metadata)


def _picture(archive: zipfile.ZipFile, folder: str, address: str) -> bytes | None:
    """Return a picture of the book by its address in a chapter, or None if it is missing or too large."""
    entry = archive.NameToInfo.get(posixpath.normpath(posixpath.join(folder, unquote(address))))
    if entry is None:
        return inline(address)
    return archive.read(entry) if entry.file_size <= LARGEST else None


def _is_locked(archive: zipfile.ZipFile) -> bool:
    """Return whether more than fonts is encrypted."""
    references = parse_xml(archive, "META-INF/encryption.xml").iterfind(".//{*}CipherReference")
    return any(
        not reference.get("URI", "").lower().endswith((".ttf", ".otf", ".woff", ".woff2")) for reference in references
    )


def _field(package: Element, name: str) -> str:
    """Return a field of the book's Dublin Core metadata, or ""."""
    element = package.find(f"{{*}}metadata/{{http://purl.org/dc/elements/1.1/}}{name}")
    return one_line("".join(element.itertext())) if element is not None else ""


EPUB = Format("EPUB book", (".epub",), read_apart("kgrag.loaders.epub:read_epub"), untrusted=True, version=6)
