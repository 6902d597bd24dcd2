"""What stands beside a text, above it or instead of it is read where readers see it, or counted."""

import zipfile
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml

from kgrag.loaders.dispatch import Load
from kgrag.values.documents import Document, Problem

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def read(path: Path, data: str | bytes = "") -> tuple[Document, list[str], dict[str, int]]:
    """The document of a file that is made, its problems, and what was left out."""
    if data:
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    found = Load(path)
    items = list(found)
    (document,) = (item for item in items if isinstance(item, Document))
    return document, [item.message for item in items if isinstance(item, Problem)], found.scan.left_out


def word(path: Path, *paragraphs: str) -> Path:
    file = docx.Document()
    for paragraph in paragraphs:
        file.element.body.insert(len(file.element.body) - 1, parse_xml(f"<w:p {W}>{paragraph}</w:p>"))
    file.save(str(path))
    return path


def odt(path: Path, body: str) -> Path:
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:text>{body}</office:text></office:body>"
            "</office:document-content>",
        )
    return path


DELETED = {
    "a.html": "<p>The price was <del>400</del><ins>250</ins> kroner.</p>",
    "a.md": "The price was <del>4**0**0</del><ins>250</ins> kroner.",
    "a.rtf": r"{\rtf1\ansi The price was {\deleted\revauthdel1 400}{\revised 250} kroner.\par}",
}


@pytest.mark.parametrize("name", DELETED)
def test_price_deleted_and_inserted_is_the_inserted_one(tmp_path: Path, name: str) -> None:
    document, problems, left_out = read(tmp_path / name, DELETED[name])
    assert (document.text, problems, left_out) == ("The price was 250 kroner.", [], {"deleted piece": 1})


def test_deleted_text_of_word_and_opendocument_is_counted(tmp_path: Path) -> None:
    text = "<w:r><w:t>Now </w:t></w:r><w:del><w:r><w:delText>400</w:delText></w:r></w:del><w:r><w:t>250.</w:t></w:r>"
    document, _, left_out = read(word(tmp_path / "a.docx", text))
    assert (document.text, left_out) == ("Now 250.", {"deleted piece": 1})
    gone = "<text:tracked-changes><text:changed-region><text:deletion><text:p>400</text:p></text:deletion>"
    gone += "</text:changed-region></text:tracked-changes><text:p>Now 250.</text:p>"
    document, _, left_out = read(odt(tmp_path / "a.odt", gone))
    assert (document.text, left_out) == ("Now 250.", {"deleted piece": 1})


def test_word_with_readings_above_it_stays_one_word(tmp_path: Path) -> None:
    ruby = "".join(
        f"<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>{above}</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>{base}</w:t></w:r>"
        "</w:rubyBase></w:ruby></w:r>"
        for base, above in (("東", "とう"), ("京", "きょう"))
    )
    document, _, left_out = read(word(tmp_path / "a.docx", f"{ruby}<w:r><w:t>駅</w:t></w:r>"))
    assert (document.text, left_out) == ("東京駅", {"reading of characters": 2})
    page = "<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rp>(</rp><rt>きょう</rt><rp>)</rp></ruby>駅</p>"
    document, _, left_out = read(tmp_path / "a.html", page)
    assert (document.text, left_out) == ("東京駅", {"reading of characters": 2})
    text = "<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rp>(</rp><rt>きょう</rt><rp>)</rp></ruby>駅"
    document, _, left_out = read(tmp_path / "a.md", text)
    assert (document.text, left_out) == ("東京駅", {"reading of characters": 2})
    ruby = "".join(
        f"<text:ruby><text:ruby-base>{base}</text:ruby-base><text:ruby-text>{above}</text:ruby-text></text:ruby>"
        for base, above in (("東", "とう"), ("京", "きょう"))
    )
    document, _, left_out = read(odt(tmp_path / "a.odt", f"<text:p>{ruby}駅</text:p>"))
    assert (document.text, left_out) == ("東京駅", {"reading of characters": 2})


TITLES = {
    r"{\rtf1\ansi\ansicpg1251{\info{\title \'cf\'e5\'f7\'fc}}Text.\par}": "Печь",
    r"{\rtf1\ansi\ansicpg1251{\info{\title\'cf\'e5\'f7\'fc}}Text.\par}": "Печь",
    r"{\rtf1\ansi\ansicpg932{\info{\title \'93\'8c\'8b\'9e}}Text.\par}": "東京",
    r"{\rtf1\mac{\info{\title Z\'9frich}}Text.\par}": "Zürich",
    r"{\rtf1\ansi\ansicpg1252{\info{\title Kilns \{new\} {\b and} ovens}}Text.\par}": "Kilns {new} and ovens",
    r"{\rtf1\ansi\ansicpg1252{\info{\title \u1055?\u1077?\u1095?\u1100? \u-10179?\u-8704?}}Text.\par}": "Печь 😀",
}


@pytest.mark.parametrize("source", TITLES)
def test_title_of_rtf_is_in_the_code_page_of_the_file(tmp_path: Path, source: str) -> None:
    document, _, _ = read(tmp_path / "a.rtf", source)
    assert (document.title, document.text) == (TITLES[source], "Text.")


def test_text_of_rtf_beside_the_body_is_read_or_counted(tmp_path: Path) -> None:
    source = (
        r"{\rtf1\ansi{\header Running}{\footerl Page}{\footerr Page}Before.{\*\annotation Really?}"
        r"{\shp{\*\shpinst\shpleft0{\sp{\sn shapeType}{\sv 202}}{\shptxt \pard In the box.\par}}{\shprslt Drawn}}"
        r"\par\par After \u-10179?\u-8704?.\par}"
    )
    document, problems, left_out = read(tmp_path / "a.rtf", source)
    assert document.text == "Before.\n\nIn the box.\n\nAfter 😀."
    assert problems == ["holds 1 comment, left out"]
    assert left_out == {"running head": 1, "running foot": 2}


def test_values_in_the_fields_of_a_page_are_read(tmp_path: Path) -> None:
    page = (
        '<p>Name: <input value="Astrid Lund"> of <select><option>Sweden</option><option selected>Norway</option>'
        '</select>, <input type="radio" checked>married, key <input type="password" value="secret"></p>'
    )
    document, problems, _ = read(tmp_path / "a.html", page)
    assert " ".join(document.text.split()) == "Name: Astrid Lund of Norway , [x] married, key"
    assert problems == ["holds 1 form value, left out"]


def test_values_in_the_fields_of_word_are_read(tmp_path: Path) -> None:
    text = (
        '<w:r><w:t xml:space="preserve">Country: </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"><w:ffData>'
        '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Sweden"/><w:listEntry w:val="Norway"/></w:ddList>'
        "</w:ffData></w:fldChar></w:r><w:r><w:t>, married: </w:t></w:r><w:r><w:fldChar w:fldCharType='begin'>"
        "<w:ffData><w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r>"
    )
    assert read(word(tmp_path / "a.docx", text))[0].text == "Country: Norway, married: [x]"
