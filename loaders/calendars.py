"""iCalendar (RFC 5545): events, tasks and notes as text, from files and from invitations in e-mails."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kgrag.loaders.base import BadInput, Item, Source, clean, one_line, read_text
from kgrag.loaders.reading import Format, Reading
from kgrag.values.documents import Document, Section

_FOLD = re.compile(r"\r?\n[ \t]")
_PARAMETER = r";[\w-]+=(?:\"[^\"]*\"|[^\";:]*)"
_LINE = re.compile(rf"([\w-]+)((?:{_PARAMETER})*):(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([nN]|.)", re.DOTALL)
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z?))?")
_NAMES = {"DTSTART": "Start", "DTEND": "End", "RRULE": "Repeats", "RDATE": "Also on", "EXDATE": "Not on"}
_SILENT = frozenset(
    """UID DTSTAMP SEQUENCE CREATED LAST-MODIFIED TRANSP CLASS METHOD VERSION PRODID CALSCALE RECURRENCE-ID
    REQUEST-STATUS RELATED-TO""".split()
)
"""Properties that programs read and no calendar shows; X- properties are others."""
_INNER = ("VALARM", "VTIMEZONE", "STANDARD", "DAYLIGHT")


@dataclass(slots=True)
class Event:
    """An event, a task or a note of a calendar.

    `fields`: label -> values, in the order of the file. `uid`: tells it from the others. `date`: when it begins, in
    ISO 8601, or "".
    """

    uid: str = ""
    title: str = ""
    date: str = ""
    fields: dict[str, list[str]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Its fields, a line each, and its description."""
        lines = [f"{name}: {', '.join(values)}" for name, values in self.fields.items() if name != "Description"]
        return "\n\n".join(filter(None, ("\n".join(lines), *self.fields.get("Description", ()))))


def read_events(text: str) -> list[Event]:
    """Return what a calendar holds; an empty list for another text."""
    events: list[Event] = []
    inside: list[str] = []
    for line in _FOLD.sub("", text).splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        name, given, value = match[1].upper(), match[2], match[3]
        kind = value.strip().upper()
        if name == "BEGIN":
            inside.append(kind)
            if kind != "VCALENDAR" and kind not in _INNER:
                events.append(Event())
        elif name == "END":
            del inside[-1:]
        elif events and inside and inside[-1] not in ("VCALENDAR", *_INNER):
            _add(events[-1], name, given, value)
    return events


def _add(event: Event, name: str, given: str, value: str) -> None:
    parameters = {key.upper(): text.strip('"') for key, text in re.findall(r";([\w-]+)=(\"[^\"]*\"|[^\";:]*)", given)}
    text = _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], value).strip()
    if name in ("UID", "RECURRENCE-ID"):
        event.uid += text
    elif name == "SUMMARY":
        event.title = one_line(text)
    if name in _SILENT or name.startswith("X-") or not text:
        return
    moment = _MOMENT.match(text) if name not in ("SUMMARY", "DESCRIPTION") else None
    if moment is not None:
        last = name == "DTEND" and moment[4] is None
        text = ", ".join(_moment(part, parameters.get("TZID", ""), last=last) for part in text.split(","))
        if name == "DTSTART":
            event.date = text[:16].replace(" ", "T") + ("+00:00" if moment[7] else "")
    elif text.lower().startswith("mailto:"):
        text = f"{parameters['CN']} <{text[7:]}>" if parameters.get("CN") else text[7:]
    values = event.fields.setdefault(_NAMES.get(name, name.replace("-", " ").capitalize()), [])
    if text not in values:
        values.append(text if name == "DESCRIPTION" else one_line(text))


def _moment(text: str, zone: str, *, last: bool) -> str:
    """Return a date or a time, "2026-11-30 09:30 (Europe/Oslo)"; `last`: of a whole day, the one before it."""
    match = _MOMENT.match(text)
    if match is None:
        return text
    try:
        day = dt.date(int(match[1]), int(match[2]), int(match[3])) - dt.timedelta(days=int(last))
    except (ValueError, OverflowError):
        return text
    if match[4] is None:
        return day.isoformat()
    return f"{day.isoformat()} {match[4]}:{match[5]}" + (" UTC" if match[7] else f" ({zone})" if zone else "")


def load_calendar(source: Source) -> Iterator[Item]:
    """Yield each event of a calendar as a document, titled by its summary. Raises BadInput."""
    events = read_events(clean(read_text(source)))
    for number, event in enumerate(events, 1):
        text = event.text
        if text:
            yield Document(
                key=f"{source.key}#{one_line(event.uid) or number}",
                sections=(Section(text),),
                title=event.title or f"{source.title} {number}",
                source=f"{source.shown}#{number}",
                metadata={"date": event.date} if event.date else {},
            )
    if not any(event.fields for event in events):
        raise BadInput("holds no event")


def _load(source: Source, reading: Reading) -> Iterator[Item]:
    yield from load_calendar(source)


CALENDAR = Format("calendar", (".ics", ".ical", ".ifb"), _load)
