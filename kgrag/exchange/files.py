"""Sources and targets of exports: JSON Lines in a file, a compressed file or a stream.

Under its final name there is a whole export, or none.
"""

import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any, Protocol

from kgrag.graph.contents import EdgeRecord, Fingerprint, Item, NodeRecord, vectors_of
from kgrag.graph.property_values import VECTOR, from_json, kind, text, to_json, vector_text
from kgrag.runtime.files import scratch_folder, user_file
from kgrag.values.errors import InputError
from kgrag.values.installing import update_hint

VERSION = 1
"""Version of the formats."""


@dataclass(frozen=True, slots=True)
class Header:
    """The source of an export. `export` is its own id; `embeddings` tells whether it has the vectors."""

    collection: str
    schema_version: int
    kgrag: str
    export: str
    exported: str
    embeddings: bool = True
    version: int = VERSION

    def plain(self) -> dict[str, Any]:
        """Return the header as JSON can hold it."""
        return asdict(self)

    @classmethod
    def of(cls, values: Any, place: str) -> "Header":
        """Return the header of a line. Raises InputError."""
        names = {f.name: f.type for f in fields(cls)}
        if not isinstance(values, Mapping) or not isinstance(values.get("version"), int):
            raise foreign(place)
        if values["version"] > VERSION:
            raise InputError(
                f"{place}: the export is of a newer kind ({values['version']}; this kgrag reads up to {VERSION}).",
                f"A newer kgrag wrote it: {update_hint()}",
            )
        if values.keys() != names.keys() or any(type(values[n]) is not type_name for n, type_name in names.items()):
            raise foreign(place)
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Footer:
    """How many nodes and edges of each kind there are, and their hashes."""

    counts: Mapping[str, int]
    hashes: Mapping[str, str]

    def plain(self) -> dict[str, Any]:
        """Return the footer as JSON can hold it: kind -> number and hash."""
        return {kind: [self.counts[kind], self.hashes[kind]] for kind in self.hashes}

    @classmethod
    def of(cls, values: Any, place: str) -> "Footer":
        """Return the footer of a line. Raises InputError."""
        try:
            return cls({k: int(n) for k, (n, _) in values.items()}, {k: str(h) for k, (_, h) in values.items()})
        except (AttributeError, TypeError, ValueError) as error:
            raise damaged(place, "its table of contents cannot be read") from error

    @classmethod
    def sum(cls, fingerprint: Fingerprint) -> "Footer":
        """Return the footer of the items read so far."""
        return cls(fingerprint.counts, fingerprint.hashes())


class Writer(Protocol):
    """Writes an export in some format."""

    def write(self, item: Item) -> None: ...  # noqa: D102
    def finish(self, footer: Footer) -> None: ...  # noqa: D102


def foreign(place: str) -> InputError:
    """Return the error for a file that no export wrote."""
    return InputError(
        f"{place}: this is no export of kgrag.",
        "`kgrag import` reads what `kgrag export` wrote; documents go in with `kgrag ingest`, backups with "
        "`kgrag db restore`.",
    )


def damaged(place: str, what: str) -> InputError:
    """Return the error for an export that was changed or cut."""
    return InputError(f"{place}: {what}.", "The file is damaged or was changed by hand: export it again.")


@contextmanager
def read_errors(place: str) -> Iterator[None]:
    """Turn what a damaged file makes the decoders raise into InputError."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise damaged(place, f"the compressed file is cut off or broken ({error})") from error
    except UnicodeDecodeError as error:
        raise damaged(place, f"it is not UTF-8 text ({error.reason})") from error
    except OSError as error:
        raise InputError(f"{place}: {error.strerror or error}.", "Is the path right, and may you read it?") from error


class JsonLinesWriter:
    """Writes lines as they come."""

    def __init__(self, stream: IO[bytes], header: Header) -> None:
        self._stream = stream
        self._line({"kgrag": header.plain()})

    def write(self, item: Item) -> None:
        """Write a node or an edge."""
        if isinstance(item, EdgeRecord):
            properties = {key: to_json(value) for key, value in item.properties.items()}
            self._line({"edge": item.type, "start": item.start, "end": item.end, "properties": properties})
            return
        vectors = vectors_of(item.properties)
        properties = {key: to_json(value) for key, value in item.properties.items() if key not in vectors}
        labels = {"labels": item.labels} if item.labels else {}
        line = json.dumps({"node": item.label, **labels, "properties": properties}, ensure_ascii=False)
        more = "".join([f', "{key}": [{vector_text(item.properties[key])}]' for key in vectors])
        self._write(f"{line[:-2]}{more}}}}}")

    def finish(self, footer: Footer) -> None:
        """Write the last line."""
        self._line({"total": footer.plain()})

    def _line(self, value: dict[str, Any]) -> None:
        self._write(json.dumps(value, ensure_ascii=False))

    def _write(self, line: str) -> None:
        self._stream.write(line.encode("utf-8", "replace") + b"\n")


class JsonLinesReader:
    """Reads what JsonLinesWriter wrote; `open` opens the file at its beginning."""

    def __init__(self, open: Callable[[], IO[bytes]], name: str) -> None:
        self._open = open
        self._name = name
        self.footer: Footer | None = None
        self.place = f"{name}:1"
        with read_errors(name), open() as file:
            first = self._parsed(file.readline())
        if "kgrag" not in first:
            raise foreign(name)
        self.header = Header.of(first["kgrag"], self.place)

    def __iter__(self) -> Iterator[Item]:
        """Yield the nodes and edges. Raises InputError."""
        self.footer = None
        with read_errors(self._name), self._open() as file:
            for number, line in enumerate(file, 1):
                self.place = f"{self._name}:{number}"
                if self.footer is not None:
                    raise damaged(self.place, "something follows the last line")
                if number == 1:
                    continue
                record = self._parsed(line)
                if "total" in record:
                    self.footer = Footer.of(record["total"], self.place)
                else:
                    yield self._item(record)

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError as error:
            what = "the line is cut off" if not line.endswith(b"\n") else f"this is no JSON ({error})"
            raise damaged(self.place, what) from error
        if not isinstance(record, dict):
            raise foreign(self.place)
        return record

    def _item(self, record: dict[str, Any]) -> Item:
        try:
            properties = {key: from_json(key, value) for key, value in record["properties"].items()}
            if "edge" in record:
                (start, begin), (end, last) = record["start"], record["end"]
                return EdgeRecord(str(record["edge"]), (start, begin), (end, last), properties)
            return NodeRecord.of(record["node"], properties, record.get("labels", ()))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise damaged(self.place, f"this is neither a node nor an edge ({error})") from error


# GraphML, as Gephi, yEd and networkx read it: http://graphml.graphdrawing.org/specification.html. It is not read back.
#
# A key's `desc` is the type in Neo4j where GraphML has none (lists, dates, vectors; their text is JSON or ISO 8601).
# What XML cannot hold is written _xHHHH_ (ECMA-376, Part 1, 22.9.2.19).
_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_OWN = ("string", "boolean", "long", "double")  # types that GraphML has
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-F]{4}_)")
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"})


class GraphMLWriter:
    """Writes the graph into a file that waits, for the keys come first and are known last."""

    def __init__(self, stream: IO[bytes], header: Header, folder: Path | None = None) -> None:
        """Make the writer; `folder`: where the waiting file is put."""
        self._stream = stream
        self._header = header
        self._body = tempfile.TemporaryFile(dir=folder, prefix=".kgrag-graphml-")  # noqa: SIM115 - closed by finish
        self._keys: dict[tuple[str, str, str], str] = {}
        self._edges = 0

    def write(self, item: Item) -> None:
        """Write a node or an edge."""
        if isinstance(item, NodeRecord):
            labels = "".join(f":{name}" for name in (item.label, *item.labels))
            data = "".join(
                f'<data key="{self._key("node", k, v)}">{_data(k, v)}</data>' for k, v in item.properties.items()
            )
            line = f'<node id="{_id(item.label, item.id)}"><data key="labels">{_escaped(labels)}</data>{data}</node>\n'
        else:
            data = "".join(
                f'<data key="{self._key("edge", k, v)}">{_data(k, v)}</data>' for k, v in item.properties.items()
            )
            ends = f'source="{_id(*item.start)}" target="{_id(*item.end)}"'
            line = f'<edge id="e{self._edges}" {ends}><data key="label">{_escaped(item.type)}</data>{data}</edge>\n'
            self._edges += 1
        self._body.write(line.encode())

    def finish(self, footer: Footer) -> None:
        """Write the keys, the graph, and the end."""
        write = self._stream.write
        write(f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_NAMESPACE}">\n'.encode())
        for id, of, name in (
            ("kgrag", "graph", "kgrag"),
            ("kgrag_end", "graph", "kgrag_end"),
            ("labels", "node", "labels"),
            ("label", "edge", "label"),
        ):
            write(f'<key id="{id}" for="{of}" attr.name="{name}" attr.type="string"/>\n'.encode())
        for (of, name, type_name), id in self._keys.items():
            xml_type = type_name if type_name in _OWN else "string"
            key = f'<key id="{id}" for="{of}" attr.name="{_attribute(name)}" attr.type="{xml_type}">'
            write(f"{key}<desc>{type_name}</desc></key>\n".encode())
        write(b'<graph id="kgrag" edgedefault="directed">\n')
        write(f'<data key="kgrag">{_escaped(json.dumps(self._header.plain()))}</data>\n'.encode())
        self._body.seek(0)
        shutil.copyfileobj(self._body, self._stream, 1 << 20)
        self._body.close()
        end = _escaped(json.dumps(footer.plain()))
        write(f'<data key="kgrag_end">{end}</data>\n</graph>\n</graphml>\n'.encode())

    def _key(self, of: str, name: str, value: object) -> str:
        return self._keys.setdefault((of, name, kind(name, value)), f"{of[0]}{len(self._keys)}")


def _id(label: str, id: str) -> str:
    return f"{label}:{_attribute(id)}"


def _data(key: str, value: Any) -> str:
    type_name = kind(key, value)
    if type_name == VECTOR:
        return f"[{vector_text(value)}]"
    return _escaped(json.dumps(to_json(value), ensure_ascii=False) if isinstance(value, list) else text(value))


def _escaped(literal: str) -> str:
    return _ILLEGAL.sub(lambda match: f"_x{ord(match[0]):04X}_", literal).translate(_MARKUP)


def _attribute(literal: str) -> str:
    return _escaped(literal).replace("\n", "&#10;").replace("\t", "&#9;")


FORMATS = {"jsonl": (".jsonl", ".ndjson"), "graphml": (".graphml", ".xml")}
"""Each format with the suffixes by which it is known."""

STREAM = "-"
_GZIP = b"\x1f\x8b"
_LEVEL = 6


def format_of(target: str) -> str:
    """Return the format by the name of a file. Raises InputError if its suffix is of another kind."""
    if target == STREAM:
        return "jsonl"
    name = Path(target).name.lower().removesuffix(".gz")
    for format, suffixes in FORMATS.items():
        if name.endswith(suffixes):
            return format
    raise InputError(
        f"{target}: the name does not tell the format.",
        "End it with .jsonl, .graphml (either with .gz), or give --format.",
    )


@contextmanager
def writing(target: str, format: str, header: Header, *, overwrite: bool = False) -> Iterator[Writer]:
    """Open a writer to a file or "-"; the file appears under its name only when the block ends without an error.

    Raises InputError if there is something of that name already, or if it cannot be written.
    """
    if target == STREAM:
        yield _writer(sys.stdout.buffer, format, header, None)
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    _check_free(path, overwrite)
    part = path.with_name(f".{path.name}.part")
    with user_file(path):
        part.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # mode 600: a database restricts its readers, so other users of this machine must not read the export
            with open(part, "xb", buffering=1 << 20, opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                if path.name.lower().endswith(".gz"):
                    with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as stream:
                        yield _writer(stream, format, header, path.parent)  # type: ignore[arg-type]
                else:
                    yield _writer(file, format, header, path.parent)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def reading(source: str) -> JsonLinesReader:
    """Open a reader of an export. Raises InputError."""
    with read_errors(source):
        open = _opener(Path(source))
        with open() as file:
            begin = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if begin.startswith(b"<"):
        raise InputError(
            f"{source}: only JSON Lines can be imported.",
            "GraphML is for other programs: export the collection again, as FILE.jsonl.gz.",
        )
    if begin.startswith(b"{"):
        return JsonLinesReader(open, source)
    raise foreign(source)


@contextmanager
def received(source: str) -> Iterator[str]:
    """Hold the path of an export; standard input ("-") is copied to a file, since it is read twice."""
    if source != STREAM:
        yield source
        return
    with scratch_folder() as folder:
        path = folder / "standard input"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        yield str(path)


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP
    if compressed:
        return lambda: gzip.open(path)  # type: ignore[return-value]
    return lambda: path.open("rb", buffering=1 << 20)


def _writer(stream: IO[bytes], format: str, header: Header, folder: Path | None) -> Writer:
    return JsonLinesWriter(stream, header) if format == "jsonl" else GraphMLWriter(stream, header, folder)


def _check_free(path: Path, overwrite: bool) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Name a file.")
    if path.exists() and not overwrite:
        raise InputError(f"There is {path} already.", "Name another, or replace it with --overwrite.")
