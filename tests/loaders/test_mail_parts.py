"""E-mails: flowed text, enclosed messages, signs of Windows under other names."""

from pathlib import Path

import pytest

from kgrag.loaders import load
from kgrag.values.documents import Document

HEAD = b"From: a@b.example\r\nSubject: Kilns\r\nMIME-Version: 1.0\r\n"


def read(path: Path, data: bytes) -> Document:
    path.write_bytes(data)
    (document,) = load(path)
    assert isinstance(document, Document), document
    return document


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


@pytest.mark.parametrize("plain", ["", " \r\n\r\n"])
def test_page_behind_an_empty_text_is_read(tmp_path: Path, plain: str) -> None:
    parts = ("plain", plain), ("html", "<p>Fired &amp; sold.</p>")
    body = "".join(f"--x\r\nContent-Type: text/{kind}\r\n\r\n{text}\r\n" for kind, text in parts)
    data = HEAD + f"Content-Type: multipart/alternative; boundary=x\r\n\r\n{body}--x--\r\n".encode()
    assert read(tmp_path / "a.eml", data).text == "Fired & sold."
