"""GraphML, as Gephi, yEd and networkx read it: http://graphml.graphdrawing.org/specification.html.

A key's `desc` is the type in Neo4j where GraphML has none (lists, dates, vectors; their text is JSON or ISO 8601).
What XML cannot hold is written _xHHHH_ (ECMA-376, Part 1, 22.9.2.19).
"""

import json
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from kgrag.exchange.form import Footer, Header, damaged, foreign, read_errors
from kgrag.graph.contents import LABELS, EdgeRecord, Item, NodeRecord
from kgrag.graph.values import VECTOR, from_json, kind, parsed, text, to_json, vector_text

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_OWN = ("string", "boolean", "long", "double")  # types that GraphML has
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-F]{4}_)")
_ESCAPED = re.compile("_x([0-9A-F]{4})_")
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"})
_CHUNK = 1 << 16
_LONGEST_HEADER = 1 << 20  # bytes that may stand before the header


class GraphMLWriter:
    """Writes the graph into a file that waits, for the keys come first and are known last."""

    def __init__(self, stream: IO[bytes], header: Header, folder: Path | None = None) -> None:
        """`folder`: where the waiting file is put."""
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
        for (of, name, its), id in self._keys.items():
            shown = its if its in _OWN else "string"
            key = f'<key id="{id}" for="{of}" attr.name="{_attribute(name)}" attr.type="{shown}">'
            write(f"{key}<desc>{its}</desc></key>\n".encode())
        write(b'<graph id="kgrag" edgedefault="directed">\n')
        write(f'<data key="kgrag">{_escaped(json.dumps(self._header.plain()))}</data>\n'.encode())
        self._body.seek(0)
        shutil.copyfileobj(self._body, self._stream, 1 << 20)
        self._body.close()
        end = _escaped(json.dumps(footer.plain()))
        write(f'<data key="kgrag_end">{end}</data>\n</graph>\n</graphml>\n'.encode())

    def _key(self, of: str, name: str, value: object) -> str:
        return self._keys.setdefault((of, name, kind(name, value)), f"{of[0]}{len(self._keys)}")


class GraphMLReader:
    """Reads what GraphMLWriter wrote; `open` opens the file anew at its beginning."""

    def __init__(self, open: Callable[[], IO[bytes]], name: str) -> None:
        self._open = open
        self._name = name
        self.footer: Footer | None = None
        self.place = f"{name}:1"
        with read_errors(name), open() as file:
            parser = _Parser(name)
            while parser.header is None:
                chunk = file.read(_CHUNK)
                parser.feed(chunk)
                if not chunk or (parser.header is None and file.tell() > _LONGEST_HEADER):
                    raise foreign(name)
        self.header = parser.header

    def __iter__(self) -> Iterator[Item]:
        """The nodes and edges. Raises InputError."""
        self.footer = None
        parser = _Parser(self._name)
        with read_errors(self._name), self._open() as file:
            while True:
                chunk = file.read(_CHUNK)
                parser.feed(chunk)
                while parser.items:
                    line, item = parser.items.popleft()
                    self.place = f"{self._name}:{line}"
                    yield item
                if not chunk:
                    break
        self.footer = parser.footer


class _Parser:
    """Takes the file piece by piece; puts nodes and edges into `items`, each with its line."""

    def __init__(self, name: str) -> None:
        self.items: deque[tuple[int, Item]] = deque()
        self.header: Header | None = None
        self.footer: Footer | None = None
        self._name = name
        self._keys: dict[str, tuple[str, str]] = {}  # id -> name, type
        self._key = ""
        self._within: Mapping[str, str] | None = None  # attributes of the node or edge
        self._data: dict[str, str] = {}
        self._text: list[str] | None = None
        parser = self._parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype

    def feed(self, chunk: bytes) -> None:
        """Read on; an empty chunk is the end. Raises InputError."""
        try:
            self._parser.Parse(chunk, not chunk)
        except expat.ExpatError as error:
            what = "the file is cut off" if not chunk else f"this is no XML ({expat.ErrorString(error.code)})"
            raise damaged(f"{self._name}:{error.lineno}", what) from error

    @property
    def _place(self) -> str:
        return f"{self._name}:{self._parser.CurrentLineNumber}"

    def _doctype(self, *_: object) -> None:
        raise foreign(self._place)  # and nothing is declared that could grow

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.removeprefix(f"{_NAMESPACE} ")
        if name == "key":
            self._key = attributes.get("id", "")
            self._keys[self._key] = (_unescaped(attributes.get("attr.name", "")), attributes.get("attr.type", "string"))
        elif name == "desc":
            self._text = []
        elif name in ("node", "edge"):
            self._within, self._data = attributes, {}
        elif name == "data":
            self._key, self._text = attributes.get("key", ""), []

    def _characters(self, characters: str) -> None:
        if self._text is not None:
            self._text.append(characters)

    def _end(self, tag: str) -> None:
        name = tag.removeprefix(f"{_NAMESPACE} ")
        content = "".join(self._text or ())
        if name == "desc":
            if self._key in self._keys:
                self._keys[self._key] = (self._keys[self._key][0], content)
            self._text = None
        elif name == "data":
            self._text = None
            if self._within is not None:
                self._data[self._key] = content
            elif self._key == "kgrag":
                self.header = Header.of(self._json(content), self._place)
            elif self._key == "kgrag_end":
                self.footer = Footer.of(self._json(content), self._place)
        elif name in ("node", "edge") and self._within is not None:
            try:
                item = self._node() if name == "node" else self._edge()
            except (KeyError, ValueError) as error:
                raise damaged(self._place, f"the {name} cannot be read ({error})") from error
            self.items.append((self._parser.CurrentLineNumber, item))
            self._within = None

    def _json(self, content: str) -> Any:
        try:
            return json.loads(_unescaped(content))
        except ValueError as error:
            raise damaged(self._place, f"this is no JSON ({error})") from error

    def _properties(self, but: str) -> dict[str, Any]:
        properties = {}
        for id, content in self._data.items():
            if id != but:
                name, its = self._keys[id]
                properties[name] = _value(name, its, _unescaped(content))
        return properties

    def _node(self) -> NodeRecord:
        assert self._within is not None
        properties = self._properties("labels")
        label, *labels = _unescaped(self._data["labels"]).removeprefix(":").split(":")
        if label not in LABELS:
            raise ValueError(f"there is no label {label!r}")
        return NodeRecord(label, properties["name" if label == "Collection" else "id"], properties, tuple(labels))

    def _edge(self) -> EdgeRecord:
        assert self._within is not None
        start, end = (_ends(self._within[key]) for key in ("source", "target"))
        return EdgeRecord(_unescaped(self._data["label"]), start, end, self._properties("label"))


def _id(label: str, id: str) -> str:
    return f"{label}:{_attribute(id)}"


def _ends(written: str) -> tuple[str, str]:
    label, _, id = written.partition(":")
    return label, _unescaped(id)


def _data(key: str, value: Any) -> str:
    its = kind(key, value)
    if its == VECTOR:
        return f"[{vector_text(value, ', ')}]"
    return _escaped(json.dumps(to_json(value), ensure_ascii=False) if isinstance(value, list) else text(value))


def _value(key: str, its: str, content: str) -> Any:
    if its != "byte[]" and (its.endswith("[]") or its == "json"):
        return from_json(key, json.loads(content))
    return parsed(its, content)


def _escaped(written: str) -> str:
    return _ILLEGAL.sub(lambda match: f"_x{ord(match[0]):04X}_", written).translate(_MARKUP)


def _attribute(written: str) -> str:
    return _escaped(written).replace("\n", "&#10;").replace("\t", "&#9;")


def _unescaped(written: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), written) if "_x" in written else written
