"""Parquet in FineWeb's form, and web archives, plain and compressed: generated files, intact and damaged."""

import gzip
import io
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from read_one import all_in as read
from read_one import only
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from kgrag import KnowledgeGraph
from kgrag.loaders import Columns
from kgrag.loaders.dispatch import Load
from kgrag.values.documents import Document

PAGES = {
    "https://ships.example/fram": "<html><head><title>Fram</title></head><body><p>She drifted.</p></body></html>",
    "https://ships.example/gjoa": "<html><body><p>Die Gjøa fuhr durch die Passage.</p></body></html>",
}


def fineweb(path: Path, count: int = 300, **changes: Any) -> Path:
    """Write a small version of a FineWeb part: several groups of rows."""
    columns: dict[str, list[Any]] = {
        "text": [f"Page {n} tells of ship number {n}." for n in range(count)],
        "id": [f"<urn:uuid:{n:08}>" for n in range(count)],
        "url": [f"https://ships.example/{n}" for n in range(count)],
        "date": [datetime(2024, 5, 1, 12, 0, tzinfo=UTC)] * count,
        "language_score": [0.5] * count,
        "tags": [["a", "b"]] * count,
        "raw": [b"\xff"] * count,
    }
    pq.write_table(pa.table(columns | changes), path, row_group_size=100)
    return path


def archive(path: Path, *, compressed: bool = True) -> Path:
    """Write two pages in different encodings, and three other records: an error, a picture, the request."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=compressed)
        for number, (address, page) in enumerate(PAGES.items()):
            charset = "utf-8" if number == 0 else "iso-8859-1"
            add(writer, address, "200 OK", f"text/html; charset={charset}", page.encode(charset))
        add(writer, "https://ships.example/gone", "404 Not Found", "text/html", b"<p>gone</p>")
        add(writer, "https://ships.example/logo.png", "200 OK", "image/png", b"\x89PNG")
        asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "ships.example")], is_http_request=True)
        writer.write_record(writer.create_warc_record("https://ships.example/", "request", http_headers=asked))
    return path


def add(writer: WARCWriter, address: str, status: str, kind: str, body: bytes) -> None:
    headers = StatusAndHeaders(status, [("Content-Type", kind)], protocol="HTTP/1.1")
    named = {"WARC-Date": "2024-05-01T12:00:00Z", "WARC-Record-ID": f"<urn:uuid:{address[-4:]}>"}
    record = writer.create_warc_record(
        address, "response", payload=io.BytesIO(body), http_headers=headers, warc_headers_dict=named
    )
    writer.write_record(record)


def test_parquet_rows_become_documents(tmp_path: Path) -> None:
    path = fineweb(tmp_path / "000_00000.parquet")
    documents, problems = read(path)
    assert (len(documents), problems) == (300, [])
    assert documents[299].key == f"{path}#<urn:uuid:00000299>"
    assert documents[299].text == "Page 299 tells of ship number 299."
    assert documents[0].source == f"{path}#1"
    assert documents[0].metadata == {
        "url": "https://ships.example/0",
        "date": "2024-05-01T12:00:00+00:00",
        "language_score": 0.5,
        "tags": ["a", "b"],
    }
    named, _ = read(path, columns=Columns(key="url", title="url"))
    assert (named[7].key, named[7].title) == ("https://ships.example/7",) * 2


def test_parquet_is_streamed_and_its_faults_are_told(tmp_path: Path) -> None:
    path = fineweb(tmp_path / "big.parquet", 2, text=["x" * (2 << 20), "short"])
    documents, problems = read(path, max_file_mb=1)
    assert [d.text for d in documents] == ["short"]
    assert problems[0][0] == "#1" and "more than 1 MB" in problems[0][1]
    data = fineweb(tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(data[:-100])
    assert "no Parquet file, or damaged" in read(tmp_path / "cut.parquet")[1][0][1]
    place = data.find(b"Page 150")  # in the second group of rows
    (tmp_path / "bent.parquet").write_bytes(data[: place - 400] + b"\xff" * 400 + data[place:])
    documents, problems = read(tmp_path / "bent.parquet")
    assert len(problems) == 1 and "damaged" in problems[0][1]
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    (table,) = read(tmp_path / "other.parquet")[0][0].tables
    assert table.rows == (("a",), ("1",))
    assert "no column for the text" in read(tmp_path / "other.parquet", columns=Columns(key="a"))[1][0][1]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
        ("<ol start=3 type=i><li>a<li value=9>b<li>c</ol>", "iii. a\nix. b\nx. c"),
        ("<ol style='list-style-type: upper-alpha'><li>a</ol>", "A. a"),
        ("<pre><code><div>a = 1</div><div>b = 2</div></code></pre>", "a = 1\nb = 2"),
        ("<pre>a<p>b</p>\n<ul><li>c</li></ul></pre>", "a\nb\nc"),
        ("<table><tr><td class=blob-num>1<td class=blob-code>if x:</tr><tr><td><td class=blob-code>  y</table>",
         "if x:\n  y"),
        ("<p>Was <s>400</s> <strike>300</strike> 250.</p>", "Was 250."),
        ("<svg><title>Kiln</title><g><text>hot</text></g></svg>", "Kiln hot"),
    ],
)  # fmt: skip
def test_lists_code_and_drawings_of_pages_are_as_readers_see_them(tmp_path: Path, source: str, text: str) -> None:
    document = only(tmp_path / "a.html", source)
    assert document.text == text


def test_times_that_python_does_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times with nanoseconds, which pyarrow returns only with pandas, and times after the year 9999, are read."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    moment, later = 1_700_000_000_000_000_001, 316_516_809_600
    columns = {
        "text": pa.array(["A quartz vein."]), "seen": pa.array([moment], pa.timestamp("ns", "UTC")),
        "at": pa.array([1_001], pa.time64("ns")), "took": pa.array([1_000_001], pa.duration("ns")),
        "times": pa.array([[moment]], pa.list_(pa.timestamp("ns"))),
        "part": pa.array([{"seen": moment}], pa.struct([("seen", pa.timestamp("ns"))])),
        "until": pa.array([later], pa.timestamp("s")), "day": pa.array([10_000_000], pa.date32()),
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    documents, problems = read(tmp_path / "a.parquet")
    assert problems == []
    assert documents[0].metadata == {
        "seen": "2023-11-14T22:13:20+00:00", "at": "00:00:00.000001", "took": "0:00:00.001000",
        "times": ["2023-11-14T22:13:20"], "part.seen": "2023-11-14T22:13:20", "until": "12000-01-08 00:00:00.000",
        "day": "29349-01-26",
    }  # fmt: skip


@pytest.mark.parametrize("compressed", [True, False])
def test_pages_of_a_web_archive(tmp_path: Path, compressed: bool) -> None:
    path = archive(tmp_path / ("crawl.warc.gz" if compressed else "crawl.warc"), compressed=compressed)
    documents, problems = read(tmp_path)
    assert problems == []
    assert [d.title for d in documents] == ["Fram", "https://ships.example/gjoa"]
    assert documents[0].key == f"{path}#urn:uuid:fram" and documents[0].source == "https://ships.example/fram"
    assert "She drifted." in documents[0].text
    assert documents[1].text == "Die Gjøa fuhr durch die Passage."
    assert documents[0].metadata == {"date": "2024-05-01T12:00:00Z"}


def test_texts_taken_from_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc.wet.gz"
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for n, text in enumerate(("Die Fram trieb.", "  ", "The Maud followed.")):
            named = {
                "WARC-Identified-Content-Language": "deu" if n == 0 else "eng",
                "WARC-Record-ID": f"<urn:uuid:{n}>",
            }
            record = writer.create_warc_record(
                f"https://ships.example/{n}", "conversion", payload=io.BytesIO(text.encode()),
                warc_content_type="text/plain", warc_headers_dict=named,
            )  # fmt: skip
            writer.write_record(record)
    documents, problems = read(tmp_path)
    assert ([d.text for d in documents], problems) == (["Die Fram trieb.", "The Maud followed."], [])
    assert documents[0].metadata["language"] == "deu"


def test_damaged_archives_keep_what_came_before(tmp_path: Path) -> None:
    whole = archive(tmp_path / "a.warc.gz").read_bytes()
    (tmp_path / "b.warc.gz").write_bytes(whole[: len(whole) // 2])
    documents, problems = read(tmp_path / "b.warc.gz")
    assert len(documents) + len(problems) >= 1 and len(documents) < 3
    (tmp_path / "c.warc").write_bytes(b"no archive at all\n" * 100)
    assert "no web archive, or damaged" in read(tmp_path / "c.warc")[1][0][1]
    (tmp_path / "notes.txt.gz").write_bytes(gzip.compress(b"no archive"))
    assert {d.title for d in read(tmp_path)[0]} >= {"Fram"}  # other compressed files are skipped


def test_archives_are_ingested_once(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    fineweb(tmp_path / "part.parquet", 5)
    archive(tmp_path / "crawl.warc.gz")
    report = kg[collection_name].ingest(tmp_path, root=tmp_path)
    assert (report.added, report.problems) == (7, ())
    again = kg[collection_name].ingest(tmp_path, root=tmp_path)
    assert (again.added, again.changed, again.unchanged) == (0, 0, 7)
    assert kg[collection_name].search("Which ship drifted?", k=1)[0].passage.title == "Fram"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip", "x-gzip", "gzip, br"])
def test_page_in_a_content_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    body = "<p>She drifted på isen.</p>".encode()
    for name in encoding.split(", "):
        codec = {"br": "brotli", "x-gzip": "gzip"}.get(name, name)
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as stream:
            stream.write(body)
        body = sink.getvalue().to_pybytes()
    documents, problems = read(encoded(tmp_path / "a.warc", encoding, body))
    assert ([d.text for d in documents], problems) == (["She drifted på isen."], [])


def test_page_in_an_unknown_content_encoding_is_named(tmp_path: Path) -> None:
    documents, problems = read(encoded(tmp_path / "a.warc", "exi", b"\x80\xff\x00She drifted."))
    assert not documents
    assert problems[0] == ("#1", "is in the content encoding 'exi', which cannot be read")


def test_page_that_was_decoded_under_its_old_header_is_read(tmp_path: Path) -> None:
    documents, problems = read(encoded(tmp_path / "a.warc", "br", b"<p>She drifted.</p>"))
    assert ([d.text for d in documents], problems) == (["She drifted."], [])


def encoded(path: Path, encoding: str, body: bytes) -> Path:
    with path.open("wb") as file:
        headers = StatusAndHeaders(
            "200 OK",
            [("Content-Type", "text/html; charset=utf-8"), ("Content-Encoding", encoding)],
            protocol="HTTP/1.1",
        )
        writer = WARCWriter(file, gzip=False)
        writer.write_record(
            writer.create_warc_record("https://a.example/", "response", io.BytesIO(body), http_headers=headers)
        )
    return path


def test_what_is_left_out_of_the_pages_of_an_archive_is_counted(tmp_path: Path) -> None:
    found = Load(
        encoded(tmp_path / "a.warc", "gzip", gzip.compress(b"<nav>Home</nav><p>It was <del>red</del> blue.</p>"))
    )
    assert [item.text for item in found if isinstance(item, Document)] == ["It was blue."]
    assert found.scan.left_out == {"navigation bar": 1, "deleted piece": 1}
