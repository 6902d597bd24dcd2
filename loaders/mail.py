"""E-mails (RFC 5322), in files of one (.eml) or many (.mbox, RFC 4155): each is a document, titled by its subject.

Messages that are enclosed are read; other attachments are named.
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from kgrag.loaders.apart import MAX_TEXT, Content, content, document_of, read_apart
from kgrag.loaders.base import MB, BadInput, Item, Source, decode, one_line, open_file
from kgrag.loaders.html import add_html
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format, Reader, Readers, Reading
from kgrag.values.documents import Problem

_LINE = 1 << 16  # bytes that are looked at at once
_MAX_DEATHS = 10  # processes that one mailbox may take with it
_MAX_DEPTH = 5  # of messages in messages
_QUOTES = re.compile(">*")
_SIGNATURE = "-- "
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_eml(path: Path) -> Content:
    """Return the text of a message, its plain form before the HTML one. Raises BadInput."""
    return _content(path.read_bytes())


class Mbox:
    """A mailbox, for a reading process: where its messages begin is found out once, then each is read by itself."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._starts = array("Q")
        offset, blank = 0, True
        while line := self._file.readline(_LINE):
            if blank and line.startswith(b"From "):
                self._starts.append(offset)
            offset += len(line)
            blank = not line.strip()
        if not self._starts:
            raise BadInput("is no mailbox: no line in it begins with 'From '")
        self._starts.append(offset)

    def header(self) -> dict[str, Any]:
        """Return the number of messages."""
        return {"messages": len(self._starts) - 1}

    def page(self, number: int) -> dict[str, Any]:
        """Return the content of a message, from 1, and its `id`, which may be empty. Raises BadInput."""
        start, end = self._starts[number - 1], self._starts[number]
        if end - start > MAX_TEXT:
            raise BadInput(f"is a message of more than {MAX_TEXT // MB} MB")
        self._file.seek(start)
        self._file.readline(_LINE)  # the postmark
        data = _QUOTED.sub(rb"\1", self._file.read(end - self._file.tell()))
        return {**_content(data), "id": _field(_parsed(data), "message-id")}

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def load_mbox(source: Source, readers: Readers) -> Iterator[Item]:
    """Yield the messages of a mailbox, one at a time; a Problem for each unreadable one. Raises BadInput."""
    with open_file(source):
        pass
    seconds = readers.settings.page_seconds
    reader: Reader | None = None
    number, messages, deaths = 0, 1, 0
    try:
        while number < messages:
            if reader is None:
                reader, header = readers.open(source.path, "kgrag.loaders.mail:Mbox", readers.settings.file_seconds)
                messages = header["messages"]
            number += 1
            try:
                page = reader.ask(seconds, page=number)
            except BadInput as error:
                page, reader, deaths = {"problem": str(error)}, None, deaths + 1
                if deaths > _MAX_DEATHS:
                    raise BadInput(f"{error}; what comes after message {number} was not read") from error
            if "problem" in page:
                yield Problem(f"{source.shown}#{number}", page["problem"])
            elif not page["sections"] and not page["tables"]:
                yield Problem(f"{source.shown}#{number}", "holds no text")
            else:
                own = page["id"].strip("<>") or number
                yield replace(document_of(source, page), key=f"{source.key}#{own}", source=f"{source.shown}#{number}")
    finally:
        if reader is not None:
            reader.kill()


def _content(data: bytes) -> Content:
    message = _parsed(data)
    if not any(message.get(name) for name in ("from", "to", "subject", "date", "received", "message-id")):
        raise BadInput("is no e-mail message: it has no sender, subject or date")
    outline = Outline()
    _add_body(outline, message)
    attached = _add_enclosed(outline, message)
    metadata: dict[str, Any] = {name: _field(message, name) for name in ("from", "to", "cc")}
    metadata |= {"date": _date(message), "attachments": [name for name in attached if name]}
    return content(outline, _field(message, "subject"), metadata)


def add_message(outline: Outline, data: bytes) -> None:
    """Add the text of a message, or of a page that was saved as one (MHTML), to an outline."""
    message = _parsed(data)
    _add_body(outline, message)
    _add_enclosed(outline, message)


def _add_body(outline: Outline, message: EmailMessage) -> None:
    body = message.get_body(("plain", "html"))
    text = _text(body) if body is not None else ""
    page = message.get_body(("html",))
    if not text.strip() and page is not None:  # which some programs send with an empty text before it
        body, text = page, _text(page)
    if body is not None and body.get_content_subtype() == "html":
        add_html(outline, text)
    else:
        for block in text.split("\n\n"):
            outline.add(block)


def _add_enclosed(outline: Outline, message: EmailMessage, depth: int = 0) -> list[str]:
    """Add the messages that a message encloses, each under a heading; returns the names of other attachments."""
    names: list[str] = []
    for part in _attachments(message):
        if part.get_content_type() == "multipart/digest" and depth < _MAX_DEPTH:
            names += _add_enclosed(outline, part, depth + 1)
        elif not part.get_filename() and not part.is_attachment() and part.get_body(("plain", "html")) is not None:
            _add_body(outline, part)  # the text goes on after a picture
        elif part.get_content_type() != "message/rfc822" or depth >= _MAX_DEPTH:
            names.append(one_line(part.get_filename() or ""))
        elif isinstance(inner := next(iter(part.iter_parts()), None), EmailMessage):
            outline.heading(depth + 1, _field(inner, "subject") or "Enclosed message")
            for name in ("from", "date"):
                outline.add(
                    f"{name.capitalize()}: {value}" if (value := _field(inner, name)) else "", tight=name == "date"
                )
            _add_body(outline, inner)
            names += _add_enclosed(outline, inner, depth + 1)
    return names


def _attachments(message: Any) -> list[Any]:
    """Return the parts of a message but for its body."""
    if message.get_content_type() == "message/rfc822":
        return [message]
    if message.get_content_type() in ("multipart/alternative", "multipart/related"):
        return list(message.iter_attachments())
    body = message.get_body(("plain", "html"))
    parts: list[Any] = []
    for part in message.iter_parts():  # iter_attachments would pass over text that goes on after a picture
        if body is not None and any(inner is body for inner in part.walk()):
            parts += _attachments(part)
        else:
            parts.append(part)
    return parts


def _parsed(data: bytes) -> EmailMessage:
    return message_from_bytes(data, policy=policy.default)


def _text(part: Any) -> str:
    """Return the text of a part, decoded as files are, its lines \n."""
    data = bytes(part.get_payload(decode=True) or b"")
    try:
        text = decode(data, part.get_content_charset())
    except BadInput:
        text = data.decode("utf-8", "replace")
    text = text.replace("\r\n", "\n")
    if part.get_content_type() == "text/plain" and str(part.get_param("format")).lower() == "flowed":
        return _unflowed(text, delete_space=str(part.get_param("delsp")).lower() == "yes")
    return text


def _unflowed(text: str, *, delete_space: bool) -> str:
    """Return text with lines that end with a space joined to the next of the same quotation.

    RFC 3676, section 4.
    """
    lines: list[str] = []
    goes_on, depth = False, 0
    for line in text.split("\n"):
        own = line[_QUOTES.match(line).end() :]  # type: ignore[union-attr]
        quotes = len(line) - len(own)
        own = own.removeprefix(" ")
        if goes_on and quotes == depth and own != _SIGNATURE:
            lines[-1] = lines[-1][: -1 if delete_space else None] + own
        else:
            lines.append(f"{'>' * quotes} {own}" if quotes else own)
        goes_on, depth = own.endswith(" ") and own != _SIGNATURE, quotes
    return "\n".join(line.rstrip(" ") for line in lines)


def _field(message: EmailMessage, name: str) -> str:
    try:
        return one_line(str(message.get(name) or ""))
    except (ValueError, IndexError, AttributeError, TypeError):  # the parser fails on some that are damaged
        return ""


def _date(message: EmailMessage) -> str:
    """Return the time of sending as an ISO date and time, or ""."""
    try:
        header: Any = message.get("date")
        return header.datetime.isoformat() if header is not None and header.datetime is not None else ""
    except (ValueError, IndexError, AttributeError, TypeError):
        return ""


EML = Format("e-mail message", (".eml",), read_apart("kgrag.loaders.mail:read_eml"), version=4)


def _mailbox(source: Source, reading: Reading) -> Iterator[Item]:
    yield from load_mbox(source, reading.readers)


MBOX = Format("mailbox", (".mbox",), _mailbox, version=4)
