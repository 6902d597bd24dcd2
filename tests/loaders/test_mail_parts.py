"""E-mails: flowed text, enclosed messages, and Windows characters under other encodings."""

from pathlib import Path

import pytest
from read_one import only as read

from kgrag.loaders import load
from kgrag.values.documents import Document

HEAD = b"From: a@b.example\r\nSubject: Kilns\r\nMIME-Version: 1.0\r\n"


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("format=flowed; delsp=yes", "We co \r\noperated.\r\n\r\nBest, \r\nAnna", "We cooperated.\n\nBest,Anna"),
        ("format=flowed", "We worked \r\ntogether.\r\nSoon", "We worked together.\nSoon"),
        (
            "format=flowed",
            "> We worked \r\n> together.\r\n>> Before \r\n> No",
            "> We worked together.\n>> Before\n> No",
        ),
        ("format=flowed", " From here \r\non.\r\n-- \r\nAnna", "From here on.\n--\nAnna"),
        ("charset=us-ascii", "We worked \r\ntogether.", "We worked \ntogether."),
    ],
)
def test_lines_of_flowed_text_are_paragraphs(tmp_path: Path, kind: str, body: str, text: str) -> None:
    data = HEAD + f"Content-Type: text/plain; {kind}\r\n\r\n{body}\r\n".encode()
    assert read(tmp_path / "a.eml", data).text == text


@pytest.mark.parametrize("charset", ["iso-8859-1", "us-ascii", "windows-1252"])
def test_euro_sign_of_windows_under_another_name_is_read(tmp_path: Path, charset: str) -> None:
    data = HEAD + f"Content-Type: text/plain; charset={charset}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n".encode()
    assert read(tmp_path / "a.eml", data + b"It cost 900 \x80.\r\n").text == "It cost 900 €."
    coded = data.replace(b"8bit", b"quoted-printable") + b"It cost 900 =80.\r\n"
    assert read(tmp_path / "b.eml", coded).text == "It cost 900 €."


@pytest.mark.parametrize(
    ("charset", "code", "text"),
    [
        ("gb2312", "gb18030", "朱镕基"),
        ("euc-kr", "cp949", "뷁"),
        ("shift_jis", "cp932", "①髙"),
        ("iso-8859-9", "cp1254", "€ş"),
    ],
)
def test_sign_beyond_the_declared_encoding_is_read(tmp_path: Path, charset: str, code: str, text: str) -> None:
    data = HEAD + f"Content-Type: text/plain; charset={charset}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n".encode()
    assert read(tmp_path / "a.eml", data + text.encode(code)).text == text


INNER = b"From: c@d.example\r\nSubject: Ovens\r\nContent-Type: text/plain\r\n\r\nThe oven is cold.\r\n"


def test_enclosed_message_is_read_under_its_subject(tmp_path: Path) -> None:
    data = (
        HEAD + b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n"
    )
    data += b"--x\r\nContent-Type: message/rfc822\r\n\r\n" + INNER
    data += b"--x\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\n1\r\n--x--\r\n"
    document = read(tmp_path / "a.eml", data)
    assert [(s.heading, s.text) for s in document.sections] == [
        ("", "See below."),
        ("Ovens", "From: c@d.example\n\nThe oven is cold."),
    ]
    assert (document.title, document.metadata["attachments"]) == ("Kilns", ["a.csv"])


@pytest.mark.parametrize("kind", ["multipart/digest; boundary=x", "message/rfc822"])
def test_message_that_is_only_an_enclosed_one_is_read(tmp_path: Path, kind: str) -> None:
    data = HEAD + f"Content-Type: {kind}\r\n\r\n".encode()
    body = b"--x\r\n\r\n" + INNER + b"--x--\r\n" if "digest" in kind else INNER
    document = read(tmp_path / "a.eml", data + body)
    assert [(s.heading, s.text) for s in document.sections] == [("Ovens", "From: c@d.example\n\nThe oven is cold.")]


def test_text_that_goes_on_after_a_picture_is_read(tmp_path: Path) -> None:
    data = HEAD + b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nBefore.\r\n"
    data += b"--x\r\nContent-Type: image/png\r\nContent-Disposition: inline; filename=a.png\r\n\r\n1\r\n"
    data += b"--x\r\nContent-Type: text/html\r\n\r\n<p>After.</p>\r\n--x--\r\n"
    document = read(tmp_path / "a.eml", data)
    assert (document.text, document.metadata["attachments"]) == ("Before.\n\nAfter.", ["a.png"])


STUB = "View this email in your browser: https://a.example/b"
EVENT = """BEGIN:VCALENDAR
BEGIN:VEVENT
UID:1
SUMMARY:Fire\\, then sell
DTSTART;TZID=Europe/Oslo:20261130T093000
DTEND:20261130T103000Z
DESCRIPTION:Bring
  tea.\\nAnd wood.
ORGANIZER;CN="Lund, A":mailto:a@b.example
END:VEVENT
BEGIN:VEVENT
SUMMARY:Rest
DTSTART;VALUE=DATE:20261224
DTEND;VALUE=DATE:20261225
END:VEVENT
END:VCALENDAR"""
EVENTS = [
    "Summary: Fire, then sell\nStart: 2026-11-30 09:30 (Europe/Oslo)\nEnd: 2026-11-30 10:30 UTC\n"
    "Organizer: Lund, A <a@b.example>\n\nBring tea.\nAnd wood.",
    "Summary: Rest\nStart: 2026-12-24\nEnd: 2026-12-24",
]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((("plain", ""), ("html", "<p>Fired &amp; sold.</p>")), "Fired & sold."),
        ((("plain", " \r\n\r\n"), ("html", "<p>Fired &amp; sold.</p>")), "Fired & sold."),
        ((("plain", STUB), ("html", "<p>The kiln was fired and sold.</p>")), "The kiln was fired and sold."),
        (
            (("plain", "Fired and sold."), ("html", "<p>Fired and <b>sold</b>.</p><p>Unsubscribe</p>")),
            "Fired and sold.",
        ),
        ((("plain", "Come."), ("calendar", EVENT)), "\n\n".join(["Come.", *EVENTS])),
        ((("calendar", EVENT),), "\n\n".join(EVENTS)),
    ],
)
def test_alternative_that_says_most_is_read(tmp_path: Path, parts: tuple[tuple[str, str], ...], text: str) -> None:
    body = "".join(f"--x\r\nContent-Type: text/{kind}\r\n\r\n{text}\r\n" for kind, text in parts)
    data = HEAD + f"Content-Type: multipart/alternative; boundary=x\r\n\r\n{body}--x--\r\n".encode()
    assert read(tmp_path / "a.eml", data).text == text


def test_events_of_a_calendar_are_documents(tmp_path: Path) -> None:
    (tmp_path / "a.ics").write_text(EVENT)
    documents = [item for item in load(tmp_path / "a.ics") if isinstance(item, Document)]
    assert [(d.title, d.text, d.metadata["date"]) for d in documents] == [
        ("Fire, then sell", EVENTS[0], "2026-11-30T09:30"), ("Rest", EVENTS[1], "2026-12-24")
    ]  # fmt: skip
