"""E-mails (RFC 5322), one (.eml) or many (.mbox, RFC 4155) a file, and calendars (.ics, RFC 5545).

Each message is a document titled by its subject. Enclosed messages and invitations are read; other attachments named.
"""

import datetime as dt
import re
from array import array
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from html import unescape
from pathlib import Path
from typing import Any

from kgrag.loaders.base import MB, BadInput, Item, Source, clean, counted, decode, one_line, open_file, read_text
from kgrag.loaders.html import add_html
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format, Reader, Readers
from kgrag.loaders.worker_formats import MAX_TEXT, Content, content, document_of, read_apart
from kgrag.values.documents import Document, Problem, Section

_LINE = 1 << 16  # bytes per read
_MAX_DEATHS = 10  # reading processes that one mailbox may crash
_MAX_DEPTH = 5  # nesting of messages in messages
_QUOTES = re.compile(">*")
_SIGNATURE = "-- "
_WORD = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"https?://\S+")
_MARKUP = re.compile(r"<(style|script|title)\b.*?</\1\s*>|<!--.*?-->|<[^>]+>", re.DOTALL | re.IGNORECASE)
_FAR_MORE = 0.3  # share of the words of an HTML part missing in the plain text, from which HTML is read
_STUB = 15  # words of a plain text that only says where to read the message
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_eml(path: Path) -> Content:
    """Return the text of a message, preferring plain text to HTML. Raises BadInput."""
    return _content(path.read_bytes())


class Mbox:
    """A mailbox in a reading process: the starts of messages are indexed once, then each is read by itself."""

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
        """Return the content of a message (the first is 1) and its `id`, which may be empty. Raises BadInput."""
        start, end = self._starts[number - 1], self._starts[number]
        if end - start > MAX_TEXT:
            raise BadInput(f"is a message of more than {MAX_TEXT // MB} MB")
        self._file.seek(start)
        self._file.readline(_LINE)  # the line "From ..."
        data = _QUOTED.sub(rb"\1", self._file.read(end - self._file.tell()))
        return {**_content(data), "id": _field(_parsed(data), "message-id")}

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def load_mbox(source: Source, readers: Readers) -> Iterator[Item]:
    """Yield the messages of a mailbox one at a time, or a Problem for each unreadable one. Raises BadInput."""
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
        raise BadInput("is not an e-mail message: it has no sender, subject or date")
    outline = Outline()
    attached = _add_body(outline, message)
    metadata: dict[str, Any] = {name: _field(message, name) for name in ("from", "to", "cc")}
    metadata |= {"date": _date(message), "attachments": [name for name in attached if name]}
    return content(outline, _field(message, "subject"), metadata)


def add_message(outline: Outline, data: bytes) -> None:
    """Add the text of a message, or of a web page saved as one (MHTML), to an outline."""
    _add_body(outline, _parsed(data))


def _add_body(outline: Outline, message: EmailMessage, depth: int = 0) -> list[str]:
    """Add the texts of a message in order, enclosed messages under headings; return the names of other parts."""
    names: list[str] = []
    calendars: dict[str, None] = {}
    for part in _parts(message, names, outline):
        kind = part.get_content_type()
        if kind == "message/rfc822" and isinstance(inner := next(iter(part.iter_parts()), None), EmailMessage):
            outline.heading(depth + 1, _field(inner, "subject") or "Enclosed message")
            for name in ("from", "date"):
                value = _field(inner, name)
                outline.add(f"{name.capitalize()}: {value}" if value else "", tight=name == "date")
            names += _add_body(outline, inner, depth + 1) if depth < _MAX_DEPTH else [_field(inner, "subject")]
        elif kind == "text/html":
            add_html(outline, _text(part))
        elif kind == "text/calendar":
            calendars |= dict.fromkeys(map(_event_text, read_events(_text(part))))
        else:
            text = _text(part) if part.get_content_maintype() == "text" else _status(part)
            for block in text.split("\n\n"):
                outline.add(block)
    for event in calendars:
        outline.add(event)
    return names


def _parts(part: Any, names: list[str], outline: Outline) -> Iterator[Any]:
    """Yield the parts to read, and only the best of alternatives; the names of other parts go to `names`."""
    kind, main = part.get_content_type(), part.get_content_maintype()
    if kind == "multipart/alternative":
        inner = [list(_parts(each, names, outline)) for each in part.iter_parts()]
        yield from _best([each for each in inner if each], outline)
    elif kind == "multipart/related":
        first, *others = list(part.iter_parts()) or [None]
        if first is not None:
            yield from _parts(first, names, outline)
        names += [one_line(other.get_filename() or other.get_content_type()) for other in others]
    elif main == "multipart":
        for each in part.iter_parts():
            yield from _parts(each, names, outline)
    elif kind in ("text/calendar", "message/rfc822") or (
        main in ("text", "message") and not part.get_filename() and not part.is_attachment()
    ):
        yield part
    else:
        names.append(one_line(part.get_filename() or kind))


def _best(choices: list[list[Any]], outline: Outline) -> Iterator[Any]:
    """Yield the parts of the best alternative: plain text, or HTML if it has far more words, and any calendars."""
    calendars = [p for parts in choices for p in parts if p.get_content_type() == "text/calendar"]
    texts = [parts for parts in choices if any(p.get_content_type() != "text/calendar" for p in parts)]
    plain = next((p for p in texts if not any(_is_page(part) for part in p)), None)
    page = next((p for p in texts if any(_is_page(part) for part in p)), None)
    choice = plain or page or []
    if plain and page:
        one, other = (set(_WORD.findall(" ".join(map(_words, parts)).lower())) for parts in (plain, page))
        more, less = len(other - one), len(one - other)
        if not one or (more > 2 and more > _FAR_MORE * len(other)):
            if len(one) <= _STUB or more > less:
                choice = page
            else:
                outline.problems.append(
                    f"holds {counted(more, 'word')} in its HTML that its plain text, which was read, has not"
                )
    yield from (part for part in choice if part.get_content_type() != "text/calendar")
    yield from calendars


def _is_page(part: Any) -> bool:
    return bool(part.get_content_type() == "text/html")


def _words(part: Any) -> str:
    """Return the text of a part without link addresses and tags."""
    text = _text(part) if part.get_content_maintype() == "text" else ""
    return unescape(_MARKUP.sub(" ", text)) if _is_page(part) else _ADDRESS.sub(" ", text)


def _status(part: Any) -> str:
    """Return the fields of a delivery report."""
    inner = part.get_payload()
    return "\n\n".join(str(each).strip() for each in inner) if isinstance(inner, list) else ""


def _parsed(data: bytes) -> EmailMessage:
    return message_from_bytes(data, policy=policy.default)


def _text(part: Any) -> str:
    """Return the text of a part, decoded like a file, with Unix newlines."""
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
    """Join lines that end with a space to the next line of the same quotation level.

    See RFC 3676, section 4.
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
    except (ValueError, IndexError, AttributeError, TypeError):  # the parser fails on some damaged headers
        return ""


def _date(message: EmailMessage) -> str:
    """Return the time of sending in ISO 8601, or ""."""
    try:
        header: Any = message.get("date")
        return header.datetime.isoformat() if header is not None and header.datetime is not None else ""
    except (ValueError, IndexError, AttributeError, TypeError):
        return ""


_FOLD = re.compile(r"\r?\n[ \t]")
_PARAMETER = r";([\w-]+)=(\"[^\"]*\"|[^\";:]*)"
_PROPERTY = re.compile(rf"([\w-]+)((?:{_PARAMETER})*):(.*)")
_ESCAPED = re.compile(r"\\(.)")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_LABELS = {"DTSTART": "Start", "DTEND": "End", "RRULE": "Repeats", "RDATE": "Also on", "EXDATE": "Not on"}
_SILENT = re.compile(
    "UID|DTSTAMP|SEQUENCE|CREATED|LAST-MODIFIED|TRANSP|CLASS|RECURRENCE-ID|REQUEST-STATUS|RELATED-TO|X-.*"
)
"""Properties of events for programs, which no calendar shows."""
_NO_EVENTS = ("VCALENDAR", "VALARM", "VTIMEZONE", "STANDARD", "DAYLIGHT")


def read_events(text: str) -> list[dict[str, str]]:
    """Return the properties of each event, task and note of a calendar (RFC 5545), by label.

    "Uid" identifies an event; "When" is its start in ISO 8601, or missing.
    """
    events: list[dict[str, str]] = []
    inside: list[str] = []
    for name, options, *_, value in (
        m.groups() for m in map(_PROPERTY.fullmatch, _FOLD.sub("", text).splitlines()) if m
    ):
        match name.upper():
            case "BEGIN":
                inside.append(value.strip().upper())
                events += [{"Uid": ""}] if inside[-1] not in _NO_EVENTS else []
            case "END":
                del inside[-1:]
            case upper if events and inside and inside[-1] not in _NO_EVENTS:
                _add_property(
                    events[-1], upper, options, _ESCAPED.sub(lambda m: "\n" if m[1] in "nN" else m[1], value).strip()
                )
    return events


def _add_property(event: dict[str, str], name: str, options: str, text: str) -> None:
    parameters = {key.upper(): value.strip('"') for key, value in re.findall(_PARAMETER, options)}
    moment = _MOMENT.match(text) if name not in ("SUMMARY", "DESCRIPTION") else None
    if name in ("UID", "RECURRENCE-ID"):
        event["Uid"] += one_line(text)
    if _SILENT.fullmatch(name) or not text:
        return
    if moment is not None:
        last = name == "DTEND" and moment[4] is None
        text = ", ".join(_moment(part, parameters.get("TZID", ""), last=last) for part in text.split(","))
        if name == "DTSTART":
            event["When"] = text[:16].replace(" ", "T") + ("+00:00" if moment[6] else "")
    elif text.lower().startswith("mailto:"):
        text = f"{parameters['CN']} <{text[7:]}>" if parameters.get("CN") else text[7:]
    label = _LABELS.get(name, name.replace("-", " ").capitalize())
    text = text if name == "DESCRIPTION" else one_line(text)
    event[label] = f"{event[label]}, {text}" if label in event else text


def _moment(text: str, zone: str, *, last: bool) -> str:
    """Return a date or time, "2026-11-30 09:30 (Europe/Oslo)"; `last`: a whole day becomes the day before it."""
    match = _MOMENT.match(text)
    try:
        day = dt.date(*map(int, match.groups()[:3])) - dt.timedelta(days=int(last)) if match else None
    except (ValueError, OverflowError):
        return text
    if match is None or day is None or match[4] is None:
        return text if day is None else day.isoformat()
    return f"{day.isoformat()} {match[4]}:{match[5]}" + (" UTC" if match[6] else f" ({zone})" if zone else "")


def _event_text(event: dict[str, str]) -> str:
    lines = (f"{label}: {text}" for label, text in event.items() if label not in ("Uid", "When", "Description"))
    return "\n\n".join(filter(None, ("\n".join(lines), event.get("Description", ""))))


def load_calendar(source: Source) -> Iterator[Item]:
    """Yield each event of a calendar as a document, titled by its summary. Raises BadInput."""
    events = read_events(clean(read_text(source)))
    if not any(map(_event_text, events)):
        raise BadInput("holds no event")
    for number, event in enumerate(events, 1):
        if text := _event_text(event):
            title, key = event.get("Summary") or f"{source.title} {number}", f"{source.key}#{event['Uid'] or number}"
            date = {"date": event["When"]} if "When" in event else {}
            yield Document(key, (Section(text),), title, f"{source.shown}#{number}", date)


EML = Format("e-mail message", (".eml",), read_apart("kgrag.loaders.mail:read_eml"), version=5)


CALENDAR = Format("calendar", (".ics", ".ical", ".ifb"), lambda source, reading: load_calendar(source))
MBOX = Format("mailbox", (".mbox",), lambda source, reading: load_mbox(source, reading.readers), version=5)
