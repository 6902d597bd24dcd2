"""GraphML, as Gephi, yEd and networkx read it: http://graphml.graphdrawing.org/specification.html. It is not read back.

A key's `desc` is the type in Neo4j where GraphML has none (lists, dates, vectors; their text is JSON or ISO 8601).
What XML cannot hold is written _xHHHH_ (ECMA-376, Part 1, 22.9.2.19).
"""

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import IO, Any

from kgrag.exchange.form import Footer, Header
from kgrag.graph.contents import Item, NodeRecord
from kgrag.graph.property_values import VECTOR, kind, text, to_json, vector_text

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_OWN = ("string", "boolean", "long", "double")  # types that GraphML has
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-F]{4}_)")
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"})


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


def _id(label: str, id: str) -> str:
    return f"{label}:{_attribute(id)}"


def _data(key: str, value: Any) -> str:
    its = kind(key, value)
    if its == VECTOR:
        return f"[{vector_text(value)}]"
    return _escaped(json.dumps(to_json(value), ensure_ascii=False) if isinstance(value, list) else text(value))


def _escaped(written: str) -> str:
    return _ILLEGAL.sub(lambda match: f"_x{ord(match[0]):04X}_", written).translate(_MARKUP)


def _attribute(written: str) -> str:
    return _escaped(written).replace("\n", "&#10;").replace("\t", "&#9;")
