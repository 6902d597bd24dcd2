"""Load web archives (WARC, ISO 28500) and extracted texts (WET), plain or compressed: each page is a document.

Error responses of servers, pictures and the like are skipped.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from kgrag.loaders.base import (
    BadInput,
    Item,
    Source,
    clean,
    decode_or_repair,
    needs,
    one_line,
    open_file,
    over_limit,
    plain,
    tell,
)
from kgrag.loaders.html import add_html, declared_encoding
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format
from kgrag.values.documents import Document, Problem, Section, Table

_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)
_CODECS = {"br": "brotli", "zstd": "zstd", "gzip": "gzip", "x-gzip": "gzip"}
"""Content encodings (RFC 9110, section 8.4.1) and their names in pyarrow."""
_HTML = ("text/html", "application/xhtml+xml")


def load_warc(source: Source) -> Iterator[Item]:
    """Yield the pages of a web archive one at a time, or a Problem for an unreadable page. Raises BadInput."""
    needs("warcio", "a web archive", "warcio", "web")
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    number = pages = 0
    left_out: Counter[str] = Counter()
    with open_file(source) as file:
        try:
            for record in ArchiveIterator(file):
                number += 1
                for item in _record(source, record, number, left_out):
                    pages += isinstance(item, Document)
                    yield item
        except (ArchiveLoadFailed, EOFError, OSError) as error:
            where = f"is damaged after record {number:,}" if number else "is no web archive, or damaged"
            raise BadInput(f"{where} ({one_line(str(error))[:200]})") from error
        finally:
            tell(source, left_out)
    if not pages:
        raise BadInput("holds no page with text")


def _record(source: Source, record: Any, number: int, left_out: Counter[str]) -> Iterator[Item]:
    """Yield the document of a record, or a Problem; nothing if the record is not a page."""
    if record.rec_type == "response":
        kind = (record.http_headers.get_header("Content-Type") or "") if record.http_headers else ""
        good = record.http_headers is not None and record.http_headers.get_statuscode() == "200"
    else:
        kind = record.rec_headers.get_header("Content-Type") or ""
        good = record.rec_type in ("conversion", "resource")
    media = kind.partition(";")[0].strip().lower()
    if not good or media not in (*_HTML, "text/plain"):
        return
    place = f"{source.shown}#{number}"
    try:
        data = _body(record, source.limit + 1)
    except BadInput as error:
        yield Problem(place, str(error), lasting=True)
        return
    if len(data) > source.limit:
        yield Problem(place, over_limit("page", source.limit), lasting=True)
        return
    named = _CHARSET.search(kind)
    declared = named[1] if named else declared_encoding(data) if media in _HTML else None
    try:
        text, problem = decode_or_repair(data, declared)
        title, sections, tables = _html(text, left_out) if media in _HTML else ("", _plain(text), ())
    except BadInput as error:
        yield Problem(place, str(error), lasting=True)
        return
    if problem:
        yield Problem(place, problem, lasting=True)
    headers = record.rec_headers
    address = clean(headers.get_header("WARC-Target-URI") or "")
    id = clean(headers.get_header("WARC-Record-ID") or "").strip("<>") or str(number)
    metadata = {
        name: one_line(value)
        for name, header in (("date", "WARC-Date"), ("language", "WARC-Identified-Content-Language"))
        if (value := headers.get_header(header))
    }
    if sections or tables:
        title = title or address or f"{source.title} {number}"
        yield Document(f"{source.key}#{id}", sections, title[:300], address or place, metadata, tables=tables)


def _body(record: Any, most: int) -> bytes:
    """Return the first bytes of a page, decompressed. Raises BadInput if the content encoding is unreadable."""
    from warcio.bufferedreaders import BufferedReader

    named = (record.http_headers.get_header("Content-Encoding") or "") if record.http_headers else ""
    encodings = [name for name in named.lower().replace(" ", "").split(",") if name not in ("", "identity")]
    stream = record.content_stream()
    if not encodings or named.lower() in BufferedReader.get_supported_decompressors():
        return bytes(stream.read(most))
    data = bytes(stream.read(most))
    try:
        for name in reversed(encodings):
            data = _decoded(data, name, most)
    except (OSError, KeyError, ImportError, ValueError) as error:
        with suppress(UnicodeDecodeError):  # archives may store a decoded body with its original header
            data.decode()
            return data
        raise BadInput(f"is in the content encoding {one_line(named)[:40]!r}, which cannot be read") from error
    return data


def _decoded(data: bytes, encoding: str, most: int) -> bytes:
    """Decompress data. Raises KeyError for an unknown encoding, OSError for damaged data."""
    import pyarrow

    with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), _CODECS[encoding]) as stream:
        return bytes(stream.read(most))


def _html(text: str, left_out: Counter[str]) -> tuple[str, tuple[Section, ...], tuple[Table, ...]]:
    outline = Outline()
    title = add_html(outline, text)
    left_out.update(outline.left_out)
    return title or outline.first_h1, outline.sections(), outline.tables


def _plain(text: str) -> tuple[Section, ...]:
    text = plain(text).strip()
    return (Section(text),) if text else ()


WARC = Format(
    "web archive", (".warc", ".wet", ".warc.gz", ".wet.gz"), lambda source, reading: load_warc(source), version=3
)
