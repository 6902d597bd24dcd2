"""EPUB, ODT, RTF, e-mails, reStructuredText and source code, and hostile files of these kinds."""

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from odfdo import Document as Odf
from odfdo import Header, List, ListItem, Paragraph, Table
from read_one import only

from kgrag.loaders import load
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.documents import Table as PageTable

CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>
<dc:title>The Voyage</dc:title><dc:creator>A. Writer</dc:creator><dc:language>en</dc:language></metadata><manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="two" href="text/second%20part.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="css" href="style.css" media-type="text/css"/></manifest>
<spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/><itemref idref="css"/></spine></package>"""
XHTML = (
    '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>{}</html>'
)


def book(path: Path, **parts: str | bytes) -> Path:
    """Write an EPUB; `parts` replace its own: a part "x/y.z" is named x_y__z."""
    held: dict[str, str | bytes] = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/nav.xhtml": XHTML.format("<body><a href='one'>One</a></body>"),
        "OEBPS/text/one.xhtml": XHTML.format("<body><h1>Out</h1><p>The Fram left <i>Larvik</i>.</p></body>"),
        "OEBPS/text/second part.xhtml": XHTML.format("<body><h1>Home</h1><p>She came back.</p></body>"),
        "OEBPS/style.css": "p {}",
    }
    held |= {name.replace("__", ".").replace("_", "/"): text for name, text in parts.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), "application/epub+zip")
        for name, text in held.items():
            archive.writestr(name, text)
    return path


def one(path: Path, **settings: float) -> Document:
    return only(path, loading=LoadingSettings(**settings))  # type: ignore[arg-type]


def problem(path: Path, **settings: float) -> str:
    (item,) = load(path, loading=LoadingSettings(**settings))  # type: ignore[arg-type]
    assert isinstance(item, Problem), item
    return item.message


def test_a_book(tmp_path: Path) -> None:
    document = one(book(tmp_path / "a.epub"))
    assert document.title == "The Voyage"
    assert document.sections == (Section("The Fram left Larvik.", "Out"), Section("She came back.", "Home"))
    assert document.metadata == {"author": "A. Writer", "language": "en"}
    assert one(book(tmp_path / "named.txt")).title == "The Voyage"  # recognised by its content


def test_an_opendocument_text(tmp_path: Path) -> None:
    text = Odf("text")
    text.body.clear()
    text.body.append(Header(1, "Ships"))
    text.body.append(Paragraph("The Fram was built\there."))
    inner = ListItem("three")
    inner.append(List(["four"]))
    listed = List(["one"])
    listed.append(inner)
    text.body.append(listed)
    text.body.append(Header(2, "Dates"))
    table = Table("T")
    table.set_values([["Ship", "Built"], ["Fram", 1892]])
    text.body.append(table)
    text.meta.title = "Ships of the yard"
    text.meta.creator = "A. Writer"
    text.save(str(tmp_path / "a.odt"))
    document = one(tmp_path / "a.odt")
    assert document.title == "Ships of the yard"
    assert document.metadata["author"] == "A. Writer"
    assert document.sections == (Section("The Fram was built here.\n\n- one\n- three\n  - four", "1. Ships"),)
    assert document.tables == (replace(TABLE, caption="1.1. Dates"),)
    sheet = Odf("drawing")
    sheet.save(str(tmp_path / "b.odt"))
    assert "drawing" in problem(tmp_path / "b.odt")


def test_rtf(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl\f0 Times;}{\info{\title Caf\'e9 notes}}\f0 The {\b Fram}\par\par "
        rb"lay at \u8220?Larvik\u8221?, caf\'e9.\par}"
    )
    document = one(tmp_path / "a.rtf")
    assert (document.title, document.text) == ("Café notes", "The Fram\n\nlay at “Larvik”, café.")
    (tmp_path / "b.rtf").write_text("no such thing")
    assert "no RTF" in problem(tmp_path / "b.rtf")


TABLE = PageTable(1, (("Ship", "Built"), ("Fram", "1892")), "Dates")


def test_inline_content_notes_and_tables_of_rtf(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(
        rb"{\rtf1\ansi The star has 10{\super 24} kg, 45{\footnote \pard {\super \chftn} The note, 3{\super 4}.}"
        rb" million{\v hidden}, x{\sub i} and H\sub 2\nosupersub O, 19{\b \super\insrsid1 th} ship.\par"
        rb"{\listtext\tab 3.\tab}third\par\trowd Ship\cell Built\cell\row Fram\cell 1892\cell\row\pard after\par}"
    )
    told, document = load(tmp_path / "a.rtf")
    assert isinstance(told, Problem) and told.message == "holds 1 hidden piece, left out"
    assert isinstance(document, Document)
    assert document.text.split() == (
        "The star has 10^24 kg, 45 [1] million, x_i and H2O, 19th ship. 3. third after [1] The note, 3^4.".split()
    )
    assert [t.rows for t in document.tables] == [TABLE.rows]


def test_links_and_cells_of_paragraphs_of_rtf_are_their_text(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(
        rb'{\rtf1\ansi Visit {\field{\*\fldinst{HYPERLINK "https://x.org/a"}}{\fldrslt{the {\b site}}}} now.\par'
        rb"\trowd\trhdr\cellx3000\cellx6000\pard\intbl Ship\cell Built\cell\row"
        rb"\trowd\cellx3000\cellx6000\pard\intbl Fram\cell in 1892\par at Larvik\cell\row\pard After.\par}"
    )
    document = one(tmp_path / "a.rtf")
    assert document.text.split("\n\n") == ["Visit the site now.", "After."]
    assert [t.rows for t in document.tables] == [(("Ship", "Built"), ("Fram", "in 1892 at Larvik"))]


MAIL = b"""From: =?utf-8?q?Bj=C3=B8rn?= <b@example.org>\r\nTo: a@example.org\r\nSubject: The =?utf-8?q?Gj=C3=B8a?=\r
Date: Fri, 01 Mar 2024 10:00:00 +0100\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r
Content-Type: %s; charset=iso-8859-1\r\n\r\n%s\r\n--x\r\nContent-Type: application/pdf\r
Content-Disposition: attachment; filename="plan.pdf"\r\n\r\n%%PDF-\r\n--x--\r\n"""


@pytest.mark.parametrize(
    ("kind", "body"),
    [(b"text/plain", b"She lay at Oslo.\r\n\r\nCaf\xe9."), (b"text/html", b"<p>She lay at Oslo.<p>Caf\xe9.")],
)
def test_a_message(tmp_path: Path, kind: bytes, body: bytes) -> None:
    (tmp_path / "a.eml").write_bytes(MAIL % (kind, body))
    document = one(tmp_path / "a.eml")
    assert (document.title, document.text) == ("The Gjøa", "She lay at Oslo.\n\nCafé.")
    assert document.metadata == {
        "from": "Bjørn <b@example.org>",
        "to": "a@example.org",
        "date": "2024-03-01T10:00:00+01:00",
        "attachments": ["plan.pdf"],
    }
    (tmp_path / "b.eml").write_text("Just a text.")
    assert "not an e-mail" in problem(tmp_path / "b.eml")


def test_a_mailbox(tmp_path: Path) -> None:
    mail = MAIL.replace(b"\r\n", b"\n").replace(b"\r", b"") % (
        b"text/plain",
        b"She lay at Oslo.\n\n>From there she left.",
    )
    second = mail.replace(b"Subject: ", b"Message-ID: <two@example.org>\nSubject: Re: ")
    postmark = b"From b@example.org Fri Mar  1 10:00:00 2024\n"
    path = tmp_path / "a.mbox"
    path.write_bytes(postmark + mail + b"\n" + postmark + b"nothing\n\n" + postmark + second)
    first, wrong, last = load(path)
    assert isinstance(first, Document) and isinstance(wrong, Problem) and isinstance(last, Document)
    assert (first.key, first.text) == (f"{path}#1", "She lay at Oslo.\n\nFrom there she left.")
    assert (wrong.place, "not an e-mail" in wrong.message) == (f"{path}#2", True)
    assert (last.key, last.title, last.source) == (f"{path}#two@example.org", "Re: The Gjøa", f"{path}#3")
    path.write_text("no mail")
    assert "no mailbox" in problem(path)


RST = """
======
Manual
======

Intro to :ref:`the parts <x>`, :func:`~ship.launch`, ``code`` and :unknown:`this`.

.. toctree::

   hidden

Install
=======

.. versionadded:: 2.0
   An option.

.. py:function:: launch(ship, yard)
   :noindex:

   Puts it *afloat*.

.. code-block:: python
   :emphasize-lines: 1

   launch(fram)

.. include:: secret.txt

Dates
-----

====  =====
Ship  Built
====  =====
Fram  1892
====  =====

- one
- two
"""


def test_restructured_text(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("not to be read")
    (tmp_path / "a.rst").write_text(RST)
    document = one(tmp_path / "a.rst")
    assert document.title == "Manual"
    assert document.sections == (
        Section("Intro to the parts, ship.launch, code and this.", "Manual"),
        Section(
            "Added in version 2.0: An option.\n\nlaunch(ship, yard)\n\nPuts it afloat.\n\nlaunch(fram)",
            "Manual > Install",
        ),
        Section("- one\n- two", "Manual > Install > Dates"),
    )
    assert document.tables == (TABLE,)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (".. math::\n   :label: e\n   :nowrap:\n\n   a = b\n", "$$a = b$$"),
        (
            ".. deprecated:: 3.1\n   Use *g*\n   now.\n\n   And h.\n",
            "Deprecated since version 3.1: Use g now.\n\nAnd h.",
        ),
        (".. versionchanged:: 3.1\n\n   Use g.\n", "Changed in version 3.1: Use g."),
        (".. versionadded:: 3.1\n", "Added in version 3.1."),
        (".. only:: html\n\n   In it.\n", "In it."),
        (".. code-block:: c\n   :caption: f.c\n\n   int f;\n", "f.c\n\nint f;"),
        ('.. productionlist:: group\n   a: "x" | `b`\n    : | c\n', 'a: "x" | b\n : | c'),
    ],
)
def test_directives_of_sphinx_become_their_text(tmp_path: Path, source: str, text: str) -> None:
    (tmp_path / "a.rst").write_text(source)
    assert one(tmp_path / "a.rst").text == text


def test_source_code_is_titled_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "src" / "ship").mkdir(parents=True)
    (tmp_path / "src" / "ship" / "hull.py").write_text("\ndef length():\n    return 39\n")
    document = one(tmp_path / "src")
    assert (document.title, document.text) == ("src/ship/hull.py", "def length():\n    return 39")
    rooted = only(tmp_path / "src", root=tmp_path / "src")
    assert rooted.title == "ship/hull.py"


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def test_hostile_books(tmp_path: Path) -> None:
    huge = book(tmp_path / "a.epub", OEBPS_text_one__xhtml=b"<p>" + b"x" * (60 << 20))
    assert "would unpack" in problem(huge)
    assert "entities" in problem(book(tmp_path / "b.epub", OEBPS_book__opf=BOMB + PACKAGE))
    assert "damaged" in problem(book(tmp_path / "c.epub", OEBPS_book__opf="<package>"))
    assert "damaged" in problem(book(tmp_path / "d.epub", **{"META-INF_container__xml": "<container/>"}))
    assert "no text" in problem(book(tmp_path / "e.epub", OEBPS_book__opf=PACKAGE.replace("itemref", "x")))
    outside = PACKAGE.replace("text/one.xhtml", "../../../../etc/passwd")
    told, document = load(book(tmp_path / "f.epub", OEBPS_book__opf=outside))
    assert isinstance(told, Problem) and "etc/passwd, which" in told.message
    assert isinstance(document, Document) and document.text == "She came back."
    locked = "<encryption><a:CipherReference xmlns:a='x' URI='OEBPS/text/one.xhtml'/></encryption>"
    assert "DRM" in problem(book(tmp_path / "g.epub", **{"META-INF_encryption__xml": locked}))
    (tmp_path / "h.epub").write_bytes(book(tmp_path / "i.epub").read_bytes()[:700])
    assert "damaged" in problem(tmp_path / "h.epub")


def test_hostile_texts(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(b"{\\rtf1" + b"{" * 2_000_000)
    (tmp_path / "b.rst").write_text("* " * 20_000 + "deep")
    (tmp_path / "c.eml").write_bytes(
        b"From: x\r\n"
        + b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (i, i) for i in range(3000))
    )
    with zipfile.ZipFile(tmp_path / "d.odt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", BOMB + "<x>&b;</x>")
    (tmp_path / "e.txt").write_text("The last one.")
    items = list(load(tmp_path, loading=LoadingSettings(file_seconds=20)))
    assert isinstance(items[-1], Document)
    assert all(isinstance(item, Problem) or len(item.text) < 100_000 for item in items)
    assert [Path(getattr(item, "place", None) or item.source).name[0] for item in items] == list("abcde")
